"""Unwrapped text: paragraphs without the line ends of a program that keeps lines short.

A line end is one of these if the next word did not fit into the line before it, as long as the
longest line that has blanks.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, count
from operator import add

from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

GATE = r"[^\n]{48}\n[0-9A-Za-z(]"
_WIDTHS = range(60, 101)
_LONGEST_WORD = 32
_DIGITS = b"0123456789"
_LETTERS = bytes(code for code in range(256) if chr(code).isalpha() or code >= 0x80)
_LAST = b".!?:;{}"
_LABEL = 48
"""Bytes before a value that may be its label."""
_STARTS = lazy(rb":\Z|\A[^\"',;=|]*[,;=|].")
"""A sign in the first word of a line that starts an entry: a key, a speaker or a row."""
_OF_COLUMNS = lazy(rb"\S  |[|\t]")


class UnwrappedText(DerivedText):
    """A text of the same length with blanks for the line ends within its paragraphs."""

    def __init__(self, data: bytes, ends: list[int]) -> None:
        text = bytearray(data)
        for end in ends:
            text[end] = ord(" ")
        self.data = bytes(text)
        self._ends = ends

    @classmethod
    def of(cls, data: bytes) -> UnwrappedText | None:
        """Return the text with its paragraphs in a line each; None if its lines are not short."""
        ends = _line_ends(data)
        return cls(data, ends) if ends else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the same span, if a line end was in the value or shortly before it."""
        near = bisect_right(self._ends, start - _LABEL), bisect_right(self._ends, end)
        return (start, end) if near[0] < near[1] else None


def _line_ends(data: bytes) -> list[int]:
    """Return the line ends before words that did not fit."""
    lines = data.split(b"\n")
    sizes = list(map(len, lines))
    width = max(
        [size for size, line in zip(sizes, lines, strict=True) if b" " in line[1:]], default=0
    )
    if width not in _WIDTHS:
        return []
    ends = map(add, accumulate(sizes), count())
    return [
        end
        for end, size, line, below in zip(ends, sizes, lines, lines[1:], strict=False)
        if below
        and size + _LONGEST_WORD >= width
        and line[-1:] not in _LAST
        and (below[:1] in _LETTERS or (below[:1] in _DIGITS and line[-1:] not in _DIGITS))
        and _did_not_fit(line, below, width)
    ]


def _did_not_fit(line: bytes, below: bytes, width: int) -> bool:
    """Return whether a line goes on with the first word of the one below."""
    word = below.partition(b" ")[0]
    return (
        len(line) + len(word) >= width and not _STARTS.search(word) and not _OF_COLUMNS.search(line)
    )
