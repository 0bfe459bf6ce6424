"""Joined lines: a value that is broken by a line end, as a person reads it.

A line end within a number or a mail address is taken out, once without and once with a space in
its place. Only what the line end breaks is reported, and no number that starts its line: numbers
below each other are a column.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.regex import lazy

_LINE_END = lazy(rb"\n[ \t>]*+([0-9A-Za-z(.+-])")
_BLANKS = b" \t\r"
_INDENTATION = b" \t\r>*#-"
_CELL = lazy(rb"[,;|\t][^\s\"',;|\t][^,;|\t\n]*\Z")
"""The end of a row in a table, whose last cell ends there as well."""
_ADDRESS = lazy(rb"[\w.+-]@[\w.-]*\Z")
_LONGEST = 64
"""Bytes before a line end that decide whether it breaks something."""
_FEWEST_DIGITS = 9
_SAME = 10
"""Bytes at the starts of lines that tell rows by their digits and letters."""
_DIGITS, _UPPER = b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SHAPES = bytes.maketrans(_DIGITS + _UPPER + _UPPER.lower(), b"9" * 10 + b"a" * 52)
_ENDS_OF_PARTS = _DIGITS + b")-./"


class JoinedText(DecodedText):
    """A text with the line ends replaced that may break a value."""

    def __init__(self, data: bytes, runs: list[tuple[int, int, bytes]]) -> None:
        super().__init__(*copy_around(data, runs))
        self._original = data

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        value = self.data[start:end]
        is_address = b"@" in value
        if not is_address and sum(map(value.count, _BYTES_OF_DIGITS)) < _FEWEST_DIGITS:
            return None
        span = super().original_span(start, end)
        if span is None or is_address:
            return span
        line = self._original[self._original.rfind(b"\n", 0, span[0]) + 1 : span[0]]
        return span if line.strip(_INDENTATION) else None


_BYTES_OF_DIGITS = [bytes((digit,)) for digit in _DIGITS]


def joined_texts(data: bytes) -> list[JoinedText]:
    """Return the text with its lines joined; nothing where no line end may break a value."""
    breaks = list(_breaks(data))
    joiners = (b"", b" ") if breaks else ()
    return [JoinedText(data, [(*span, joiner) for span in breaks]) for joiner in joiners]


def _breaks(data: bytes) -> Iterator[tuple[int, int]]:
    """Return the line ends, with the blanks around them, that may break a number or an address."""
    for found in _LINE_END.finditer(data):
        end = found.start()
        while end and data[end - 1] in _BLANKS:
            end -= 1
        if end and _may_break(data, end, found[1]) and not _is_row(data, end, found.start(1)):
            yield end, found.start(1)


def _is_row(data: bytes, end: int, following: int) -> bool:
    """Return whether a line and the following one start alike, as those of logs and tables do."""
    start = data.rfind(b"\n", 0, end) + 1
    shape = data[start : start + _SAME].translate(_SHAPES)
    return data[following : following + _SAME].translate(_SHAPES) == shape


def _may_break(data: bytes, end: int, following: bytes) -> bool:
    """Return whether what ends at a position may go on with the first character of a line."""
    last = data[end - 1]
    if following in b"0123456789(+":
        goes_on = last in _ENDS_OF_PARTS or last in _UPPER
    elif following in b"-":
        goes_on = last in _DIGITS
    elif last in b"@":
        goes_on = True
    elif following in b"." or last in (b"-" if following.isupper() else b".-"):
        # After a period, a capital starts a sentence.
        goes_on = _ADDRESS.search(data, max(end - _LONGEST, 0), end) is not None
    else:
        goes_on = following.isupper() and last in _DIGITS
    return goes_on and not _CELL.search(data, max(end - _LONGEST, 0), end)
