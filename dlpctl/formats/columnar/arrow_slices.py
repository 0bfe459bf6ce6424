"""Some rows of an Arrow column, as ranges of the buffers that hold all of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dlpctl.formats.columnar.arrow_layout import Layout
from dlpctl.formats.columnar.arrow_messages import damaged
from dlpctl.formats.sections import VALUE_BYTES, FileRange, ReadRange

ALIGNMENT = 8
"""The rows whose bits start with a byte: parts of a column start with a multiple of them."""
_UNKNOWN = -1


class RowSlice(NamedTuple):
    """Some rows of a column: their nodes, and a range for each buffer."""

    nodes: list[tuple[int, int]]
    ranges: list[FileRange]
    values: list[int]
    """The number of values of each field that has some."""

    @property
    def size(self) -> int:
        """Return how much memory the rows take: their bytes, or the places of their values."""
        taken = sum(each.last - each.first for each in self.ranges)
        return max(taken, sum(self.values) * VALUE_BYTES)


class ColumnSlicer:
    """Finds the ranges of rows of a column in its buffers, which are read unpacked."""

    def __init__(
        self,
        read: ReadRange,
        layout: Layout,
        nodes: Sequence[tuple[int, int]],
        buffers: Sequence[tuple[int, int]],
    ) -> None:
        """`nodes` are lengths with numbers of nulls, and `buffers` ranges of the file."""
        self._read = read
        self._layout = layout
        self._nodes = nodes
        self._buffers = buffers

    def rows(self, first: int, last: int, most: int) -> RowSlice:
        """Return a slice, which is not complete if its size is more than `most`."""
        made = RowSlice([], [], [])
        self._most = most
        self._add(made, self._layout, first, last, iter(self._nodes), iter(self._buffers))
        return made

    def _add(
        self,
        made: RowSlice,
        layout: Layout,
        first: int,
        last: int,
        nodes: Iterator[tuple[int, int]],
        buffers: Iterator[tuple[int, int]],
    ) -> None:
        """Add rows of a field, and of the fields in it."""
        length, nulls = next(nodes)
        if last > length:
            raise damaged()
        made.nodes.append((last - first, nulls and _UNKNOWN))
        if layout.has_values:
            made.values.append(last - first)
        if layout.buffers:
            at, end = next(buffers)  # without nulls, it may be empty
            made.ranges.append(FileRange(at, at) if at == end else _bits((at, end), first, last, 1))
        if layout.bits:
            made.ranges.append(_bits(next(buffers), first, last, layout.bits))
        if layout.offsets:
            alignment = ALIGNMENT if layout.children else 1
            offsets, end = self._offsets(next(buffers), first, last, layout.offsets, alignment)
            made.ranges.append(offsets)
            first, last = offsets.less, end
            if not layout.children:
                made.ranges.append(_bits(next(buffers), first, last, 8))
        else:
            first, last = first * layout.items, last * layout.items
        for child in layout.children if made.size <= self._most else ():
            self._add(made, child, first, last, nodes, buffers)

    def _offsets(
        self, buffer: tuple[int, int], first: int, last: int, width: int, alignment: int
    ) -> tuple[FileRange, int]:
        """Return offsets that start with an aligned value, and the last of them."""
        at, end = buffer
        if first == last:
            return FileRange(at, at, width), 0
        offsets = FileRange(at + first * width, at + (last + 1) * width, width)
        if offsets.last > end:
            raise damaged()
        start, stop = (
            int.from_bytes(self._read(each, each + width), "little")
            for each in (offsets.first, offsets.last - width)
        )
        if start > stop:
            raise damaged()
        return offsets._replace(less=start - start % alignment), stop


def _bits(buffer: tuple[int, int], first: int, last: int, bits: int) -> FileRange:
    """Return the range of values of so many bits."""
    at, end = buffer
    found = FileRange(at + first * bits // 8, at + -(-last * bits // 8))
    if found.last > end:
        raise damaged()
    return found
