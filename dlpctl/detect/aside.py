"""Run a part of a scan in a child process while the parent continues, for long texts.

Confirming the matches of the first pass holds Python's lock, so that a thread would gain nothing.
Only a process that allows forks gets a child, and only while it has a single thread; if that is not
possible, or the child fails, the parent does the work.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from typing import NoReturn

from dlpctl.detect.resolve import Candidate
from dlpctl.forked import LeaveToFork

WORTH = 1 << 20
"""The size in bytes from which on a child saves more than it costs."""
_RECORD = Struct("<qqd?i")
_PIECE = 1 << 20

Work = Callable[[], Iterable[Candidate]]


class Aside(LeaveToFork):
    """Permission to search a long text with a second process."""

    def is_worthwhile(self, size: int) -> bool:
        return size >= WORTH and self.processes() > 1

    @contextmanager
    def begun(self, work: Work) -> Iterator[Work]:
        """Start the work in a child, and yield a function that waits for the outcome."""
        try:
            reading, writing = os.pipe()
        except OSError:
            yield work
            return
        try:
            child = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            yield work
            return
        if not child:
            os.close(reading)
            _live(work, writing)
        os.close(writing)
        status: int | None = None

        def outcome() -> Iterable[Candidate]:
            nonlocal status
            data = _read(reading)
            status = os.waitpid(child, 0)[1]
            if status or len(data) % _RECORD.size:
                return work()
            return map(Candidate._make, _RECORD.iter_unpack(data))

        try:
            yield outcome
        finally:
            os.close(reading)
            if status is None:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _live(work: Work, writing: int) -> NoReturn:
    """Run the child, which must not return into the parent's code."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        rest = memoryview(b"".join(_RECORD.pack(*record) for record in work()))
        while rest:
            rest = rest[os.write(writing, rest) :]
        status = 0
    finally:
        os._exit(status)


def _read(descriptor: int) -> bytes:
    data = bytearray()
    while piece := os.read(descriptor, _PIECE):
        data += piece
    return bytes(data)
