"""The properties of an older Office file: title, author, company and those that users define."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from dlpctl.formats.compound.texts import NARROW, WIDE, Run, codec_of_page

STREAMS = ("\5SummaryInformation", "\5DocumentSummaryInformation")
_MARK = b"\xfe\xff"
_SECTIONS = 28
_DICTIONARY, _CODE_PAGE = 0, 1
_NUMBER, _TEXT, _WIDE_TEXT, _TIME, _PICTURE, _VARIANT = 2, 30, 31, 64, 71, 12
_VECTOR = 0x1000
_MOST = 1 << 16


@dataclass(slots=True)
class Properties:
    """The positions of what a stream of properties has."""

    runs: list[Run] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    pictures: list[tuple[int, int]] = field(default_factory=list)
    is_damaged: bool = False


def read_properties(data: bytes) -> Properties:
    found = Properties()
    if not data.startswith(_MARK):
        found.is_damaged = bool(data.strip(b"\0"))
        return found
    try:
        (count,) = struct.unpack_from("<I", data, 24)
        for number in range(min(count, 2)):
            (start,) = struct.unpack_from("<I", data, _SECTIONS + 20 * number + 16)
            _Section(data, start, found).read()
    except struct.error:
        found.is_damaged = True
    return found


class _Section:
    def __init__(self, data: bytes, start: int, found: Properties) -> None:
        self._data, self._start, self._found = data, start, found
        self._codec = NARROW

    def _number(self, at: int) -> int:
        return int(struct.unpack_from("<I", self._data, at)[0])

    def read(self) -> None:
        (count,) = struct.unpack_from("<I", self._data, self._start + 4)
        pairs = [
            struct.unpack_from("<II", self._data, self._start + 8 + 8 * number)
            for number in range(min(count, _MOST))
        ]
        for key, offset in pairs:
            if key == _CODE_PAGE and self._number(self._start + offset) == _NUMBER:
                (page,) = struct.unpack_from("<H", self._data, self._start + offset + 4)
                self._codec = codec_of_page(page)
        for key, offset in pairs:
            at = self._start + offset
            if key == _DICTIONARY:
                self._read_names(at)
            elif key != _CODE_PAGE:
                self._read_value(self._number(at) & 0xFFFF, at + 4)

    def _read_names(self, at: int) -> None:
        count = self._number(at)
        at += 4
        for _ in range(min(count, _MOST)):
            length = self._number(at + 4)
            at += 8
            size = 2 * length if self._codec == WIDE else length
            self._add(at, size, self._codec)
            at += size + (-size % 4 if self._codec == WIDE else 0)

    def _read_value(self, value_type: int, at: int) -> int:
        """Read a value, and return the position after it."""
        if value_type & _VECTOR:
            count = self._number(at)
            at += 4
            for _ in range(min(count, _MOST)):
                inner = value_type & ~_VECTOR
                if inner == _VARIANT:
                    inner = self._number(at) & 0xFFFF
                    at += 4
                at = self._read_value(inner, at)
            return at
        if value_type == _TEXT:
            size = self._number(at)
            self._add(at + 4, size, self._codec)
            # Office does not pad the texts of a vector.
            return at + 4 + size
        if value_type == _WIDE_TEXT:
            size = 2 * self._number(at)
            self._add(at + 4, size, WIDE)
            return at + 4 + size + -size % 4
        if value_type == _TIME:
            self._found.times.append(at)
        elif value_type == _PICTURE:
            size = self._number(at)
            self._found.pictures.append((at + 4, min(at + 4 + size, len(self._data))))
        return at + 4

    def _add(self, at: int, size: int, codec: str) -> None:
        if size > len(self._data) - at:
            raise struct.error
        text = self._data[at : at + size]
        end = len(text.rstrip(b"\0"))
        end += end % 2 if codec == WIDE else 0
        if end:
            self._found.runs.append(Run(at, end, codec))
