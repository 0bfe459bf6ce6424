"""Sections of a large file: ranges that are complete files of its format.

To find its sections, a format only reads the ranges that describe their positions.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

from dlpctl.errors import FormatError

ReadRange = Callable[[int, int], bytes]
"""Returns the bytes between two positions of a file."""
SECTION_BYTES = 8 << 20
"""Parts of a file are combined up to this size."""
VALUE_BYTES = 8
"""The minimum size of a value in a table."""
_LARGEST_READ = 64 << 20
_CODES = {4: "i", 8: "q"}


class FileRange(NamedTuple):
    """A range of a file, in which numbers may have to become less."""

    first: int
    last: int
    width: int = 0
    """The size of the numbers; zero for bytes that stay as they are."""
    less: int = 0

    def read(self, read: ReadRange) -> bytes:
        data = read(self.first, self.last) if self.last > self.first else b""
        if not self.less:
            return data
        try:
            numbers = array(_CODES[self.width], data)
            return array(numbers.typecode, [each - self.less for each in numbers]).tobytes()
        except (ValueError, OverflowError):
            raise FormatError("the numbers of the file are damaged") from None


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
    pieces: Sequence[FileRange | bytes] = ()
    """The parts of the section, if it is not one range. The range has their size then."""
    memory: int = 0
    """The bytes that it has unpacked, if they are more."""

    @property
    def size(self) -> int:
        return self.last - self.first

    def contents(self, read: ReadRange) -> bytes:
        """Return the section as a file."""
        pieces = self.pieces or (FileRange(self.first, self.last),)
        inner = [each if isinstance(each, bytes) else each.read(read) for each in pieces]
        return b"".join((self.before, *inner, self.after))

    def packed(self) -> tuple[object, ...]:
        """Return the section as JSON carries it."""
        pieces = [
            each.decode("latin-1") if isinstance(each, bytes) else each for each in self.pieces
        ]
        around = self.before.decode("latin-1"), self.after.decode("latin-1")
        return self.first, self.last, *around, self.label, self.repeats, pieces, self.memory

    @classmethod
    def unpacked(
        cls,
        first: int,
        last: int,
        before: str,
        after: str,
        label: str,
        repeats: bool,
        pieces: Sequence[Any],
        memory: int,
    ) -> Self:
        """Return the section that was packed."""
        inner = [
            each.encode("latin-1") if isinstance(each, str) else FileRange(*each) for each in pieces
        ]
        around = before.encode("latin-1"), after.encode("latin-1")
        return cls(first, last, *around, label, repeats, inner, memory)


def joined(pieces: Iterable[FileRange | bytes]) -> Iterator[FileRange | bytes]:
    """Yield pieces, of which ranges that follow each other are one, and none is empty."""
    last: FileRange | bytes = b""
    for piece in pieces:
        if (
            isinstance(piece, FileRange)
            and isinstance(last, FileRange)
            and (piece.first, piece.width, last.width) == (last.last, 0, 0)
        ):
            last = FileRange(last.first, piece.last)
            continue
        if last:
            yield last
        last = piece
    if last:
        yield last


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
