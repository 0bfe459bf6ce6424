"""The records of Excel 5 to 2003: cells and texts, with the positions of their bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.compound.texts import NARROW, WIDE, Run
from dlpctl.regex import lazy

BOF, EOF, CONTINUE = 0x809, 0x0A, 0x3C
FILE_PASSWORD, CODE_PAGE, DATE_MODE, SHEET = 0x2F, 0x42, 0x22, 0x85
STRINGS, STYLE_FORMAT, NUMBER_FORMAT = 0xFC, 0xE0, 0x41E
FORMULA, TEXT_OBJECT, DRAWING = 0x06, 0x1B6, {0xEB, 0xEC}
_STRING_CELL, _LABEL, _RICH, _RESULT = 0xFD, 0x204, 0xD6, 0x207
_NUMBER, _RK, _RKS, _NOTE = 0x203, 0x27E, 0xBD, 0x1C
_CACHE_NUMBER = 0xC9
_TEXT_RESULT = b"\xff\xff"
_WIDE_FLAG, _PHONETIC_FLAG, _RICH_FLAG = 1, 4, 8
BIFF5, BIFF8 = 0x500, 0x600
_SPOKEN_AT = 14
"""The offset of the text in the data of how a string is read aloud."""
_INTEGER, _HUNDREDTH = 2, 1
_TEXTS = {
    SHEET: (6, 1), 0x14: (0, 2), 0x15: (0, 2), 0x5C: (0, 2), 0x100D: (2, 1), 0x18: (14, 0),
    NUMBER_FORMAT: (2, 2), _NOTE: (8, 2), 0xCD: (0, 2), 0x293: (2, 2), 0x31: (14, 1),
}  # fmt: skip
"""The offset of the text in other records, and the bytes of its length; 0 for that of a name."""


_WITH_FORMULAS = {FORMULA, 0x18, 0x23, 0x5A, 0x1B1, 0x1BE, 0x221, 0x4BC, 0x1051}
_CONSTANT = lazy(rb"[\x01\x1f](?=[\0-\xff]{7}[\x40-\x43])")
_SHORT_WORD = lazy(rb"[A-Za-z]{4,5}")
_LONG, _LONGEST = 1e5, 1e18
_STRING_TOKEN, _AMPERSAND, _CONCATENATE = 0x17, b"\x08", b"\x50\x01"
"""The tokens of a string in a formula and of what joins two, and the number of a function."""


class Record(NamedTuple):
    type: int
    start: int
    """The position of its contents."""
    size: int


class Cell(NamedTuple):
    """A cell: its value is the string of a number, a number in some bytes, or a text in runs."""

    row: int
    column: int
    style: int
    at: int
    """The position of the value."""
    size: int = 0
    """The bytes of a number."""
    number: float = 0.0
    string: int = -1
    runs: tuple[Run, ...] = ()


def records(data: bytes, start: int, depth: int = 0) -> Iterator[Record]:
    """Yield the records of a sheet, with those of the charts in it.

    `depth` is the number of sheets that have started before.
    """
    while start + 4 <= len(data):
        record_type, size = struct.unpack_from("<HH", data, start)
        start += 4
        if start + size > len(data):
            break
        yield Record(record_type, start, size)
        start += size
        depth += (record_type == BOF) - (record_type == EOF)
        if depth <= 0:
            return
    raise FormatError("a sheet of the file is cut off")


class CellReader:
    """Reads the cells of one sheet, record by record."""

    def __init__(self, data: bytes, version: int, codec: str) -> None:
        self._data, self._is_new, self._codec = data, version >= BIFF8, codec
        self._formula: tuple[int, int, int] | None = None
        self._readers: dict[int, Callable[[Record], Iterator[Cell]]] = {
            _STRING_CELL: self._string,
            _LABEL: self._label,
            _RICH: self._label,
            _NUMBER: self._number,
            _RK: self._rk,
            _RKS: self._rks,
            FORMULA: self._result,
            _RESULT: self._text_result,
        }

    def cells(self, record: Record) -> Iterator[Cell]:
        reader = self._readers.get(record.type)
        return iter(()) if reader is None else reader(record)

    def _cell_position(self, record: Record) -> tuple[int, int, int]:
        row, column, style = struct.unpack_from("<HHH", self._data, record.start)
        return row + 1, column + 1, style

    def _string(self, record: Record) -> Iterator[Cell]:
        (index,) = struct.unpack_from("<I", self._data, record.start + 6)
        yield Cell(*self._cell_position(record), record.start + 6, string=index)

    def _label(self, record: Record) -> Iterator[Cell]:
        at = record.start + 6
        yield Cell(*self._cell_position(record), at, runs=self.text(at, 2, record))

    def _number(self, record: Record) -> Iterator[Cell]:
        (number,) = struct.unpack_from("<d", self._data, record.start + 6)
        yield Cell(*self._cell_position(record), record.start + 6, 8, number)

    def _rk(self, record: Record) -> Iterator[Cell]:
        yield Cell(
            *self._cell_position(record), record.start + 6, 4, self._packed(record.start + 6)
        )

    def _rks(self, record: Record) -> Iterator[Cell]:
        row, column = struct.unpack_from("<HH", self._data, record.start)
        for number in range((record.size - 6) // 6):
            at = record.start + 4 + 6 * number
            (style,) = struct.unpack_from("<H", self._data, at)
            yield Cell(row + 1, column + 1 + number, style, at + 2, 4, self._packed(at + 2))

    def _packed(self, at: int) -> float:
        (packed,) = struct.unpack_from("<i", self._data, at)
        number: float = packed >> 2
        if not packed & _INTEGER:
            (number,) = struct.unpack("<d", bytes(4) + struct.pack("<i", packed & ~3))
        return number / 100 if packed & _HUNDREDTH else number

    def _result(self, record: Record) -> Iterator[Cell]:
        at = record.start + 6
        self._formula = self._cell_position(record)
        if self._data[at + 6 : at + 8] != _TEXT_RESULT:
            (number,) = struct.unpack_from("<d", self._data, at)
            yield Cell(*self._formula, at, 8, number)

    def _text_result(self, record: Record) -> Iterator[Cell]:
        if self._formula is not None:
            yield Cell(*self._formula, record.start, runs=self.text(record.start, 2, record))
            self._formula = None

    def text(self, at: int, width: int, record: Record) -> tuple[Run, ...]:
        """Return the text at a position in a record: the length, and flags since Excel 97."""
        end = record.start + record.size
        length = int.from_bytes(self._data[at : at + width], "little")
        at += width
        if not self._is_new:
            return (Run(at, min(length, end - at), self._codec),) if length else ()
        flags = self._data[at] if at < end else 0
        at += 1 + 2 * bool(flags & _RICH_FLAG) + 4 * bool(flags & _PHONETIC_FLAG)
        size = min(length * (2 if flags & _WIDE_FLAG else 1), max(end - at, 0))
        return (Run(at, size, WIDE if flags & _WIDE_FLAG else NARROW),) if size else ()

    def other_text(self, record: Record) -> tuple[Run, ...]:
        """Return the text of a record that is no cell."""
        if record.type == _NOTE and not self._is_new:
            return (Run(record.start + 6, max(record.size - 6, 0), self._codec),)
        offset, width = _TEXTS.get(record.type, (0, -1))
        at = record.start + offset
        if width < 0 or record.size <= offset:
            return ()
        if width:
            return self.text(at, width if self._is_new else 1, record)
        length = self._data[record.start + 3]
        wide = self._is_new and self._data[at] & _WIDE_FLAG
        at += self._is_new
        size = min(length * (2 if wide else 1), record.start + record.size - at)
        return (Run(at, size, WIDE if wide else NARROW if self._is_new else self._codec),)

    def joined_strings(self, record: Record) -> Iterator[list[Run]]:
        """Yield the strings that a formula joins, and words too short for other data."""
        data, at = self._data, record.start
        end = at + record.size if record.type in _WITH_FORMULAS else at
        while (at := data.find(_STRING_TOKEN, at, end)) >= 0:
            runs: list[Run] = []
            while at + 2 < end and data[at] == _STRING_TOKEN:
                is_wide = self._is_new and data[at + 2] & _WIDE_FLAG
                size, at = data[at + 1] * (2 if is_wide else 1), at + 2 + self._is_new
                codec = WIDE if is_wide else NARROW if self._is_new else self._codec
                runs.append(Run(at, min(size, end - at), codec))
                at += runs[-1].size
                at += len(runs) > 1 and data.startswith(_AMPERSAND, at)
            if len(runs) < 2:
                if any(_SHORT_WORD.fullmatch(data, each.at, each.at + each.size) for each in runs):
                    yield runs
                at += not runs
            elif data[at - 1 : at] == _AMPERSAND or data[at + 2 : at + 4] == _CONCATENATE:
                yield runs

    def constants(self, record: Record) -> Iterator[Cell]:
        """Yield what may be a long whole number in a formula, or in the cache of a pivot table."""
        if record.type == _CACHE_NUMBER:
            yield Cell(0, 0, 0, record.start, 8, *_doubles(self._data, record.start))
        elif record.type in _WITH_FORMULAS:
            row, column = 1, 1
            if record.type == FORMULA:
                row, column, _ = self._cell_position(record)
            for found in _CONSTANT.finditer(self._data, record.start, record.start + record.size):
                at = found.start() + 1
                if _LONG <= _doubles(self._data, at)[0] < _LONGEST:
                    yield Cell(row, column, 0, at, 8, *_doubles(self._data, at))


def _doubles(data: bytes, at: int) -> tuple[float]:
    found: tuple[float] = struct.unpack_from("<d", data, at)
    return found


class Continued:
    """Reads strings from a record and those that continue it."""

    def __init__(self, data: bytes, parts: list[Record]) -> None:
        self._data = data
        self._parts = [(each.start, each.start + each.size) for each in parts]
        self._part = 0
        self.at = self._parts[0][0]

    @property
    def _room(self) -> int:
        return self._parts[self._part][1] - self.at

    def _next_part(self) -> None:
        self._part += 1
        if self._part == len(self._parts):
            raise FormatError("the texts of the file are cut off")
        self.at = self._parts[self._part][0]

    def take(self, size: int) -> bytes:
        """Return the next bytes, which may be in several records."""
        found = b""
        while len(found) < size:
            if not self._room:
                self._next_part()
            piece = self._data[self.at : self.at + min(self._room, size - len(found))]
            self.at += len(piece)
            found += piece
        return found

    def skip(self, size: int) -> None:
        while size:
            if not self._room:
                self._next_part()
            step = min(size, self._room)
            self.at += step
            size -= step

    def characters(self, count: int, flags: int) -> Iterator[Run]:
        """Yield the runs of characters; each record says how it encodes them."""
        while count:
            if not self._room:
                self._next_part()
                flags = self.take(1)[0]
            width = 2 if flags & _WIDE_FLAG else 1
            step = min(count, self._room // width)
            if not step:
                raise FormatError("the texts of the file are damaged")
            yield Run(self.at, step * width, WIDE if width > 1 else NARROW)
            self.at += step * width
            count -= step

    def strings(self) -> Iterator[tuple[list[Run], list[Run]]]:
        """Yield the strings of a table, each with the runs that say how it is read aloud."""
        _, count = struct.unpack("<II", self.take(8))
        for _ in range(count):
            length, flags = struct.unpack("<HB", self.take(3))
            styles = int.from_bytes(self.take(2), "little") if flags & _RICH_FLAG else 0
            extra = int.from_bytes(self.take(4), "little") if flags & _PHONETIC_FLAG else 0
            runs = list(self.characters(length, flags))
            self.skip(4 * styles)
            yield runs, list(self._spoken(extra))

    def _spoken(self, size: int) -> Iterator[Run]:
        """Yield the runs of the text that says how a string is read aloud."""
        if size < _SPOKEN_AT:
            self.skip(size)
            return
        self.skip(_SPOKEN_AT - 2)
        length = 2 * int.from_bytes(self.take(2), "little")
        rest = size - _SPOKEN_AT - length
        if rest < 0:
            raise FormatError("the texts of the file are damaged")
        while length:
            if not self._room:
                self._next_part()
            step = min(length, self._room)
            yield Run(self.at, step, WIDE)
            self.skip(step)
            length -= step
        self.skip(rest)
