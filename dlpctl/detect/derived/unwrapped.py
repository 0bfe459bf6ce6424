"""Unwrapped text: paragraphs without the line ends of a program that keeps lines short.

A line end is one of these if the next word did not fit into the line before it, as long as the
longest line that has blanks.
"""

from __future__ import annotations

from bisect import bisect_right

from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

GATE = r"[^\n]{48}\n[0-9A-Za-z(]"
_WIDTHS = range(60, 101)
_LABEL = 48
"""Bytes before a value that may be its label."""
_STARTS = lazy(rb":\Z|\A[^\"',;=|]*[,;=|].")
"""What the first word of a line has that starts an entry: a key, a speaker or a row."""
_ENDS = lazy(rb"[.!?:;{}]\s?\Z|\S  |[|\t]")
"""What a line has that ends a sentence, or is a row of columns."""


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
    width = max((len(line) for line in lines if b" " in line.strip()), default=0)
    if width not in _WIDTHS:
        return []
    ends: list[int] = []
    at = -1
    for line, below in zip(lines, lines[1:], strict=False):
        at += len(line) + 1
        word = below.partition(b" ")[0]
        if (
            len(line) + len(word) >= width
            and word[:1].isalnum()
            and not _STARTS.search(word)
            and not _ENDS.search(line)
        ):
            ends.append(at)
    return ends
