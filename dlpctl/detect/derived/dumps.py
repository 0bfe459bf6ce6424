"""Dumps of memory and files: rows of bytes in hexadecimal, mostly with their characters beside.

The text of a dump is read from its bytes, since a row ends after sixteen of them. What is found in
it is reported as the complete dump: a row shows a byte twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.linear import compile_regex, is_in_lines
from dlpctl.regex import lazy

_OFFSET = r"(?:0[xX])?[0-9A-Fa-f]{4,16}(?:[:|][ \t]*|[ \t]+)"
_BYTE = "[0-9A-Fa-f]{2}"
_START = rf"\n[ \t]*{_OFFSET}(?:0[xX]{_BYTE}[, \t]|(?:{_BYTE})+[ ]{_BYTE})"
"""The start of a row after a line, which is searched for quickly."""
_ROW = (
    rf"^[ \t]*+{_OFFSET}(%s0[xX]{_BYTE}(?:[, \t]{{1,2}}0[xX]{_BYTE})*+"
    rf"|{_BYTE}(?:[ ]{_BYTE}){{7}}(?:[ ]{{2}}|[ ]?-[ ]?){_BYTE}(?:[ ]{_BYTE})*+"
    rf"|(?:{_BYTE}){{1,4}}(?:[ ](?:{_BYTE}){{1,4}})++)(?![^\s|])[^\n]*+(?:\n|\Z)"
)
_BYTES = lazy((_ROW % "").encode(), re.MULTILINE)
_ROWS = lazy(rb"(?:%b)++" % (_ROW % "?:").encode(), re.MULTILINE)
_NO_DIGITS = lazy(rb"0[xX]|[^0-9A-Fa-f]+")


def dumped_text(data: bytes) -> DecodedText | None:
    """Return the text that the dumps within a text show, None without any."""
    runs = list(_dumps(data)) if is_in_lines(_starts(), data) else []
    return DecodedText(*copy_around(data, runs)) if runs else None


@cache
def _starts() -> Any:
    return compile_regex(_START, "dumps")


def _dumps(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    for rows in _ROWS.finditer(data):
        digits = b"".join(
            _NO_DIGITS.sub(b"", row[1]) for row in _BYTES.finditer(data, *rows.span())
        )
        # In two bytes each, most characters have a zero.
        text = bytes.fromhex(digits.decode()).replace(b"\0", b"")
        yield rows.start(), rows.end(), text.decode("utf-8", "replace").encode()
