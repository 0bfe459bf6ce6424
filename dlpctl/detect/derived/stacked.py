"""Stacked cells: values that go on in the next line of a column, beside those of other columns.

Columns of text and of tables without rules are told by the blanks or the bar before each cell, and
by cells that start below each other. Numbers below each other are mostly a column: a value goes on
only if its cell has a word before it, or if nothing is before the cell in the next line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dlpctl.detect.derived.parts import NEXT_PART, FirstPart
from dlpctl.regex import lazy

_BAR = rb"(?:\||\xe2\x94\x82)"
_MARK = rb"(?:[+.]|\xe2\x86\xb5|\xe2\x80\xa6)"
"""The mark of a cell that goes on, before the bar or after it."""
_CELL_START = lazy(rb"(?:\A[ ]*(?:[#*;%%!/\\]{1,3}[ ])?|[ ]{2}|%b%b?)[ ]*" % (_BAR, _MARK))
"""The blanks before a cell; the first one may be in a comment or in a frame of signs."""
_CELL_END = lazy(rb"[ ]{2}|[ ]*%b?[ ]*%b|[ ]*[+]?[ \r]*\Z" % (_MARK, _BAR))
_AFTER_PART = lazy(rb"(?:[ ]*(?:%b[ ]*)?%b|[ ]*[+]\s*\n|[\s\\`]+)\Z" % (_MARK, _BAR))
MARKED = lazy(rb"[ ]*%b[ ]*(?:%b|\r?\n)" % (_MARK, _BAR))
"""The end of a cell that goes on below."""
_NAMED = lazy(rb"[g-zG-Z\x80-\xff]")
_BLANK = lazy(rb"(?:[\s.]|%b|%b)*" % (_BAR, _MARK))
_BEFORE = (b" ", b"|", b"\xe2", b"")
"""The first bytes of a line that is blank before a cell."""
_PART_ENDS = b"0123456789-"
_DRIFT = 2
"""The columns by which lines of a cell may differ."""
_MOST_LINES = 8
_LONGEST_LINE = 512


class _Line(NamedTuple):
    """A line, and the starts of its cells in bytes and in characters."""

    start: int
    end: int
    text: bytes
    cells: list[int]
    columns: list[int]
    indentation: int
    """The start of the first cell that is not blank."""


def stacked_breaks(data: bytes, parts: Sequence[FirstPart]) -> Iterator[tuple[int, int]]:
    """Yield what is between the parts of values that go on in the next line of their columns."""
    if not parts:
        return
    lines = _Lines(data)
    line = lines[0]
    for start, following, is_last in parts:
        if start > line.end:
            line = lines[data.rfind(b"\n", line.end, start) + 1]
        if data[start - 2 : start] == b"  " and data[line.end + 1 : line.end + 2] not in _BEFORE:
            continue  # a table of numbers, mostly
        at = start - line.start
        cell = bisect_right(line.cells, at) - 1
        is_bare = is_last and b"  " not in data[start:following]  # no frame at the right
        end = start + len(_AFTER_PART.sub(b"", data[start:following]))
        if cell < is_bare or not (_NAMED.search(line.text, 0, at) or MARKED.match(data, end)):
            continue  # a line without a label, or of one cell
        if line.text.find(b"\t", max(line.cells[cell], 0), at) >= 0:
            continue  # a cell after a tab, whose column is unknown
        may_be_beside = _NAMED.search(line.text, line.cells[cell], at) is not None
        is_address = data.find(b"@", start, end) >= 0
        may_be_letters = data[start : start + 2].isalpha()
        above = line
        for _ in range(_MOST_LINES):
            below = lines[above.end + 1]
            cell = _cell_below(above.columns[cell], below, may_be_beside=may_be_beside)
            part = NEXT_PART.match(below.text, below.cells[cell]) if cell >= 0 else None
            if part is None or is_address != (part["domain"] is not None):
                break
            if part["letters"] and not may_be_letters:
                break
            yield end, below.start + part.start()
            stop = _CELL_END.search(below.text, part.end())
            end = below.start + (stop.start() if stop else len(below.text))
            if is_address or data[end - 1] not in _PART_ENDS:
                break
            above, may_be_letters = below, False


class _Lines(dict[int, _Line]):
    """The last lines that were read, by their starts."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __missing__(self, start: int) -> _Line:
        if len(self) > _MOST_LINES:
            self.clear()
        end = self._data.find(b"\n", start)
        end = len(self._data) if end < 0 else end
        text = self._data[start : min(end, start + _LONGEST_LINE)]
        cells = [found.end() for found in _CELL_START.finditer(text)]
        columns = cells if text.isascii() else [len(_decoded(text[:cell])) for cell in cells]
        blank = _BLANK.match(text)
        self[start] = line = _Line(start, end, text, cells, columns, blank.end() if blank else 0)
        return line


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "ignore")


def _cell_below(column: int, below: _Line, *, may_be_beside: bool) -> int:
    """Return the number of the cell that starts at a column, or near it; -1 if there is none, or
    one before it that it may not be beside.
    """
    last = bisect_right(below.columns, column + _DRIFT)
    near = range(bisect_left(below.columns, column - _DRIFT, 0, last), last)
    cell = min(near, key=lambda number: abs(below.columns[number] - column), default=-1)
    return cell if may_be_beside or below.cells[cell] <= below.indentation else -1
