"""The writer of compound files."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from typing import NamedTuple

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_FREE, _END, _TABLE, _TABLE_OF_TABLES = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFC
_NONE = 0xFFFFFFFF
_STORAGE, _STREAM, _ROOT, _BLACK = 1, 2, 5, 1
_NAME, _SMALL, _SMALL_STREAM = 64, 64, 4096
_HEADER, _IN_HEADER = 512, 109


class _Entry(NamedTuple):
    name: bytes
    type: int
    state: bytes
    first: int
    size: int
    children: list[int]


class Writer:
    """Writes storages and streams, each after the storage that it is in."""

    def __init__(self, sector: int) -> None:
        self._sector = sector
        self._pieces: list[bytes] = []
        self._table = array("I")
        self._small: list[bytes] = []
        self._small_table = array("I")
        self._entries: list[_Entry] = []
        self._numbers: dict[str, int] = {}

    def add_storage(self, path: str, name: str, state: bytes) -> None:
        """Add a storage; the first one is the root, whose path is empty."""
        self._add(path, name, _STORAGE if path else _ROOT, state, 0, 0)

    def add_stream(self, path: str, name: str, state: bytes, contents: bytes) -> None:
        size = len(contents)
        if size >= _SMALL_STREAM:
            first = self._chain(contents)
        else:
            first = _linked(self._small_table, -(-size // _SMALL))
            self._small.append(_padded(contents, _SMALL))
        self._add(path, name, _STREAM, state, first, size)

    def _add(
        self, path: str, name: str, entry_type: int, state: bytes, first: int, size: int
    ) -> None:
        number = self._numbers[path] = len(self._entries)
        entry = _Entry(f"{name}\0".encode("utf-16-le"), entry_type, state, first, size, [])
        self._entries.append(entry)
        if path:
            self._entries[self._numbers[path.rpartition("/")[0]]].children.append(number)

    def _chain(self, contents: bytes) -> int:
        self._pieces.append(_padded(contents, self._sector))
        return _linked(self._table, -(-len(contents) // self._sector))

    def written(self) -> bytes:
        """Return the file."""
        small = b"".join(self._small)
        small_start, small_size = self._chain(small), len(small)
        small_table = _padded(self._small_table.tobytes(), self._sector, b"\xff")
        small_tables = self._chain(small_table)
        directory = self._directory(small_start, small_size)
        directory_start = self._chain(directory)
        lists, tables = self._tables()
        head = MAGIC + bytes(16)
        version = 3 if self._sector == _HEADER else 4
        shift = self._sector.bit_length() - 1
        head += struct.pack("<5H6x", 0x3E, version, 0xFFFE, shift, 6)
        sectors = len(directory) // self._sector if version > 3 else 0
        head += struct.pack("<3I", sectors, len(tables), directory_start)
        small_count = len(small_table) // self._sector
        first_list = lists[0] if lists else _END
        head += struct.pack(
            "<6I", 0, _SMALL_STREAM, small_tables, small_count, first_list, len(lists)
        )
        head += array("I", tables[:_IN_HEADER]).tobytes().ljust(4 * _IN_HEADER, b"\xff")
        return b"".join((_padded(head, self._sector), *self._pieces))

    def _tables(self) -> tuple[Sequence[int], Sequence[int]]:
        """Add the table of sectors and its lists; return the sectors of the lists and the table."""
        numbers, used = self._sector // 4, len(self._table)
        tables = lists = 0
        while True:
            needed = -(-(used + tables + lists) // numbers)
            listed = -(-max(needed - _IN_HEADER, 0) // (numbers - 1))
            if (needed, listed) == (tables, lists):
                break
            tables, lists = needed, listed
        of_lists = range(used, used + lists)
        of_tables = range(used + lists, used + lists + tables)
        self._table.extend([_TABLE_OF_TABLES] * lists + [_TABLE] * tables)
        rest = of_tables[_IN_HEADER:]
        for number in range(lists):
            some = array("I", rest[number * (numbers - 1) : (number + 1) * (numbers - 1)])
            following = of_lists[number + 1] if number + 1 < lists else _END
            written = some.tobytes().ljust(self._sector - 4, b"\xff")
            self._pieces.append(written + struct.pack("<I", following))
        self._pieces.append(_padded(self._table.tobytes(), self._sector, b"\xff"))
        return of_lists, of_tables

    def _directory(self, small_start: int, small_size: int) -> bytes:
        links = [[_NONE, _NONE, _NONE] for _ in self._entries]

        def arranged(numbers: Sequence[int]) -> int:
            """Return the middle of entries, after which both halves are arranged below it."""
            if not numbers:
                return _NONE
            middle = len(numbers) // 2
            found = numbers[middle]
            links[found][:2] = arranged(numbers[:middle]), arranged(numbers[middle + 1 :])
            return found

        for number, entry in enumerate(self._entries):
            links[number][2] = arranged(sorted(entry.children, key=self._order))
        written: list[bytes] = []
        for entry, link in zip(self._entries, links, strict=True):
            first, size = entry.first, entry.size
            if entry.type == _ROOT:
                first, size = small_start, small_size
            sizes = struct.pack("<HBB3I", len(entry.name), entry.type, _BLACK, *link)
            contents = struct.pack("<IQ", first, size)
            written.append(entry.name.ljust(_NAME, b"\0") + sizes + entry.state + contents)
        free = bytes(_NAME + 4) + struct.pack("<3I", _NONE, _NONE, _NONE) + bytes(48)
        written += [free] * (-len(written) % (self._sector // len(free)))
        return b"".join(written)

    def _order(self, number: int) -> tuple[int, str]:
        name = self._entries[number].name
        return len(name), name.decode("utf-16-le", "replace").upper()


def _linked(table: array[int], count: int) -> int:
    """Add a chain of sectors to a table, and return the first of them."""
    if not count:
        return _END
    first = len(table)
    table.extend(range(first + 1, first + count))
    table.append(_END)
    return first


def _padded(data: bytes, size: int, filler: bytes = b"\0") -> bytes:
    return data + filler * (-len(data) % size)
