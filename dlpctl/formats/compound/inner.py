"""Files within older Office files: pictures in drawings, and packages of Office 2007 and later."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from dlpctl.errors import CannotMaskError
from dlpctl.formats.compound.part import Part
from dlpctl.formats.interface import Child, Children, Uninspected
from dlpctl.formats.office.zipped import BLANK_PICTURE
from dlpctl.formats.pictures.bitmap import with_head
from dlpctl.regex import lazy

_BLIP = lazy(
    rb"(?:[\x40\x50]\x3d\x1a|[\x60\x70]\x21\x1b|[\x20\x30]\x54\x1c|[\xa0\xb0]\x46[\x1d\x2a]"
    rb"|[\x20\x30]\x6e[\x1d\x2a]|[\0\x10]\x6e\x1e|[\x80\x90]\x7a\x1f|[\x40\x50]\x6e\x29)\xf0"
)
"""The type of a picture in a drawing."""
_DIGESTS = (17, 33)
"""The bytes of one or two digests and a tag, which precede the picture."""
PACKAGE, _PACKAGE_END, _END_SIZE = b"PK\3\4", b"PK\5\6", 22
_KEY, _PICTURE = ":file:", ":picture:"
_WINDOWS, _BITMAP = -1, 8
_THUMBNAILS = {3: (16, "thumbnail.wmf"), _BITMAP: (8, "thumbnail.bmp"), 14: (8, "thumbnail.emf")}
"""The offset of a picture and its name, by the number of its format."""
_SUFFIXES = {b"\xff\xd8\xff": "jpg", b"\x89PNG\r\n": "png"}


class _HasRange(Protocol):
    @property
    def start(self) -> int: ...

    @property
    def size(self) -> int: ...


class _Range(NamedTuple):
    start: int
    size: int


class _Picture(NamedTuple):
    first: int
    """The position of its record in the joined ranges."""
    start: int
    end: int
    suffix: str


def children(path: str, data: bytes, ranges: Sequence[_HasRange], part: Part) -> Iterator[Child]:
    """Yield the pictures in ranges of a stream, which follow each other, as files."""
    joined = b"".join(data[each.start : each.start + each.size] for each in ranges)
    rest = bytearray(joined)
    for number, picture in enumerate(_pictures(joined), 1):
        spans = _spans(ranges, picture)
        part.known += spans
        drawn = _PICTURE if picture.suffix else ""
        key = f"{path}{_KEY}{drawn}" + ",".join(f"{start}-{end}" for start, end in spans)
        name = f"picture{len(part.children) + number}.{picture.suffix or 'bin'}"
        yield Child(key, name, joined[picture.start : picture.end], spare=True)
        rest[picture.first : picture.end] = bytes(picture.end - picture.first)
    if _BLIP.search(rest):
        part.uninspected.append(Uninspected("drawing", "a picture that is cut off"))


def thumbnail(path: str, data: bytes, start: int, end: int) -> Child | None:
    """Return a picture of the first page, which a masked copy lacks; None if it is of a format that
    no other program reads.
    """
    tag, number = struct.unpack_from("<iI", data, start)
    if tag != _WINDOWS or number not in _THUMBNAILS:
        return None
    offset, name = _THUMBNAILS[number]
    picture = data[start + offset : end]
    if number == _BITMAP:
        picture = with_head(picture)
    return Child(f"{path}{_KEY}{start}-{end}", name, picture, spare=True)


def packages(path: str, data: bytes, part: Part) -> Iterator[Child]:
    """Yield the ZIP packages in a stream, such as the theme of the document."""
    end = 0
    while (start := data.find(PACKAGE, end)) >= 0:
        at = data.find(_PACKAGE_END, start)
        if at < 0:
            part.uninspected.append(Uninspected("package", "a package that is cut off"))
            return
        end = at + _END_SIZE
        part.known.append((start, end))
        number = len(part.children) + 1
        yield Child(f"{path}{_KEY}{start}-{end}", f"package{number}.zip", data[start:end])


def as_file(path: str, name: str, data: bytes, *, spare: bool = False) -> Part:
    """Return a stream that is a file, whose copy may be of another size."""
    return Part(children=[Child(f"{path}{_KEY}", name, data, spare)], is_file=True)


def spare_ranges(path: str, name: str, data: bytes, spans: Sequence[tuple[int, int]]) -> Child:
    """Return ranges of a stream that no reader claims; a copy has zeros instead."""
    key = f"{path}{_KEY}" + ",".join(f"{start}-{end}" for start, end in spans)
    # No format claims data that start with a zero.
    contents = b"\0".join((b"", *(data[start:end] for start, end in spans)))
    return Child(key, name, contents, spare=True)


def in_stream(path: str, data: bytes, part: Part) -> Iterator[Child]:
    """Yield the pictures in a stream, as files."""
    return children(path, data, [_Range(0, len(data))], part)


def _pictures(joined: bytes) -> Iterator[_Picture]:
    at = 0
    while found := _BLIP.search(joined, at):
        start = found.end() + 4
        end = start + int.from_bytes(joined[found.end() : start], "little")
        at = end if start < end <= len(joined) else found.end()
        if at == end:
            yield _picture(joined, found.start(), start, end)


def _picture(joined: bytes, first: int, start: int, end: int) -> _Picture:
    """Return a picture as a file; one in another format than JPEG or PNG with all of its record."""
    for size in _DIGESTS:
        for mark, suffix in _SUFFIXES.items():
            if joined.startswith(mark, start + size) and start + size < end:
                return _Picture(first, start + size, end, suffix)
    return _Picture(first, start, end, "")


def _spans(ranges: Sequence[_HasRange], picture: _Picture) -> list[tuple[int, int]]:
    """Return the ranges of the stream that a picture occupies."""
    found: list[tuple[int, int]] = []
    before = 0
    for each in ranges:
        low = max(picture.start - before, 0)
        high = min(picture.end - before, each.size)
        if low < high:
            found.append((each.start + low, each.start + high))
        before += each.size
    return found


def stream_of(key: str) -> str:
    """Return the stream of a file."""
    return key.partition(_KEY)[0]


def is_stream(key: str) -> bool:
    """Return whether a file is all of its stream."""
    return key.endswith(_KEY)


def replace(path: str, copy: bytearray, changed: Children) -> None:
    """Write new files in the bytes of those before."""
    for key, contents in changed.items():
        if stream_of(key) != path:
            continue
        if is_stream(key):
            copy[:] = contents or b""
            continue
        spans = [tuple(map(int, span.split("-"))) for span in key.rpartition(":")[2].split(",")]
        room = sum(end - start for start, end in spans)
        blank = BLANK_PICTURE[:room] if _PICTURE in key else b""
        padded = (blank if contents is None else contents).ljust(room, b"\0")
        if len(padded) > room:
            raise CannotMaskError("a masked picture or package is larger than before")
        for start, end in spans:
            copy[start:end], padded = padded[: end - start], padded[end - start :]
