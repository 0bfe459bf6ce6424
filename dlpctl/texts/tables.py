"""Rows of delimited text, split into cells: the one reader of rows for all readers of tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, compress
from operator import methodcaller
from typing import AnyStr, Generic, NamedTuple

_FEWEST, _MOST = 1 << 10, 1 << 16
"""Characters of rows that are read at once."""


class Rows(NamedTuple, Generic[AnyStr]):
    """Rows with as many cells each, none of them quoted."""

    cells: list[AnyStr]
    """The cells as they are written, row by row."""
    starts: list[int]
    """The place of each in the source."""
    end: int
    """The place at which the line of the last row ends."""


class Line(NamedTuple):
    """The span of a line that is to be read on its own."""

    start: int
    end: int


def rows_from(
    source: AnyStr,
    position: int,
    delimiter: AnyStr,
    width: int,
    takes: Callable[[Rows[AnyStr]], bool] | None,
) -> Iterator[Rows[AnyStr] | Line]:
    """Yield the rows from a place on; many at once where they have `width` cells and the caller
    takes them.
    """
    newline: AnyStr = "\n" if isinstance(source, str) else b"\n"
    size, alone = _FEWEST, position + _FEWEST
    while position < len(source):
        if takes and position >= alone:
            rows = regular_rows(source, position, delimiter, width, size)
            if rows is not None and takes(rows):
                yield rows
                position = rows.end + 1
                size = min(2 * size, _MOST)
                continue
            alone, size = position + size, max(size // 2, _FEWEST)
        stop = source.find(newline, position)
        stop = len(source) if stop < 0 else stop
        yield Line(position, stop)
        position = stop + 1


def regular_rows(
    source: AnyStr, position: int, delimiter: AnyStr, width: int, size: int = _MOST
) -> Rows[AnyStr] | None:
    """Return the rows that start in so many characters from a place on; None where one of them has
    not `width` cells, or a quote.
    """
    newline: AnyStr
    quote: AnyStr
    ending: AnyStr
    newline, quote, ending = ("\n", '"', "\r") if isinstance(source, str) else (b"\n", b'"', b"\r")
    end = source.find(newline, position + size)
    end = len(source) if end < 0 else end
    part = source[position:end]
    returns = part.count(ending)
    if quote in part:
        return None
    lines = part.split(newline)
    if not lines[-1] and end == len(source):
        lines.pop()
        end -= 1
    if set(map(methodcaller("count", delimiter), lines)) != {width - 1}:
        return None
    cells = delimiter.join(lines).split(delimiter)
    starts = list(accumulate(map((1).__add__, map(len, cells)), initial=position))
    starts.pop()
    if returns:
        lasts = cells[width - 1 :: width]
        if returns != len(lines) or not all(map(methodcaller("endswith", ending), lasts)):
            return None
        cells[width - 1 :: width] = [last[:-1] for last in lasts]
    return Rows(cells, starts, end)


def split_row(row: AnyStr, delimiter: AnyStr) -> list[AnyStr]:
    """Return the cells of a row as they are written, quotes and blanks around them included.

    Put together with the delimiter they give the row again, so that each has its place in it.
    """
    quote: AnyStr = '"' if isinstance(row, str) else b'"'
    if quote not in row:
        return row.split(delimiter)
    cells: list[AnyStr] = []
    position = 0
    match = _cell(delimiter).match
    while position <= len(row):
        found = match(row, position)
        if found is None:  # not possible: an empty cell matches anywhere
            break
        cells.append(found[0])
        position = found.end() + len(delimiter)
    return cells


@cache
def _cell(delimiter: AnyStr) -> re.Pattern[AnyStr]:
    """A quoted cell may hold delimiters; one with anything after its quotes is not quoted."""
    if isinstance(delimiter, bytes):
        return re.compile(_regex(delimiter.decode()).encode())
    return re.compile(_regex(delimiter))


def _regex(delimiter: str) -> str:
    apart = re.escape(delimiter)
    return rf'[ \t]*+"(?:[^"]|"")*+"[ \t]*+(?={apart}|\Z)|[^{apart}]*+'


def fitting_cells(
    text: str, cells: Sequence[tuple[int, int]], fits: Callable[[str], bool]
) -> list[tuple[int, int]]:
    """Return the cells whose values fit; equal values, which columns have many of, are judged
    once.
    """
    values = [text[start:end] for start, end in cells]
    verdicts = {value: fits(value) for value in {*values}}
    return list(compress(cells, map(verdicts.__getitem__, values)))
