"""Forms: the headers of a kind of listings, and what its values are read with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

VALUE = lazy(
    rb"\s*(?:\{\s*\"\w{1,16}\"\s*:\s*)?(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'"
    rb"|([^,()\[\]{}\"'\n]*+(?:\([^()\n]*+\))?))\s*\}?\s*([,)\]}])"
)
"""A value of a row, with the sign after it."""
_NEXT_KEY = lazy(rb"\s*(?:[\"']?[^\"':,={}\n]{1,32}[\"']?\s*(?::|=>?)|:\w{1,32}[ ]?=>)")


class Form(NamedTuple):
    """The headers of a kind of listings."""

    gate: str
    regex: str
    read: Callable[[bytes, re.Match[bytes], HeaderWords], Iterator[Cells]]
    starts_line: bool = False


def keyed_cells(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values of a column with the number of each row, or another key, before it."""
    name = words.name(found[1])
    position = found.end()
    while name and (value := VALUE.match(data, position)):
        yield cell_of(name, value)
        goes_on = value[4] == b"," and not _closes(value)
        key = _NEXT_KEY.match(data, value.end()) if goes_on else None
        if key is None:
            return
        position = key.end()


def _closes(value: re.Match[bytes]) -> bool:
    """Return whether a brace after the value closes the column, not an object of the value."""
    first, last = _span_of(value)
    text = value.string
    return text.count(b"}", last, value.end()) > text.count(b"{", value.start(), first)


def cell_of(name: bytes, value: re.Match[bytes]) -> Cells:
    """Return the cell with a value, or none if it has no name or no text."""
    first, last = _span_of(value)
    text = value.string[first:last].rstrip()
    return Cells([name], [first], [text]) if name and text else Cells([], [], [])


def _span_of(value: re.Match[bytes]) -> tuple[int, int]:
    return next(value.span(group) for group in (1, 2, 3) if value[group] is not None)
