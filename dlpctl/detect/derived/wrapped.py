"""Wrapped cells: a value that goes on in the next line of its cell, as a person reads a table.

Each row of lines is written once with blanks and once with nothing between the lines of a cell. A
row of a table goes on where a cell is blank, and in a grid up to the next rule.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from dlpctl.detect.derived.interface import DerivedText
from dlpctl.detect.derived.joined import may_go_over_lines
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_BAR = rb"(?:\||\xe2\x94[\x82\x83]|\xe2\x95\x91)"
_ROW = rb"[ \t]*+%b[^\n]*+(?:\n|\Z)" % _BAR
_RULE = rb"[ \t]*+(?!%b)(?:\+[-=+:]++|\xe2[\x94\x95][^|\n]*+)[ \t\r]*+(?:\n|\Z)" % _BAR
_BARRED = lazy(rb"%b(?:%b|%b)++" % (_ROW, _ROW, _RULE))
_RULED = lazy(rb"[ \t]*+(?:={2,}(?:[ ]++={2,})++|-{2,}(?:[ ]++-{2,})++)[ \t\r]*+\n")
_START = (
    r"\n[ \t]*(?:[|│┃║][^\n]*\n[ \t]*(?:[|│┃║]|\+[-=]|[\x{2500}-\x{257F}])"
    r"|={2,} +=|-{2,} +-)"
)
"""The start of a table after a line, which is searched for quickly."""
_start_search = finder(_START, "wrapped cells")
GATE = r"(?:^|\n)[ \t]*(?:[|│┃║][^\n]*\n[ \t]*[|│┃║+\x{2500}-\x{257F}]|={2,} +=|-{2,} +-)"
"""Matches wherever a table starts, also in the first line."""
_OF_RULES = lazy(rb"(?:[\s|:+=-]|\xe2[\x94\x95][\x80-\xbf])*+")
_FIRST_BAR = lazy(_BAR)
_COLUMN = lazy(rb"[=-]+")
_MAY_HOLD = lazy(rb"[0-9@]")
_BLANKS = b" \t\r"
_APART = b" | "
_WITHIN_ADDRESS = b".@"
_FEW_RULES = 1
"""The rule below the header; the rows of a table with more are parted by them."""

Span = tuple[int, int]
Row = list[list[Span]]
"""The lines of each cell."""


class _Part(NamedTuple):
    """A line of a cell, and the span to report for a value that goes on from or to it."""

    origin: int
    end: int
    cell: int
    region: Span | None
    """None for the span of the value itself."""


class WrappedText(DerivedText):
    """The rows of tables in which a cell has several lines."""

    def __init__(self, data: bytes, rows: Iterable[Row]) -> None:
        text = bytearray()
        self._starts = array("q")
        self._parts: list[_Part] = []
        cells = 0
        for row in rows:
            wrapped = [cell for cell in row if _is_wrapped(data, cell)]
            if not wrapped:
                continue
            # What is between the lines of two such cells would be masked twice.
            region = min(cell[0][0] for cell in wrapped), max(cell[-1][1] for cell in wrapped)
            for joiner in (b" ", b""):
                for cell in row:
                    cells += 1
                    for at, (start, end) in enumerate(cell):
                        text += joiner if at else _APART
                        self._starts.append(len(text))
                        self._parts.append(
                            _Part(start, end, cells, region if len(wrapped) > 1 else None)
                        )
                        text += data[start:end]
                text += b"\n\n"
        self.data = bytes(text)

    @classmethod
    def of(cls, data: bytes) -> WrappedText | None:
        """Return the rows with wrapped cells; None without any."""
        wrapped = cls(data, _rows(data))
        return wrapped if wrapped.data else None

    def original_span(self, start: int, end: int) -> Span | None:
        """Return the span in the original of a value that goes over lines of a cell."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        head, tail = self._parts[first], self._parts[last]
        if first == last or head.cell != tail.cell or not may_go_over_lines(self.data[start:end]):
            return None
        if self.data[start - 1] in _WITHIN_ADDRESS:  # of two rows that have one each
            return None
        if head.region:
            return head.region
        return (
            head.origin + start - self._starts[first],
            min(tail.origin + end - self._starts[last], tail.end),
        )


def _is_wrapped(data: bytes, cell: list[Span]) -> bool:
    return len(cell) > 1 and any(_MAY_HOLD.search(data, *line) for line in cell)


def _rows(data: bytes) -> Iterator[Row]:
    search, size = _start_search(), len(data)
    line = 0
    while True:
        after = line
        if found := _BARRED.match(data, line):
            yield from _barred_rows(data, *found.span())
            after = found.end() - 1
        elif found := _RULED.match(data, line):
            yield from _ruled_rows(data, *found.span())
            after = found.end() - 1
        start = search(data, after, size)[0][0]
        if start < 0:
            return
        line = start + 1


def _barred_rows(data: bytes, first: int, last: int) -> Iterator[Row]:
    row: Row = []
    rules, is_grid = 0, False
    for start, end in _lines(data, first, last):
        bar = _FIRST_BAR.search(data, start, end)
        if bar is None or _OF_RULES.fullmatch(data, start, end):
            yield row
            row = []
            rules += 1
            is_grid = is_grid or rules > _FEW_RULES or data.find(b"=", start, end) >= 0
            continue
        cells = list(_cells(data, bar.end(), end, bar[0]))
        is_part = len(cells) == len(row) and (
            is_grid
            or any(first == stop and cell for cell, (first, stop) in zip(row, cells, strict=True))
        )
        if not is_part:
            yield row
            row = []
        _add(row, cells)
    yield row


def _ruled_rows(data: bytes, start: int, below: int) -> Iterator[Row]:
    """Return the rows below a rule that tells where columns start."""
    columns = [found.start() - start for found in _COLUMN.finditer(data, start, below)]
    goes_on = data[start:below].lstrip().startswith(b"=")  # over blank lines
    row: Row = []
    for first, end in _lines(data, below, len(data)):
        line = data[first:end]
        if not line.strip() and goes_on:
            continue
        text = line.decode()
        if _OF_RULES.fullmatch(line) or text[columns[1] - 1 : columns[1]].strip():
            break
        cells = list(_below(data, first, text, columns))
        if not row or not cells or cells[0][0] < cells[0][1]:
            yield row
            row = []
        _add(row, cells)
    yield row


def _below(data: bytes, first: int, line: str, columns: list[int]) -> Iterator[Span]:
    """Yield the cells of a line, as far as it reaches."""
    first += len(line[: columns[0]].encode())
    for start, end in pairwise([*columns[: bisect_left(columns, len(line))], len(line)]):
        last = first + len(line[start:end].encode())
        yield _stripped(data, first, last)
        first = last


def _lines(data: bytes, first: int, last: int) -> Iterator[Span]:
    while first < last:
        stop = data.find(b"\n", first, last)
        stop = last if stop < 0 else stop
        yield first, stop
        first = stop + 1


def _cells(data: bytes, start: int, end: int, bar: bytes) -> Iterator[Span]:
    while (stop := data.find(bar, start, end)) >= 0:
        yield _stripped(data, start, stop)
        start = stop + len(bar)


def _stripped(data: bytes, start: int, end: int) -> Span:
    text = data[start:end]
    start += len(text) - len(text.lstrip(_BLANKS))
    return start, start + len(text.strip(_BLANKS))


def _add(row: Row, cells: list[Span]) -> None:
    row += ([] for _ in range(len(row), len(cells)))
    for cell, (start, end) in zip(row, cells, strict=False):
        if start < end:
            cell.append((start, end))
