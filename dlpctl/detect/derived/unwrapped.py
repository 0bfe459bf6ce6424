"""Unwrapped text: paragraphs without the line ends of a program that keeps lines short.

A line end is one of these if the next word did not fit into the line before it, as long as the
longest line that has blanks.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.regex import lazy

GATE = r"[^\n]{27}[^\n.!?:;{}]\n[0-9A-Za-z\x{80}-\x{10FFFF}]"
_LINE_END = b"\n"
_WIDTHS = range(60, 101)
_LONGEST_WORD = 32
_DIGITS = b"0123456789"
_LETTERS = bytes(code for code in range(256) if chr(code).isalpha() or code >= 0x80)
_LAST = b".!?:;{}"
_LABEL = 48
"""Bytes before a value that may be its label."""
_STARTS = lazy(rb"\S*:(?:\s|\Z)|[^\s\"',;=|]*(?:[,;=|]\S|[ ]=[ ])")
"""A sign after the first word of a line that starts an entry: a key, a speaker or a row."""
_OF_COLUMNS = lazy(rb"\S  |[|\t]")


class UnwrappedText(DecodedText):
    """The surroundings of such line ends, with blanks for these."""

    def __init__(self, data: bytes, ends: list[int]) -> None:
        text, pieces = copy_around(data, ((end, end + 1, b" ") for end in ends))
        super().__init__(text, pieces)
        self._origins = pieces.origins
        self._ends = ends

    @classmethod
    def of_text(cls, data: bytes) -> UnwrappedText | None:
        """Return the paragraphs that are in several lines; None without any."""
        ends = _line_ends(data)
        return cls(data, ends) if ends else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the original, if a line end was in the value or shortly before it."""
        first, last = self._origin(start), self._origin(end - 1) + 1
        near = bisect_right(self._ends, first - _LABEL), bisect_right(self._ends, last)
        return (first, last) if near[0] < near[1] else None

    def _origin(self, position: int) -> int:
        piece = bisect_right(self._starts, position) - 1
        return self._origins[piece] + position - self._starts[piece]


def unwrapped(data: bytes) -> bytes:
    """Return a text of the same length whose paragraphs are in a line each."""
    ends = _line_ends(data)
    if not ends:
        return data
    text = bytearray(data)
    for end in ends:
        text[end] = ord(" ")
    return bytes(text)


def _line_ends(data: bytes) -> list[int]:
    """Return the line ends before words that did not fit."""
    lines = data.split(_LINE_END)
    sizes = list(map(len, lines))
    least = _WIDTHS.start
    long = (at for at, size in enumerate(sizes) if size >= least and b" " in lines[at][1:])
    width = max(map(sizes.__getitem__, long), default=0)
    if width not in _WIDTHS:
        return []
    full = [at for at, size in enumerate(sizes[:-1]) if size + _LONGEST_WORD >= width]
    ends = list(accumulate(size + 1 for size in sizes)) if full else []
    return [ends[at] - 1 for at in full if _did_not_fit(lines[at], lines[at + 1], width)]


def _did_not_fit(line: bytes, below: bytes, width: int) -> bool:
    """Return whether a line goes on with the first word of the one below."""
    first, last = below[:1], line[-1:]
    return (
        first != b""
        and (first in _LETTERS or (first in _DIGITS and last not in _DIGITS))
        and len(line) + len(below.partition(b" ")[0]) >= width
        and last not in _LAST
        and not _STARTS.match(below)
        and not _OF_COLUMNS.search(line)
    )
