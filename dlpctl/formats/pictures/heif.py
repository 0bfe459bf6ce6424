"""The boxes of HEIC and AVIF pictures, by which a file is told to have nothing but pictures.

The boxes are those of ISO/IEC 14496-12 and 23008-12. Whatever else a file has is not inspected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

_AVIF = (b"avif", b"avis")
_HEIC = (b"heic", b"heix", b"heim", b"heis")
_EITHER = b"mif1"
_BOXES = frozenset(b"ftyp meta mdat free".split())
_META = frozenset(b"hdlr dinf pitm iloc iinf iprp iref idat grpl".split())
_PROPERTIES = frozenset(
    b"ispe pixi av1C hvcC colr irot imir pasp auxC clli mdcv rloc cclv amve lsel".split()
)
_CODED = frozenset(b"av01 hvc1 grid iden iovl".split())
EXIF = b"Exif"
_METADATA = (EXIF, b"mime")
_TECHNICAL = b"tmap"
"""Numbers by which the shades of two pictures are combined."""
_MOST_TECHNICAL = 256
_NAMES = (b"", b"libavif", b"Color", b"Alpha", b"Exif", b"XMP", b"application/rdf+xml")
"""Names and types that encoders write."""
_LOCAL = bytes.fromhex("0000001c6472656600000000000000010000000c75726c2000000001")
"""The only place of data that a file needs: itself."""
_APART = (b"thmb", b"auxl")
"""References by which pictures are shown in place of others, or not at all."""
_SKIPPED = b"skip"
_HIDDEN = 1
_ALPHA = b"\0\0\0\0urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"
_DAMAGE = (ValueError, IndexError, KeyError)
_NO_EXIF = b"\0\0\0\0MM\0*\0\0\0\x08" + bytes(6)


class _Box(NamedTuple):
    name: bytes
    start: int
    """The start of the contents."""
    end: int


class _Item(NamedTuple):
    number: int
    name: bytes
    """The type of the item."""
    rest: bytes
    """The name and the type of contents in its entry."""
    at: int
    """The position of its flags."""


class _Reference(NamedTuple):
    name: bytes
    at: int
    """The position of its name."""
    source: int
    targets: tuple[int, ...]


class _Contents(NamedTuple):
    """The items of a file."""

    primary: int
    items: list[_Item]
    references: list[_Reference]
    extents: dict[int, list[tuple[int, int]]]
    """The ranges of the file that hold an item."""
    auxiliary: list[bytes]
    """The types of pictures that are shown with another."""

    def tiles(self) -> set[int]:
        """Return the items that are a part of a larger picture."""
        grids = {item.number for item in self.items if item.name == b"grid"}
        return {
            target
            for each in self.references
            if each.name == b"dimg" and each.source in grids
            for target in each.targets
        }

    def pictures(self) -> list[_Item]:
        tiles = self.tiles()
        return [item for item in self.items if item.name in _CODED and item.number not in tiles]


def is_heic(head: bytes) -> bool:
    return _is_of(head, _HEIC)


def is_avif(head: bytes) -> bool:
    return _is_of(head, _AVIF)


def _is_of(head: bytes, brands: tuple[bytes, ...]) -> bool:
    if head[4:8] != b"ftyp":
        return False
    end = int.from_bytes(head[:4])
    listed = [head[at : at + 4] for at in range(16, min(end, len(head)), 4)]
    return head[8:12] in brands or (head[8:12] == _EITHER and any(map(brands.__contains__, listed)))


def is_plain(data: bytes) -> bool:
    """Return whether a file has nothing but one picture, its alpha channel, what they are made of
    and notes.
    """
    try:
        contents = _read(data)
    except _DAMAGE:
        return False
    alpha = {each.source for each in contents.references if each.name == b"auxl"}
    shown = {contents.primary, *alpha}
    return all(each == _ALPHA for each in contents.auxiliary) and all(
        item.number in shown for item in contents.pictures()
    )


def picture_count(data: bytes) -> int:
    """Return how many pictures a file has that `all_shown` shows; 0 if it has more than these."""
    try:
        return len(_read(data).pictures())
    except _DAMAGE:
        return 0


def all_shown(data: bytes) -> bytes:
    """Return a HEIC file that shows every picture by itself: thumbnails, and depths, too."""
    copy = bytearray(data)
    with suppress(*_DAMAGE):
        contents = _read(data)
        for each in contents.references:
            if each.name in _APART:
                copy[each.at : each.at + 4] = _SKIPPED
        for item in contents.pictures():
            copy[item.at] &= ~_HIDDEN
    return bytes(copy)


def note_items(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the type and the contents of each item that is no picture, as far as the file can be
    read.
    """
    with suppress(*_DAMAGE):
        contents = _read(data)
        for item in contents.items:
            if item.name in _METADATA:
                ranges = contents.extents.get(item.number, ())
                yield item.name, b"".join(data[start:end] for start, end in ranges)


def without_notes(data: bytes) -> bytes:
    """Return a plain file without what its items say besides the pictures, of the same size."""
    contents = _read(data)
    copy = bytearray(data)
    for item in contents.items:
        blank = (_NO_EXIF, b"\0") if item.name == EXIF else (b"", b" ")
        for start, end in contents.extents.get(item.number, ()) if item.name in _METADATA else ():
            first = blank[0] if end - start >= len(blank[0]) else b""
            copy[start:end] = first.ljust(end - start, blank[1])
    return bytes(copy)


