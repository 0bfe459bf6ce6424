"""The compressed Rich Text of messages."""

from __future__ import annotations

import struct

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits

_HEADER = struct.Struct("<II4sI")
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_WINDOW = 1 << 12
_MARK = 3
"""The most bytes of a mark of the end that the size of the text makes needless."""
_DAMAGED = "the rich text of the message is damaged"
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""The text that every reader knows before the first byte."""


def read(data: bytes, limits: Limits) -> bytes:
    _, size, method, _ = _HEADER.unpack_from(data)
    packed = data[_HEADER.size :]
    if method == _PLAIN:
        _require_nothing(packed[size:])
        return packed[:size]
    if method != _COMPRESSED:
        raise FormatError(_DAMAGED)
    if size > limits.expanded_bytes:
        megabytes = limits.expanded_bytes >> 20
        raise FormatError(f"it expands to more than {megabytes} MB: raise limits.expanded_bytes")
    return _expanded(packed, size)


def write(text: bytes) -> bytes:
    """Return rich text as it is written without compression."""
    return _HEADER.pack(len(text) + _HEADER.size - 4, len(text), _PLAIN, 0) + text


def _expanded(packed: bytes, size: int) -> bytes:
    found = bytearray(_START)
    first, end = len(_START), len(_START) + size
    at = 0
    while len(found) < end and at < len(packed):
        flags = packed[at]
        at += 1
        for bit in range(8):
            if not flags >> bit & 1:
                found += packed[at : at + 1]
                at += 1
                continue
            reference = int.from_bytes(packed[at : at + 2], "big")
            at += 2
            start, length = len(found) - (len(found) - (reference >> 4)) % _WINDOW, 2
            length += reference & 15
            if start == len(found):  # the mark of the end
                _require_nothing(packed[at:])
                return bytes(found[first:end])
            if start < 0:
                raise FormatError(_DAMAGED)
            piece = found[start : start + length]
            while len(piece) < length:
                piece += piece[: length - len(piece)]
            found += piece
    _require_nothing(packed[at + _MARK :])
    return bytes(found[first:end])


def _require_nothing(rest: bytes) -> None:
    """Refuse a stream that goes on after its text, where nobody would look."""
    if rest.strip(b"\0"):
        raise FormatError(_DAMAGED)
