"""Tables of other libraries as batches of Arrow records, and back.

Columns in which nothing was replaced stay the very columns that were given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dlpctl.errors import CannotMaskError, UsageError

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

_ROWS = 1 << 20
"""Rows of a table in memory that are judged together."""
_DEEPEST = 64


class ArrowFrame:
    """An Arrow table, or whatever gives one."""

    def __init__(self, table: Any) -> None:
        import pyarrow

        self.unreadable: list[tuple[str, str]] = []
        """Columns that are no Arrow arrays, with the reason."""
        self._given = table
        if isinstance(table, pyarrow.RecordBatchReader):
            self._reader = table
            self.schema: Schema = table.schema
            return
        self._table = self._read(table)
        self.schema = self._table.schema

    def _read(self, table: Any) -> Any:
        import pyarrow

        if isinstance(table, pyarrow.Table):
            return table
        if isinstance(table, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([table])
        return pyarrow.table(table)

    def batches(self) -> Iterable[RecordBatch]:
        reader = getattr(self, "_reader", None)
        return _combined(self._table) if reader is None else _read(reader)

    def masked(self, batches: Iterator[RecordBatch]) -> Any:
        """Return the masked batches as a table like the given one."""
        import pyarrow

        if isinstance(self._given, pyarrow.RecordBatchReader):
            return pyarrow.RecordBatchReader.from_batches(self.schema, batches)
        table = pyarrow.Table.from_batches(batches, self.schema)
        if isinstance(self._given, pyarrow.RecordBatch):
            return next(iter(table.combine_chunks().to_batches()), self._given)
        return table


class PolarsFrame(ArrowFrame):
    """A frame or series of Polars."""

    def _read(self, table: Any) -> Any:
        return self._frame.to_arrow()

    @property
    def _frame(self) -> Any:
        import polars

        given = self._given
        if isinstance(given, polars.Series):
            return given.to_frame()
        return given.collect() if isinstance(given, polars.LazyFrame) else given

    def masked(self, batches: Iterator[RecordBatch]) -> Any:
        import polars

        frame = self._frame
        table = super().masked(batches)
        changed = [
            _in_polars(polars.Series(name, new), frame[name].dtype)
            for name, new, old in zip(
                table.column_names, table.columns, self._table.columns, strict=True
            )
            if not new.equals(old)
        ]
        frame = frame.with_columns(changed)
        if isinstance(self._given, polars.Series):
            return frame.to_series()
        return frame.lazy() if isinstance(self._given, polars.LazyFrame) else frame


def _in_polars(series: Any, dtype: Any) -> Any:
    """Return a series of a type; an enumeration takes in what replaces its categories."""
    import polars

    if isinstance(dtype, polars.Enum):
        made = series.cast(polars.String)
        known = dtype.categories.to_list()
        return made.cast(polars.Enum([*known, *sorted({*made.drop_nulls()} - {*known})]))
    return series.cast(dtype)


class PandasFrame(ArrowFrame):
    """A frame or series of pandas. The index is a part of it."""

    def _read(self, table: Any) -> Any:
        import pandas
        import pyarrow

        frame = table.to_frame() if isinstance(table, pandas.Series) else table
        levels = 0 if isinstance(frame.index, pandas.RangeIndex) else frame.index.nlevels
        self._columns = {
            **{("index", level): frame.index.get_level_values(level) for level in range(levels)},
            **{("column", number): frame.iloc[:, number] for number in range(frame.shape[1])},
        }
        arrays: list[Any] = []
        names: list[str] = []
        for (part, number), column in self._columns.items():
            name = str(column.name) if column.name is not None else f"{part} {number + 1}"
            arrays.append(self._array(name, column))
            names.append(name)
        return pyarrow.Table.from_arrays(arrays, names)

    def _array(self, name: str, column: Any) -> Any:
        import pyarrow

        try:
            if column.dtype == "object" and any(map(_is_too_deep, column)):
                raise RecursionError
            return pyarrow.array(column, from_pandas=True)
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError, RecursionError):
            pass
        values = column.tolist()
        if all(value is None or isinstance(value, str | int | float) for value in values):
            return pyarrow.array([None if value is None else str(value) for value in values])
        self.unreadable.append((name, "values of mixed types"))
        return pyarrow.nulls(len(values))

    def masked(self, batches: Iterator[RecordBatch]) -> Any:
        import pandas

        table = super().masked(batches)
        given = self._given
        masked = given.to_frame() if isinstance(given, pandas.Series) else given.copy(deep=False)
        pairs = zip(self._columns.items(), table.columns, self._table.columns, strict=True)
        levels = {}
        for ((part, number), column), new, old in pairs:
            if new.equals(old):
                continue
            made = _in_pandas(new, old, column)
            if part == "index":
                levels[number] = made
            else:
                masked.isetitem(number, made)
        if levels:
            masked.index = _reindexed(masked.index, levels)
        return masked.iloc[:, 0] if isinstance(given, pandas.Series) else masked


def _is_too_deep(value: Any, depth: int = 0) -> bool:
    """Return whether a value nests without end, which Arrow does not survive."""
    if not isinstance(value, list | tuple | set | dict):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth > _DEEPEST or any(_is_too_deep(each, depth + 1) for each in inner)


def _in_pandas(new: Any, old: Any, column: Any) -> Any:
    """Return a column with the values that were replaced, and the type of the old one."""
    import numpy
    import pandas
    import pyarrow
    from pyarrow import compute

    dtype = column.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return pandas.Categorical(new.cast(new.type.value_type).to_pylist(), ordered=dtype.ordered)
    if dtype == "object":  # of which only what was replaced changes
        same = compute.coalesce(compute.equal(*_comparable(new, old)), new.is_null())
        values = [
            kept if is_same else made
            for kept, made, is_same in zip(
                column.tolist(), new.to_pylist(), same.to_pylist(), strict=True
            )
        ]
        return pandas.array(values, dtype=dtype)
    if new.null_count and isinstance(dtype.type(), numpy.integer):  # which has no null
        dtype = f"{dtype}".replace("int", "Int").replace("u", "U")
    return pandas.array(
        new.to_pylist() if pyarrow.types.is_integer(new.type) else new.to_pandas(), dtype=dtype
    )


def _comparable(new: Any, old: Any) -> tuple[Any, Any]:
    import pyarrow

    if pyarrow.types.is_nested(new.type):
        return tuple(pyarrow.array(map(repr, each.to_pylist())) for each in (new, old))
    return new, old


def _reindexed(index: Any, levels: dict[int, Any]) -> Any:
    import pandas

    if index.nlevels == 1:
        return pandas.Index(levels[0], name=index.name)
    return pandas.MultiIndex.from_arrays(
        [levels.get(number, index.get_level_values(number)) for number in range(index.nlevels)],
        names=index.names,
    )


def opened(table: Any) -> ArrowFrame:
    """Return a table as batches, whichever library it is of."""
    library = type(table).__module__.partition(".")[0]
    if library == "polars":
        return PolarsFrame(table)
    if library == "pandas":
        return PandasFrame(table)
    if library == "pyarrow" or hasattr(table, "__arrow_c_stream__"):
        return ArrowFrame(table)
    raise UsageError(
        f"a {type(table).__name__} is no table: give an Arrow table, or a frame of pandas or Polars"
    )


def _combined(table: Any) -> Iterator[RecordBatch]:
    """Yield a table in batches of many rows, whatever its chunks are."""
    for first in range(0, table.num_rows, _ROWS):
        rows = validated(table.slice(first, _ROWS))
        yield from rows.combine_chunks().to_batches(max_chunksize=_ROWS)


def _read(reader: Any) -> Iterator[RecordBatch]:
    """Yield the batches of a stream, which may be damaged."""
    import pyarrow

    try:
        for batch in reader:
            if not batch.schema.equals(reader.schema):
                raise CannotMaskError("the batches of the table differ in their columns or types")
            yield validated(batch)
    except (pyarrow.ArrowInvalid, OSError):  # whose message may quote a value
        raise CannotMaskError("the table is damaged: its batches cannot be read") from None


def validated(rows: Any) -> Any:
    """Return a table or batch; raise `CannotMaskError` for one that Arrow might not survive."""
    import pyarrow

    try:
        rows.validate(full=True)
    except pyarrow.ArrowInvalid:  # whose message may quote a value
        raise CannotMaskError("the table is damaged: its `validate(full=True)` fails") from None
    return rows
