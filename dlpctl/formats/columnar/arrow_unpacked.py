"""The compressed buffers of an Arrow column as one range of bytes that is unpacked step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from dlpctl.formats.columnar.arrow_messages import damaged
from dlpctl.formats.columnar.flatbuffer import FlatTable
from dlpctl.formats.sections import FileRange, RangeFile, ReadRange

SIZE_BYTES = 8
"""The size of the number before a compressed buffer, which is its size unpacked."""
NOT_PACKED = (-1).to_bytes(SIZE_BYTES, "little", signed=True)
"""The number before a buffer that is stored as it is."""
_CHUNK = 1 << 20
_CODEC = 0
_CODECS = ("lz4", "zstd")


class UnpackedBuffers:
    """Reads the buffers of a column from their start to their end.

    Positions count the bytes of all buffers unpacked. What precedes the ranges that are forgotten
    cannot be read again.
    """

    def __init__(
        self, read: ReadRange, compression: FlatTable, buffers: Sequence[tuple[int, int]]
    ) -> None:
        codec = _CODECS[compression.number(_CODEC, "b")]
        self._buffers = [_Buffer(read, codec, *each) for each in buffers]
        sizes = (buffer.size for buffer in self._buffers)
        self.ranges = [*pairwise(accumulate(sizes, initial=0))]
        self._starts = [first for first, _ in self.ranges]

    def read(self, first: int, last: int) -> bytes:
        number = bisect_right(self._starts, first) - 1
        start = self._starts[number]
        return self._buffers[number].read(first - start, last - start)

    def forget(self, ranges: Sequence[FileRange]) -> None:
        """Forget what precedes a range in each buffer."""
        for buffer, start, each in zip(self._buffers, self._starts, ranges, strict=True):
            buffer.forget(each.first - start)


class _Buffer:
    def __init__(self, read: ReadRange, codec: str, first: int, last: int) -> None:
        start = read(first, min(first + SIZE_BYTES, last))
        self._codec = codec if start != NOT_PACKED else ""
        packed = last - first - SIZE_BYTES
        self.size = int.from_bytes(start, "little") if self._codec else packed
        self._file = RangeFile(read, last)
        self._file.seek(first + SIZE_BYTES)
        self._unpack: Callable[[int], bytes] | None = None
        self._at = 0
        """The position of the bytes that are kept."""
        self._kept = bytearray()
        if last > first and packed < 0:
            raise damaged()

    def read(self, first: int, last: int) -> bytes:
        if not self._at <= first <= last <= self.size:
            raise damaged()
        while (left := last - self._at - len(self._kept)) > 0:
            chunk = self._following(min(left, _CHUNK))
            if not chunk:
                raise damaged()
            self._kept += chunk
        if self.size and last == self.size and self._following(1):
            raise damaged()  # there is more than it should be
        with memoryview(self._kept) as kept:
            return bytes(kept[first - self._at : last - self._at])

    def forget(self, before: int) -> None:
        del self._kept[: max(before - self._at, 0)]
        self._at = max(self._at, before)

    def _following(self, size: int) -> bytes:
        if not self._codec:
            return self._file.read(size)
        if self._unpack is None:
            import pyarrow

            source = pyarrow.PythonFile(self._file, mode="r")
            self._unpack = pyarrow.CompressedInputStream(source, self._codec).read
        return self._unpack(size)
