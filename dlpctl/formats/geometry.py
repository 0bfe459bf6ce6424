"""Shapes as binary numbers: STL models, and shapefiles with their indexes.

A file counts as inspected if it consists of shapes alone; STL begins with a text.
"""

from __future__ import annotations

import struct

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.archive import BinaryFormat, edited
from dlpctl.formats.interface import APART, Children, Document, Edits, Limits, Piece, Segment, View
from dlpctl.formats.pictures.metadata import telling_strings

_STL_TEXT, _FACET = 80, 50
_SHAPE_HEADER, _SHAPE_CODE = 100, 9994
_SHAPES = {0, 1, 3, 5, 8, 11, 13, 15, 18, 21, 23, 25, 28, 31}
_INDEX_RECORD, _SHORTEST = 8, 12
_STRINGS = "strings"


class _Geometry(BinaryFormat):
    """Strings with a value among the numbers are found, and nothing can replace them."""

    def document(self, data: bytes, header: str = "") -> Document:
        texts = {"header": header, _STRINGS: APART.join(telling_strings(data))}
        segments = [Segment(text, location, location) for location, text in texts.items() if text]
        views = [
            View(segment.location, [Piece(number, 0, len(segment.text))], segments)
            for number, segment in enumerate(segments)
        ]
        return Document(self.name, segments, views)

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        for segment, text in edited(document, edits):
            if segment.anchor == _STRINGS:
                raise CannotMaskError("a value is among the numbers of a shape")
            header = text.encode("latin-1", "replace")[:_STL_TEXT].ljust(_STL_TEXT)
            data = header + data[_STL_TEXT:]
        return data


class Stl(_Geometry):
    """A model for printers and machines."""

    name = "stl"
    extensions = (".stl",)

    def sniff(self, head: bytes, name: str) -> bool:
        return name.lower().endswith(self.extensions) and b"\0" in head[: _STL_TEXT + 4]

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        count = int.from_bytes(data[_STL_TEXT : _STL_TEXT + 4], "little")
        if len(data) != _STL_TEXT + 4 + _FACET * count:
            raise FormatError("the STL model is damaged, or bytes follow it")
        header = data[:_STL_TEXT].rstrip(b"\0 ").decode("latin-1")
        return self.document(data[_STL_TEXT:], header)


class Shapes(_Geometry):
    """The shapes of a shapefile or their index; the texts are in the table beside it."""

    name = "shapefile"
    extensions = (".shp", ".shx")

    def sniff(self, head: bytes, name: str) -> bool:
        if len(head) < _SHAPE_HEADER:
            return False
        code, *unused, _ = struct.unpack_from(">7i", head)
        version, shape = struct.unpack_from("<2i", head, 28)
        return code == _SHAPE_CODE and version == 1000 and shape in _SHAPES and not any(unused)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        words = int.from_bytes(data[24:28])
        if 2 * words != len(data) or not (_is_index(data) or _are_shapes(data)):
            raise FormatError("the shapefile is damaged, or bytes follow it")
        return self.document(data)


def _is_index(data: bytes) -> bool:
    """Return whether the records are positions that follow each other."""
    at = _SHAPE_HEADER // 2
    if (len(data) - _SHAPE_HEADER) % _INDEX_RECORD:
        return False
    for position, length in struct.iter_unpack(">2i", data[_SHAPE_HEADER:]):
        if position != at:
            return False
        at += length + _INDEX_RECORD // 2
    return True


def _are_shapes(data: bytes) -> bool:
    """Return whether the records are numbered shapes of one type."""
    (shape,) = struct.unpack_from("<i", data, 32)
    at, number = _SHAPE_HEADER, 1
    while at + _SHORTEST <= len(data):
        record, words = struct.unpack_from(">2i", data, at)
        (record_shape,) = struct.unpack_from("<i", data, at + 8)
        if record != number or words < 2 or record_shape not in (0, shape):
            return False
        at += 8 + 2 * words
        number += 1
    return at == len(data)


FORMATS = (Stl(), Shapes())
