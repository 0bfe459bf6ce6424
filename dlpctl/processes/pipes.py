"""Messages on pipes: a length of eight bytes, then the message. No length is believed."""

from __future__ import annotations

import os
import select
import struct
import sys
import time
from typing import TYPE_CHECKING

from dlpctl.formats.isolation.wire import RefusedMessageError

if TYPE_CHECKING:
    from io import FileIO

_HEADER = struct.Struct("<Q")
_GRACE = 2.0
"""Seconds after its deadline until a pipe is given up that stays open although the process has
ended.
"""


class Frames:
    """The parent's end of two pipes. Neither a process that does not read nor one that never ends
    blocks it.
    """

    def __init__(self, replies: FileIO, requests: FileIO) -> None:
        self._replies = replies
        self._requests = requests
        if sys.platform != "win32":
            os.set_blocking(replies.fileno(), False)
            os.set_blocking(requests.fileno(), False)

    def send(self, message: bytes, deadline: float) -> None:
        for part in (_HEADER.pack(len(message)), message):
            rest = memoryview(part)
            while rest:
                _wait(self._requests, deadline, writing=True)
                rest = rest[self._requests.write(rest) or 0 :]

    def receive(self, most: int, deadline: float) -> bytearray:
        """Return the next message; raise `RefusedMessageError` for one over `most` bytes."""
        header = self._read(_HEADER.size, deadline)
        (length,) = _HEADER.unpack(header)
        if length > most:
            raise RefusedMessageError("the message is too large")
        return self._read(length, deadline)

    def close(self) -> None:
        for pipe in (self._replies, self._requests):
            pipe.close()

    def _read(self, size: int, deadline: float) -> bytearray:
        # Pages of it that nothing arrives for cost no memory.
        message = bytearray(size)
        rest = memoryview(message)
        while rest:
            _wait(self._replies, deadline, writing=False)
            count = self._replies.readinto(rest)
            if count == 0:
                raise EOFError
            rest = rest[count or 0 :]
        return message


def _wait(pipe: FileIO, deadline: float, *, writing: bool) -> None:
    if sys.platform == "win32":
        return
    poll = select.poll()
    poll.register(pipe, select.POLLOUT if writing else select.POLLIN)
    if not poll.poll(max(deadline + _GRACE - time.monotonic(), 0) * 1000):
        raise EOFError


def read_frame(pipe: FileIO) -> bytes:
    """Return the next message of the other side, which is trusted; raise `EOFError` at the end."""
    (length,) = _HEADER.unpack(_read_all(pipe, _HEADER.size))
    return _read_all(pipe, length)


def write_frame(pipe: FileIO, message: bytes) -> None:
    for part in (_HEADER.pack(len(message)), message):
        rest = memoryview(part)
        while rest:
            rest = rest[pipe.write(rest) or 0 :]


def _read_all(pipe: FileIO, size: int) -> bytes:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        count = pipe.readinto(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return bytes(data)
