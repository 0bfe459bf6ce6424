"""Sections of a large file: ranges that are complete files of its format.

To find its sections, a format only reads the ranges that describe their positions.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple

from dlpctl.errors import FormatError

ReadRange = Callable[[int, int], bytes]
"""Returns the bytes between two positions of a file."""
SECTION_BYTES = 8 << 20
"""Parts of a file are combined up to this size."""
_LARGEST_READ = 64 << 20


class Section(NamedTuple):
    """A range of a file, with the bytes before and after it that make it a complete file."""

    first: int
    last: int
    before: bytes
    after: bytes
    label: str = ""
    """The location of the section, for display, if its contents do not show it."""
    repeats: bool = False
    """True if an earlier section has the same names and metadata."""


class RangeFile(io.RawIOBase):
    """A file that is read in ranges."""

    def __init__(self, read: ReadRange, size: int) -> None:
        self._read = read
        self._size = size
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise OSError("a position before the start")
        self._at = start + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        last = self._size if size < 0 else min(self._at + size, self._size)
        if last - self._at > _LARGEST_READ:
            raise FormatError("the directory of the file is too large")
        data = self._read(self._at, last) if last > self._at else b""
        self._at += len(data)
        return data
