"""The binary values of Avro that contain texts: reading and writing of each type."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from dlpctl.arrow import LONG_AGO
from dlpctl.errors import FormatError
from dlpctl.formats.varint import encode_varint

_LONGEST_DECIMAL, _LARGEST_SCALE = 64, 1000
_WIDTHS = {"int": 32, "long": 64}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.toordinal()
_TICKS = {
    f"{local}timestamp-{unit}": ticks
    for local in ("", "local-")
    for unit, ticks in (("millis", 10**3), ("micros", 10**6), ("nanos", 10**9))
}
"""Logical types that are points in time, with their units per second."""


def damaged() -> FormatError:
    return FormatError("the Avro file is damaged")


def read_long(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and its end; raise `IndexError` past the end of the data."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at
    number, shift = byte & 0x7F, 7
    while byte >= 0x80:
        if shift > 63:
            raise damaged()
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
    return (number >> 1) ^ -(number & 1), at


def long_bytes(number: int) -> bytes:
    """Return a number in the encoding of Avro."""
    return encode_varint(number << 1 if number >= 0 else (-number << 1) - 1)


def read_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the bytes after their length at a position, and their end."""
    size, at = read_long(data, at)
    end = at + size
    if size < 0 or end > len(data):
        raise damaged()
    return data[at:end], end


class Leaf(NamedTuple):
    """Reads and writes the values of a type as texts."""

    read: Callable[[bytes, int], tuple[str | None, int]]
    """Returns None for a value without a text."""
    write: Callable[[str], bytes | None]
    """Returns None for a text that is not a value of the type."""
    zero: Callable[[], bytes] = lambda: b"\0"


def damaged_schema() -> FormatError:
    return FormatError("the schema of the Avro file is damaged")


def leaf_of(type_name: str, logical: Any, schema: Mapping[str, Any]) -> Leaf | None:
    """Return the reader and writer of a primitive type that has texts."""
    if type_name in _WIDTHS:
        return _integer(type_name, logical)
    if type_name in ("float", "double"):
        return _floating(struct.Struct("<f" if type_name == "float" else "<d"))
    if type_name == "string":
        return string_leaf()
    if type_name == "bytes":
        is_decimal = logical == "decimal" and _scale(schema) is not None
        return _decimal(schema, None) if is_decimal else string_leaf()
    return None


def string_leaf() -> Leaf:
    def read(data: bytes, at: int) -> tuple[str | None, int]:
        raw, end = read_bytes(data, at)
        return _text(raw), end

    def write(text: str) -> bytes:
        raw = text.encode()
        return long_bytes(len(raw)) + raw

    return Leaf(read, write)


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _integer(type_name: str, logical: Any) -> Leaf:
    limit = 1 << _WIDTHS[type_name] - 1
    shown: Callable[[int], str] = str
    number_of: Callable[[str], int] = int
    zero = "0"
    if logical == "date":
        zero = LONG_AGO.date().isoformat()
        shown, number_of = _day, lambda text: date.fromisoformat(text).toordinal() - _EPOCH_DAY
    elif isinstance(logical, str) and logical in _TICKS:
        ticks, zero = _TICKS[logical], LONG_AGO.isoformat()
        shown, number_of = (
            lambda number: _time(number, ticks),
            lambda text: _ticks_of(text, ticks),
        )

    def read(data: bytes, at: int) -> tuple[str, int]:
        number, at = read_long(data, at)
        try:
            return shown(number), at
        except (ValueError, OverflowError):  # outside of the years that dates support
            return str(number), at

    def write(text: str) -> bytes | None:
        try:
            number = number_of(text)
        except (ValueError, OverflowError):
            return None
        return long_bytes(number) if -limit <= number < limit else None

    return Leaf(read, write, lambda: long_bytes(number_of(zero)))


def _day(number: int) -> str:
    return date.fromordinal(number + _EPOCH_DAY).isoformat()


def _time(number: int, ticks: int) -> str:
    moment = _EPOCH + timedelta(microseconds=number * 10**6 // ticks)
    return moment.replace(tzinfo=None).isoformat(" ")


def _ticks_of(text: str, ticks: int) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC) - _EPOCH
    return moment // timedelta(microseconds=1) * ticks // 10**6


def _floating(form: struct.Struct) -> Leaf:
    def read(data: bytes, at: int) -> tuple[str, int]:
        end = at + form.size
        if end > len(data):
            raise damaged()
        (number,) = form.unpack_from(data, at)
        # Numbers without a fraction have their usual form: 4111111111111111.
        is_whole = number.is_integer() and abs(number) < 1 << 63
        return str(int(number) if is_whole else number), end

    def write(text: str) -> bytes | None:
        try:
            raw: bytes = form.pack(float(text))
        except (ValueError, OverflowError):
            return None
        return raw

    return Leaf(read, write, lambda: bytes(form.size))


def fixed_leaf(schema: Mapping[str, Any]) -> Leaf:
    size, logical = schema.get("size"), schema.get("logicalType")
    if not isinstance(size, int) or size < 0:
        raise damaged_schema()
    if logical == "decimal" and _scale(schema) is not None:
        return _decimal(schema, size)
    shown: Callable[[bytes], str | None] = _text
    raw_of: Callable[[str], bytes] = str.encode
    if logical == "uuid" and size == 16:
        shown, raw_of = (lambda raw: str(UUID(bytes=raw))), (lambda text: UUID(text).bytes)
    elif logical == "duration":
        shown = _without_text

    def read(data: bytes, at: int) -> tuple[str | None, int]:
        if at + size > len(data):
            raise damaged()
        return shown(data[at : at + size]), at + size

    def write(text: str) -> bytes | None:
        try:
            raw = raw_of(text)
        except ValueError:
            return None
        return raw if len(raw) == size else None

    return Leaf(read, write, lambda: bytes(size))


def _without_text(_raw: bytes) -> str:
    return ""


def _scale(schema: Mapping[str, Any]) -> int | None:
    scale = schema.get("scale", 0)
    return scale if isinstance(scale, int) and 0 <= scale <= _LARGEST_SCALE else None


def _decimal(schema: Mapping[str, Any], size: int | None) -> Leaf:
    scale = _scale(schema) or 0

    def read(data: bytes, at: int) -> tuple[str | None, int]:
        raw, end = read_bytes(data, at) if size is None else (data[at : at + size], at + size)
        if len(raw) > _LONGEST_DECIMAL:
            return None, end
        number = int.from_bytes(raw, signed=True)
        return format(Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale)), "f"), end

    def write(text: str) -> bytes | None:
        try:
            scaled = Decimal(text).scaleb(scale)
            number = int(scaled)
        except (ArithmeticError, ValueError):
            return None
        if number != scaled:
            return None
        length = number.bit_length() // 8 + 1
        if size is None:
            return long_bytes(length) + number.to_bytes(length, signed=True)
        return number.to_bytes(size, signed=True) if length <= size else None

    return Leaf(read, write, lambda: b"\2\0" if size is None else bytes(size))
