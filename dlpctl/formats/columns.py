"""Parquet, ORC and Arrow files, where pyarrow is installed: row group by row group.

Texts are read and replaced by the core that tables in memory have, `dlpctl.arrow`, so that types,
nulls, categories and nested values stay as they are.
"""

from __future__ import annotations

import io
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import Any, NamedTuple

from dlpctl.arrow import field_names, rewrite
from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import Allowance, BinaryFormat, Names, renamed
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import spliced
from dlpctl.formats.interface import (
    CELLS_APART,
    Children,
    Document,
    Edit,
    Edits,
    Limits,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.formats.locators import Units


class _Column(NamedTuple):
    """The anchor of a segment: the values at one path of a column, and the start of each."""

    path: str
    location: str
    unit: str
    starts: array[int]

    def cell(self, text: str, number: int) -> str:
        """Return one of the values in the text of the segment."""
        first = self.starts[number]
        is_last = number + 1 == len(self.starts)
        return text[first : len(text) if is_last else self.starts[number + 1] - len(CELLS_APART)]

    def locator(self) -> Units:
        return Units(self.location, self.unit, self.starts)

    def place_at(self, offset: int) -> str:
        return self.locator().place_at(offset)


class _Texts:
    """The values at one path, in the order of the file."""

    def __init__(self, header: str) -> None:
        self.header = header
        self.starts = array("q")
        self.parts: list[str] = []
        self._length = 0

    def add(self, texts: Sequence[str], indices: Any) -> None:
        for index in indices.to_pylist():
            self._append("" if index is None else texts[index])

    def pad(self, count: int) -> None:
        for _ in range(count - len(self.parts)):
            self._append("")

    def _append(self, text: str) -> None:
        self.starts.append(self._length)
        self.parts.append(text)
        self._length += len(text) + len(CELLS_APART)


class _Extraction:
    """Collects the texts of a table by path."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._rows = 0
        self.paths: dict[str, _Texts] = {}
        self.missing: dict[str, str] = {}

    def texts(
        self, path: str, header: str, texts: Sequence[str], indices: Any
    ) -> Mapping[int, str]:
        known = self.paths.setdefault(path, _Texts(header))
        if _location(path) == path:  # rows of groups in which all of its values are null
            known.pad(self._rows)
        self._allowance.expanded(sum(map(len, texts)) + len(indices))
        known.add(texts, indices)
        return {}

    def uninspected(self, path: str, reason: str) -> None:
        self.missing[path] = reason

    def end_group(self, rows: int) -> None:
        self._rows += rows


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
        """Keep what the document lists as not inspected."""


class _Opened(NamedTuple):
    schema: Any
    groups: Iterable[Any]
    """Tables, one a row group."""


class ColumnFile(BinaryFormat):
    """A file of one table, by columns."""

    is_table = True

    def __init__(
        self,
        name: str,
        magic: bytes,
        extensions: tuple[str, ...],
        read: Callable[[io.BytesIO, Allowance], _Opened],
        writer: Callable[[io.BytesIO, Any], Any],
    ) -> None:
        """`writer` makes what has the methods `write_table` and `close`."""
        self.name = name
        self.extensions = extensions
        self.magic = (magic,)
        self.text_start = magic
        self._read = read
        self._writer = writer

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        extraction = _Extraction(Allowance(limits))
        opened = self._opened(data, limits)
        for table in self._groups(opened):
            _rewritten(table, extraction)
            extraction.end_group(table.num_rows)
        names = Names()
        for number, field in enumerate(opened.schema, 1):
            names.add(f"column {number}", field.name, f"name of column {number}")
            for inner in [*field_names([field])][1:]:
                names.add(f"field {number}", inner, f"name of a field of column {number}")
        for key, value in (opened.schema.metadata or {}).items():
            names.add(f"metadata {key!r}", value.decode("utf-8", "replace"), "metadata")
        document = names.document(self.name, [])
        for path, texts in extraction.paths.items():
            location = _location(path)
            column = _Column(path, location, "row" if location == path else "value", texts.starts)
            text = CELLS_APART.join(texts.parts)
            document.segments.append(Segment(text, location, column, texts.header))
            full = Piece(len(document.segments) - 1, 0, len(text))
            document.views.append(View(location, [full], document.segments, texts.header))
        document.uninspected += [
            Uninspected(_location(path), reason) for path, reason in extraction.missing.items()
        ]
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        import pyarrow

        if children:
            raise CannotMaskError(f"a file of {self.name} holds no files")
        changes, of_names = _changes(document, edits)
        texts = renamed(document, of_names)
        if any(key.startswith("field ") for key in texts):
            raise CannotMaskError("the name of a nested field holds a value: change it")
        opened = self._opened(data, Limits())
        metadata = {
            key: texts.get(f"metadata {key!r}", value.decode("utf-8", "replace")).encode()
            for key, value in (opened.schema.metadata or {}).items()
            # Arrow's own copy of the schema names the old types and names.
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
            str(row)
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


def _location(path: str) -> str:
    """Return the column of a path; names of fields may hold values."""
    return path.partition(".")[0].partition("[")[0]


def _changes(document: Document, edits: Edits) -> tuple[dict[str, dict[str, str]], list[Edit]]:
    """Return new texts by path and old text, and the edits of names."""
    of_names: list[Edit] = []
    of_cells: dict[tuple[int, int], list[TextEdit]] = {}
    for edit in sorted(edits):
        column = document.segments[edit.segment].anchor
        if isinstance(column, _Column):
            cell = bisect_right(column.starts, edit.start) - 1
            first = column.starts[cell]
            moved = TextEdit(edit.start - first, edit.end - first, edit.replacement)
            of_cells.setdefault((edit.segment, cell), []).append(moved)
        else:
            of_names.append(edit)
    changes: dict[str, dict[str, str]] = {}
    for (number, cell), moved_edits in of_cells.items():
        segment = document.segments[number]
        column = segment.anchor
        assert isinstance(column, _Column)
        text = column.cell(segment.text, cell)
        if moved_edits[-1].end > len(text):
            raise CannotMaskError("a cell of the file cannot be told from its neighbours")
        # Equal cells become equal, so that a value of one is gone from all.
        changes.setdefault(column.path, {}).setdefault(text, spliced(text, moved_edits))
    return changes, of_names


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
    """Writes all batches at the end: a file has one set of categories for all of them."""

    def __init__(self, output: io.BytesIO, schema: Any) -> None:
        self._output = output
        self._schema = schema
        self._tables: list[Any] = []
        self.write_table = self._tables.append

    def close(self) -> None:
        import pyarrow.ipc

        table = pyarrow.concat_tables([self._schema.empty_table(), *self._tables])
        with pyarrow.ipc.new_file(self._output, self._schema) as writer:
            writer.write_table(table.unify_dictionaries())


FORMATS = (
    (
        ColumnFile("parquet", b"PAR1", (".parquet", ".pq"), _read_parquet, _write_parquet),
        ColumnFile("orc", b"ORC", (".orc",), _read_orc, _OrcWriter),
        ColumnFile("arrow", b"ARROW1", (".arrow", ".feather"), _read_arrow, _ArrowWriter),
    )
    if find_spec("pyarrow") is not None
    else ()
)
