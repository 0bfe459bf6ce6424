"""Rows of delimited text, split into cells. Whoever reads tables reads their rows with this."""

from __future__ import annotations

import re
from functools import cache
from typing import AnyStr


def split_row(row: AnyStr, delimiter: AnyStr) -> list[AnyStr]:
    """Return the cells of a row as they are written, quotes and blanks around them included.

    Put together with the delimiter they give the row again, so that each has its place in it.
    """
    quote: AnyStr = '"' if isinstance(row, str) else b'"'
    if quote not in row:
        return row.split(delimiter)
    cells: list[AnyStr] = []
    place = 0
    match = _cell(delimiter).match
    while place <= len(row):
        found = match(row, place)
        if found is None:  # not possible: an empty cell matches anywhere
            break
        cells.append(found[0])
        place = found.end() + len(delimiter)
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
