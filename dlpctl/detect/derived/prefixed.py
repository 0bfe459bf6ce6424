"""Prefixed lines: values that go on in the next line, after what both lines start with.

Logs write a time and a source before each line, listings its number, and comments, quotations and
differences a sign. Two lines share a prefix if they start alike, apart from the numbers in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dlpctl.detect.derived.parts import NEXT_PART, FirstPart
from dlpctl.regex import lazy

_GOES_ON = lazy(rb"[^\n]*[0-9A-Z-][ \t\r\\`]*\n")
_LABEL = lazy(rb"[^0-9\n]{0,80}?[g-zG-Z\x80-\xff]")
"""Letters that hexadecimal numbers lack, before the first number of a line."""
_NAMED = lazy(rb"[g-zG-Z\x80-\xff]")
_LONGEST_PREFIX = 160
_LONGEST_LINE = 1024
_INDENTATION = lazy(rb"[ \t]*")
_INDENTING = {b" ", b"\t"}
_NUMBER = lazy(rb"[0-9]+")
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0"
_AFTER_PART = b" \t\r\n\\`"


class PrefixedBreak(NamedTuple):
    """A line end that may break a value, with the prefix of the next line."""

    start: int
    end: int
    next_end: int
    """The end of the next line, where the value ends unless another break starts there."""


def prefixed_breaks(data: bytes, parts: Iterable[FirstPart]) -> Iterator[PrefixedBreak]:
    """Yield the line ends after parts that may break a value."""
    at, size = 0, len(data)
    for part in parts:
        if part.start < at or not part.is_last:
            continue
        start, at, _ = part
        is_address = data.find(b"@", start, at) >= 0
        first = data.rfind(b"\n", max(start - _LONGEST_LINE, 0), start) + 1
        if not (is_address or _NAMED.search(data, first, start)):
            continue
        known = 0
        above = _start_of(data, _indented(data, first), start)
        if not above.rstrip(_LETTERS):
            continue
        while at < size:
            line = _indented(data, at)
            below = _start_of(data, line)
            shared = _shared_prefix(above, below)
            prefix = min(shared, known or shared)
            after = NEXT_PART.match(below, prefix) if prefix else None
            if after is None or is_address != (after["domain"] is not None) or prefix < known:
                break
            if after["letters"] and (known or not data[start : start + 2].isalpha()):
                break  # only the start of an IBAN goes on with letters
            if not (known or is_address or _LABEL.match(above, prefix)):
                break
            end = _in_line(data, line, prefix)
            goes_on = _GOES_ON.match(data, end)
            next_end = goes_on.end() if goes_on else data.find(b"\n", end)
            next_end = size if next_end < 0 else next_end
            yield PrefixedBreak(_part_end(data, start, at), end, _part_end(data, end, next_end))
            if not goes_on or is_address:
                break
            above, start, at, known = below, end, next_end, prefix


def text_below(data: bytes, first: int, part: int, below: int) -> int:
    """Return where the text of a line starts, after what it shares with the start of the line
    above, which is at `first` and has a part of a value at `part`.
    """
    line = _indented(data, below)
    above = _start_of(data, _indented(data, first), part)
    return _in_line(data, line, _shared_prefix(above, _start_of(data, line)))


def _part_end(data: bytes, start: int, line_end: int) -> int:
    """Return the end of what is before the blanks and signs at a line end."""
    return start + len(data[start:line_end].rstrip(_AFTER_PART))


def _indented(data: bytes, line: int) -> int:
    """Return the start of a line after its indentation, which numbers of lines have."""
    if data[line : line + 1] not in _INDENTING:
        return line
    found = _INDENTATION.match(data, line)
    return found.end() if found else line


def _start_of(data: bytes, line: int, end: int = sys.maxsize) -> bytes:
    """Return the start of a line, with one digit for each number."""
    return _NUMBER.sub(b"0", data[line : min(line + _LONGEST_PREFIX, end)])


def _shared_prefix(above: bytes, below: bytes) -> int:
    """Return the length of what two lines start with alike, up to a sign or a blank."""
    size = min(len(above), len(below))
    differing = int.from_bytes(above[:size]) ^ int.from_bytes(below[:size])
    return len(above[: size - (differing.bit_length() + 7) // 8].rstrip(_LETTERS))


def _in_line(data: bytes, line: int, position: int) -> int:
    """Return where a position in the start of a line with one digit for each number is."""
    position += line
    for number in _NUMBER.finditer(data, line, line + _LONGEST_PREFIX):
        if number.start() >= position:
            break
        position += number.end() - number.start() - 1
    return position
