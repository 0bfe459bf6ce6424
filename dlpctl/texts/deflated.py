"""Deflated data that texts hold in base64 or hexadecimal: where they may be, and what they say."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Iterator
from contextlib import suppress

from dlpctl.errors import FormatError
from dlpctl.regex import lazy

GZIP, ZLIB, RAW = 31, zlib.MAX_WBITS, -zlib.MAX_WBITS
"""The wrappers of deflated data, as zlib numbers them; the last one is none."""
LEAST = 24
"""The characters of base64 from which on a run may hold a file."""
_PART = 1 << 20
_CONTROL = lazy(rb"[\x00-\x08\x0b\x0e-\x1f]")
_IN_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
SHAPES = bytes(ord("x") if code in _IN_BASE64 else ord(" ") for code in range(256))
"""Translates characters of base64 to `x`, and others to blanks."""
_LONG_RUN = b"x" * LEAST


class Inflater:
    """Inflates data, up to a limit for all that one of it is asked for."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def __call__(self, data: bytes, wrapper: int = RAW) -> bytes:
        """Return what the data deflate: with the header of gzip also from a part, without any
        wrapper only if that is all of them.
        """
        unpacker = zlib.decompressobj(wrapper)
        parts: list[bytes] = []
        with suppress(zlib.error):
            while not unpacker.eof and (part := unpacker.decompress(data, _PART)):
                parts.append(part)
                data = unpacker.unconsumed_tail
                self._left -= len(part)
                if self._left < 0:
                    raise FormatError(
                        f"deflated texts expand to more than {self._most:,} bytes:"
                        " unpack them first"
                    )
        counts = unpacker.eof and not (wrapper == RAW and unpacker.unused_data)
        return b"".join(parts) if counts or wrapper == GZIP else b""


def starts_of_runs(data: bytes) -> Iterator[int]:
    """Yield where runs of characters of base64 start that are long enough for a file."""
    shapes = data.translate(SHAPES)
    end = 0
    while (start := shapes.find(_LONG_RUN, end)) >= 0:
        yield start
        end = shapes.find(b" ", start)
        if end < 0:
            return


def may_be_raw(start: bytes) -> bool:
    """Return whether base64 may be of data deflated without a wrapper, by its first characters."""
    try:
        shown = zlib.decompressobj(RAW).decompress(binascii.a2b_base64(start))
    except zlib.error:
        return False
    return not _CONTROL.search(shown)
