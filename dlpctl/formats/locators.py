"""Places within a long segment, as plain numbers: a locator crosses from a worker process to its parent."""

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

    def place_at(self, offset: int) -> str:
        number = f"{self.unit} {max(bisect_right(self.starts, offset), 1)}"
        return f"{self.label}, {number}" if self.label else number


class Cells(NamedTuple):
    """The cells of a sheet."""

    label: str
    starts: array[int]
    """The offset of the first character of each cell."""
    rows: array[int]
    columns: array[int]
    """The column of each cell; a single number is the column of all of them."""

    def place_at(self, offset: int) -> str:
        index = max(bisect_right(self.starts, offset) - 1, 0)
        column = self.columns[index if len(self.columns) > 1 else 0]
        return f"{self.label}!{letters_of(column)}{self.rows[index]}"


def letters_of(column: int) -> str:
    """Return the name of a column that is counted from 1: `A`, `Z`, `AA`."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
