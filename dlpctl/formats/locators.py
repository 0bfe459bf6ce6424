"""Locations in a long segment, as plain numbers that a worker can send to its parent."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array


class Units(NamedTuple):
    """Counted parts of a segment, such as lines, paragraphs or the rows of a column."""

    label: str
    unit: str
    starts: array[int]
    """The offset of the first character of each unit."""
    before: int = 0
    """The number of units before the first one."""

    def place_at(self, offset: int) -> str:
        number = f"{self.unit} {self.before + max(bisect_right(self.starts, offset), 1)}"
        return f"{self.label}, {number}" if self.label else number


class Escapes(NamedTuple):
    """Characters of a segment that are escaped in its source, in order."""

    starts: array[int]
    lengths: array[int]
    source_starts: array[int]
    source_ends: array[int]

    def source_start(self, offset: int) -> int:
        """Return the position in the source where the character at an offset of the
        segment starts.
        """
        index = bisect_right(self.starts, offset) - 1
        if index < 0:
            return offset
        within = offset - self.starts[index]
        if within < self.lengths[index]:
            return self.source_starts[index]
        return self.source_ends[index] + within - self.lengths[index]

    def touch(self, start: int, end: int) -> bool:
        """Return whether the source escapes one of these characters."""
        index = bisect_right(self.starts, start) - 1
        if index >= 0 and start < self.starts[index] + self.lengths[index]:
            return True
        return index + 1 < len(self.starts) and self.starts[index + 1] < end


class Lines(NamedTuple):
    """The lines of a source."""

    escapes: Escapes
    ends: array[int]
    """The position in the source at which each line except the last ends."""

    def place_at(self, offset: int) -> str:
        return f"line {self._line(self.escapes.source_start(offset)) + 1}"

    def column_of(self, offset: int, value: str) -> int:
        """Return the column of a value, from 1; 0 if the source spells the value differently."""
        if self.escapes.touch(offset, offset + len(value)):
            return 0
        start = self.escapes.source_start(offset)
        line = self._line(start)
        return start - self.ends[line - 1] if line else start + 1

    def _line(self, position: int) -> int:
        return bisect_right(self.ends, position - 1)


class Cells(NamedTuple):
    """The cells of a sheet."""

    label: str
    starts: array[int]
    """The offset of the first character of each cell."""
    rows: array[int]
    columns: array[int]

    def place_at(self, offset: int) -> str:
        index = max(bisect_right(self.starts, offset) - 1, 0)
        return f"{self.label}!{letters_of(self.columns[index])}{self.rows[index]}"


class Items(NamedTuple):
    """Numbered items, such as records, whose parts may have names."""

    unit: str
    starts: array[int]
    """The offset of the first character of each part, or of each item without parts."""
    numbers: array[int]
    """The number of its item."""
    names: list[str]
    """The names of an item's parts, in order."""

    def place_at(self, offset: int) -> str:
        index = max(bisect_right(self.starts, offset) - 1, 0)
        item = f"{self.unit} {self.numbers[index]:,}"
        return f"{item}, {self.names[index % len(self.names)]}" if self.names else item


def letters_of(column: int) -> str:
    """Return the name of a column, counted from 1: `A`, `Z`, `AA`."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
