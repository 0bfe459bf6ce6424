"""Functions for DuckDB: `SELECT dlp_mask(email, 'email') FROM customers`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dlpctl.frames.core import TableMasker
from dlpctl.types import Destination

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow import Array, ChunkedArray

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

    def dlp_mask(values: Any, headers: Any) -> Any:
        return _by_header(values, headers, masker.mask_column)

    def dlp_types(values: Any, headers: Any) -> Any:
        return _by_header(values, headers, partial(_types, masker))

    for function in (dlp_mask, dlp_types):
        connection.create_function(
            function.__name__,
            function,
            ["VARCHAR", "VARCHAR"],
            "VARCHAR",
            type="arrow",
            null_handling="special",
        )


def _types(masker: TableMasker, values: Array, header: str) -> Array:
    import pyarrow

    encoded = values.dictionary_encode()
    found = masker.types_in(encoded.dictionary.to_pylist(), header)
    names = [_APART.join(types) or None for types in found]
    return pyarrow.array(names, pyarrow.string()).take(encoded.indices)


def _by_header(
    values: ChunkedArray, headers: ChunkedArray, judged: Callable[[Array, str], Array]
) -> Array:
    """Judge the values of each header on their own; nearly always, there is one."""
    import pyarrow
    from pyarrow import compute

    column = _combined(values)
    names = _combined(headers).fill_null("")
    distinct = names.unique().to_pylist()
    if len(distinct) == 1:
        return judged(column, distinct[0])
    result = pyarrow.nulls(len(column), column.type)
    for name in distinct:
        chosen = compute.equal(names, name)
        result = compute.replace_with_mask(result, chosen, judged(column.filter(chosen), name))
    return result


def _combined(values: Any) -> Any:
    import pyarrow

    return values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values
