"""A strict binary encoding of data: each kind writes a value and reads one back, or refuses it.

Reading never allocates more than a message holds, runs nothing, and accepts only what the declared
kind can be. Lists of records are written column by column, which is compact and fast. msgspec
would do the same, but its import takes longer than most files. Both sides run on one machine, so
that columns are in its byte order.
"""

from __future__ import annotations

import struct
from array import array
from itertools import accumulate, pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")
_NUMBER = struct.Struct("<q")
_REAL = struct.Struct("<d")
_LENGTH = struct.Struct("<Q")
_TYPECODES = "IQq"
_LONGEST_LINE = 2_000


class RefusedMessageError(Exception):
    """Bytes that are not the message that was declared."""


class Source:
    """A message that is being read."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self._data = memoryview(data)
        self._at = 0

    @property
    def left(self) -> int:
        """The number of bytes that have not been read."""
        return len(self._data) - self._at

    def take(self, size: int) -> memoryview:
        if not 0 <= size <= self.left:
            raise RefusedMessageError("a value goes beyond the end of the message")
        start, self._at = self._at, self._at + size
        return self._data[start : self._at]

    def length(self) -> int:
        """Return the length of what follows, in bytes or in values of at least one byte each."""
        (length,) = _LENGTH.unpack(self.take(_LENGTH.size))
        if length > self.left:
            raise RefusedMessageError("a length goes beyond the end of the message")
        return int(length)


class Kind(Generic[T]):
    """The declared type of a value."""

    def write(self, out: list[bytes], value: T, /) -> None:
        raise NotImplementedError

    def read(self, source: Source, /) -> T:
        raise NotImplementedError

    def write_all(self, out: list[bytes], values: Sequence[T], /) -> None:
        """Write a column: the values of one field of many records, without their number."""
        for value in values:
            self.write(out, value)

    def read_all(self, source: Source, count: int, /) -> Iterable[T]:
        return [self.read(source) for _ in range(count)]


class _Number(Kind[int]):
    def write(self, out: list[bytes], value: int) -> None:
        out.append(_NUMBER.pack(value))

    def read(self, source: Source) -> int:
        (value,) = _NUMBER.unpack(source.take(_NUMBER.size))
        return int(value)

    def write_all(self, out: list[bytes], values: Sequence[int]) -> None:
        out.append(array("q", values).tobytes())

    def read_all(self, source: Source, count: int) -> Iterable[int]:
        values = array("q")
        values.frombytes(source.take(count * values.itemsize))
        return values


class _Real(Kind[float]):
    def write(self, out: list[bytes], value: float) -> None:
        out.append(_REAL.pack(value))

    def read(self, source: Source) -> float:
        (value,) = _REAL.unpack(source.take(_REAL.size))
        if not isfinite(value):
            raise RefusedMessageError("a number is not finite")
        return float(value)


class _Flag(Kind[bool]):
    def write(self, out: list[bytes], value: bool) -> None:
        out.append(b"\1" if value else b"\0")

    def read(self, source: Source) -> bool:
        value = source.take(1)[0]
        if value > 1:
            raise RefusedMessageError("a flag is neither true nor false")
        return bool(value)


class _Blob(Kind[bytes]):
    def write(self, out: list[bytes], value: bytes) -> None:
        out += (_LENGTH.pack(len(value)), value)

    def read(self, source: Source) -> bytes:
        return bytes(source.take(source.length()))


class _Text(Kind[str]):
    """Text of a file, which may hold lone surrogates."""

    def write(self, out: list[bytes], value: str) -> None:
        encoded = value.encode("utf-8", "surrogatepass")
        out += (_LENGTH.pack(len(encoded)), encoded)

    def read(self, source: Source) -> str:
        return _decoded(source.take(source.length()))

    def write_all(self, out: list[bytes], values: Sequence[str]) -> None:
        encoded = "".join(values).encode("utf-8", "surrogatepass")
        lengths = (
            map(len, values)
            if encoded.isascii()
            else (len(value.encode("utf-8", "surrogatepass")) for value in values)
        )
        out += (array("Q", lengths).tobytes(), encoded)

    def read_all(self, source: Source, count: int) -> Iterable[str]:
        lengths = array("Q")
        lengths.frombytes(source.take(count * lengths.itemsize))
        data = bytes(source.take(sum(lengths)))
        ranges = pairwise(accumulate(lengths, initial=0))
        if data.isascii():
            text = data.decode("ascii")
            return [text[start:end] for start, end in ranges]
        return [_decoded(data[start:end]) for start, end in ranges]


class _Line(Kind[str]):
    """A short message for people: one line, nothing that a terminal would obey."""

    def write(self, out: list[bytes], value: str) -> None:
        shown = "".join(char if char.isprintable() else " " for char in value[:_LONGEST_LINE])
        TEXT.write(out, shown)

    def read(self, source: Source) -> str:
        value = TEXT.read(source)
        if len(value) > _LONGEST_LINE or not value.isprintable():
            raise RefusedMessageError("a message for people is not one short line")
        return value


class _Numbers(Kind["array[int]"]):
    """Many numbers, none below zero."""

    def write(self, out: list[bytes], value: array[int]) -> None:
        out.append(value.typecode.encode())
        BLOB.write(out, value.tobytes())

    def read(self, source: Source) -> array[int]:
        typecode = chr(source.take(1)[0])
        data = source.take(source.length())
        if typecode not in _TYPECODES or len(data) % array(typecode).itemsize:
            raise RefusedMessageError("a list of numbers is damaged")
        values = array(typecode)
        values.frombytes(data)
        if typecode == "q" and values and min(values) < 0:
            raise RefusedMessageError("a number is below zero")
        return values


NUMBER: Kind[int] = _Number()
REAL: Kind[float] = _Real()
FLAG: Kind[bool] = _Flag()
BLOB: Kind[bytes] = _Blob()
TEXT: Kind[str] = _Text()
LINE: Kind[str] = _Line()
NUMBERS: Kind[array[int]] = _Numbers()


class Maybe(Kind["T | None"]):
    """A value or None."""

    def __init__(self, kind: Kind[T]) -> None:
        self._kind = kind

    def write(self, out: list[bytes], value: T | None) -> None:
        FLAG.write(out, value is not None)
        if value is not None:
            self._kind.write(out, value)

    def read(self, source: Source) -> T | None:
        return self._kind.read(source) if FLAG.read(source) else None


class Several(Kind[list[T]]):
    """A list of values of one kind."""

    def __init__(self, kind: Kind[T]) -> None:
        self._kind = kind

    def write(self, out: list[bytes], value: Sequence[T]) -> None:
        out.append(_LENGTH.pack(len(value)))
        self._kind.write_all(out, value)

    def read(self, source: Source) -> list[T]:
        return list(self._kind.read_all(source, source.length()))


class Record(Kind[T]):
    """A named tuple, by the kinds of its fields in their order."""

    def __init__(self, record: type[T], *kinds: Kind[Any]) -> None:
        fields: tuple[str, ...] = getattr(record, "_fields", ())
        assert len(fields) == len(kinds), record
        self.record = record
        self._kinds = kinds

    def write(self, out: list[bytes], value: Any) -> None:
        for kind, field in zip(self._kinds, value, strict=True):
            kind.write(out, field)

    def read(self, source: Source) -> T:
        return self.record(*[kind.read(source) for kind in self._kinds])

    def write_all(self, out: list[bytes], values: Sequence[Any]) -> None:
        for kind, column in zip(self._kinds, zip(*values, strict=True), strict=False):
            kind.write_all(out, column)

    def read_all(self, source: Source, count: int) -> Iterable[T]:
        columns = [kind.read_all(source, count) for kind in self._kinds]
        return map(self.record, *columns)


class OneOf(Kind[Any]):
    """One of several records, told apart by a tag."""

    def __init__(self, **kinds: Record[Any]) -> None:
        assert all(len(tag) == 1 for tag in kinds)
        self._by_tag = {ord(tag): kind for tag, kind in kinds.items()}
        self._by_record = {kind.record: (tag.encode(), kind) for tag, kind in kinds.items()}

    def write(self, out: list[bytes], value: Any) -> None:
        tag, kind = self._by_record[type(value)]
        out.append(tag)
        kind.write(out, value)

    def read(self, source: Source) -> Any:
        kind = self._by_tag.get(source.take(1)[0])
        if kind is None:
            raise RefusedMessageError("the tag of a value is unknown")
        return kind.read(source)


def encoded(kind: Kind[T], value: T) -> bytes:
    """Return the message that holds the value."""
    out: list[bytes] = []
    kind.write(out, value)
    return b"".join(out)


def decoded(kind: Kind[T], message: bytes | bytearray | memoryview) -> T:
    """Return the value of a message; raise `RefusedMessageError` where it is no such value."""
    source = Source(message)
    value = kind.read(source)
    if source.left:
        raise RefusedMessageError("bytes follow the message")
    return value


def _decoded(data: bytes | memoryview) -> str:
    try:
        return str(data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise RefusedMessageError("a text is not UTF-8") from None
