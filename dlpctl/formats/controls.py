"""Control characters in text: separators of fields and records, padding, and marks of its end."""

from __future__ import annotations

import re

from dlpctl.formats.recognition import CONTROLS, is_utf8

SEPARATORS = b"\x01\x0b\x1c\x1d\x1e\x1f"
"""Control characters that separate the fields and records of exports and messages."""
END_OF_FILE = b"\x1a"
"""Ends texts of DOS and CP/M, repeated up to the end of a block."""
_OTHERS = CONTROLS.replace(b"\0", b"")
_BETWEEN_ZEROS = re.compile(rb"[^\0]+")
_SHORT, _FEW = 4, 20
_AS_SPACE = {
    "\0": "\n",
    "\x01": "\t",
    **dict.fromkeys("\x0b\x1c\x1d\x1e", "\n"),
    "\x1f": "\t",
}


def count(data: bytes, among: bytes) -> int:
    """Return how many bytes of the data are among the given ones."""
    return len(data) - len(data.translate(None, among))


def has_zero_ended_texts(data: bytes) -> bool:
    """Return whether data are texts that zeros end or pad, and not numbers or wide characters."""
    if data.startswith(b"\0") or count(data, _OTHERS) or not is_utf8(data):
        return False
    lengths = [found.end() - found.start() for found in _BETWEEN_ZEROS.finditer(data)]
    short = sum(length for length in lengths if length < _SHORT)
    return short * _FEW <= sum(lengths)


def with_spaces(text: str) -> str:
    """Return a text of the same length with white space as its separators."""
    for separator, space in _AS_SPACE.items():
        if separator in text:
            text = text.replace(separator, space)
    return text
