"""Read the tables of Parquet, ORC and Arrow files, by row groups or in parts of some rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.archive import Allowance
from dlpctl.formats.columnar.arrow_sections import arrow_parts

ROWS = 1 << 13
"""The most rows that are unpacked at the same time, where that can be chosen."""
_SMALL_STRIPES = 1 << 20
"""The bytes, or values, up to which an ORC file is read by stripes."""


class TablePart(NamedTuple):
    """A table of some rows, and maybe of some columns."""

    table: Any
    column: int = 0
    """The number of columns before its own."""
    row: int = 0
    """The number of rows before its own, if it has some columns."""


class OpenedTable(NamedTuple):
    schema: Any
    groups: Iterable[TablePart]
    """Tables, one per row group."""
    parts: Iterable[TablePart] | None = None
    """Smaller tables, if a row group may be large."""


def read_parquet(source: Any, allowance: Allowance) -> OpenedTable:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(source)
    count = file.metadata.num_row_groups
    allowance.expanded(sum(file.metadata.row_group(each).total_byte_size for each in range(count)))
    groups = (TablePart(file.read_row_group(each, use_threads=False)) for each in range(count))
    return OpenedTable(
        file.schema_arrow, groups, map(_part, file.iter_batches(ROWS, use_threads=False))
    )


def read_orc(source: Any, allowance: Allowance) -> OpenedTable:
    import pyarrow.orc

    file = pyarrow.orc.ORCFile(source)
    groups = _parts(map(file.read_stripe, range(file.nstripes)), allowance)
    is_small = max(file.content_length, file.nrows * len(file.schema)) < _SMALL_STRIPES
    return OpenedTable(file.schema, groups, None if is_small else _orc_parts(source))


def _orc_parts(source: Any) -> Iterator[TablePart]:
    """Yield the rows of an ORC file, of which only data sets unpack a stripe in parts."""
    import pyarrow.dataset

    scanned = pyarrow.dataset.OrcFileFormat().make_fragment(source)
    batches = scanned.to_batches(
        batch_size=ROWS, use_threads=False, batch_readahead=0, fragment_readahead=0
    )
    yield from map(_part, batches)


def read_arrow(source: Any, allowance: Allowance) -> OpenedTable:
    import pyarrow.ipc

    file = pyarrow.ipc.open_file(source)
    batches = map(file.get_batch, range(file.num_record_batches))
    return OpenedTable(file.schema, _parts(batches, allowance), _arrow_parts(source))


def read_stream(source: Any, allowance: Allowance) -> OpenedTable:
    import pyarrow.ipc

    def batches() -> Iterator[Any]:
        yield from stream
        if source.read(1):
            raise FormatError("the Arrow stream is followed by other data")

    stream = pyarrow.ipc.open_stream(source)
    return OpenedTable(stream.schema, _parts(batches(), allowance), _arrow_parts(source))


def _arrow_parts(source: Any) -> Iterator[TablePart]:
    """Yield the rows of an Arrow file; of large batches that are compressed, by columns."""
    import pyarrow.ipc

    def read(first: int, last: int) -> bytes:
        data: bytes = source.read_at(last - first, first)
        return data

    row = following = 0
    for part, stream in arrow_parts(read, source.size()):
        column = part.columns.start or 0
        if not column and not part.row:
            row = following  # of the next batch
        at = row + part.row
        for each in map(_part, pyarrow.ipc.open_stream(stream)):
            yield each._replace(column=column, row=at)
            at += each.table.num_rows
        following = max(following, at)


def _parts(batches: Iterable[Any], allowance: Allowance) -> Iterator[TablePart]:
    for batch in batches:
        allowance.expanded(batch.nbytes)
        yield _part(batch)


def _part(batch: Any) -> TablePart:
    import pyarrow

    return TablePart(pyarrow.Table.from_batches([batch]))
