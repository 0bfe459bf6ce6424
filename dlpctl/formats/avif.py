"""The boxes of AVIF pictures, by which a file is told to have nothing but coded pixels.

The boxes are those of ISO/IEC 14496-12 and 23008-12. Whatever else a file has is not inspected, and
a copy that is made from the pixels does not have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

MAGIC = (b"ftypavif", b"ftypavis")
"""The starts of files after their first four bytes."""
_NAMES = (b"\0", b"libavif\0", b"Color\0", b"Alpha\0")
"""Names that encoders write."""
_PROPERTIES = frozenset(b"ispe pixi av1C colr irot imir pasp clap auxC".split())
_ALPHA = b"\0\0\0\0urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"


class _Box(NamedTuple):
    name: bytes
    start: int
    """The start of the contents."""
    end: int


def is_plain(data: bytes) -> bool:
    """Return whether a file has nothing but coded pixels and what is needed to show them."""
    try:
        brands, meta, pixels = _boxes(data, 0, len(data))
        parts = {box.name: box for box in _boxes(data, meta.start + 4, meta.end)}
        if (brands.name, meta.name, pixels.name) != (b"ftyp", b"meta", b"mdat"):
            return False
        if set(parts) - {b"iref"} != {b"hdlr", b"pitm", b"iloc", b"iinf", b"iprp"}:
            return False
        return (
            data[parts[b"hdlr"].start + 24 : parts[b"hdlr"].end] in _NAMES
            and all(_is_picture(data, item) for item in _items(data, parts[b"iinf"]))
            and all(_is_technical(data, each) for each in _properties(data, parts[b"iprp"]))
            and _covers(_extents(data, parts[b"iloc"].start), pixels)
        )
    except (ValueError, IndexError):
        return False


def _boxes(data: bytes, at: int, end: int) -> Iterator[_Box]:
    """Yield the boxes of a range; raise `ValueError` if they do not fill it."""
    while at < end:
        size = _number(data, at, 4)
        if size < 8 or at + size > end:
            raise ValueError("a box of another size")
        yield _Box(data[at + 4 : at + 8], at + 8, at + size)
        at += size


def _items(data: bytes, box: _Box) -> Iterator[_Box]:
    return _boxes(data, box.start + 6, box.end)


def _properties(data: bytes, box: _Box) -> Iterator[_Box]:
    container, _ = _boxes(data, box.start, box.end)
    return _boxes(data, container.start, container.end)


def _is_picture(data: bytes, item: _Box) -> bool:
    return data[item.start + 8 : item.start + 12] == b"av01" and (
        data[item.start + 12 : item.end] in _NAMES
    )


def _is_technical(data: bytes, box: _Box) -> bool:
    contents = data[box.start : box.end]
    return box.name in _PROPERTIES and (box.name != b"auxC" or contents == _ALPHA)


def _extents(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the file that hold items, as version 0 of their table lists them."""
    sizes = _number(data, at, 6)
    offset_size, length_size, base_size = sizes >> 12 & 15, sizes >> 8 & 15, sizes >> 4 & 15
    count, at = _number(data, at + 6, 2), at + 8
    for _ in range(count):
        base = _number(data, at + 4, base_size)
        extents, at = _number(data, at + 4 + base_size, 2), at + 6 + base_size
        for _ in range(extents):
            start = base + _number(data, at, offset_size)
            at += offset_size
            yield start, start + _number(data, at, length_size)
            at += length_size


def _covers(extents: Iterator[tuple[int, int]], box: _Box) -> bool:
    """Return whether ranges follow each other from the start of a box to its end."""
    ordered = sorted(extents)
    return (
        bool(ordered)
        and (ordered[0][0], ordered[-1][1]) == box[1:]
        and all(first[1] == second[0] for first, second in pairwise(ordered))
    )


def _number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise ValueError("cut off")
    return int.from_bytes(data[at : at + size])
