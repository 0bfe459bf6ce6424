"""Messages on the pipes between two processes: a length of eight bytes, then the message.

The parent trusts no length and never waits beyond a deadline; the child trusts its parent.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import time
from typing import TYPE_CHECKING

from dlpctl.processes.schema import InvalidMessageError

if TYPE_CHECKING:
    from io import FileIO

_HEADER = struct.Struct("<Q")


class DeadlineError(Exception):
    """The other side took too long to read or write a message."""


class Pipes:
    """The parent's ends of two pipes. It is blocked neither by a process that does not read nor by
    one that never ends a message.
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

    def receive(self, largest: int, deadline: float) -> bytearray:
        """Return the next message; raise `EOFError` at the end of the pipe."""
        (length,) = _HEADER.unpack(self._read(_HEADER.size, deadline))
        if length > largest:
            raise InvalidMessageError("the message is too large")
        return self._read(length, deadline)

    def close(self) -> None:
        self._replies.close()
        self._requests.close()

    def _read(self, size: int, deadline: float) -> bytearray:
        # Pages that are never written to take no memory, whatever length was announced.
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
    if sys.platform == "win32":  # `Child` ends the process at its deadline, which ends the pipe
        return
    remaining = deadline - time.monotonic()
    poll = select.poll()
    poll.register(pipe, select.POLLOUT if writing else select.POLLIN)
    if remaining <= 0 or not poll.poll(remaining * 1000):
        raise DeadlineError


def read_message(pipe: FileIO) -> bytes:
    """Return the parent's next message; raise `EOFError` at the end of the pipe."""
    (length,) = _HEADER.unpack(_read_all(pipe, _HEADER.size))
    return _read_all(pipe, length)


def write_message(pipe: FileIO, message: bytes) -> None:
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
