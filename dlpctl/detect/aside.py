"""Run a part of a scan in a child process while the parent continues, for long texts.

Confirming the matches of the first pass holds Python's lock, so that a thread would gain nothing.
Only a process that allows forks gets a child, and only while it has a single thread; if that is not
possible, or the child fails, the parent does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from struct import Struct

from dlpctl.detect.resolve import Candidate
from dlpctl.system.forked import LeaveToFork, begun

WORTHWHILE_SIZE = 1 << 20
"""The size in bytes from which on a child saves more than it costs."""
_RECORD = Struct("<qqd?i")

CandidateSearch = Callable[[], Iterable[Candidate]]


class Aside(LeaveToFork):
    """Permission to search a long text with a second process."""

    def is_worthwhile(self, size: int) -> bool:
        return size >= WORTHWHILE_SIZE and self.processes() > 1

    @contextmanager
    def begun(self, search: CandidateSearch) -> Iterator[CandidateSearch]:
        """Start the work in a child, and yield a function that waits for the outcome."""

        def packed() -> bytes:
            return b"".join(_RECORD.pack(*record) for record in search())

        with begun(packed, self.processes()) as result:
            yield lambda: map(Candidate._make, _RECORD.iter_unpack(result()))
