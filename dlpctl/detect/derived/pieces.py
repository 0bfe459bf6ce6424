"""The parts of a decoded text as columns of numbers: a long text has millions of them."""

from __future__ import annotations

from array import array

from dlpctl.regex import lazy
from dlpctl.texts.positions import positions

_REST_OF_WORD = lazy(rb"[0-9A-Za-z+/=_-]{0,200}")


class Pieces:
    """The parts of a decoded text with their spans in the original; a decoded part has the span of
    its run.
    """

    __slots__ = ("decoded", "ends", "origins", "starts")

    def __init__(self, size: int) -> None:
        """`size` is that of the original."""
        self.starts = array("q")
        """The start of each part in the decoded text, which may be much longer."""
        self.origins, self.ends = positions(size), positions(size)
        self.decoded = bytearray()
        """True for each part that was decoded."""

    def add(self, start: int, origin: int, end: int, *, decoded: bool) -> None:
        self.starts.append(start)
        self.origins.append(origin)
        self.ends.append(end)
        self.decoded.append(decoded)


def end_of_word(data: bytes, position: int, most: int) -> int:
    """Return where a word ends that goes on at a position, so that no part of it is a value."""
    rest = _REST_OF_WORD.match(data, min(position, most), most)
    return start_of_character(data, rest.end() if rest else most)


def start_of_character(data: bytes, position: int) -> int:
    """Return the start of the first character from a position."""
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position
