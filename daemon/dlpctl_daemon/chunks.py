"""Bodies that come in chunks, read to the letter: whatever surrounds the chunks is bounded, and
nothing is guessed.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Any

from waitress.rfc7230 import CHUNK_EXT_RE, HEADER_FIELD_RE
from waitress.utilities import BadRequest

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})(;.*)?", re.DOTALL)
_LONGEST_LINE = 1 << 10
_LARGEST_TRAILER = 8 << 10


class _Next(Enum):
    """The part of the body that comes next."""

    SIZE = auto()
    DATA = auto()
    END = auto()
    """The empty rest of the line after the data."""
    TRAILER = auto()


class Chunks:
    """Take the place of waitress' own receiver, which leaves lines unbounded and copies them with
    each packet.
    """

    def __init__(self, buf: Any) -> None:
        self.buf = buf
        self.completed = False
        self.error: BadRequest | None = None
        self._next = _Next.SIZE
        self._left = 0
        """Bytes of the chunk that are to come."""
        self._line = b""
        self._trailer = 0

    def __len__(self) -> int:
        return int(self.buf.__len__())

    def received(self, data: bytes) -> int:
        """Return how many of the bytes belong to the body."""
        at = 0
        while at < len(data) and not self.completed:
            if self._next is _Next.DATA:
                piece = data[at : at + self._left]
                self.buf.append(piece)
                self._left -= len(piece)
                at += len(piece)
                if not self._left:
                    self._next = _Next.END
                continue
            end = data.find(b"\n", at) + 1
            self._line += data[at : end or len(data)]
            at = end or len(data)
            if len(self._line) > _LONGEST_LINE:
                self._refuse("line too long")
            elif end:
                line, self._line = self._line, b""
                self._take(line)
        return at

    def getfile(self) -> Any:
        return self.buf.getfile()

    def getbuf(self) -> Any:
        return self.buf

    def _take(self, line: bytes) -> None:
        content = line[:-2]
        if not line.endswith(b"\r\n") or b"\r" in content:
            self._refuse("bare CR or LF")
        elif self._next is _Next.SIZE:
            self._take_size(content)
        elif self._next is _Next.END:
            self._next = _Next.SIZE
            if content:
                self._refuse("chunk longer than its size")
        elif not content:
            self.completed = True
        else:
            self._trailer += len(line)
            if self._trailer > _LARGEST_TRAILER or not HEADER_FIELD_RE.match(content):
                self._refuse("invalid trailer")

    def _take_size(self, line: bytes) -> None:
        found = _SIZE.fullmatch(line)
        if not found or not CHUNK_EXT_RE.match(found[2] or b""):
            self._refuse("invalid chunk size")
            return
        self._left = int(found[1], 16)
        self._next = _Next.DATA if self._left else _Next.TRAILER

    def _refuse(self, problem: str) -> None:
        self.error = BadRequest(problem)
        self.completed = True
