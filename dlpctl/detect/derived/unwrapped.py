"""Unwrapped text: paragraphs without the line ends of a program that keeps lines short.

A line end is one of these if the next word did not fit into the line before it, as long as the
longest line that has blanks.
"""

from __future__ import annotations

from bisect import bisect_right

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.regex import lazy

GATE = r"[^\n]{27}(?:[^\n.!?:;{}0-9]\n[0-9]|[^\n.!?:;{}]\n[A-Za-z\x{80}-\x{10FFFF}])"
_LINE_END = b"\n"
_WIDTHS = range(60, 101)
_LABEL = 48
"""Bytes before a value that may be its label."""
_STARTS_ENTRY = r"\S{0,160}:(?:\s|\Z)|[^\s\"',;=|]{0,160}(?:[,;=|]\S|[ ]=[ ])"
"""The first word of a line that starts an entry: a key, a speaker or a row."""
_SIGN = r"\xe2(?:[\x94-\x97]|\x80\xa2)"
"""The first bytes of what a box is drawn with, and of a bullet."""
_BELOW = lazy(
    rf"\n(?!{_SIGN}|{_STARTS_ENTRY})(?=([0-9A-Za-z\x80-\xff]\S{{0,31}}))".encode("latin-1")
)
"""A line end and the first word of the next line."""
_ENDS_ENTRY = b"\n.!?:;{}"
_DIGITS = b"0123456789"
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
    ends: list[int] = []
    width = 0
    for below in _BELOW.finditer(data, 1):
        end, word = below.start(), below[1]
        last = data[end - 1]
        if last in _ENDS_ENTRY or (last in _DIGITS and word[0] in _DIGITS):
            continue
        first = data.rfind(_LINE_END, 0, end) + 1
        reach = end - first + len(word)
        if reach < (width or _WIDTHS.start):
            continue
        width = width or _width(data)
        if width not in _WIDTHS:
            return []
        if reach >= width and not _OF_COLUMNS.search(data, first, end):
            ends.append(end)
    return ends


def _width(data: bytes) -> int:
    """Return the length of the longest line with blanks."""
    lines = data.split(_LINE_END)
    longest = max(lines, key=len)
    if b" " not in longest[1:]:
        longest = max((line for line in lines if b" " in line[1:]), key=len, default=b"")
    return len(longest)
