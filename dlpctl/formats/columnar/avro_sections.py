"""Sections of an Avro file: ranges of blocks, each after the header of the file."""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.avro_header import SYNC, read_header
from dlpctl.formats.columnar.avro_values import damaged
from dlpctl.formats.sections import SECTION_BYTES, ReadRange, Section

_STEP = 256 << 10
_LARGEST_HEADER = 16 << 20
_LARGEST_BLOCK = 64 << 20


def avro_sections(read: ReadRange, size: int) -> Iterator[Section]:
    """Yield sections that end after the sync marker of a block."""
    header = _header(read, size)
    mark = header[-SYNC:]
    first = 0
    number = 1
    while first < size:
        last = _end_of_block(read, max(first, len(header)) + SECTION_BYTES, size, mark)
        yield Section(first, last, header if first else b"", b"", f"part {number}", first > 0)
        first = last
        number += 1


def _header(read: ReadRange, size: int) -> bytes:
    length = _STEP
    while True:
        data = read(0, min(length, size))
        try:
            return data[: read_header(data).end]
        except FormatError:
            if length >= min(size, _LARGEST_HEADER):
                raise
        length *= 4


def _end_of_block(read: ReadRange, at: int, size: int, mark: bytes) -> int:
    """Return the end of the first marker at or after a position."""
    limit = at + _LARGEST_BLOCK
    while at < size:
        found = read(at, min(at + _STEP, size)).find(mark)
        if found >= 0:
            return at + found + SYNC
        if at > limit:
            raise damaged()
        at += _STEP - SYNC
    return size
