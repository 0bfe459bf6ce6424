"""Functions that read a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO


def limited(stream: IO[bytes], size: int) -> Callable[[int], bytes]:
    """Return a function that reads up to `size` bytes in all."""
    left = size

    def read(wanted: int) -> bytes:
        nonlocal left
        data = stream.read(min(wanted, left))
        left -= len(data)
        return data

    return read


def after(head: bytes, rest: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return a function that returns the bytes that were already read, then the rest."""

    def read(wanted: int) -> bytes:
        nonlocal head
        data, head = head[:wanted], head[wanted:]
        return data + rest(wanted - len(data)) if len(data) < wanted else data

    return read
