"""Find the strings in binary data, each kept at its offset, so that positions need no mapping."""

from __future__ import annotations

import re

BLANK = 0x1A
"""Separates strings; a value ends there, even if its pattern would match this character."""
_TEXT = frozenset((*range(0x20, 0x7F), *b"\t\n\r"))
_PRINTABLE = bytes(byte if byte in _TEXT else BLANK for byte in range(256))
_CLASSES = bytes(ord("t" if byte in _TEXT else "x" if byte else "0") for byte in range(256))
_WIDE = re.compile(rb"(?:t0){6,}+")


def strings_of(data: bytes) -> bytes:
    """Return data of the same length, with everything outside of strings blanked.

    The characters of a UTF-16 string are moved together at its start.
    """
    strings = data.translate(_PRINTABLE)
    classes = data.translate(_CLASSES)
    at = classes.find(b"t0" * 6)
    if at < 0:
        return strings
    written = bytearray(strings)
    while at >= 0 and (found := _WIDE.match(classes, at)):
        end = found.end()
        if classes.startswith(b"t", end) and classes[at - 1 : at] == b"0":  # big-endian
            end += 1
        characters = data[at:end:2]
        written[at:end] = characters.ljust(end - at, bytes((BLANK,)))
        at = classes.find(b"t0" * 6, end)
    return bytes(written)
