"""The parent from its child's side: the only process to exchange messages with."""

from __future__ import annotations

import os
import sys
from io import FileIO
from pathlib import Path
from typing import Any, Generic, TypeVar

from dlpctl.processes.pipes import read_message, write_message
from dlpctl.processes.schema import Schema, decode, encode

Request = TypeVar("Request")
_READING, _WRITING = 3, 4


class Parent(Generic[Request]):
    """The two pipes to the parent, which were the standard streams. No other descriptor stays open,
    and the standard streams lead nowhere, so that no library can write into a reply.
    """

    def __init__(self, requests: Schema[Request], replies: Schema[Any]) -> None:
        self._requests = requests
        self._replies = replies
        _keep_only(0, 1)
        self._incoming = FileIO(_READING, "rb")
        self._outgoing = FileIO(_WRITING, "wb")

    def receive(self) -> Request:
        """Return the next request; raise `EOFError` once there will be no more."""
        return decode(self._requests, read_message(self._incoming))

    def send(self, reply: object) -> None:
        """Send a reply; send nothing if it cannot be encoded."""
        write_message(self._outgoing, encode(self._replies, reply))


def _keep_only(requests: int, replies: int) -> None:
    """Close all descriptors except copies of these two."""
    high = [os.dup(requests), os.dup(replies)]
    while min(high) <= _WRITING:  # a copy must not be overwritten by the other
        high = [os.dup(each) for each in high]
    os.dup2(high[0], _READING)
    os.dup2(high[1], _WRITING)
    with Path(os.devnull).open("r+b") as nothing:
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    if sys.platform != "win32":  # where only listed descriptors are inherited
        os.closerange(_WRITING + 1, max(os.sysconf("SC_OPEN_MAX"), *high) + 1)
