"""The messages of Arrow's files and streams: where they are, and what their metadata tells.

A file is a stream between two marks, with a directory of its messages at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import error, unpack_from
from typing import NamedTuple, Self

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.flatbuffer import FlatTable
from dlpctl.formats.sections import RangeFile, ReadRange

FILE_MAGIC = b"ARROW1"
CONTINUES = b"\xff" * 4
END = CONTINUES + bytes(4)
SCHEMA, DICTIONARY, BATCH = 1, 2, 3
TYPE, HEADER, BODY_SIZE = 1, 2, 3
_FILE_START = 8
_FILE_END = 4 + len(FILE_MAGIC)
_DICTIONARIES, _BATCHES = 2, 3
_FIRST_READ = 1 << 16
_LARGEST_GAP = 64
"""Less than this much may be between messages, to align them."""


class Message(NamedTuple):
    """A message: its type, and its ranges in the file."""

    type: int
    first: int
    body: int
    """The start of its body."""
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first


class Head(NamedTuple):
    """The start of a message, up to its body, as bytes that can be edited."""

    data: bytearray
    table: FlatTable

    @classmethod
    def read(cls, read: ReadRange, first: int, last: int) -> Self:
        """Return the head that starts at a position and ends before another."""
        data = bytearray(read(first, min(first + _FIRST_READ, last)))
        start = _prefix(data)
        end = start + unpack_from("<i", data, start - 4)[0]
        if not start < end <= last - first:
            raise damaged()
        if end > len(data):
            file = RangeFile(read, last)
            file.seek(first + len(data))
            data += file.read(end - len(data))
        return cls.of(data[:end])

    @classmethod
    def of(cls, data: bytearray) -> Self:
        """Return a copy of a head."""
        copied = bytearray(data)
        return cls(copied, FlatTable.root(copied, _prefix(copied)))

    @property
    def type(self) -> int:
        return self.table.number(TYPE, "B")

    @property
    def header(self) -> FlatTable:
        found = self.table.table(HEADER)
        if found is None:
            raise damaged()
        return found


def starts_stream(start: bytes) -> bool:
    """Return whether a file starts as a stream: by a message with a schema."""
    if not start.startswith(CONTINUES):
        return False
    try:
        return FlatTable.root(bytearray(start), len(END)).number(TYPE, "B") == SCHEMA
    except error:
        return False


def _prefix(data: bytearray) -> int:
    """Return where the metadata starts, before which old messages have only its size."""
    return len(END) if data.startswith(CONTINUES) else 4


def messages(read: ReadRange, size: int) -> Iterator[Message]:
    """Yield the schema, and the messages after it in the order in which they are read."""
    is_file = read(0, len(FILE_MAGIC)) == FILE_MAGIC
    start = _FILE_START if is_file else 0
    schema = _message_at(read, start, size)
    if schema is None or schema.type != SCHEMA:
        raise damaged()
    yield schema
    yield from (_listed if is_file else _following)(read, schema.last, size)


def _message_at(read: ReadRange, at: int, size: int) -> Message | None:
    """Return the message that starts at a position; None at the end of the stream."""
    if at == size or read(at, min(at + len(END), size)) in (END, bytes(4)):
        return None
    head = Head.read(read, at, size)
    body = at + len(head.data)
    last = body + head.table.number(BODY_SIZE, "q")
    if not body <= last <= size:
        raise damaged()
    return Message(head.type, at, body, last)


def _following(read: ReadRange, at: int, size: int) -> Iterator[Message]:
    """Yield the messages of a stream, which nothing may follow."""
    while message := _message_at(read, at, size):
        yield message
        at = message.last
    if size - at > len(END):
        raise FormatError("the Arrow stream is followed by other data")


def _listed(read: ReadRange, at: int, size: int) -> Iterator[Message]:
    """Yield the messages of a file by its directory, which must list all that is there."""
    end = read(size - _FILE_END, size)
    (length,) = unpack_from("<i", end)
    if end[4:] != FILE_MAGIC or not 0 < length < size - _FILE_END - at:
        raise damaged()
    footer_at = size - _FILE_END - length
    file = RangeFile(read, size)
    file.seek(footer_at)
    footer = FlatTable.root(bytearray(file.read(length)))
    found = [
        Message(message_type, first, first + head, first + head + body)
        for message_type, field in ((DICTIONARY, _DICTIONARIES), (BATCH, _BATCHES))
        for vector in (footer.vector(field),)
        if vector is not None
        for first, head, body in vector.structs("qi4xq")
    ]
    for message in sorted(found, key=lambda message: message.first):
        is_near = at <= message.first < at + _LARGEST_GAP
        if not is_near or not message.first < message.body <= message.last <= footer_at:
            raise damaged()
        at = message.last
    if footer_at - at >= _LARGEST_GAP + len(END):
        raise damaged()
    yield from found


def damaged() -> FormatError:
    return FormatError("the file of arrow is damaged or encrypted")
