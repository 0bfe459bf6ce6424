"""Tables of a flatbuffer, with fields by number, and vectors that can be shortened in place."""

from __future__ import annotations

from collections.abc import Sequence
from struct import calcsize, pack_into, unpack_from
from typing import Any


class FlatVector:
    """Numbers, structs or tables, one after the other."""

    def __init__(self, data: bytearray, at: int) -> None:
        self._data = data
        self._at = at
        (self.count,) = unpack_from("<I", data, at)

    def structs(self, form: str) -> list[tuple[Any, ...]]:
        """Return structs by their fields, as the module `struct` names these."""
        size, form = calcsize(f"<{form}"), f"<{form}"
        return [unpack_from(form, self._data, self._item(n, size)) for n in range(self.count)]

    def tables(self) -> list[FlatTable]:
        return [FlatTable(self._data, self._target(number)) for number in range(self.count)]

    def keep_structs(self, form: str, kept: Sequence[tuple[int, ...]]) -> None:
        """Write structs over those that are there, which are as many or more."""
        size, form = calcsize(f"<{form}"), f"<{form}"
        for number, fields in enumerate(kept):
            pack_into(form, self._data, self._item(number, size), *fields)
        self._shorten(len(kept))

    def keep_tables(self, numbers: Sequence[int]) -> None:
        targets = [self._target(number) for number in numbers]
        for number, target in enumerate(targets):
            at = self._item(number, 4)
            pack_into("<I", self._data, at, target - at)
        self._shorten(len(targets))

    def _item(self, number: int, size: int) -> int:
        return self._at + 4 + number * size

    def _target(self, number: int) -> int:
        at = self._item(number, 4)
        return at + int(unpack_from("<I", self._data, at)[0])

    def _shorten(self, count: int) -> None:
        pack_into("<I", self._data, self._at, count)


class FlatTable:
    """A table, whose fields may be missing."""

    def __init__(self, data: bytearray, at: int) -> None:
        self._data = data
        self._at = at

    @classmethod
    def root(cls, data: bytearray, at: int = 0) -> FlatTable:
        return cls(data, at + unpack_from("<I", data, at)[0])

    def number(self, field: int, form: str, default: int = 0) -> int:
        at = self._field(field)
        return int(unpack_from(f"<{form}", self._data, at)[0]) if at else default

    def set_number(self, field: int, form: str, value: int) -> None:
        """Write a number over the one that is there; raise `ValueError` if there is none."""
        at = self._field(field)
        if at:
            pack_into(f"<{form}", self._data, at, value)
        elif value:
            raise ValueError(field)

    def table(self, field: int) -> FlatTable | None:
        at = self._target(field)
        return FlatTable(self._data, at) if at else None

    def vector(self, field: int) -> FlatVector | None:
        at = self._target(field)
        return FlatVector(self._data, at) if at else None

    def _field(self, field: int) -> int:
        """Return the position of a field; zero if it is missing."""
        fields = self._at - int(unpack_from("<i", self._data, self._at)[0])
        entry = 4 + 2 * field
        if entry >= unpack_from("<H", self._data, fields)[0]:
            return 0
        (offset,) = unpack_from("<H", self._data, fields + entry)
        return self._at + int(offset) if offset else 0

    def _target(self, field: int) -> int:
        at = self._field(field)
        return at + int(unpack_from("<I", self._data, at)[0]) if at else 0
