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
from typing import Any, NamedTuple

from dlpctl.arrow import field_names, rewrite
from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, renamed
from dlpctl.formats.arrowmessages import CONTINUES, FILE_MAGIC, starts_stream
from dlpctl.formats.arrowsections import arrow_sections
from dlpctl.formats.interface import Children, Document, Edits, Limits
from dlpctl.formats.orcsections import orc_sections
from dlpctl.formats.orctail import MAGIC
from dlpctl.formats.parquetsections import parquet_sections
from dlpctl.formats.sections import ReadRange, Section
from dlpctl.formats.tablecells import TableTexts, changes_of

_ROWS = 1 << 16
"""Rows whose texts are objects at the same time."""


class _Extraction:
    """Collects the texts of a table by path."""

    def __init__(self, collected: TableTexts) -> None:
        self._collected = collected

    def texts(
        self, path: str, header: str, texts: Sequence[str], indices: Any
    ) -> Mapping[int, str]:
        add = self._collected.cells(path, header)
        for number in indices.to_pylist():
            add("" if number is None else texts[number])
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


class _Opened(NamedTuple):
    schema: Any
    groups: Iterable[Any]
    """Tables, one per row group."""


class ColumnFile(BinaryFormat):
    """A file of one table that is stored by columns."""

    is_table = True

    def __init__(
        self,
        name: str,
        magic: bytes,
        extensions: tuple[str, ...],
        read: Callable[[io.BytesIO, Allowance], _Opened],
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
        collected = TableTexts(Allowance(limits))
        extraction = _Extraction(collected)
        opened = self._opened(data, limits)
        for table in self._groups(opened):
            for first in range(0, table.num_rows, _ROWS):
                _rewritten(table.slice(first, _ROWS), extraction)
                collected.rows += min(table.num_rows - first, _ROWS)
        names = Names()
        for number, field in enumerate(opened.schema, 1):
            names.add(f"column {number}", field.name, f"name of column {number}")
            for inner in [*field_names([field])][1:]:
                names.add(f"field {number}", inner, f"name of a field of column {number}")
        for key, value in (opened.schema.metadata or {}).items():
            names.add(f"metadata {key!r}", value.decode("utf-8", "replace"), "metadata")
        return collected.document(self.name, names)

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
            for table in self._groups(opened):
                columns = _rewritten(table, masking)
                writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema))
        return output.getvalue()

    def _opened(self, data: bytes, limits: Limits) -> _Opened:
        import pyarrow

        try:
            return self._read(io.BytesIO(data), Allowance(limits))
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise self._damaged() from error

    def _groups(self, opened: _Opened) -> Iterator[Any]:
        import pyarrow

        try:
            for table in opened.groups:
                table.validate(full=True)
                yield table
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise self._damaged() from error

    def _damaged(self) -> FormatError:
        return FormatError(f"the file of {self.name} is damaged or encrypted")

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        rows = [
            json.dumps(row, default=str, ensure_ascii=False)
            for table in self._groups(self._opened(data, limits))
            for batch in table.to_batches()
            for row in batch.to_pylist()
        ]
        return [*rows, data.decode("latin-1")]


def _rewritten(table: Any, visitor: _Extraction | _Masking) -> list[Any]:
    """Return the columns of a table with the replacements of a visitor."""
    return [
        rewrite(_in_one(column), f"column {number}", field.name, visitor)
        for number, (field, column) in enumerate(zip(table.schema, table.columns, strict=True), 1)
    ]


def _in_one(column: Any) -> Any:
    import pyarrow

    combined = column.combine_chunks()
    if isinstance(combined, pyarrow.ChunkedArray):
        combined = pyarrow.concat_arrays(combined.chunks)
    return combined


def _read_parquet(source: io.BytesIO, allowance: Allowance) -> _Opened:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(source)
    count = file.metadata.num_row_groups
    allowance.expanded(sum(file.metadata.row_group(each).total_byte_size for each in range(count)))
    groups = (file.read_row_group(each, use_threads=False) for each in range(count))
    return _Opened(file.schema_arrow, groups)


def _write_parquet(output: io.BytesIO, schema: Any) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetWriter(output, schema)


def _read_orc(source: io.BytesIO, allowance: Allowance) -> _Opened:
    import pyarrow.orc

    file = pyarrow.orc.ORCFile(source)
    return _Opened(file.schema, _tables(map(file.read_stripe, range(file.nstripes)), allowance))


def _read_arrow(source: io.BytesIO, allowance: Allowance) -> _Opened:
    import pyarrow.ipc

    file = pyarrow.ipc.open_file(source)
    batches = map(file.get_batch, range(file.num_record_batches))
    return _Opened(file.schema, _tables(batches, allowance))


def _read_stream(source: io.BytesIO, allowance: Allowance) -> _Opened:
    import pyarrow.ipc

    def batches() -> Iterator[Any]:
        yield from stream
        if source.read(1):
            raise FormatError("the Arrow stream is followed by other data")

    stream = pyarrow.ipc.open_stream(source)
    return _Opened(stream.schema, _tables(batches(), allowance))


def _tables(batches: Iterable[Any], allowance: Allowance) -> Iterator[Any]:
    import pyarrow

    for batch in batches:
        allowance.expanded(batch.nbytes)
        yield pyarrow.Table.from_batches([batch])


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
            _read_parquet,
            _write_parquet,
            parquet_sections,
        ),
        ColumnFile("orc", MAGIC, (".orc",), _read_orc, _OrcWriter, orc_sections),
        ColumnFile(
            "arrow",
            FILE_MAGIC,
            (".arrow", ".feather"),
            _read_arrow,
            _ArrowWriter,
            arrow_sections,
        ),
        _ArrowStream(
            "arrow stream",
            CONTINUES,
            (".arrow", ".arrows"),
            _read_stream,
            _StreamWriter,
            arrow_sections,
        ),
    )
    if find_spec("pyarrow") is not None
    else ()
)
