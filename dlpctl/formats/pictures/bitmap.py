"""Bitmaps of Windows, which other files have without the head of a file."""

from __future__ import annotations

import struct

HEAD_SIZE = 14
_BITS_OF_PALETTE = 8


def with_head(bitmap: bytes) -> bytes:
    """Return a bitmap with the head that it has as a file."""
    size, bits, colours = struct.unpack_from("<I10xH16xI", bitmap)
    colours = colours or (1 << bits if bits <= _BITS_OF_PALETTE else 0)
    start = HEAD_SIZE + size + 4 * colours
    return b"BM" + struct.pack("<III", HEAD_SIZE + len(bitmap), 0, start) + bitmap
