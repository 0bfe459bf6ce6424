"""Vector pictures of Windows (EMF, WMF) and StarView: the texts that their records draw.

A picture that contains more than texts and a few lines, such as pixels, private data or shapes that
may be letters, is not inspected; a masked copy has a blank drawing of the same size instead.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.archive import decodings, edits_by_segment
from dlpctl.formats.binary import has_strings
from dlpctl.formats.interface import (
    LIKE_LETTERS,
    Children,
    Document,
    Edits,
    Limits,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.formats.wraps import joined_lines

_EMF_MARK, _EMF_MARK_AT = b" EMF", 40
_PLACEABLE, _PLACEABLE_SIZE, _WMF_HEADER_SIZE = b"\xd7\xcd\xc6\x9a", 22, 18
_WMF_STARTS = (b"\1\0\x09\0\0\3", b"\2\0\x09\0\0\3", b"\1\0\x09\0\0\1")
_STARVIEW = b"VCLMTF"
_WIDE, _NARROW = "utf-16-le", "cp1252"
_GLYPHS = 0x10
"""The option of a text record whose characters are glyph numbers."""
_PIXELS, _PRIVATE = "pixels in a drawing", "private data in a drawing"
_UNKNOWN = "text of a drawing in numbers of glyphs"
_FEW_POINTS = 400
"""Shapes with up to this number of points are a logo or a frame; outlined text has more."""


class _Run(NamedTuple):
    """The characters of a text record, as a range of bytes."""

    start: int
    end: int
    encoding: str


class _Shape(NamedTuple):
    """A record that draws a shape."""

    points: int


_Found = _Run | _Shape | str
"""The contents of a record; a string is the reason why the contents are not inspected."""
_EMF_PIXELS = {76, 77, 78, 79, 80, 81, 93, 94, 114, 116}
_EMF_SHAPES = {
    *range(2, 9),
    15,
    *range(41, 48),
    *range(53, 57),
    *range(71, 76),
    *range(85, 93),
    118,
}
_EMF_STATES = {1, *range(9, 41), *range(48, 53), *range(57, 69), 82, 98, 100, 101, 115}
_EMF_PEN, _PEN_WITHOUT_PIXELS = 95, 64
_EMF_WIDE, _EMF_NARROW = {84: 36, 97: 40}, {83: 36, 96: 40}
"""Text records, and the offset of the description of their first text."""
_EMF_SMALL_TEXT, _EMF_COMMENT, _EMF_END = 108, 70, 14
_PLUS_STRING, _PLUS_DRIVER_STRING, _PLUS_OBJECT = 0x401C, 0x4036, 0x4008
_PLUS_SHAPES = range(0x400A, 0x401A)
_PLUS_STATES = {0x4001, 0x4002, 0x4004, *range(0x401D, 0x4036)}
_PLUS_PATH, _PLUS_IMAGE = 3, 5
_SMALL_OBJECT = 256
_WMF_PIXELS = {0x0940, 0x0B41, 0x0F43, 0x0D33, 0x0142, 0x0922, 0x0B23, 0x01F9}
_WMF_SHAPES = {
    0x0213, 0x0228, 0x0324, 0x0325, 0x0418, 0x0419, 0x041B, 0x041F, 0x0429, 0x0538, 0x0548, 0x061C,
    0x06FF, 0x0817, 0x081A, 0x0830,
}  # fmt: skip
_WMF_STATES = {
    0x0000, 0x001E, 0x0035, 0x0037, 0x00F7, 0x0102, 0x0103, 0x0104, 0x0105, 0x0106, 0x0107, 0x0108,
    0x0127, 0x012A, 0x012B, 0x012C, 0x012D, 0x012E, 0x0139, 0x0149, 0x01F0, 0x0201, 0x0209, 0x020A,
    0x020B, 0x020C, 0x020D, 0x020E, 0x020F, 0x0211, 0x0214, 0x0220, 0x0231, 0x0234, 0x02FA, 0x02FB,
    0x02FC, 0x0410, 0x0412, 0x0415, 0x0416, 0x0436,
}  # fmt: skip
_WMF_TEXT, _WMF_PLACED_TEXT, _WMF_ESCAPE = 0x0521, 0x0A32, 0x0626
_SMALL_ESCAPE = 20
_STARVIEW_SHAPES, _STARVIEW_STATES = range(100, 112), {*range(132, 141), 150}
_STARVIEW_TEXT, _STARVIEW_SPACED_TEXT, _STARVIEW_COMMENT = 112, 113, 512
_STARVIEW_MARKS = (b"XTEXT_", b"XPATH")
"""The starts of comments that repeat what the actions around them draw."""


class Metafile:
    """EMF, WMF or SVM."""

    name = "metafile"
    extensions = (".emf", ".wmf", ".svm")
    text_start = _STARVIEW

    def sniff(self, head: bytes, name: str) -> bool:
        is_emf = head.startswith(b"\1\0\0\0") and head.startswith(_EMF_MARK, _EMF_MARK_AT)
        return is_emf or head.startswith((_PLACEABLE, _STARVIEW, *_WMF_STARTS))

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = Document(self.name, [], [])
        reasons: dict[str, None] = {}
        points = 0
        for found in _records(data):
            if isinstance(found, _Shape):
                points += found.points
            elif isinstance(found, str):
                reasons[found] = None
            else:
                text = data[found.start : found.end].decode(found.encoding, "replace")
                document.segments.append(Segment(text, "drawing", found))
        if points > _FEW_POINTS:
            reasons[LIKE_LETTERS] = None
        if document.segments:
            segments = document.segments
            pieces = [Piece(number, 0, len(each.text)) for number, each in enumerate(segments)]
            lines = [part for piece in pieces for part in (piece, "\n")]
            for parts in (lines, pieces, joined_lines(lines, segments)):
                document.views.append(View("text", parts, segments))
        for reason in reasons:
            document.uninspected.append(Uninspected("drawing", reason, len(document.segments)))
        if reasons:
            document.segments.append(Segment("\ufffd", "drawing"))
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        copy = bytearray(data)
        for number, changes in edits_by_segment(edits).items():
            run = document.segments[number].anchor
            if not isinstance(run, _Run):
                return _blank(data)
            width = 2 if run.encoding == _WIDE else 1
            for start, end, replacement in changes:
                # A record has room for exactly its characters.
                text = replacement[: end - start].ljust(end - start)
                at = run.start + start * width
                copy[at : run.start + end * width] = text.encode(run.encoding, "replace")
        return bytes(copy)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return [*decodings(data), *(data[at:].decode(_WIDE, "replace") for at in (0, 1))]


def _records(data: bytes) -> Iterator[_Found]:
    try:
        if data.startswith(_STARVIEW):
            yield from _starview(data)
        else:
            yield from _emf(data) if data.startswith(_EMF_MARK, _EMF_MARK_AT) else _wmf(data)
    except struct.error as error:
        raise FormatError("the drawing is damaged") from error


def _run(data: bytes, start: int, count: int, encoding: str) -> Iterator[_Run]:
    end = start + count * (2 if encoding == _WIDE else 1)
    if end > len(data):
        raise FormatError("the drawing is damaged")
    if count:
        yield _Run(start, end, encoding)


# ---- EMF


def _emf(data: bytes) -> Iterator[_Found]:
    count, at = struct.unpack_from("<II", data, 60)
    yield from _run(data, at, count, _WIDE)
    at, code = 0, 0
    while code != _EMF_END:
        code, size = struct.unpack_from("<II", data, at)
        if size < 8 or at + size > len(data):
            raise FormatError("the drawing is damaged")
        yield from _emf_record(data, at, code, size)
        at += size
    if data[at:].strip(b"\0"):
        yield _PRIVATE


def _emf_record(data: bytes, at: int, code: int, size: int) -> Iterator[_Found]:
    if code in _EMF_PIXELS:
        yield _PIXELS
    elif code in _EMF_SHAPES:
        yield _Shape(size // 8)
    elif code in (84, 83):
        yield from _emf_text(data, at, at + 36, _WIDE if code == 84 else _NARROW)
    elif code in (96, 97):
        (texts,) = struct.unpack_from("<I", data, at + 36)
        for number in range(min(texts, size // 40)):
            start = at + 40 + 40 * number
            yield from _emf_text(data, at, start, _WIDE if code == 97 else _NARROW)
    elif code == _EMF_SMALL_TEXT:
        count, options = struct.unpack_from("<II", data, at + 16)
        start = at + (36 if options & 0x100 else 52)
        if options & _GLYPHS:
            yield _UNKNOWN
        yield from _run(data, start, count, _NARROW if options & 0x200 else _WIDE)
    elif code == _EMF_COMMENT:
        yield from _emf_comment(data, at, size)
    elif code == _EMF_PEN and size > _PEN_WITHOUT_PIXELS:
        yield _PIXELS
    elif code not in _EMF_STATES and code not in (_EMF_END, _EMF_PEN):
        yield _PRIVATE


def _emf_text(data: bytes, record: int, at: int, encoding: str) -> Iterator[_Found]:
    count, offset, options = struct.unpack_from("<III", data, at + 8)
    if options & _GLYPHS and count:
        yield _UNKNOWN
    else:
        yield from _run(data, record + offset, count, encoding)


def _emf_comment(data: bytes, at: int, size: int) -> Iterator[_Found]:
    (length,) = struct.unpack_from("<I", data, at + 8)
    end = min(at + 12 + length, at + size)
    if data[at + 12 : at + 16] != b"EMF+":
        if data[at + 12 : end].strip(b"\0")[8:]:
            yield _PRIVATE
        return
    at += 16
    while at + 12 <= end:
        code, flags, size, _ = struct.unpack_from("<HHII", data, at)
        if size < 12 or at + size > end:
            raise FormatError("the drawing is damaged")
        yield from _plus_record(data, at, code, flags >> 8 & 0x7F, size)
        at += size


def _plus_record(data: bytes, at: int, code: int, of: int, size: int) -> Iterator[_Found]:
    """Yield the contents of an EMF+ record; `of` is the type of its object."""
    if code == _PLUS_STRING:
        (count,) = struct.unpack_from("<I", data, at + 20)
        yield from _run(data, at + 40, count, _WIDE)
    elif code == _PLUS_DRIVER_STRING:
        options, _, count = struct.unpack_from("<III", data, at + 16)
        if options & 1:
            yield from _run(data, at + 28, count, _WIDE)
        elif count:
            yield _UNKNOWN
    elif code == _PLUS_OBJECT:
        if of == _PLUS_PATH:
            yield _Shape(size // 8)
        elif of == _PLUS_IMAGE or size > _SMALL_OBJECT:
            yield _PIXELS
    elif code in _PLUS_SHAPES:
        yield _Shape(size // 8)
    elif code not in _PLUS_STATES:
        yield _PRIVATE


# ---- WMF


def _wmf(data: bytes) -> Iterator[_Found]:
    at = _WMF_HEADER_SIZE + (_PLACEABLE_SIZE if data.startswith(_PLACEABLE) else 0)
    code = -1
    while code != 0:
        words, code = struct.unpack_from("<IH", data, at)
        if words < 3 or at + 2 * words > len(data):
            raise FormatError("the drawing is damaged")
        yield from _wmf_record(data, at, code, 2 * words)
        at += 2 * words
    if data[at:].strip(b"\0"):
        yield _PRIVATE


def _wmf_record(data: bytes, at: int, code: int, size: int) -> Iterator[_Found]:
    if code in _WMF_PIXELS:
        yield _PIXELS
    elif code in _WMF_SHAPES:
        yield _Shape(size // 4)
    elif code == _WMF_TEXT:
        (count,) = struct.unpack_from("<H", data, at + 6)
        yield from _run(data, at + 8, count, _NARROW)
    elif code == _WMF_PLACED_TEXT:
        count, options = struct.unpack_from("<HH", data, at + 10)
        if options & _GLYPHS and count:
            yield _UNKNOWN
        else:
            yield from _run(data, at + (22 if options & 6 else 14), count, _NARROW)
    elif code not in _WMF_STATES and not (code == _WMF_ESCAPE and size <= _SMALL_ESCAPE):
        yield _PRIVATE


# ---- StarView


def _starview(data: bytes) -> Iterator[_Found]:
    count_at, at = _starview_count(data)
    (count,) = struct.unpack_from("<I", data, count_at)
    for _ in range(count):
        code, _, size = struct.unpack_from("<HHI", data, at)
        at += 8
        if at + size > len(data):
            raise FormatError("the drawing is damaged")
        yield from _starview_action(data, at, code, at + size)
        at += size
    if data[at:].strip(b"\0"):
        yield _PRIVATE


def _starview_action(data: bytes, at: int, code: int, end: int) -> Iterator[_Found]:
    if code in _STARVIEW_SHAPES:
        yield _Shape((end - at) // 8)
    elif code in (_STARVIEW_TEXT, _STARVIEW_SPACED_TEXT):
        (count,) = struct.unpack_from("<I", data, at + 8)
        yield from _run(data, at + 12, count, _WIDE)
        at += 16 + 2 * count
        if code == _STARVIEW_SPACED_TEXT:
            (spaces,) = struct.unpack_from("<I", data, at)
            at += 4 + 4 * spaces
        (count,) = struct.unpack_from("<H", data, at)
        yield from _run(data, at + 2, count, _WIDE)
        if at + 2 + 2 * count != end:
            yield _PRIVATE
    elif code == _STARVIEW_COMMENT and data.startswith(_STARVIEW_MARKS, at + 2):
        at += 2 + int.from_bytes(data[at : at + 2], "little")
        yield _PRIVATE if has_strings(data[at:end]) else _Shape((end - at) // 32)
    elif code not in _STARVIEW_STATES:
        yield _PRIVATE


# ---- blank drawings


def _blank(data: bytes) -> bytes:
    """Return a drawing of the same size without any record that draws."""
    if data.startswith(_STARVIEW):
        count, end = _starview_count(data)
        return data[:count] + bytes(4) + data[count + 4 : end]
    if not data.startswith(_EMF_MARK, _EMF_MARK_AT):
        start = data[:_PLACEABLE_SIZE] if data.startswith(_PLACEABLE) else b""
        return start + struct.pack("<HHHIHIH", 1, 9, 0x300, 12, 0, 3, 0) + struct.pack("<IH", 3, 0)
    header = struct.pack("<II", 1, 88) + data[8:48]
    header += struct.pack("<IIHHIII", 108, 2, 1, 0, 0, 0, 0) + data[72:88]
    return header + struct.pack("<IIIII", _EMF_END, 20, 0, 16, 20)


def _starview_count(data: bytes) -> tuple[int, int]:
    """Return the position of the number of actions, and the end of the header."""
    (size,) = struct.unpack_from("<I", data, 8)
    (scale,) = struct.unpack_from("<I", data, 18)
    count, end = 22 + scale + 8, 12 + size
    if not count + 4 <= end <= min(len(data), count + 8):
        raise FormatError("the drawing is damaged")
    return count, end


FORMAT = Metafile()
