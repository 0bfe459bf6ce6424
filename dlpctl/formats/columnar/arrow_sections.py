"""Sections of an Arrow file or stream, each a stream: batches, columns of a large batch, and rows
of a large column. Compressed columns are divided by those who unpack them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import error
from typing import Any, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.arrow_layout import Column, Layout, columns_of, layouts_of
from dlpctl.formats.columnar.arrow_messages import (
    BATCH,
    BODY_SIZE,
    CONTINUES,
    DICTIONARY,
    END,
    Head,
    Message,
    damaged,
    messages,
)
from dlpctl.formats.columnar.arrow_slices import ColumnSlicer, RowSlice
from dlpctl.formats.columnar.arrow_unpacked import NOT_PACKED, SIZE_BYTES, UnpackedBuffers
from dlpctl.formats.columnar.flatbuffer import FlatTable
from dlpctl.formats.sections import (
    SECTION_BYTES,
    VALUE_BYTES,
    FileRange,
    ReadRange,
    Section,
    joined,
)

_LARGEST_BATCH = 32 << 20
"""A batch that takes more memory is read by columns."""
_SMALL_BATCH = 1 << 20
"""Up to this size, a batch takes less."""
_LARGEST_DICTIONARIES = 80 << 20
_LARGEST_ROWS = 100 << 20
"""The most memory of rows that are taken together."""
_ROWS = 64
"""Rows are taken together by as many."""
_VERSION, _OLD_UNIONS = 0, 3
_FIELDS = 1
_ALIGNMENT = 8
_LENGTH, _NODES, _BUFFERS, _COMPRESSION, _VIEWS = range(5)
_ID, _DATA, _IS_DELTA = range(3)
_SMALL_BUFFER, _USUAL_RATIO = 1 << 20, 4
"""Compressed buffers up to this size are taken as so many times as large unpacked."""


class ArrowPart(NamedTuple):
    """A part of a file: batches, or some columns or rows of one."""

    pieces: Sequence[FileRange | bytes]
    label: str
    repeats: bool
    columns: slice = slice(None)
    row: int = 0
    """The number of rows of the batch before its own."""
    memory: int = 0
    """The bytes that it has unpacked, if it cannot be divided."""


def arrow_sections(read: ReadRange, size: int) -> Iterator[Section]:
    """Yield sections that hold the values of every batch."""
    return (section for _, section in _divided(read, size, unpacks=False))


def arrow_parts(read: ReadRange, size: int) -> Iterator[tuple[ArrowPart, bytes]]:
    """Yield the streams of all parts, with compressed columns by rows."""
    for part, section in _divided(read, size, unpacks=True):
        if part.memory > _LARGEST_ROWS:
            raise FormatError(f"{part.label} takes more than {_LARGEST_ROWS >> 20} MB")
        yield part, section.contents(read)


def _divided(read: ReadRange, size: int, *, unpacks: bool) -> Iterator[tuple[ArrowPart, Section]]:
    try:
        divider = _Divider(read, size, unpacks=unpacks)
        for part in divider.parts():
            yield part, divider.section(part)
    except (error, OSError, LookupError, ValueError, OverflowError, StopIteration) as problem:
        raise damaged() from problem


class _Divider:
    def __init__(self, read: ReadRange, size: int, *, unpacks: bool) -> None:
        self._read = read
        self._unpacks = unpacks
        self._listed = messages(read, size)
        schema = next(self._listed)
        self._start = schema.last
        self._head = Head.read(read, schema.first, schema.body)
        version = self._head.table.number(_VERSION, "h")
        self._layouts = layouts_of(self._head.header, has_old_unions=version <= _OLD_UNIONS)
        self._dictionaries: dict[int, tuple[list[Message], int]] = {}
        """The messages of each dictionary, and its bytes unpacked."""
        self._number = 0
        """The number of the batch that is read, or of the last one."""
        self._is_first = True

    def parts(self) -> Iterator[ArrowPart]:
        group: list[Message] = []
        for message in self._listed:
            large = self._large_batch(message)
            is_apart = group and (
                message.first != group[-1].last
                or message.last - group[0].first > SECTION_BYTES
                or message.type == DICTIONARY
            )
            if is_apart or (group and large):
                yield self._of_batches(group)
                group = []
            if message.type == DICTIONARY:
                self._add_dictionary(message)
                continue
            if message.type != BATCH:
                raise damaged()
            self._number += 1
            if large:
                yield from self._by_columns(large)
            else:
                group.append(message)
        if group or self._is_first:
            yield self._of_batches(group)

    def _add_dictionary(self, message: Message) -> None:
        dictionary = Head.read(self._read, message.first, message.last).header
        number = dictionary.number(_ID, "q")
        known, taken = self._dictionaries.get(number, ([], 0))
        if not dictionary.number(_IS_DELTA, "B"):
            known, taken = [], 0
        taken += self._memory_of(message, dictionary)
        self._dictionaries[number] = [*known, message], taken
        if sum(each for _, each in self._dictionaries.values()) > _LARGEST_DICTIONARIES:
            megabytes = _LARGEST_DICTIONARIES >> 20
            raise FormatError(f"the categories of its columns take more than {megabytes} MB")

    def _memory_of(self, message: Message, dictionary: FlatTable) -> int:
        """Return the bytes that a dictionary has unpacked."""
        batch = dictionary.table(_DATA)
        if batch is None or batch.table(_COMPRESSION) is None:
            return message.size
        buffers = _structs(batch, _BUFFERS, "qq")
        sizes = (_unpacked_size(self._read, message.body + first, size) for first, size in buffers)
        return max(message.size, sum(sizes))

    def _of_batches(self, group: Sequence[Message]) -> ArrowPart:
        """Return the part of batches that are one after the other, or of the schema alone."""
        numbers = self._number - len(group) + 1, self._number
        label = f"batch {self._number}"
        if len(group) > 1:
            label = f"batches {numbers[0]} to {numbers[1]}"
        batches = [FileRange(group[0].first, group[-1].last)] if group else []
        return ArrowPart(batches, label, numbers[0] > 1)

    def _large_batch(self, message: Message) -> _Batch | None:
        """Return a batch that has to be divided; None for any other message."""
        if message.type != BATCH or (message.size < _SMALL_BATCH and not self._unpacks):
            return None
        batch = _Batch(self._read, message, self._layouts, 0 if self._unpacks else _SMALL_BUFFER)
        return batch if sum(batch.sizes) > _LARGEST_BATCH else None

    def _by_columns(self, batch: _Batch) -> Iterator[ArrowPart]:
        """Yield parts that hold some of the columns of a batch each."""
        start = 0
        while start < len(batch.columns):
            end, taken = start, 0
            for size in batch.sizes[start:]:
                if end > start and taken + size > SECTION_BYTES:
                    break
                end, taken = end + 1, taken + size
            numbers = slice(start, end)
            label = f"batch {self._number}, column {start + 1}"
            is_sliceable = batch.columns[start].layout.is_sliceable
            if taken > SECTION_BYTES and is_sliceable and (self._unpacks or not batch.is_packed):
                for row, pieces in batch.rows_of(start):
                    of_rows = f"{label}, from row {row + 1}"
                    repeats = self._number > 1 or row > 0
                    yield ArrowPart(pieces, of_rows, repeats, numbers, row)
            else:
                label += f" to {end}" if end > start + 1 else ""
                pieces = batch.columns_in(numbers)
                memory = 0 if is_sliceable else taken
                yield ArrowPart(pieces, label, self._number > 1, numbers, memory=memory)
            start = end

    def section(self, part: ArrowPart) -> Section:
        """Return a part after the schema and the dictionaries of its columns."""
        pieces, label, repeats, columns, _, memory = part
        schema = Head.of(self._head.data)
        if fields := schema.header.vector(_FIELDS):
            fields.keep_tables(range(fields.count)[columns])
        needed = frozenset[int]().union(*(each.dictionaries for each in self._layouts[columns]))
        dictionaries = [
            FileRange(message.first, message.last)
            for number, (listed, _) in self._dictionaries.items()
            if number in needed
            for message in listed
        ]
        inner = [*joined((*dictionaries, *pieces))]
        ranges = [each for each in inner if isinstance(each, FileRange)]
        first = ranges[0].first if ranges else self._start
        first = 0 if self._is_first else first
        self._is_first = False
        last = first + sum(each.last - each.first for each in ranges)
        before = bytes(schema.data)
        if not before.startswith(CONTINUES):  # as in files of old versions
            before = CONTINUES + before
        return Section(first, last, before, END, label, repeats, inner, memory)


class _Batch:
    """A large batch, of which some columns or some rows of a column are made batches."""

    def __init__(
        self, read: ReadRange, message: Message, layouts: Sequence[Layout], small: int
    ) -> None:
        """The sizes of compressed buffers up to `small` are estimated."""
        self._read = read
        self._small = small
        self._message = message
        self._head = Head.read(read, message.first, message.body)
        header = self._head.header
        self._rows = header.number(_LENGTH, "q")
        self._nodes = _structs(header, _NODES, "qq")
        self._buffers = _structs(header, _BUFFERS, "qq")
        self._views = _structs(header, _VIEWS, "q")
        self._compression = header.table(_COMPRESSION)
        self.is_packed = self._compression is not None
        self.columns = columns_of(layouts, [count for (count,) in self._views])
        self._require_complete()
        self.sizes = [*map(self._memory, self.columns)]
        """The memory that the columns take, unpacked."""

    def _require_complete(self) -> None:
        nodes = sum(each.nodes.stop - each.nodes.start for each in self.columns)
        buffers = sum(each.buffers.stop - each.buffers.start for each in self.columns)
        body = self._message.last - self._message.body
        at = 0
        for first, size in self._buffers:
            if size and not at <= first <= first + size <= body:
                raise damaged()
            at = max(at, first + size)
        if (nodes, buffers) != (len(self._nodes), len(self._buffers)):
            raise damaged()

    def _memory(self, column: Column) -> int:
        taken = sum(map(self._size, self._buffers[column.buffers]))
        nodes = zip(column.layout.walk(), self._nodes[column.nodes], strict=True)
        values = sum(length for layout, (length, _) in nodes if layout.has_values)
        return int(max(taken, values * VALUE_BYTES))

    def _size(self, buffer: tuple[int, int]) -> int:
        first, size = buffer
        if not self.is_packed or not size:
            return size
        if size < self._small:
            return size * _USUAL_RATIO
        return _unpacked_size(self._read, self._message.body + first, size)

    def columns_in(self, numbers: slice) -> list[FileRange | bytes]:
        """Return the batch of some columns."""
        chosen = self.columns[numbers]
        nodes, buffers, views = (
            slice(getattr(chosen[0], name).start, getattr(chosen[-1], name).stop)
            for name in ("nodes", "buffers", "views")
        )
        held = [(first, size) for first, size in self._buffers[buffers] if size]
        start = held[0][0] // _ALIGNMENT * _ALIGNMENT if held else 0
        end = sum(held[-1]) if held else 0
        moved = [(first - start if size else 0, size) for first, size in self._buffers[buffers]]
        body = self._message.body
        held_bytes = FileRange(body + start, body + end)
        head = self._headed(self._rows, self._nodes[nodes], moved, self._views[views], end - start)
        return [head, held_bytes, bytes(-end % _ALIGNMENT)]

    def rows_of(self, number: int) -> Iterator[tuple[int, list[FileRange | bytes]]]:
        """Yield the batches of rows of a column, each with the number of its first row."""
        column = self.columns[number]
        at = self._message.body
        buffers = [(at + first, at + first + size) for first, size in self._buffers[column.buffers]]
        read, unpacked = self._read, None
        if self._compression is not None:
            unpacked = UnpackedBuffers(self._read, self._compression, buffers)
            read, buffers = unpacked.read, unpacked.ranges
        slicer = ColumnSlicer(read, column.layout, self._nodes[column.nodes], buffers)
        step = self._rows * SECTION_BYTES // self.sizes[number] // _ROWS * _ROWS
        first = 0
        while first < self._rows:
            step = max(step, _ROWS)
            most = 2 * SECTION_BYTES if step > _ROWS else _LARGEST_ROWS
            made = slicer.rows(first, min(first + step, self._rows), most)
            if made.size > most and step > _ROWS:
                step = step // 2 // _ROWS * _ROWS
                continue
            if made.size > most:
                raise FormatError(f"{_ROWS} rows of a column take more than {most >> 20} MB")
            if unpacked is None:
                yield first, self._sliced(made, made.ranges)
            else:
                held = (each.read(read) for each in made.ranges)
                yield first, self._sliced(made, (data and NOT_PACKED + data for data in held))
                unpacked.forget(made.ranges)
            first += step
            step *= 1 + (made.size < SECTION_BYTES // 2)

    def _sliced(self, made: RowSlice, held: Iterable[FileRange | bytes]) -> list[FileRange | bytes]:
        """Return the batch of some rows, whose buffers hold ranges or bytes."""
        pieces: list[FileRange | bytes] = []
        buffers: list[tuple[int, int]] = []
        at = 0
        for each in held:
            size = len(each) if isinstance(each, bytes) else each.last - each.first
            pieces += each, bytes(-size % _ALIGNMENT)
            buffers.append((at, size))
            at += size + -size % _ALIGNMENT
        return [self._headed(made.nodes[0][0], made.nodes, buffers, (), at), *pieces]

    def _headed(
        self,
        rows: int,
        nodes: Sequence[tuple[int, ...]],
        buffers: Sequence[tuple[int, ...]],
        views: Sequence[tuple[int, ...]],
        body: int,
    ) -> bytes:
        """Return the head of a batch that has a part of this one."""
        head = Head.of(self._head.data)
        header = head.header
        header.set_number(_LENGTH, "q", rows)
        head.table.set_number(BODY_SIZE, "q", body + -body % _ALIGNMENT)
        parts = (_NODES, "qq", nodes), (_BUFFERS, "qq", buffers), (_VIEWS, "q", views)
        for field, form, structs in parts:
            if vector := header.vector(field):
                vector.keep_structs(form, structs)
        return bytes(head.data)


def _unpacked_size(read: ReadRange, first: int, size: int) -> int:
    """Return the size of a compressed buffer, or of one that would not become smaller."""
    unpacked = int.from_bytes(read(first, first + SIZE_BYTES), "little", signed=True)
    return max(unpacked, size)


def _structs(header: FlatTable, field: int, form: str) -> list[tuple[Any, ...]]:
    vector = header.vector(field)
    return vector.structs(form) if vector else []
