"""The encoding of messages between processes: each schema writes a value, and reads or rejects one.
A message is declared as a named tuple; `Record` derives its schema from the fields.

Reading never allocates more than a message holds, runs nothing, and accepts only what is declared.
Lists of records are written column by column, which is compact and fast. msgspec would do the same,
but importing it takes longer than reading most files. Both sides run on one machine, so columns use
its byte order.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import isfinite
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Line = str
"""The annotation of a field that holds a short message for people: see `LINE`."""
_NUMBER = struct.Struct("<q")
_REAL = struct.Struct("<d")
_LENGTH = struct.Struct("<Q")
_TYPECODES = "BIQq"
_LONGEST_LINE = 2_000
_MOST_SHARED = 1 << 12
"""The number of texts among which equal ones are stored once."""


class InvalidMessageError(Exception):
    """Bytes that are not the declared message."""


class Source:
    """The bytes of a message, read from start to end."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self._data = memoryview(data)
        self._position = 0

    @property
    def remaining(self) -> int:
        """The number of unread bytes."""
        return len(self._data) - self._position

    def take(self, size: int) -> memoryview:
        if not 0 <= size <= self.remaining:
            raise InvalidMessageError("a value extends beyond the end of the message")
        start, self._position = self._position, self._position + size
        return self._data[start : self._position]

    def length(self) -> int:
        """Return the length of the next value, in bytes or in values of at least one byte each."""
        (length,) = _LENGTH.unpack(self.take(_LENGTH.size))
        if length > self.remaining:
            raise InvalidMessageError("a length extends beyond the end of the message")
        return int(length)


class Schema(Generic[T]):
    """The declared type of a value."""

    def write(self, out: list[bytes], value: T, /) -> None:
        raise NotImplementedError

    def read(self, source: Source, /) -> T:
        raise NotImplementedError

    def write_all(self, out: list[bytes], values: Sequence[T], /) -> None:
        """Write a column: one field of many records, without their number."""
        for value in values:
            self.write(out, value)

    def read_all(self, source: Source, count: int, /) -> Iterable[T]:
        return [self.read(source) for _ in range(count)]


class _Number(Schema[int]):
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


class _Real(Schema[float]):
    def write(self, out: list[bytes], value: float) -> None:
        out.append(_REAL.pack(value))

    def read(self, source: Source) -> float:
        (value,) = _REAL.unpack(source.take(_REAL.size))
        if not isfinite(value):
            raise InvalidMessageError("a number is not finite")
        return float(value)


class _Flag(Schema[bool]):
    def write(self, out: list[bytes], value: bool) -> None:
        out.append(b"\1" if value else b"\0")

    def read(self, source: Source) -> bool:
        value = source.take(1)[0]
        if value > 1:
            raise InvalidMessageError("a flag is neither true nor false")
        return bool(value)


class _Blob(Schema[bytes]):
    def write(self, out: list[bytes], value: bytes) -> None:
        out += (_LENGTH.pack(len(value)), value)

    def read(self, source: Source) -> bytes:
        return bytes(source.take(source.length()))


class _Text(Schema[str]):
    """Text from a file, which may contain lone surrogates."""

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
            return list(_shared(text[start:end] for start, end in ranges))
        return list(_shared(_decoded(data[start:end]) for start, end in ranges))


class _Line(Schema[str]):
    """A short message for people: one line without terminal control characters."""

    def write(self, out: list[bytes], value: str) -> None:
        shown = "".join(char if char.isprintable() else " " for char in value[:_LONGEST_LINE])
        TEXT.write(out, shown)

    def read(self, source: Source) -> str:
        value = TEXT.read(source)
        if len(value) > _LONGEST_LINE or not value.isprintable():
            raise InvalidMessageError("a message for people is not one short line")
        return value


class _Numbers(Schema["array[int]"]):
    """Many non-negative numbers."""

    def write(self, out: list[bytes], value: array[int]) -> None:
        out.append(value.typecode.encode())
        BLOB.write(out, value.tobytes())

    def read(self, source: Source) -> array[int]:
        typecode = chr(source.take(1)[0])
        data = source.take(source.length())
        if typecode not in _TYPECODES or len(data) % array(typecode).itemsize:
            raise InvalidMessageError("a list of numbers is damaged")
        values = array(typecode)
        values.frombytes(data)
        if typecode == "q" and values and min(values) < 0:
            raise InvalidMessageError("a number is negative")
        return values


