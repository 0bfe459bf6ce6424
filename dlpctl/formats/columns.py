"""Parquet and ORC files, where pyarrow is installed."""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, edited, renamed
from dlpctl.formats.interface import Children, Document, Edits, Limits, Piece, Segment, View
from dlpctl.formats.locators import Units

_CELLS_APART = "\n\n"


class _Column(NamedTuple):
    """The cells of a column are one segment: row numbers and the start of each."""

    number: int
    starts: array[int]

    def locator(self) -> Units:
        return Units(f"column {self.number + 1}", "row", self.starts)

    def place_at(self, offset: int) -> str:
        return self.locator().place_at(offset)


class ColumnFile(BinaryFormat):
    """A file of one table, by columns."""

    is_table = True

    def __init__(
        self,
        name: str,
        magic: bytes,
        extensions: tuple[str, ...],
        read: Callable[[io.BytesIO, Allowance], Any],
        write: Callable[[Any, io.BytesIO], None],
    ) -> None:
        self.name = name
        self.extensions = extensions
        self.magic = (magic,)
        self.text_start = magic
        self._read = read
        self._write = write

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        table = self._table(data, limits)
        names = Names()
        for index, column in enumerate(table.column_names):
            names.add(f"column {index}", column, f"name of column {index + 1}")
        for key, value in (table.schema.metadata or {}).items():
            names.add(f"metadata {key!r}", value.decode("utf-8", "replace"), "metadata")
        document = names.document(self.name, [])
        allowance = Allowance(limits)
        for index, column in enumerate(table.column_names):
            starts = array("q")
            texts: list[str] = []
            length = 0
            for value in _texts(table.column(index)):
                starts.append(length)
                texts.append(value)
                length += len(value) + len(_CELLS_APART)
                allowance.expanded(len(value))
            text = _CELLS_APART.join(texts)
            document.segments.append(
                Segment(text, f"column {index + 1}", _Column(index, starts), column)
            )
            full = Piece(len(document.segments) - 1, 0, len(text))
            document.views.append(View(f"column {index + 1}", [full], document.segments, column))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        import pyarrow

        if children:
            raise CannotMaskError(f"a file of {self.name} holds no files")
        table = self._table(data, Limits())
        for segment, text in edited(document, edits):
            anchor = segment.anchor
            if not isinstance(anchor, _Column):
                continue
            column = table.column(anchor.number)
            if pyarrow.types.is_nested(column.type):
                raise CannotMaskError(
                    "a nested column of the file holds a value: mask it at its source"
                )
            cells = text.split(_CELLS_APART)
            original = column.to_pylist()
            if len(cells) != len(original):
                raise CannotMaskError("a cell of the file cannot be told from its neighbours")
            values = [
                None if old is None else new for old, new in zip(original, cells, strict=True)
            ]
            table = table.set_column(
                anchor.number, table.column_names[anchor.number], pyarrow.array(values, "string")
            )
        texts = renamed(
            document,
            [edit for edit in edits if isinstance(document.segments[edit.segment].anchor, str)],
        )
        names = [
            texts.get(f"column {index}", name) for index, name in enumerate(table.column_names)
        ]
        metadata = {
            key: texts.get(f"metadata {key!r}", value.decode("utf-8", "replace")).encode()
            for key, value in (table.schema.metadata or {}).items()
            # Arrow's own copy of the schema names the old types and names.
            if key not in {b"ARROW:schema", b"pandas"} or not edits
        }
        output = io.BytesIO()
        self._write(table.rename_columns(names).replace_schema_metadata(metadata), output)
        return output.getvalue()

    def _table(self, data: bytes, limits: Limits) -> Any:
        import pyarrow

        try:
            return self._read(io.BytesIO(data), Allowance(limits))
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise FormatError(f"the file of {self.name} is damaged or encrypted") from error

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        table = self._table(data, limits)
        return [str(row) for batch in table.to_batches() for row in batch.to_pylist()] + [
            data.decode("latin-1")
        ]


def _texts(column: Any) -> Iterator[str]:
    for value in column.to_pylist():
        if value is None:
            yield ""
        elif isinstance(value, bytes):
            yield value.decode("utf-8", "replace").replace("\n\n", "\n ")
        else:
            yield str(value).replace("\n\n", "\n ")


def _read_parquet(source: io.BytesIO, allowance: Allowance) -> Any:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(source)
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    allowance.expanded(sum(group.total_byte_size for group in groups))
    return file.read(use_threads=False)


def _write_parquet(table: Any, output: io.BytesIO) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, output)


def _read_orc(source: io.BytesIO, allowance: Allowance) -> Any:
    import pyarrow.orc

    file = pyarrow.orc.ORCFile(source)
    batches = []
    for number in range(file.nstripes):
        batches.append(file.read_stripe(number))
        allowance.expanded(batches[-1].nbytes)
    return pyarrow.Table.from_batches(batches, file.schema)


def _write_orc(table: Any, output: io.BytesIO) -> None:
    import pyarrow.orc

    pyarrow.orc.write_table(table, output)


FORMATS = (
    (
        ColumnFile("parquet", b"PAR1", (".parquet", ".pq"), _read_parquet, _write_parquet),
        ColumnFile("orc", b"ORC", (".orc",), _read_orc, _write_orc),
    )
    if find_spec("pyarrow") is not None
    else ()
)
