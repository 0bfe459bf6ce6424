"""Decompress a content piece by piece, in bounded memory."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

from dlpctl.errors import FormatError

_CHUNK = 1 << 20
_LONGEST_MAGIC = 1 << 10


class Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def in_amounts(content: Iterator[bytes]) -> Callable[[int], bytes]:
    """Return a function that reads the requested number of bytes."""
    piece = b""

    def read(wanted: int) -> bytes:
        nonlocal piece
        parts = [piece[:wanted]]
        piece = piece[wanted:]
        left = wanted - len(parts[0])
        while left and (piece := next(content, b"")):
            parts.append(piece[:left])
            piece = piece[left:]
            left -= len(parts[-1])
        return b"".join(parts)

    return read


def pieces(
    name: str, magic: tuple[bytes, ...], make: Callable[[], Unpacker], read: Callable[[int], bytes]
) -> Iterator[bytes]:
    """Yield the decompressed content of one stream, or of several consecutive ones."""
    pending = read(_CHUNK)
    try:
        while pending and pending.startswith(magic):
            unpacker, fed = make(), pending
            while not unpacker.eof:
                piece = unpacker.decompress(fed, _CHUNK)
                if piece:
                    fed = b""
                    yield piece
                elif not unpacker.eof and not (fed := read(_CHUNK)):
                    raise FormatError(f"the {name} file is cut off")
            pending = unpacker.unused_data
            pending += read(_LONGEST_MAGIC) if len(pending) < _LONGEST_MAGIC else b""
    except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
        raise FormatError(f"the {name} file is damaged") from error
    if pending.strip(b"\0"):
        raise FormatError(f"the {name} file has more after its end")