NUMBER: Schema[int] = _Number()
REAL: Schema[float] = _Real()
FLAG: Schema[bool] = _Flag()
BLOB: Schema[bytes] = _Blob()
TEXT: Schema[str] = _Text()
LINE: Schema[str] = _Line()
NUMBERS: Schema[array[int]] = _Numbers()


class Optional(Schema["T | None"]):
    """A value or None."""

    def __init__(self, value: Schema[T]) -> None:
        self._value = value

    def write(self, out: list[bytes], value: T | None) -> None:
        FLAG.write(out, value is not None)
        if value is not None:
            self._value.write(out, value)

    def read(self, source: Source) -> T | None:
        return self._value.read(source) if FLAG.read(source) else None


class ListOf(Schema[list[T]]):
    """A list of values of one schema."""

    def __init__(self, items: Schema[T]) -> None:
        self._items = items

    def write(self, out: list[bytes], value: Sequence[T]) -> None:
        out.append(_LENGTH.pack(len(value)))
        self._items.write_all(out, value)

    def read(self, source: Source) -> list[T]:
        return list(self._items.read_all(source, source.length()))


_OF_ANNOTATION: dict[str, Schema[Any]] = {
    "int": NUMBER,
    "float": REAL,
    "bool": FLAG,
    "bytes": BLOB,
    "str": TEXT,
    "Line": LINE,
    "array[int]": NUMBERS,
    "list[str]": ListOf(TEXT),
    "list[float]": ListOf(REAL),
    "bytes | None": Optional(BLOB),
    "str | None": Optional(TEXT),
}


class Record(Schema[T]):
    """A named tuple. Fields whose types are not in the table above are passed by name."""

    def __init__(self, record: type[T], **fields: Schema[Any]) -> None:
        self.record = record
        self._fields = [
            fields.pop(name) if name in fields else _OF_ANNOTATION[_annotation(declared)]
            for name, declared in record.__annotations__.items()
        ]
        assert not fields, record

    def write(self, out: list[bytes], value: Any) -> None:
        for schema, field in zip(self._fields, value, strict=True):
            schema.write(out, field)

    def read(self, source: Source) -> T:
        return self.record(*[schema.read(source) for schema in self._fields])

    def write_all(self, out: list[bytes], values: Sequence[Any]) -> None:
        for schema, column in zip(self._fields, zip(*values, strict=True), strict=False):
            schema.write_all(out, column)

    def read_all(self, source: Source, count: int) -> Iterable[T]:
        columns = [schema.read_all(source, count) for schema in self._fields]
        return map(self.record, *columns)


class OneOf(Schema[Any]):
    """One of several records, distinguished by a tag of one character."""

    def __init__(self, **records: Record[Any]) -> None:
        assert all(len(tag) == 1 for tag in records)
        self._by_tag = {ord(tag): schema for tag, schema in records.items()}
        self._by_record = {schema.record: (tag.encode(), schema) for tag, schema in records.items()}

    def write(self, out: list[bytes], value: Any) -> None:
        tag, schema = self._by_record[type(value)]
        out.append(tag)
        schema.write(out, value)

    def read(self, source: Source) -> Any:
        schema = self._by_tag.get(source.take(1)[0])
        if schema is None:
            raise InvalidMessageError("the tag of a value is unknown")
        return schema.read(source)


def encode(schema: Schema[T], value: T) -> bytes:
    """Return the message for a value; raise `TypeError` for a value of another type."""
    out: list[bytes] = []
    try:
        schema.write(out, value)
    except struct.error as problem:
        raise TypeError(f"a value does not match its schema: {problem}") from None
    return b"".join(out)


def decode(schema: Schema[T], message: bytes | bytearray | memoryview) -> T:
    """Return the value of a message; raise `InvalidMessageError` for any other bytes."""
    source = Source(message)
    value = schema.read(source)
    if source.remaining:
        raise InvalidMessageError("bytes follow the message")
    return value


def _annotation(declared: object) -> str:
    """Return the annotation of a field as written in the source."""
    return str(getattr(declared, "__forward_arg__", None) or getattr(declared, "__name__", ""))


def _shared(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts, of which equal ones are one object: most lists have few different ones."""
    known: dict[str, str] = {}
    for text in texts:
        if text in known:
            yield known[text]
            continue
        if len(known) < _MOST_SHARED:
            known[text] = text
        yield text


def _decoded(data: bytes | memoryview) -> str:
    try:
        return str(data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise InvalidMessageError("a text is not UTF-8") from None
