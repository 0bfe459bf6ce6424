"""Metadata in a JPEG file: Exif, XMP, IPTC and comments of cameras and programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END_OF_SCAN = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
"""A marker after the start of the samples, where a zero follows each 0xFF that is data."""
_KEPT = {0xE0: b"JFIF\0", 0xE2: b"ICC_PROFILE\0", 0xEE: b"Adobe"}
"""JFIF, color profile, Adobe's color transform: needed to show the picture."""


def _markers(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, start and end of each segment before the samples."""
    position = 2
    while data[:2] == b"\xff\xd8" and position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xDA:
            return
        end = position + 2 + int.from_bytes(data[position + 2 : position + 4], "big")
        yield marker, position, end
        position = end


def end_of(data: bytes) -> int:
    """Return the end of the picture, after which other programs hide data."""
    position = max((end for _, _, end in _markers(data)), default=2)
    for found in _END_OF_SCAN.finditer(data, position):
        if found.start() < position:
            continue
        if data[found.start() + 1] == 0xD9:
            return found.end()
        length = int.from_bytes(data[found.end() : found.end() + 2], "big")
        position = found.end() + length
    return len(data)


def with_orientation(data: bytes, exif: bytes) -> bytes:
    """Return the picture with Exif that contains only the orientation."""
    return data[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + data[2:]


def _is_note(marker: int, contents: bytes) -> bool:
    if 0xE0 <= marker <= 0xEF:
        return marker not in _KEPT or not contents.startswith(_KEPT[marker])
    return marker == 0xFE


def note_segments(data: bytes) -> Iterator[bytes]:
    """Yield the contents of each segment that is no part of the picture."""
    for marker, start, end in _markers(data):
        if _is_note(marker, data[start + 4 : end]):
            yield data[start + 4 : end]


def without_notes(data: bytes) -> bytes:
    kept = bytearray(data[:2])
    position = 2
    for marker, start, end in _markers(data):
        if not _is_note(marker, data[start + 4 : end]):
            kept += data[start:end]
        position = end
    return bytes(kept) + data[position : end_of(data)]
