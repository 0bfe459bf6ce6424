"""Documents of Word 6 to 2003 (`.doc`): pieces of text in one stream, their order in another.

Word 6 and 95 keep the text in one piece, in the code page of its fonts.
A masked text keeps its size, and the marks of paragraphs, cells and fields keep their places.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.cellgroups import is_header
from dlpctl.formats.compound import inner
from dlpctl.formats.compound.container import Compound
from dlpctl.formats.compound.document import CompoundFormat
from dlpctl.formats.compound.part import Part
from dlpctl.formats.compound.texts import WIDE, ByteTexts, Run, codec_of_page
from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import Limits, Segment
from dlpctl.formats.office.reading import ColumnPlan, Reading, ViewPlan
from dlpctl.regex import lazy

_MAIN, _TABLES, _DATA = "WordDocument", ("0Table", "1Table"), "Data"
_MARK, _OLD_MARK, _OLDEST = 0xA5EC, 0xA5DC, 0xC1
_FAST_SAVED, _ENCRYPTED, _SECOND_TABLE = 4, 0x100, 0x200
_FLAGS_AT, _COUNTS_AT, _PIECES_AT = 0x0A, 0x4C, 0x1A2
_OLD_TEXT_AT, _OLD_COUNTS_AT, _OLD_FONTS_AT = 0x18, 0x34, 0xD0
_STORIES = (
    "text", "footnotes", "headers", "macros", "comments", "endnotes", "text boxes",
    "text boxes of headers",
)  # fmt: skip
_COMPRESSED = 1 << 30
_NARROW = "cp1252"
_CHARSETS = {161: 1253, 162: 1254, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250}
"""The code pages of fonts, by their character set; others have Western letters or symbols."""
_WESTERN = (0, 1, 2, 77, 255)
_CELL = "\7"
_KEPT = {
    **dict.fromkeys(range(32), " "),
    **dict.fromkeys((10, 11, 12, 13, 14), "\n"),
    **{code: chr(code) for code in (1, 2, 5, 7, 8, 9, 19, 20, 21)},
    30: "-",
    31: "\xad",
}
"""Control characters as they are shown; the marks of cells and fields are shown by their order."""
_MARKS = lazy("[\1\2\5\x08\x13-\x15]")
_UNSEEN = lazy("[\1\2\5\x08\x13-\x15\xad]")
_ROW_END = lazy("\7{2,}")


class _Piece(NamedTuple):
    first: int
    """The number of its first character in the document."""
    last: int
    at: int
    """The position of its bytes."""
    codec: str

    @property
    def width(self) -> int:
        return 2 if self.codec == WIDE else 1


class Word(CompoundFormat):
    name = "doc"
    extensions = (".doc", ".dot")
    main = (_MAIN,)

    def reads(self, path: str) -> bool:
        return path in (_MAIN, _DATA, *_TABLES)

    def parts(self, compound: Compound, limits: Limits) -> Iterator[tuple[str, Part]]:
        data = compound.read(_MAIN)
        part = _part(data, compound)
        yield _MAIN, part
        for path in {*_TABLES, _DATA} & compound.streams.keys():
            other = Part()
            other.children += inner.in_stream(path, compound.read(path), other)
            yield path, other

    def change(
        self, path: str, copy: bytearray, segments: list[Segment], edits: Mapping[str, list[Edit]]
    ) -> None:
        raise CannotMaskError("this is not what was read from the file: read it again")


def _order(data: bytes, compound: Compound) -> tuple[list[_Piece], int]:
    """Return the pieces of the text, and the position of the sizes of its stories."""
    mark, version = struct.unpack_from("<HH", data, 0)
    (flags,) = struct.unpack_from("<H", data, _FLAGS_AT)
    if mark not in (_MARK, _OLD_MARK) or (version < _OLDEST and flags & _FAST_SAVED):
        raise FormatError("the document is of an old version of Word: save it as .docx")
    if flags & _ENCRYPTED:
        raise FormatError("the file is encrypted: save it without a password")
    if version < _OLDEST:
        return [_old_piece(data)], _OLD_COUNTS_AT
    table = _TABLES[bool(flags & _SECOND_TABLE)]
    if table not in compound.streams:
        raise FormatError("a part of the document is missing")
    return _pieces(data, compound.read(table)), _COUNTS_AT


def _old_piece(data: bytes) -> _Piece:
    start, end = struct.unpack_from("<II", data, _OLD_TEXT_AT)
    if not start <= end <= len(data):
        raise FormatError("the texts of the document are cut off")
    codec = _NARROW if data[start:end].isascii() else _old_codec(data)
    return _Piece(0, end - start, start, codec)


def _old_codec(data: bytes) -> str:
    at, size = struct.unpack_from("<II", data, _OLD_FONTS_AT)
    fonts, start = data[at : at + size], 2
    charsets: set[int] = set()
    while start + 4 < len(fonts):
        charsets.add(fonts[start + 4])
        start += fonts[start] + 1
    charsets -= {*_WESTERN}
    if len(charsets) > 1 or not charsets <= _CHARSETS.keys():
        raise FormatError("the document has fonts of several code pages: save it as .docx")
    return codec_of_page(_CHARSETS[charsets.pop()]) if charsets else _NARROW


def _pieces(data: bytes, table: bytes) -> list[_Piece]:
    start, size = struct.unpack_from("<II", data, _PIECES_AT)
    at, end = start, start + size
    if end > len(table):
        raise FormatError("the order of the texts is damaged")
    while at < end and table[at] == 1:  # formatting of a fast save
        at += 3 + int.from_bytes(table[at + 1 : at + 3], "little")
    if at >= end or table[at] != 2:
        raise FormatError("the order of the texts is damaged")
    (size,) = struct.unpack_from("<I", table, at + 1)
    count = (size - 4) // 12
    if at + 5 + size > len(table) or count < 0:
        raise FormatError("the order of the texts is damaged")
    firsts = array("I", table[at + 5 : at + 5 + 4 * (count + 1)])
    found: list[_Piece] = []
    for number, (first, last) in enumerate(pairwise(firsts)):
        (position,) = struct.unpack_from("<I", table, at + 9 + 4 * count + 8 * number + 2)
        width = 1 if position & _COMPRESSED else 2
        position = (position & ~_COMPRESSED) // (2 if width == 1 else 1)
        if last < first or position + (last - first) * width > len(data):
            raise FormatError("the order of the texts is damaged")
        found.append(_Piece(first, last, position, _NARROW if width == 1 else WIDE))
    if sum(last - first for first, last, *_ in found) > len(data):
        raise FormatError("pieces of the text have bytes in common")
    return found


def _part(data: bytes, compound: Compound) -> Part:
    """Return the texts of all stories."""
    part = Part()
    pieces, counts_at = _order(data, compound)
    counts = struct.unpack_from("<8I", data, counts_at)
    total = pieces[-1].last if pieces else 0
    if sum(counts) > total:
        raise FormatError("the texts of the document are cut off")
    bounds = [*accumulate(counts, initial=0)]
    # The characters after the last story are its end.
    bounds[-1] = max(total, bounds[-1])
    for story, (first, last) in zip(_STORIES, pairwise(bounds), strict=True):
        texts = ByteTexts(data, _KEPT)
        raw = texts.add(_runs(pieces, first, last))
        reading = _reading(story, raw)
        paragraphs = array("q", [0, *(at + 1 for at, each in enumerate(raw) if each == "\n")])
        part.readings.append((reading, texts.spot(_MAIN, story, story, "paragraph", paragraphs)))
        part.known += texts.spans()
    part.children += inner.in_stream(_MAIN, data, part)
    return part


def _runs(pieces: list[_Piece], first: int, last: int) -> Iterator[Run]:
    for piece in pieces:
        low, high = max(first, piece.first), min(last, piece.last)
        if low < high:
            at = piece.at + (low - piece.first) * piece.width
            yield Run(at, (high - low) * piece.width, piece.codec)


def _reading(story: str, raw: str) -> Reading:
    """Return a story, with a view of what it shows: results of fields, not their instructions."""
    text = _MARKS.sub(" ", raw).replace(_CELL * 2, "\t\n").replace(_CELL, "\t")
    reading = Reading(story, text, plans=[ViewPlan(story, [(0, len(text))])])
    if _UNSEEN.search(raw):
        reading.plans.append(ViewPlan("shown text", list(_shown(raw))))
    reading.columns.extend(_columns(raw))
    return reading


def _shown(raw: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a story that a reader sees."""
    fields: list[bool] = []
    """True for each open field whose instruction has ended."""
    start = 0
    for mark in _UNSEEN.finditer(raw):
        if start < mark.start() and all(fields):
            yield start, mark.start()
        start = mark.end()
        if mark[0] == "\x13":
            fields.append(False)
        elif mark[0] == "\x14" and fields:
            fields[-1] = True
        elif mark[0] == "\x15" and fields:
            fields.pop()
    if start < len(raw):
        yield start, len(raw)


def _columns(raw: str) -> Iterator[ColumnPlan]:
    """Yield the columns of tables below their headers."""
    headers: list[str] = []
    columns: list[tuple[array[int], array[int]]] = []
    start = 0
    for found in _ROW_END.finditer(raw):
        cells = raw[start : found.start()].split(_CELL)
        if not columns or "\n" in cells[0]:
            # A table starts after a paragraph.
            yield from _below(headers, columns)
            headers = [cells[0].rpartition("\n")[2], *cells[1:]]
            columns = [(array("I"), array("I")) for _ in cells]
        else:
            for cell, (starts, ends) in zip(cells, columns, strict=False):
                starts.append(start)
                ends.append(start + len(cell))
                start += len(cell) + 1
        start = found.end()
    yield from _below(headers, columns)


def _below(
    headers: list[str], columns: list[tuple[array[int], array[int]]]
) -> Iterator[ColumnPlan]:
    for header, (starts, ends) in zip(headers, columns, strict=True):
        label = " ".join(header.split())
        if starts and is_header(label):
            yield ColumnPlan("column", starts, ends, label)
