"""dBASE tables, as geographic and accounting programs write them: records of fixed width.

Values are masked within the width of their fields. Memos are files of their own.
"""

from __future__ import annotations

import re
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import BinaryFormat, decodings, edits_by_segment, kept
from dlpctl.formats.containers.zip_files import printable
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import Child, Children, Document, Edits, Limits, Piece, Segment, View
from dlpctl.formats.locators import Items
from dlpctl.formats.recognition import is_utf8

_VERSIONS = b"\x02\x03\x30\x31\x32\x83\x8b\xcb\xf5\xfb"
_HEADER, _FIELD, _NAME = 32, 32, 11
_FIELDS_END = b"\r"
_VISUAL = range(0x30, 0x33)
_PATH_OF_DATABASE = 263
"""Bytes after the fields in tables of Visual FoxPro."""
_CODE_PAGES = {
    0x01: "cp437", 0x02: "cp850", 0x08: "cp865", 0x13: "cp932", 0x1B: "cp863", 0x1F: "cp852",
    0x26: "cp866", 0x40: "cp852", 0x4D: "gb18030", 0x4E: "cp949", 0x4F: "cp950", 0x64: "cp852",
    0x65: "cp866", 0x66: "cp865", 0x78: "cp950", 0x79: "cp949", 0x7A: "gb18030", 0x7B: "cp932",
    0x7C: "cp874", 0x7D: "cp1255", 0x7E: "cp1256", 0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254",
    0xCB: "cp1253", 0xCC: "cp1257",
}  # fmt: skip
_NUMBERS = {b"I": "<i", b"+": ">i", b"B": "<d", b"Y": "<q"}
_OPAQUE = {b"T": 8, b"@": 8, b"0": 8, **dict.fromkeys((b"G", b"M", b"P", b"W"), 4)}
"""The size of times, flags and pointers in binary form; what is longer may be a text."""
_TYPES = b"+0@BCDFGILMNOPQTVWY"
_DECIMAL = {b"F", b"N"}
_FLAGS = b" *"
"""The first byte of a record: `*` if it is deleted."""
_WIDE = 16
"""The size from which a field holds texts that may be longer."""
_PADDING = b" \0\x1a"
_BREAKS = re.compile(r"[\0-\x1f]")


class _Field(NamedTuple):
    name: str
    type: bytes
    start: int
    """The position in the record."""
    size: int


class _Layout(NamedTuple):
    """The positions of the records."""

    fields: list[_Field]
    first: int
    width: int
    records: int
    codec: str

    @property
    def end(self) -> int:
        return self.first + self.width * self.records

    def position(self, number: int) -> tuple[int, _Field]:
        """Return the position of a cell in the file, and its field."""
        record, column = divmod(number, len(self.fields))
        field = self.fields[column]
        return self.first + record * self.width + field.start, field


