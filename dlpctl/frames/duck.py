"""Functions for DuckDB: `SELECT dlp_mask(email, 'email') FROM customers`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from dlpctl.frames.core import TableMasker
from dlpctl.types import Destination

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray

    from dlpctl.frames.judging import Judgement

Answers = Callable[[Iterable["Judgement"]], list[str | None]]
"""Returns what a query is told of values that were judged."""
_APART = ", "


def register(
    connection: Any,
    destination: Destination | str = Destination.AI_TOOL,
    policy: Any = None,
    **options: Any,
) -> None:
    """Add `dlp_mask(value, header)` and `dlp_types(value, header)` to a connection.

    `dlp_mask` replaces what the policy masks or blocks; `dlp_types` names the types of what was
    found, and is null where nothing was. Further options are those of `mask`.
    """
    from pyarrow import compute

    masker = TableMasker(destination, policy, **options)

    def dlp_mask(values: Any, headers: Any) -> Any:
        column = _combined(values)
        replaced = _by_header(masker, column, headers, _replacements)
        return compute.coalesce(replaced, column)

    def dlp_types(values: Any, headers: Any) -> Any:
        return _by_header(masker, _combined(values), headers, _types)

    for function in (dlp_mask, dlp_types):
        connection.create_function(
            function.__name__,
            function,
            ["VARCHAR", "VARCHAR"],
            "VARCHAR",
            type="arrow",
            null_handling="special",
        )


def _replacements(judged: Iterable[Judgement]) -> list[str | None]:
    return list(map(attrgetter("masked"), judged))


def _types(judged: Iterable[Judgement]) -> list[str | None]:
    return [_APART.join(types) or None for types, _ in judged]


def _by_header(
    masker: TableMasker, column: Array, headers: ChunkedArray, answers: Answers
) -> Array:
    """Judge the values of each header on their own; nearly always, there is one.

    DuckDB asks for two thousand rows at once: too few for a dictionary of their values to pay off.
    """
    import pyarrow
    from pyarrow import compute

    def answered(part: Array, header: str) -> Array:
        texts = part.fill_null("").to_pylist()
        return pyarrow.array(answers(masker.judge(header, texts)), column.type)

    names = _combined(headers).fill_null("")
    distinct = names.unique().to_pylist()
    if len(distinct) == 1:
        return answered(column, distinct[0])
    result = pyarrow.nulls(len(column), column.type)
    for name in distinct:
        chosen = compute.equal(names, name)
        result = compute.replace_with_mask(result, chosen, answered(column.filter(chosen), name))
    return result


def _combined(values: Any) -> Any:
    import pyarrow

    return values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values
