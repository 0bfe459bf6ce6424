"""Pictures in the drawings of older Office files, as files within the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.errors import CannotMaskError
from dlpctl.formats.interface import Child, Children, Uninspected
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.formats.compound.document import Part

_BLIP = lazy(
    rb"[\0-\xff]{2}(?P<type>[\x1a-\x1f\x29\x2a])\xf0(?P<size>[\0-\xff]{4})"
    rb"(?P<id>[\0-\xff]{17}|[\0-\xff]{33})(?=(?P<mark>\xff\xd8\xff|\x89PNG\r\n))",
    re.DOTALL,
)
_OTHER = lazy(rb"[\0-\xff]{2}[\x1a-\x1c\x1f\x29]\xf0[\0-\xff]{2}[\0-\x0f]\0", re.DOTALL)
_KEY = ":picture:"
_SUFFIXES = {b"\xff\xd8\xff": "jpg", b"\x89PNG\r\n": "png"}


class _Range(Protocol):
    @property
    def start(self) -> int: ...

    @property
    def size(self) -> int: ...


class _Picture(NamedTuple):
    start: int
    """The position in the joined ranges."""
    end: int
    suffix: str


def children(path: str, data: bytes, ranges: Sequence[_Range], part: Part) -> Iterator[Child]:
    """Yield the pictures in ranges of a stream, which follow each other, as files."""
    joined = b"".join(data[each.start : each.start + each.size] for each in ranges)
    read = 0
    for picture in _pictures(joined):
        spans = _spans(ranges, picture)
        part.known += spans
        key = f"{path}{_KEY}" + ",".join(f"{start}-{end}" for start, end in spans)
        number = len(part.children) + 1
        yield Child(key, f"picture{number}.{picture.suffix}", joined[picture.start : picture.end])
        read = picture.end
    if _OTHER.search(joined, read):
        part.uninspected.append(Uninspected("drawing", "a picture of unknown format"))


def _pictures(joined: bytes) -> Iterator[_Picture]:
    at = 0
    while found := _BLIP.search(joined, at):
        size = int.from_bytes(found["size"], "little")
        end = found.start() + 8 + size
        if end > len(joined) or end <= found.end():
            at = found.start() + 1
            continue
        yield _Picture(found.end(), end, _SUFFIXES[found["mark"]])
        at = end


def _spans(ranges: Sequence[_Range], picture: _Picture) -> list[tuple[int, int]]:
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
    """Return the stream of a picture."""
    return key.partition(_KEY)[0]


def replace(path: str, copy: bytearray, changed: Children) -> None:
    """Write new pictures in the bytes of those before."""
    for key, contents in changed.items():
        if stream_of(key) != path:
            continue
        spans = [
            tuple(map(int, span.split("-"))) for span in key.partition(_KEY)[2].split(",")
        ]
        room = sum(end - start for start, end in spans)
        if contents is None or len(contents) > room:
            raise CannotMaskError("a masked picture is larger than the one in the file")
        padded = contents.ljust(room, b"\0")
        for start, end in spans:
            copy[start:end], padded = padded[: end - start], padded[end - start :]
