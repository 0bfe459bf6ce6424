"""Sections of a large file: ranges that are files of its format by themselves.

A format that has them needs no more of a file than the ranges that say where they are.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple

from dlpctl.errors import FormatError

ReadRange = Callable[[int, int], bytes]
"""Returns the bytes between two positions of a file."""
SECTION_BYTES = 8 << 20
"""Parts of a file are put together up to this size."""
_LARGEST_READ = 64 << 20


class Section(NamedTuple):
    """A range of a file, and what makes it a file: bytes before it and after it."""

    first: int
    last: int
    before: bytes
    after: bytes
    label: str = ""
    """The place of the section, for people, where its contents do not tell."""
    repeats: bool = False
    """True if an earlier section has its names and metadata."""


class RangeFile(io.RawIOBase):
    """A file that is read by ranges."""

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
