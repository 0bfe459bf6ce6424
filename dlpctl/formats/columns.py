"""Parquet, ORC and Arrow files, if pyarrow is installed: one row group at a time.

`dlpctl.arrow` reads and replaces the texts, as for tables in memory, so that types, nulls,
categories and nested values stay unchanged.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import Any

from dlpctl.arrow import field_names, rewrite_column
from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, renamed
from dlpctl.formats.columnar.arrow_messages import CONTINUES, FILE_MAGIC, starts_stream
from dlpctl.formats.columnar.arrow_sections import arrow_sections
from dlpctl.formats.columnar.orc_sections import orc_sections
from dlpctl.formats.columnar.orc_tail import MAGIC
from dlpctl.formats.columnar.parquet_sections import parquet_sections
from dlpctl.formats.columnar.reading import (
    ROWS,
    OpenedTable,
    TablePart,
    read_arrow,
    read_orc,
    read_parquet,
    read_stream,
)
from dlpctl.formats.interface import Children, Document, Edits, Limits
from dlpctl.formats.sections import ReadRange, Section
from dlpctl.formats.tablecells import PART, TableTexts, changes_of

_FIRST_ROWS = 1 << 8
"""The rows that are read first."""


class _Extraction:
    """Collects the texts of a table by path."""

    def __init__(self, collected: TableTexts) -> None:
        self._collected = collected

    def texts(
        self, path: str, header: str, texts: Sequence[str], indices: Any
    ) -> Mapping[int, str]:
        numbers = indices.fill_null(len(texts)).to_pylist()
        self._collected.extend(path, header, [*map([*texts, ""].__getitem__, numbers)])
        return {}

    def uninspected(self, path: str, reason: str) -> None:
        self._collected.miss(path, reason)


class _Masking:
    """Replaces the texts that edits change, by path."""

    def __init__(self, changes: Mapping[str, Mapping[str, str]]) -> None:
        self._changes = changes

    def texts(
        self, path: str, _header: str, texts: Sequence[str], _indices: Any
    ) -> Mapping[int, str]:
        changes = self._changes.get(path)
        if not changes:
            return {}
        return {number: changes[text] for number, text in enumerate(texts) if text in changes}

    def uninspected(self, path: str, reason: str) -> None:
        """Keep values that the document lists as not inspected."""


class ColumnFile(BinaryFormat):
    """A file of one table that is stored by columns."""

    is_table = True

    def __init__(
        self,
        name: str,
        magic: bytes,
        extensions: tuple[str, ...],
        read: Callable[[Any, Allowance], OpenedTable],
        writer: Callable[[io.BytesIO, Any], Any],
        sections: Callable[[ReadRange, int], Iterator[Section]] | None = None,
    ) -> None:
        """`writer` returns an object with the methods `write_table` and `close`."""
        self.name = name
        self.extensions = extensions
        self.magic = (magic,)
        self.text_start = magic if magic.isascii() else b""
        self._read = read
        self._writer = writer
        self.sections = sections

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        opened = self._opened(data, limits)
        (document,) = self._documents(opened, opened.groups, limits, limits.expanded_bytes)
        return document

    def extract_parts(self, data: bytes, limits: Limits) -> Iterator[Document]:
        """Yield documents of some rows each, so that memory does not grow with the rows."""
        opened = self._opened(data, limits)
        parts = opened.groups if opened.parts is None else opened.parts
        return self._documents(opened, parts, limits, PART)

    def _documents(
        self, opened: OpenedTable, parts: Iterable[TablePart], limits: Limits, most: int
    ) -> Iterator[Document]:
        """Yield documents of up to about `most` characters."""
        collected = TableTexts(Allowance(limits))
        extraction = _Extraction(collected)
        names = _names(opened.schema)
        rows, column = _FIRST_ROWS, 0
        for part in self._valid(parts):
            first, count = 0, part.table.num_rows
            starts_again = part.column != column
            column = part.column
            while first < count:
                if starts_again or collected.size > most:
                    yield collected.document(self.name, names)
                    collected.start_part(part.row if starts_again else collected.rows)
                    starts_again, names = False, Names()
                before = collected.size
                _rewritten(part.table.slice(first, rows), extraction, column)
                collected.rows += min(count - first, rows)
                first += rows
                rows = _rows_after(rows, collected.size - before)
        yield collected.document(self.name, names)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        import pyarrow

        if children:
            raise CannotMaskError(f"a file of {self.name} holds no files")
        changes, of_names = changes_of(document, edits)
        texts = renamed(document, of_names)
        if any(key.startswith("field ") for key in texts):
            raise CannotMaskError("the name of a nested field holds a value: change it")
        opened = self._opened(data, Limits())
        metadata = {
            key: texts.get(f"metadata {key!r}", value.decode("utf-8", "replace")).encode()
            for key, value in (opened.schema.metadata or {}).items()
            # Arrow's own copy of the schema has the old types and names.
            if key not in {b"ARROW:schema", b"pandas"} or not edits
        }
        fields = [
            field.with_name(texts.get(f"column {number}", field.name))
            for number, field in enumerate(opened.schema, 1)
        ]
        schema = pyarrow.schema(fields, metadata)
        masking = _Masking(changes)
        output = io.BytesIO()
        with closing(self._writer(output, schema)) as writer:
            for table, *_ in self._valid(opened.groups):
                columns = _rewritten(table, masking)
                writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema))
        return output.getvalue()

    def _opened(self, data: bytes, limits: Limits) -> OpenedTable:
        import pyarrow

        try:
            return self._read(pyarrow.BufferReader(data), Allowance(limits))
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise self._damaged() from error

    def _valid(self, parts: Iterable[TablePart]) -> Iterator[TablePart]:
        import pyarrow

        try:
            for part in parts:
                part.table.validate(full=True)
                yield part
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise self._damaged() from error

    def _damaged(self) -> FormatError:
        return FormatError(f"the file of {self.name} is damaged or encrypted")

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        rows = [
            json.dumps(row, default=str, ensure_ascii=False)
            for table, *_ in self._valid(self._opened(data, limits).groups)
            for batch in table.to_batches()
            for row in batch.to_pylist()
        ]
        return [*rows, data.decode("latin-1")]


def _names(schema: Any) -> Names:
    """Return the names of columns and fields, and the metadata."""
    names = Names()
    for number, field in enumerate(schema, 1):
        names.add(f"column {number}", field.name, f"name of column {number}")
        for inner in [*field_names([field])][1:]:
            names.add(f"field {number}", inner, f"name of a field of column {number}")
    for key, value in (schema.metadata or {}).items():
        names.add(f"metadata {key!r}", value.decode("utf-8", "replace"), "metadata")
    return names


def _rows_after(rows: int, size: int) -> int:
    """Return how many rows to read next, after rows with so many characters."""
    if size > PART // 2:
        return max(rows // 2, 1)
    return min(rows * 2, ROWS) if size < PART // 8 else rows


def _rewritten(table: Any, visitor: _Extraction | _Masking, before: int = 0) -> list[Any]:
    """Return the columns of a table with the replacements of a visitor, after those before it."""
    columns = zip(table.schema, table.columns, strict=True)
    return [
        rewrite_column(_in_one(column), field, f"column {number}", visitor)
        for number, (field, column) in enumerate(columns, before + 1)
    ]


def _in_one(column: Any) -> Any:
    import pyarrow

    combined = column.combine_chunks()
    if isinstance(combined, pyarrow.ChunkedArray):
        combined = pyarrow.concat_arrays(combined.chunks)
    return combined


def _write_parquet(output: io.BytesIO, schema: Any) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetWriter(output, schema)


class _OrcWriter:
    def __init__(self, output: io.BytesIO, _schema: Any) -> None:
        import pyarrow.orc

        self._writer = pyarrow.orc.ORCWriter(output)
        self.write_table = self._writer.write
        self.close = self._writer.close


class _ArrowWriter:
    """Writes all batches at the end: a file has one set of categories for all batches."""

    opener = "new_file"

    def __init__(self, output: io.BytesIO, schema: Any) -> None:
        self._output = output
        self._schema = schema
        self._tables: list[Any] = []
        self.write_table = self._tables.append

    def close(self) -> None:
        import pyarrow.ipc

        table = pyarrow.concat_tables([self._schema.empty_table(), *self._tables])
        with getattr(pyarrow.ipc, self.opener)(self._output, self._schema) as writer:
            writer.write_table(table.unify_dictionaries())


class _StreamWriter(_ArrowWriter):
    opener = "new_stream"


class _ArrowStream(ColumnFile):
    """Arrow's format of messages without a directory of them."""

    def sniff(self, head: bytes, name: str) -> bool:
        return starts_stream(head)


FORMATS = (
    (
        ColumnFile(
            "parquet",
            b"PAR1",
            (".parquet", ".pq"),
            read_parquet,
            _write_parquet,
            parquet_sections,
        ),
        ColumnFile("orc", MAGIC, (".orc",), read_orc, _OrcWriter, orc_sections),
        ColumnFile(
            "arrow",
            FILE_MAGIC,
            (".arrow", ".feather"),
            read_arrow,
            _ArrowWriter,
            arrow_sections,
        ),
        _ArrowStream(
            "arrow stream",
            CONTINUES,
            (".arrow", ".arrows"),
            read_stream,
            _StreamWriter,
            arrow_sections,
        ),
    )
    if find_spec("pyarrow") is not None
    else ()
)
