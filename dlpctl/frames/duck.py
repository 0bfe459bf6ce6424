"""Functions for DuckDB: `SELECT dlp_mask(email, 'email') FROM customers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dlpctl.frames.core import TableMasker
from dlpctl.frames.judging import Remembering
from dlpctl.types import Destination

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray

Answers = Callable[[str, Sequence[str]], Sequence[str | None]]
"""Returns what a query is told of each value below a header."""
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
    masker = TableMasker(destination, policy, **options)

    @Remembering
    def shown(header: str, texts: Sequence[str]) -> list[str | None]:
        judged = zip(texts, masker.judge(header, texts), strict=True)
        return [text if masked is None else masked for text, (_, masked) in judged]

    @Remembering
    def named(header: str, texts: Sequence[str]) -> list[str | None]:
        return [_APART.join(types) or None for types, _ in masker.judge(header, texts)]

    def dlp_mask(values: Any, headers: Any) -> Any:
        return _by_header(values, headers, shown)

    def dlp_types(values: Any, headers: Any) -> Any:
        return _by_header(values, headers, named)

    for function in (dlp_mask, dlp_types):
        connection.create_function(
            function.__name__,
            function,
            ["VARCHAR", "VARCHAR"],
            "VARCHAR",
            type="arrow",
            null_handling="special",
        )


def _by_header(values: Any, headers: ChunkedArray, answers: Answers) -> Array:
    """Judge the values of each header on their own; nearly always, there is one.

    DuckDB asks for two thousand rows at once: too few for a dictionary of their values to pay off.
    """
    import pyarrow
    from pyarrow import compute

    def answered(part: Array, header: str) -> Array:
        texts = (part.fill_null("") if part.null_count else part).to_pylist()
        found = pyarrow.array(answers(header, texts), part.type)
        return compute.if_else(part.is_valid(), found, None) if part.null_count else found

    column = _combined(values)
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
