"""Convert positions in a text to lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from dlpctl.regex import lazy

_LINE_END = lazy(r"\r\n|\r|\n")


class LineIndex:
    """The starts of the lines of a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Return the line and column of a position, both counted from 1."""
        line = bisect_right(self._starts, position)
        return line, position - self._starts[line - 1] + 1
