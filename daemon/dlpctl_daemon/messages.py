"""Messages between the service and its inspectors: a JSON object, and bytes that it counts. Nothing
in them is ever run.
"""

from __future__ import annotations

import json
from typing import IO, Any, NamedTuple

_LENGTH_BYTES = 4
_LARGEST_HEAD = 64 << 20
_LARGEST_BLOB = 1 << 40


class Message(NamedTuple):
    head: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


class InvalidMessageError(Exception):
    """Bytes that are no message."""


def write(stream: IO[bytes], message: Message) -> None:
    head = json.dumps(message.head | {"blobs": [len(blob) for blob in message.blobs]}).encode(
        "ascii"
    )
    stream.write(len(head).to_bytes(_LENGTH_BYTES, "big") + head)
    for blob in message.blobs:
        stream.write(blob)
    stream.flush()


def read(stream: IO[bytes]) -> Message:
    """Read a message; raises `EOFError` where the other side is gone."""
    length = int.from_bytes(_exactly(stream, _LENGTH_BYTES), "big")
    if length > _LARGEST_HEAD:
        raise InvalidMessageError
    try:
        head = json.loads(_exactly(stream, length))
    except (ValueError, RecursionError):
        raise InvalidMessageError from None
    sizes = head.pop("blobs", None) if isinstance(head, dict) else None
    if not isinstance(sizes, list) or not all(
        type(size) is int and 0 <= size <= _LARGEST_BLOB for size in sizes
    ):
        raise InvalidMessageError
    return Message(head, tuple(_exactly(stream, size) for size in sizes))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