def _read(data: bytes) -> _Contents:
    """Return the contents of a file; raise `ValueError` if it has more than pictures."""
    boxes = list(_boxes(data, 0, len(data)))
    (meta,) = (box for box in boxes if box.name == b"meta")
    children = list(_boxes(data, meta.start + 4, meta.end))
    parts = {box.name: box for box in children}
    _require({box.name for box in boxes} <= _BOXES and parts.keys() <= _META)
    _require(len(parts) == len(children))
    if b"grpl" in parts:
        _require(parts[b"grpl"].end - parts[b"grpl"].start <= _MOST_TECHNICAL)
    handler = parts[b"hdlr"]
    _require(data[handler.start + 24 : handler.end].strip(b"\0") in _NAMES)
    if b"dinf" in parts:
        _require(data[parts[b"dinf"].start : parts[b"dinf"].end] == _LOCAL)
    items = list(_items(data, parts[b"iinf"]))
    _require(all(item.rest in _NAMES for item in items))
    properties = list(_properties(data, parts[b"iprp"]))
    extents = _extents(data, parts[b"iloc"].start, parts.get(b"idat"))
    for item in items:
        size = sum(end - start for start, end in extents.get(item.number, ()))
        is_technical = item.name == _TECHNICAL and size <= _MOST_TECHNICAL
        _require(item.name in _CODED or item.name in _METADATA or is_technical)
    _require_covered(data, boxes, parts.get(b"idat"), extents)
    width = 4 if data[parts[b"pitm"].start] else 2
    primary = _number(data, parts[b"pitm"].start + 4, width)
    references = list(_references(data, parts[b"iref"])) if b"iref" in parts else []
    auxiliary = [data[box.start : box.end] for box in properties if box.name == b"auxC"]
    return _Contents(primary, items, references, extents, auxiliary)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("more than pictures")


def _boxes(data: bytes, at: int, end: int) -> Iterator[_Box]:
    """Yield the boxes of a range; raise `ValueError` if they do not fill it."""
    while at < end:
        size, head = _number(data, at, 4), 8
        if size == 1:
            size, head = _number(data, at + 8, 8), 16
        if size < head or at + size > end:
            raise ValueError("a box of another size")
        yield _Box(data[at + 4 : at + 8], at + head, at + size)
        at += size


def _properties(data: bytes, box: _Box) -> Iterator[_Box]:
    for part in _boxes(data, box.start, box.end):
        _require(part.name in {b"ipco", b"ipma"})
        for each in _boxes(data, part.start, part.end) if part.name == b"ipco" else ():
            _require(each.name in _PROPERTIES)
            yield each


def _items(data: bytes, box: _Box) -> Iterator[_Item]:
    count_size = 4 if data[box.start] else 2
    for entry in _boxes(data, box.start + 4 + count_size, box.end):
        width = {2: 2, 3: 4}.get(data[entry.start], 0)
        _require(entry.name == b"infe" and width > 0)
        at = entry.start + 6 + width
        rest = data[at + 4 : entry.end].strip(b"\0")
        number = _number(data, entry.start + 4, width)
        yield _Item(number, data[at : at + 4], rest, entry.start + 3)


def _references(data: bytes, box: _Box) -> Iterator[_Reference]:
    width = 4 if data[box.start] else 2
    for each in _boxes(data, box.start + 4, box.end):
        count = _number(data, each.start + width, 2)
        first = each.start + width + 2
        targets = tuple(_number(data, first + n * width, width) for n in range(count))
        name_at = data.rindex(each.name, 0, each.start)
        yield _Reference(each.name, name_at, _number(data, each.start, width), targets)


def _extents(data: bytes, at: int, inner: _Box | None) -> dict[int, list[tuple[int, int]]]:
    """Return the ranges of the file that hold each item."""
    version, sizes = data[at], _number(data, at + 4, 2)
    offset_size, length_size, base_size = sizes >> 12 & 15, sizes >> 8 & 15, sizes >> 4 & 15
    index_size = sizes & 15 if version else 0
    _require(length_size > 0)  # so that each range takes some of the table
    width = 4 if version > 1 else 2
    count, at = _number(data, at + 6, width), at + 6 + width
    found: dict[int, list[tuple[int, int]]] = {}
    for _ in range(count):
        ranges = found.setdefault(_number(data, at, width), [])
        at += width
        within = _number(data, at, 2) & 15 if version else 0
        _require(within == 0 or (within == 1 and inner is not None))
        at += 4 if version else 2
        base = _number(data, at, base_size) + (inner.start if within and inner else 0)
        extents, at = _number(data, at + base_size, 2), at + base_size + 2
        for _ in range(extents):
            at += index_size
            start = base + _number(data, at, offset_size)
            at += offset_size
            ranges.append((start, start + _number(data, at, length_size)))
            at += length_size
    return found


def _require_covered(
    data: bytes, boxes: list[_Box], inner: _Box | None, extents: dict[int, list[tuple[int, int]]]
) -> None:
    """Raise `ValueError` if data are not those of an item, or those of two."""
    holders = [box for box in (*boxes, inner) if box and box.name in {b"mdat", b"idat"}]
    starts, ends = {box.start for box in holders}, {box.end for box in holders}
    borders = ((at, at) for at in starts | ends)
    ranges = sorted([*borders, *(each for ranges in extents.values() for each in ranges)])
    spare = [(box.start, box.end) for box in boxes if box.name == b"free"]
    for (_, before), (after, end) in pairwise(ranges):
        _require(before <= after <= end <= len(data))
        if not (before in ends and after in starts):
            spare.append((before, after))
    _require(not any(data[start:end].strip(b"\0") for start, end in spare))


def _number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise ValueError("cut off")
    return int.from_bytes(data[at : at + size])
