"""Divided lines: lines that a program divides wherever they are long, with marks of its own.

Logs of containers mark parts of a line with `P` and the last one with `F`, `psql` marks the lines
of a cell with dots, statements of banks number the fields and lines of a remittance, and MySQL puts
a hyphen between the columns of a key.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import Run
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_TIME = r"[0-9T:.+Z-]{20,40}"
_PARTIAL = rf"{_TIME} std(?:out|err) P [^\n]*\n{_TIME} std(?:out|err) [FP] "
_CELL = r"\.[ ]*\r?\n[ |]*\|\."
_ENTRY = r"Duplicate entry '[^'\n]*-[^'\n-]{1,20}' for key"
_REMITTANCE = r":86:[0-9]{3}\?[0-9]{2}"
GATE = f"{_PARTIAL}|{_CELL}|{_ENTRY}|{_REMITTANCE}"
_search = finder(f"({_PARTIAL})|({_CELL})|({_ENTRY})|{_REMITTANCE}", "divided lines")
_NEXT_PART = lazy(rb"\r?\n%b std(?:out|err) [FP] " % _TIME.encode())
_FIELD = lazy(rb"\?([0-9]{2})(?:\r?\n)?|\r?\n(?=\?[0-9]{2})")
_END_OF_FIELDS = lazy(rb"\n[:{-]")
_LINES = lazy(rb"2[1-9]|33|6[0-3]")
"""Fields that are further lines of the text before them."""
_FIELD_LABELS = {b"31": b"\nAccount: ", b"32": b"\nName: ", b"34": b"\n"}
_WIDEST, _LONGEST_REMITTANCE = 256, 1024
"""The blanks in a cell, and the fields of a remittance."""


def runs(data: bytes) -> Iterator[Run]:
    """Yield where lines are divided, with what joins them."""
    search, at, size = _search(), 0, len(data)
    while (found := search(data, at, size))[0][0] >= 0:
        start, at = found[0]
        if found[1][0] >= 0:
            end = data.rfind(b"\n", start, at)
            end -= data[end - 1 : end] == b"\r"
            part = _NEXT_PART.match(data, end)
            assert part is not None
            yield *part.span(), b""
            at = part.start() + 1  # the next part may be one of three
        elif found[3][0] >= 0:
            hyphen = data.rfind(b"-", start, data.rfind(b"'", start, at))
            yield hyphen, hyphen + 1, b" "
        elif found[2][0] >= 0:
            blanks = data[max(start - _WIDEST, 0) : start]
            yield start - len(blanks) + len(blanks.rstrip(b" ")), at, b""
        else:
            last = _END_OF_FIELDS.search(data, at, at + _LONGEST_REMITTANCE)
            at = last.start() if last else min(at + _LONGEST_REMITTANCE, size)
            for field in _FIELD.finditer(data, start, at):
                number = field[1]
                is_line = number is None or _LINES.fullmatch(number)
                yield *field.span(), b"" if is_line else _FIELD_LABELS.get(number, b" ")