class _Cells(NamedTuple):
    """The location of each cell, by the start of its text."""

    starts: array[int]
    names: list[str]

    def number_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def locator(self) -> Items | None:
        width = len(self.names)
        numbers = array("q", (1 + at // width for at in range(len(self.starts))))
        return Items("record", self.starts, numbers, self.names) if numbers else None

    def place_at(self, offset: int) -> str:
        record, column = divmod(self.number_at(offset), len(self.names))
        return f"record {record + 1:,}, {self.names[column]}"


class Dbf(BinaryFormat):
    name = "dbf"
    extensions = (".dbf",)
    is_table = True

    def sniff(self, head: bytes, name: str) -> bool:
        try:
            layout = _layout(head)
        except FormatError:
            return False
        return layout.width == 1 + sum(field.size for field in layout.fields)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        layout = _layout(data)
        if layout.end > len(data):
            raise FormatError("the dBASE table is cut off")
        if data[layout.first : layout.end : layout.width].strip(_FLAGS):
            raise FormatError("the records of the dBASE table are damaged")
        texts: list[str] = []
        starts, ends = array("q"), array("q")
        length = 0
        for number in range(layout.records * len(layout.fields)):
            at, field = layout.position(number)
            text = _shown(data[at : at + field.size], field.type, layout.codec)
            starts.append(length)
            ends.append(length + len(text))
            texts.append(text)
            length += len(text) + 1
        width = len(layout.fields)
        rows = ("\t".join(texts[at : at + width]) for at in range(0, len(texts), width))
        names = [field.name for field in layout.fields]
        cells = "\n".join(rows)
        header = printable(data[_HEADER : layout.first])
        segments = [
            Segment(cells, "records", _Cells(starts, names)),
            Segment(header, "names of fields"),
        ]
        views = [
            View(text, [Piece(at, 0, len(segments[at].text))], segments)
            for at, text in enumerate(("records", "names of fields"))
        ]
        if full := list(_continued(data, layout, starts, ends)):
            views.append(View("cells that continue", full, segments))
        for column, name in enumerate(names):
            spans = partial(_column, starts, ends, slice(column, None, width))
            views.append(View.of_cells(f"column {name}", cells, 0, spans, name))
        after = data[layout.end :]
        children = [Child("end", f"bytes after {layout.end}", after, spare=True)]
        return Document(
            self.name, segments, views, children=children if after.strip(_PADDING) else []
        )

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        layout = _layout(data)
        changes = edits_by_segment(edits)
        if 1 in changes:
            raise CannotMaskError("the name of a field holds a value: rename it at its source")
        records = document.segments[0]
        if not isinstance(records.anchor, _Cells):
            raise CannotMaskError("this is not what was read from the file: read it again")
        copy = bytearray(data[: layout.end])
        for number, cell_edits in _by_cell(records, changes.get(0, [])).items():
            at, field = layout.position(number)
            text = _shown(data[at : at + field.size], field.type, layout.codec)
            copy[at : at + field.size] = _written(text, cell_edits, field, layout.codec)
        after = kept(children, "end", data[layout.end :])
        return bytes(copy) + (b"\x1a" if after is None else after)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return [*decodings(data), data.decode(_layout(data).codec, "replace")]


def _layout(data: bytes) -> _Layout:
    """Return the layout that a header describes."""
    if len(data) < _HEADER + _FIELD or data[0] not in _VERSIONS or data[2] > 12 or data[3] > 31:
        raise FormatError("the file is not a dBASE table")
    count, first, width = struct.unpack_from("<IHH", data, 4)
    fields = list(_fields(data[:first])) if first > _HEADER + _FIELD else []
    if not fields or not all(field.size and field.type in _TYPES for field in fields) or not width:
        raise FormatError("the header of the dBASE table is damaged")
    codec = _CODE_PAGES.get(data[29], "cp1252")
    if is_utf8(data[first : first + count * width]):
        codec = "utf-8"
    return _Layout(fields, first, width, count, codec)


def _fields(header: bytes) -> Iterator[_Field]:
    end = header.rfind(_FIELDS_END, 0, len(header) - _PATH_OF_DATABASE * (header[0] in _VISUAL))
    position = 1
    for at in range(_HEADER, end, _FIELD):
        name, field_type, size, decimals = struct.unpack_from("<11sc4xBB", header, at)
        if field_type == b"C":
            size += decimals << 8
        yield _Field(name.split(b"\0")[0].decode("latin-1"), field_type, position, size)
        position += size


def _column(starts: array[int], ends: array[int], rows: slice) -> tuple[array[int], array[int]]:
    return starts[rows], ends[rows]


def _shown(raw: bytes, field_type: bytes, codec: str) -> str:
    """Return the text of a cell, without its padding and on one line."""
    number = _NUMBERS.get(field_type, "")
    if number and len(raw) == struct.calcsize(number):
        (value,) = struct.unpack(number, raw)
        return str(int(value)) if float(value).is_integer() else str(value)
    if len(raw) <= _OPAQUE.get(field_type, 0):
        return ""
    return _BREAKS.sub(" ", raw.decode(codec, "replace")).strip()


def _continued(
    data: bytes, layout: _Layout, starts: array[int], ends: array[int]
) -> Iterator[Piece | str]:
    """Yield runs of cells in which a text fills a wide field and continues in the next one."""
    run: list[Piece | str] = []
    for number, span in enumerate(zip(starts, ends, strict=True)):
        at, field = layout.position(number)
        before, after = data[at - 2 : at], data[at : at + 2]
        is_first = number % len(layout.fields) == 0
        blanks = (
            len(before) - len(before.rstrip(_PADDING)) + len(after) - len(after.lstrip(_PADDING))
        )
        if run and (is_first or field.type != b"C" or blanks > 1):
            yield from [*run, "\n"] if len(run) > 1 else []
            run = []
        if run or (field.type == b"C" and field.size >= _WIDE):
            run += [*([" "] if run and blanks else []), Piece(0, *span)]
    yield from run if len(run) > 1 else []


def _by_cell(records: Segment, edits: list[Edit]) -> dict[int, list[Edit]]:
    """Return the edits of each cell, relative to its text; the first cell of an edit gets its
    replacement.
    """
    cells = records.anchor
    assert isinstance(cells, _Cells)
    found: dict[int, list[Edit]] = {}
    for edit in edits:
        number = cells.number_at(edit.start)
        found.setdefault(number, []).append(edit.moved(-cells.starts[number]))
        for following in range(number + 1, cells.number_at(edit.end - 1) + 1):
            rest = Edit(0, edit.end - cells.starts[following], "")
            found.setdefault(following, []).append(rest)
    return found


def _written(text: str, edits: list[Edit], field: _Field, codec: str) -> bytes:
    """Return a cell with its edits, as wide as before."""
    size = field.size
    if field.type in _NUMBERS:
        return bytes(size)
    if field.type in _DECIMAL:
        return b"*" * size  # shows that a number does not fit
    if field.type in (b"D", b"L"):
        return b" " * size
    edits = [each.within(0, len(text)) for each in edits]
    if len(spliced(text, edits).encode(codec, "replace")) > size:
        edits = [
            each._replace(replacement=each.replacement[: each.end - each.start]) for each in edits
        ]
    written = spliced(text, edits).encode(codec, "replace")[:size]
    return written.decode(codec, "ignore").encode(codec, "replace").ljust(size)


FORMAT = Dbf()
