"""Parquet files, where pyarrow is installed."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, edited, renamed
from dlpctl.formats.interface import Children, Document, Edits, Limits, Piece, Segment, View
from dlpctl.formats.locators import Units

_CELLS_APART = "\n\n"
_MAGIC = b"PAR1"


class _Column(NamedTuple):
    """The cells of a column are one segment: row numbers and the start of each."""

    number: int
    starts: array[int]

    def locator(self) -> Units:
        return Units(f"column {self.number + 1}", "row", self.starts)

    def place_at(self, offset: int) -> str:
        return self.locator().place_at(offset)


class Parquet(BinaryFormat):
    name = "parquet"
    extensions = (".parquet", ".pq")
    magic = (_MAGIC,)
    text_start = _MAGIC
    is_table = True

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        table = _table(data, limits)
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
        import pyarrow.parquet

        if children:
            raise CannotMaskError("a Parquet file holds no files")
        table = _table(data, Limits())
        for segment, text in edited(document, edits):
            anchor = segment.anchor
            if not isinstance(anchor, _Column):
                continue
            column = table.column(anchor.number)
            if pyarrow.types.is_nested(column.type):
                raise CannotMaskError(
                    "a nested column of the Parquet file holds a value: mask it at its source"
                )
            cells = text.split(_CELLS_APART)
            original = column.to_pylist()
            if len(cells) != len(original):
                raise CannotMaskError(
                    "a cell of the Parquet file cannot be told from its neighbours"
                )
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
        pyarrow.parquet.write_table(
            table.rename_columns(names).replace_schema_metadata(metadata), output
        )
        return output.getvalue()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        table = _table(data, limits)
        return [str(row) for batch in table.to_batches() for row in batch.to_pylist()] + [
            data.decode("latin-1")
        ]


def _table(data: bytes, limits: Limits) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
        Allowance(limits).expanded(sum(group.total_byte_size for group in groups))
        return file.read(use_threads=False)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FormatError("the Parquet file is damaged or encrypted") from error


def _texts(column: Any) -> Iterator[str]:
    for value in column.to_pylist():
        if value is None:
            yield ""
        elif isinstance(value, bytes):
            yield value.decode("utf-8", "replace").replace("\n\n", "\n ")
        else:
            yield str(value).replace("\n\n", "\n ")


FORMATS = (Parquet(),) if find_spec("pyarrow") is not None else ()
