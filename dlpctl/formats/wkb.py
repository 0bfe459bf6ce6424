"""Geometries as databases store them: well-known binary, alone or after the header of GeoPackage,
and the blobs of SpatiaLite.

A blob counts as a geometry only if it consists of one: numbers, of which a point is a position.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from dlpctl.formats.pictures.metadata import telling_strings

_PACKAGE, _PACKAGE_HEADER = b"GP\0", 8
_ENVELOPES = (0, 32, 48, 48, 64)
_LITE_START, _LITE_BOX, _LITE_END = 0x00, 0x7C, 0xFE
_LITE_HEADER, _LITE_PART = 39, 0x69
_POINT = 1
_LINES, _RINGS = {2, 8}, {3, 17}
_COLLECTIONS = {4, 5, 6, 7, 9, 10, 11, 12, 15, 16}
_Z, _M, _REFERENCE = 0x80000000, 0x40000000, 0x20000000
_DEEPEST = 8


class _NoGeometryError(ValueError):
    """The bytes are no geometry."""


class _Shape(NamedTuple):
    end: int
    point: int | None
    """The position of the coordinates of a single point."""
    order: str


def texts_of_geometry(data: bytes) -> list[str] | None:
    """Return the position of a point, and the strings with a value; None for no geometry."""
    try:
        shape = _geometry(data)
    except (_NoGeometryError, struct.error):
        return None
    position = []
    if shape.point is not None:
        x, y = struct.unpack_from(f"{shape.order}2d", data, shape.point)
        position.append(f"POINT ({x} {y})")
    return [*position, *telling_strings(data)]


def _geometry(data: bytes) -> _Shape:
    if len(data) < _PACKAGE_HEADER:
        raise _NoGeometryError
    if data.startswith(_PACKAGE):
        envelope = data[3] >> 1 & 7
        if envelope >= len(_ENVELOPES):
            raise _NoGeometryError
        shape = _shape(data, _PACKAGE_HEADER + _ENVELOPES[envelope])
        end = len(data)
    elif data[:1] == bytes((_LITE_START,)) and data[-1] == _LITE_END:
        if len(data) <= _LITE_HEADER or data[_LITE_HEADER - 1] != _LITE_BOX:
            raise _NoGeometryError
        shape = _body(data, _LITE_HEADER, _order(data[1]), 0, is_lite=True)
        end = len(data) - 1
    else:
        shape, end = _shape(data, 0), len(data)
    if shape.end != end:
        raise _NoGeometryError
    return shape


def _order(mark: int) -> str:
    if mark > 1:
        raise _NoGeometryError
    return "<" if mark else ">"


def _shape(data: bytes, at: int, depth: int = 0) -> _Shape:
    """Read a geometry that starts with the order of its bytes."""
    if at >= len(data):
        raise _NoGeometryError
    return _body(data, at + 1, _order(data[at]), depth, is_lite=False)


def _body(data: bytes, at: int, order: str, depth: int, *, is_lite: bool) -> _Shape:
    """Read a geometry from its type on."""
    if depth > _DEEPEST:
        raise _NoGeometryError
    (code,) = struct.unpack_from(f"{order}I", data, at)
    at += 4 + (4 if code & _REFERENCE else 0)
    more, base = divmod(code & 0xFFFF, 1000)
    if code & 0x1FFF0000 or more > 3:
        raise _NoGeometryError
    numbers = 2 + max((0, 1, 1, 2)[more], bool(code & _Z) + bool(code & _M))
    if base == _POINT:
        return _Shape(_after(data, at, numbers), at, order)
    (count,) = struct.unpack_from(f"{order}I", data, at)
    at += 4
    if base in _LINES:
        return _Shape(_after(data, at, count * numbers), None, order)
    if base in _RINGS:
        for _ in range(count):
            (points,) = struct.unpack_from(f"{order}I", data, at)
            at = _after(data, at + 4, points * numbers)
    elif base in _COLLECTIONS:
        for _ in range(count):
            if is_lite and data[at : at + 1] == bytes((_LITE_PART,)):
                at = _body(data, at + 1, order, depth + 1, is_lite=True).end
            else:
                at = _shape(data, at, depth + 1).end
    else:
        raise _NoGeometryError
    return _Shape(at, None, order)


def _after(data: bytes, at: int, numbers: int) -> int:
    """Return the position after so many numbers."""
    if at + 8 * numbers > len(data):
        raise _NoGeometryError
    return at + 8 * numbers
