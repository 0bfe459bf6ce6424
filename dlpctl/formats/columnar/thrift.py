"""Structs in the compact protocol of Thrift: fields with a number, a type and a value."""

from __future__ import annotations

from typing import Any, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.varint import encode_varint

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY = 1, 2, 3, 7, 8
LIST, _SET, _MAP, STRUCT, _UUID = range(9, 14)
_NUMBERS = (4, 5, 6)
_DEEPEST = 32
_MOST_VALUES = 1_000_000
"""The maximum number of values in a footer, each of which takes memory."""


class ThriftValue(NamedTuple):
    """A value with its type."""

    type: int
    value: Any


ThriftFields = dict[int, ThriftValue]


class ThriftReader:
    """Reads the compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._left = _MOST_VALUES

    @property
    def position(self) -> int:
        """Return the number of bytes that have been read."""
        return self._at

    def struct(self, depth: int = 0) -> ThriftFields:
        fields: ThriftFields = {}
        number = 0
        if depth > _DEEPEST:
            raise _damaged()
        while head := self._byte():
            field_type = head & 15
            number = number + (head >> 4) if head >> 4 else self._number()
            fields[number] = ThriftValue(field_type, self._value(field_type, depth))
        return fields

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number
            if shift > 63:
                raise _damaged()

    def _number(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _bytes(self, size: int) -> bytes:
        first = self._at
        self._at += size
        if self._at > len(self._data):
            raise _damaged()
        return self._data[first : self._at]

    def _value(self, value_type: int, depth: int) -> Any:
        self._left -= 1
        if not self._left:
            raise FormatError("the footer of the Parquet file is too large")
        if value_type in (_TRUE, _FALSE):
            return None
        if value_type in _NUMBERS:
            return self._number()
        if value_type == _BINARY:
            return self._bytes(self._varint())
        if value_type == STRUCT:
            return self.struct(depth + 1)
        if value_type in (LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 15, self._items(count, head & 15, depth)
        if value_type == _MAP:
            count = self._varint()
            types = self._byte() if count else 0
            pairs = [
                (self._item(types >> 4, depth), self._item(types & 15, depth))
                for _ in range(self._claimed(count))
            ]
            return types, pairs
        sizes = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
        if value_type not in sizes:
            raise _damaged()
        return self._bytes(sizes[value_type])

    def _items(self, count: int, item_type: int, depth: int) -> list[Any]:
        return [self._item(item_type, depth + 1) for _ in range(self._claimed(count))]

    def _claimed(self, count: int) -> int:
        """Return a number of items, each of which takes at least a byte."""
        if count > len(self._data) - self._at:
            raise _damaged()
        return count

    def _item(self, item_type: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _damaged()
        return self._byte() if item_type in (_TRUE, _FALSE) else self._value(item_type, depth)


def written(fields: ThriftFields) -> bytes:
    """Return a struct in the compact protocol."""
    pieces: list[bytes] = []
    previous = 0
    for number, (field_type, value) in sorted(fields.items()):
        step = number - previous
        pieces.append(
            bytes((step << 4 | field_type,))
            if 0 < step < 16
            else bytes((field_type,)) + _varint_of(number)
        )
        pieces.append(_value_of(field_type, value))
        previous = number
    return b"".join((*pieces, b"\0"))


def _varint_of(number: int) -> bytes:
    """Return the encoding of a signed number."""
    return encode_varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _value_of(value_type: int, value: Any) -> bytes:
    if value_type in (_TRUE, _FALSE):
        return b""
    if value_type in _NUMBERS:
        return _varint_of(value)
    if value_type == _BINARY:
        return b"".join((encode_varint(len(value)), value))
    if value_type == STRUCT:
        return written(value)
    if value_type in (LIST, _SET):
        item_type, items = value
        short = min(len(items), 15)
        head = bytes((short << 4 | item_type,)) + (
            encode_varint(len(items)) if short == 15 else b""
        )
        return head + b"".join(_item_of(item_type, item) for item in items)
    if value_type == _MAP:
        types, pairs = value
        items = b"".join(
            _item_of(types >> 4, key) + _item_of(types & 15, item) for key, item in pairs
        )
        return encode_varint(len(pairs)) + (bytes((types,)) if pairs else b"") + items
    raw: bytes = value
    return raw


def _item_of(item_type: int, item: Any) -> bytes:
    return bytes((item,)) if item_type in (_TRUE, _FALSE) else _value_of(item_type, item)


def _damaged() -> FormatError:
    return FormatError("the footer of the file is damaged")
