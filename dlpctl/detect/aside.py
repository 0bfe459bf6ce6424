"""Work of a scan that is done in a child process while this one goes on, for texts that are worth a
second processor.

Confirming what the first pass found holds Python's lock, so that a thread gains nothing. A child is
forked only by a process that asked for it, and only while that has a single thread; wherever one
cannot be, or fails, the work is done here.
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
"""Bytes of a text from which on a child costs less than it saves."""
_RECORD = Struct("<qqd?i")
_PIECE = 1 << 20

Work = Callable[[], Iterable[Candidate]]


class Aside(LeaveToFork):
    """Leave to look into a long text with a second process."""

    def is_worthwhile(self, size: int) -> bool:
        return size >= WORTH and self.processes() > 1

    @contextmanager
    def begun(self, work: Work) -> Iterator[Work]:
        """Begin the work in a child, and give what waits for its outcome."""
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
    """The life of a child: it must not return into what its parent was doing."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        rest = memoryview(b"".join(_RECORD.pack(*one) for one in work()))
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
