"""Compound files, in which older Office programs keep streams: chains of sectors with a directory.

Every byte of a file is in one stream or in no stream. A copy has nothing but its streams.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.compound.writing import MAGIC, Writer
from dlpctl.formats.interface import Limits

_HEADER, _ENTRY, _NAME = 512, 128, 64
_STATE, _FIRST = 80, 116
_FIRST_IN_HEADER, _COUNT_IN_HEADER = 76, 109
_LARGEST_SECTOR = 0xFFFFFFFA
_FREE, _NONE = 0xFFFFFFFF, 0xFFFFFFFF
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_SMALL_STREAM = 4096
_DAMAGED = "the sectors of the file are damaged"


class Entry(NamedTuple):
    """An entry of the directory."""

    name: str
    type: int
    left: int
    right: int
    child: int
    first: int
    size: int
    state: bytes
    """Its class, flags and times, as they are written."""


class Stream(NamedTuple):
    """A stream: its size, and the ranges of the file that it occupies, slack included."""

    size: int
    ranges: list[tuple[int, int]]


class Compound:
    """A compound file; `streams` has the path of each stream, such as `Macros/dir`."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data = data
        if not data.startswith(MAGIC) or len(data) < _HEADER:
            raise FormatError("the file is cut off")
        major, _, shift, small_shift = struct.unpack_from("<4H", data, 26)
        if (major, shift) not in ((3, 9), (4, 12)) or small_shift != 6:
            raise FormatError("the file is a compound file of unknown version")
        self._sector: int = 1 << shift
        self._small: int = 1 << small_shift
        (directory,) = struct.unpack_from("<I", data, 48)
        small_table, small_tables = struct.unpack_from("<II", data, 60)
        self._count = max(len(data) - 1, 0) // self._sector
        self._used = bytearray(self._count)
        self._table = self._read_table()
        self._directory = self._chain(directory)
        self.entries = self._read_entries(limits)
        root = self.entries[0]
        self._small_sectors = self._chain(root.first) if root.size else array("I")
        table = self._chain(small_table) if small_tables else array("I")
        self._small_table = _numbers(self._bytes_of(table))
        self._small_used = bytearray(len(self._small_sectors) * self._sector // self._small)
        self.streams: dict[str, Stream] = {}
        self._collect()

    def _read_table(self) -> array[int]:
        """Return the table that has the following sector of each sector."""
        data = self._data
        following, count = struct.unpack_from("<II", data, 68)
        numbers = _numbers(data[_FIRST_IN_HEADER:_HEADER])
        for _ in range(min(count, self._count)):
            if following >= _LARGEST_SECTOR:
                break
            more = _numbers(self._sector_bytes(self._use(following)))
            following = more.pop()
            numbers += more
        sectors = [number for number in numbers if number < _LARGEST_SECTOR]
        return _numbers(b"".join(self._sector_bytes(self._use(number)) for number in sectors))

    def _use(self, number: int) -> int:
        """Mark a sector as used by one chain; a damaged file may use it twice."""
        if number >= self._count or self._used[number]:
            raise FormatError(_DAMAGED)
        self._used[number] = 1
        return number

    def _position(self, number: int) -> int:
        return (number + 1) * self._sector

    def _sector_bytes(self, number: int) -> bytes:
        start = self._position(number)
        return self._data[start : start + self._sector].ljust(self._sector, b"\0")

    def _bytes_of(self, sectors: Iterable[int]) -> bytes:
        return b"".join(map(self._sector_bytes, sectors))

    def _chain(self, number: int) -> array[int]:
        """Return the sectors of a chain."""
        found = array("I")
        while number < _LARGEST_SECTOR:
            found.append(self._use(number))
            number = self._table[number] if number < len(self._table) else _NONE
        return found

    def _small_chain(self, number: int) -> array[int]:
        found = array("I")
        while number < _LARGEST_SECTOR:
            if number >= len(self._small_used) or self._small_used[number]:
                raise FormatError(_DAMAGED)
            self._small_used[number] = 1
            found.append(number)
            number = self._small_table[number] if number < len(self._small_table) else _NONE
        return found

    def _read_entries(self, limits: Limits) -> list[Entry]:
        data = self._bytes_of(self._directory)
        if len(data) // _ENTRY > limits.entries:
            raise FormatError(f"more than {limits.entries:,} entries: raise limits.entries")
        entries: list[Entry] = []
        for at in range(0, len(data), _ENTRY):
            size, entry_type, _, left, right, child = struct.unpack_from(
                "<HBBIII", data, at + _NAME
            )
            first, length, high = struct.unpack_from("<III", data, at + _FIRST)
            name = data[at : at + max(min(size, _NAME) - 2, 0)].decode("utf-16-le", "replace")
            length += high << 32 if self._sector > _HEADER else 0
            state = data[at + _STATE : at + _FIRST]
            entries.append(Entry(name, entry_type, left, right, child, first, length, state))
        if not entries or entries[0].type != _ROOT:
            raise FormatError("the directory of the file is damaged")
        return entries

    def _collect(self) -> None:
        """Collect the streams of all storages."""
        self.reached = {0: ""}
        """The path of each entry that is in a storage."""
        waiting = [(self.entries[0].child, "")]
        while waiting:
            number, path = waiting.pop()
            if number == _NONE:
                continue
            if number >= len(self.entries) or number in self.reached:
                raise FormatError("the directory of the file is damaged")
            entry = self.entries[number]
            if "/" in entry.name:
                raise FormatError("the directory of the file is damaged")
            self.reached[number] = name = f"{path}{entry.name}"
            waiting += (entry.left, path), (entry.right, path)
            if entry.type == _STORAGE:
                waiting.append((entry.child, f"{name}/"))
            elif entry.type == _STREAM and name not in self.streams:
                self.streams[name] = self._stream(entry)
            else:
                raise FormatError("the directory of the file is damaged")

    def _stream(self, entry: Entry) -> Stream:
        if entry.size == 0:
            return Stream(0, [])
        if entry.size >= _SMALL_STREAM:
            starts, size = map(self._position, self._chain(entry.first)), self._sector
        else:
            starts, size = map(self._small_position, self._small_chain(entry.first)), self._small
        ranges = list(_joined((start, start + size) for start in starts))
        if sum(end - start for start, end in ranges) < entry.size:
            raise FormatError("a stream of the file is cut off")
        return Stream(entry.size, ranges)

    def _small_position(self, number: int) -> int:
        sector, within = divmod(number * self._small, self._sector)
        return self._position(self._small_sectors[sector]) + within

    def read(self, path: str) -> bytes:
        """Return the contents of a stream."""
        size, ranges = self.streams[path]
        found = b"".join(self._data[start:end] for start, end in ranges)
        if len(found) < size:
            raise FormatError("a stream of the file is cut off")
        return found[:size]

    def unowned(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the file that are in no stream and in no table, in order."""
        found = [
            (self._position(number), self._position(number + 1))
            for number, is_used in enumerate(self._used)
            if not is_used
        ]
        found.append((self._position(self._count), len(self._data)))
        if self._sector > _HEADER:
            found.append((_HEADER, self._sector))
        for number, is_used in enumerate(self._small_used):
            if not is_used:
                start = self._small_position(number)
                found.append((start, start + self._small))
        for size, ranges in self.streams.values():
            found += _after(size, ranges)
        for number, entry in enumerate(self.entries):
            start = self._entry_position(number)
            size = len(f"{entry.name}\0".encode("utf-16-le")) if number in self.reached else 0
            found.append((start + size, start + _NAME))
        ends = ((start, min(end, len(self._data))) for start, end in sorted(found))
        yield from _joined(span for span in ends if span[0] < span[1])

    def _entry_position(self, number: int) -> int:
        sector, within = divmod(number * _ENTRY, self._sector)
        return self._position(self._directory[sector]) + within

    def names(self) -> Iterator[str]:
        """Yield the names of storages and streams."""
        yield from (self.entries[number].name for number in sorted(self.reached))

    def rewritten(self, changed: Mapping[str, bytes], removed: Collection[str] = ()) -> bytes:
        """Return a copy with changed streams, and without those removed and their storages."""
        copy = Writer(self._sector)
        numbers = {path: number for number, path in self.reached.items()}
        kept = [path for path in self.streams if path not in removed]
        storages = {path for path in numbers if self.entries[numbers[path]].type == _STORAGE}
        storages -= {*_storages(removed)} - {*_storages(kept)}
        for path, number in numbers.items():
            entry = self.entries[number]
            if path in storages or not path:
                copy.add_storage(path, entry.name, entry.state)
            elif path in self.streams and path not in removed:
                contents = changed[path] if path in changed else self.read(path)
                copy.add_stream(path, entry.name, entry.state, contents)
        return copy.written()


def _storages(paths: Iterable[str]) -> Iterator[str]:
    """Yield the storages that have streams."""
    for path in paths:
        while path := path.rpartition("/")[0]:
            yield path


def _numbers(data: bytes) -> array[int]:
    return array("I", data[: len(data) // 4 * 4])


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans, of which those that follow each other are one."""
    last: tuple[int, int] | None = None
    for start, end in spans:
        if last is not None and last[1] == start:
            last = (last[0], end)
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def _after(size: int, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a stream after its end."""
    for start, end in ranges:
        first = start + max(size, 0)
        size -= end - start
        if first < end:
            yield first, end
