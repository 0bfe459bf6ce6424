"""Parts of values before a line end or a gap, where a value may go on elsewhere."""

from __future__ import annotations

from typing import NamedTuple

from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_PARTS = (
    r"(?:[ \t:=#(](?:[3-6][0-9]{3}(?:[ -]?[0-9]{4}){0,2}-?|3[47][0-9]{2}[ -][0-9]{6}-?"
    r"|[0-9]{3}-(?:[0-9]{2}-)?|[A-Z]{2}[0-9]{2}(?:[ ]?[0-9A-Z]{4}){0,7}[0-9]{0,3})"
    r"|[ \t:=#]\([2-9][0-9]{2}\)"
    r"|\+[0-9][0-9 ().-]{0,14}|@(?:[0-9A-Za-z_.-]{0,64}[.-])?)"
)
"""The first part of a card number, an SSN, an IBAN or a phone number, or that of a mail address."""
_LINE_END = r"[ \t\r\\`]*\n"
_GAP = r"(?:[ ]{2}|[ ]?\t|[ ]*(?:[+.↵…][ ]*)?[|│]|[ ]*\+[ ]*\r?\n)"
"""The blanks or the bar after a cell, with the mark of a cell that goes on."""
GATE = f"{_PARTS}(?:{_LINE_END}|{_GAP})"
_search = finder(GATE, "parts of values")
_BEFORE_PARTS = b" \t:=#("
_NEW_LINE = ord("\n")
NEXT_PART = lazy(
    rb"[ \t]*(?:[0-9(-]|\+[ 0-9(]|(?P<letters>[A-Z]{4}\b)"
    rb"|(?P<domain>[a-z0-9][a-z0-9-]*(?=[.\s]|\Z)))"
)


class FirstPart(NamedTuple):
    """The first part of a value, with the line end or the gap after it."""

    start: int
    following: int
    is_last: bool
    """True for the last cell of a line."""


def first_parts(data: bytes) -> list[FirstPart]:
    """Return what may be the first part of a value that goes on elsewhere."""
    search, at, size = _search(), 0, len(data)
    parts: list[FirstPart] = []
    while (found := search(data, at, size)[0])[0] >= 0:
        start, at = found
        is_last = data[at - 1] == _NEW_LINE
        parts.append(FirstPart(start + (data[start] in _BEFORE_PARTS), at, is_last))
        at -= not is_last  # the blank that is before a part
    return parts
