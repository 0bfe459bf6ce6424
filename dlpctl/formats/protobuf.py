"""Messages of protocol buffers: values by the numbers of their fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dlpctl.formats.varint import encode_varint

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_SIZES = {_FIXED_64: 8, _FIXED_32: 4}
_LONGEST_VARINT = 10

ProtoValue = tuple[int, int | bytes]
"""The wire type of a value with the value; messages and texts are bytes."""


class ProtoMessage:
    """A message, whose fields keep their order."""

    def __init__(self, data: bytes = b"") -> None:
        """Raise `ValueError` for what is no message."""
        self._fields: dict[int, list[ProtoValue]] = {}
        at = 0
        while at < len(data):
            key, at = _varint(data, at)
            wire_type = key & 7
            value: int | bytes
            if wire_type == _VARINT:
                value, at = _varint(data, at)
            else:
                size, at = _varint(data, at) if wire_type == _BYTES else (_SIZES[wire_type], at)
                value = data[at : at + size]
                at += size
                if at > len(data):
                    raise ValueError(size)
            self._fields.setdefault(key >> 3, []).append((wire_type, value))

    def number(self, field: int, default: int = 0) -> int:
        """Return the last number of a field."""
        return next((each for each in reversed([*self._numbers(field)])), default)

    def numbers(self, field: int) -> list[int]:
        """Return the numbers of a field, which may be packed."""
        return [*self._numbers(field)]

    def bytes_of(self, field: int) -> list[bytes]:
        return [value for _, value in self._fields.get(field, ()) if isinstance(value, bytes)]

    def messages(self, field: int) -> list[ProtoMessage]:
        return [ProtoMessage(data) for data in self.bytes_of(field)]

    def replaced(self, fields: Mapping[int, Iterable[int | bytes]]) -> ProtoMessage:
        """Return the message with other values of some fields; with none, these are left out."""
        made = ProtoMessage()
        made._fields = self._fields | {
            field: [(_VARINT if isinstance(each, int) else _BYTES, each) for each in values]
            for field, values in fields.items()
        }
        return made

    def __bytes__(self) -> bytes:
        pieces: list[bytes] = []
        for field, values in self._fields.items():
            for wire_type, value in values:
                pieces.append(encode_varint(field << 3 | wire_type))
                if isinstance(value, int):
                    pieces.append(encode_varint(value))
                else:
                    pieces += [encode_varint(len(value))] if wire_type == _BYTES else []
                    pieces.append(value)
        return b"".join(pieces)

    def _numbers(self, field: int) -> Iterator[int]:
        for _, value in self._fields.get(field, ()):
            if isinstance(value, int):
                yield value
                continue
            at = 0
            while at < len(value):
                number, at = _varint(value, at)
                yield number


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 7 * _LONGEST_VARINT, 7):
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
    raise ValueError(number)
