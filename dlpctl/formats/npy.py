"""Arrays of numpy (`.npy`): texts of fixed width, and numbers.

Of floats, only whole numbers are shown, as tables store long numbers. Records and Python objects
are not read.
"""

from __future__ import annotations

import ast
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from math import prod
from operator import index
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import BinaryFormat, decodings, edits_by_segment
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import APART, Children, Document, Edits, Limits, Piece, Segment, View
from dlpctl.formats.locators import Items
from dlpctl.formats.pictures.metadata import telling_strings
from dlpctl.formats.recognition import CONTROLS, is_utf8

_MAGIC = b"\x93NUMPY"
_CODES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
          "f4": "f", "f8": "d"}  # fmt: skip
_OPAQUE = {"b1", "f2", "c8", "c16"}
"""Types whose values are no identifiers, as those of times are none: flags, small floats and
complex numbers.
"""
_NO_IDENTIFIER = ""
_STRINGS = "strings"
_KEYS = {"descr", "fortran_order", "shape"}
_TYPE = re.compile(r"([<>|=])([SUbcfiuMm])(\d{1,6})(?:\[\w{1,4}\])?")
_TEXTS = ("S", "U")
_BREAKS = re.compile(r"[\0-\x1f]")
_LONG_VALUE = 1e5
_SHORTEST_TEXT = 4
_LONGEST_HEADER = 1 << 16


class _Layout(NamedTuple):
    start: int
    """The position of the first item."""
    order: str
    code: str
    """The type of the items: `S` and `U` for texts, or the one of a number."""
    size: int


class _Items(NamedTuple):
    """The items with a text: their numbers, and the start of each in the segment."""

    numbers: array[int]
    starts: array[int]

    def locator(self) -> Items:
        return Items("item", self.starts, array("q", (1 + each for each in self.numbers)), [])

    def place_at(self, offset: int) -> str:
        return f"item {self.numbers[max(bisect_right(self.starts, offset) - 1, 0)] + 1:,}"


class Npy(BinaryFormat):
    name = "npy"
    extensions = (".npy",)
    magic = (_MAGIC,)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        items = _Items(array("q"), array("q"))
        texts: list[str] = []
        length = 0
        layout = _layout(data)
        for number, text in _texts(data, layout):
            items.numbers.append(number)
            items.starts.append(length)
            texts.append(text)
            length += len(text) + 1
        segments = [Segment("\n".join(texts), "items", items)] if texts else []
        if strings := _strings(data, layout):
            segments.append(Segment(APART.join(strings), _STRINGS, _STRINGS))
        views = [
            View(segment.location, [Piece(number, 0, len(segment.text))], segments)
            for number, segment in enumerate(segments)
        ]
        return Document(self.name, segments, views)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        layout = _layout(data)
        copy = bytearray(data)
        for number, found in edits_by_segment(edits).items():
            items = document.segments[number].anchor
            if items == _STRINGS:
                raise CannotMaskError("a value is among the numbers of the array")
            if not isinstance(items, _Items):
                raise CannotMaskError("this is not what was read from the file: read it again")
            for item, changes in _by_item(items, found).items():
                at = layout.start + item * layout.size
                copy[at : at + layout.size] = _written(data[at : at + layout.size], changes, layout)
        return bytes(copy)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts = (text for _, text in _texts(data, _layout(data)))
        return [*decodings(data), "\n".join(texts)]


def _layout(data: bytes) -> _Layout:
    size_of_length = 2 if data[6:7] == b"\1" else 4
    start = 8 + size_of_length + int.from_bytes(data[8 : 8 + size_of_length], "little")
    if start > _LONGEST_HEADER:
        raise FormatError("the header of the array is too long")
    text = data[8 + size_of_length : start].decode("latin-1")
    try:
        header = ast.literal_eval(text)
        keys, count = set(header), prod(map(index, header["shape"]))
        found = _TYPE.fullmatch(header["descr"])
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
        raise FormatError("the array holds records or objects, or its header is damaged") from error
    if keys != _KEYS or "#" in text or type(header["fortran_order"]) is not bool:
        raise FormatError("the header of the array holds more than a type and a shape")
    if found is None:
        raise FormatError("the array holds Python objects: save it as CSV")
    order, letter, size = found[1], found[2], int(found[3])
    width = 4 * size if letter == "U" else size
    if start + count * width != len(data) or not width:
        raise FormatError("the array is damaged, or bytes follow it")
    return _Layout(start, order, _code(letter, size), width)


def _code(letter: str, size: int) -> str:
    if letter in "SU":
        return letter
    if letter in "Mm" or f"{letter}{size}" in _OPAQUE:
        return _NO_IDENTIFIER
    if f"{letter}{size}" not in _CODES:
        raise FormatError("the array holds numbers of an unknown type")
    return _CODES[f"{letter}{size}"]


def _codec(layout: _Layout) -> str:
    if layout.code == "S":
        return "latin-1"
    return "utf-32-be" if layout.order == ">" else "utf-32-le"


def _texts(data: bytes, layout: _Layout) -> Iterator[tuple[int, str]]:
    """Yield the items that may be a value, each on one line: texts and long whole numbers."""
    start, size = layout.start, layout.size
    if layout.code == _NO_IDENTIFIER:
        return
    if layout.code in _TEXTS:
        codec = _codec(layout)
        for number, at in enumerate(range(start, len(data), size)):
            text = data[at : at + size].decode(codec, "replace").rstrip("\0")
            if text:
                yield number, _BREAKS.sub(" ", text)
        return
    numbers = array(layout.code, data[start:])
    if layout.order == ">":
        numbers.byteswap()
    for number, each in enumerate(numbers):
        if abs(each) >= _LONG_VALUE and float(each).is_integer():
            yield number, str(int(each))


def _strings(data: bytes, layout: _Layout) -> list[str]:
    """Return the texts among numbers, such as the bytes or the code points of a text."""
    if layout.code in _TEXTS:
        return []
    raw = data[layout.start :]
    text = raw.replace(b"\0", b"")
    if len(text) >= _SHORTEST_TEXT and is_utf8(text) and text.translate(None, CONTROLS) == text:
        return [text.decode()]
    return [*telling_strings(raw), *telling_strings(text)]


def _by_item(items: _Items, edits: list[Edit]) -> dict[int, list[Edit]]:
    """Return the edits of each item; the first item of an edit gets its replacement."""
    found: dict[int, list[Edit]] = {}
    for edit in edits:
        first = bisect_right(items.starts, edit.start) - 1
        for item in range(first, bisect_right(items.starts, edit.end - 1)):
            replacement = edit.replacement if item == first else ""
            at = items.starts[item]
            part = Edit(max(edit.start - at, 0), edit.end - at, replacement)
            found.setdefault(items.numbers[item], []).append(part)
    return found


def _written(raw: bytes, edits: list[Edit], layout: _Layout) -> bytes:
    """Return an item with its edits in its size; a number becomes zero."""
    if layout.code not in _TEXTS:
        return bytes(len(raw))
    codec = _codec(layout)
    text = raw.decode(codec, "replace").rstrip("\0")
    masked = spliced(text, [each.within(0, len(text)) for each in edits])
    return masked.encode(codec, "replace")[: len(raw)].ljust(len(raw), b"\0")


FORMAT = Npy()
