"""Memory that the processes of the service have in common: it is made before they are forked.

A service of one process uses it too, so that rates and metrics are counted in one way.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import threading
import time
from contextlib import AbstractContextManager, suppress
from hashlib import blake2b
from typing import NamedTuple, Self

from dlpctl.errors import UsageError

Lock = AbstractContextManager[object]
Series = tuple[str, ...]
"""The name of a series of numbers and its labels."""

_LEASE_SECONDS = 1.0
"""The time after which a lock counts as abandoned. SQLite still lets one process write at a
time.
"""
_SETS = 1 << 14
_WAYS = 8
_DIGEST_BYTES = 16
_DIGESTS_BYTES = _WAYS * _DIGEST_BYTES
_MOMENTS = struct.Struct(f"={_WAYS}d")
_MOMENT = struct.Struct("=d")
_SET_BYTES = _DIGESTS_BYTES + _MOMENTS.size
_NUMBERS = 1 << 16
"""The numbers of a process; the declared routes need a tenth of them."""
_NAMES_BYTES = 1 << 20
_LENGTH = struct.Struct("=q")


class Lease:
    """A lock for threads and processes. One that is not released in time counts as abandoned,
    since its process may have been killed.
    """

    def __init__(self, seconds: float = _LEASE_SECONDS) -> None:
        self._seconds = seconds
        try:
            from multiprocessing import get_context

            self._semaphore = get_context("fork").Lock()
        except (ImportError, OSError, ValueError) as problem:
            raise UsageError(
                f"--processes: this system has no locks for processes: {problem}; use 1"
            ) from None

    def __enter__(self) -> None:
        self._semaphore.acquire(timeout=self._seconds)

    def __exit__(self, *_: object) -> None:
        with suppress(ValueError):  # released by whoever counted it as abandoned
            self._semaphore.release()


class SharedBuckets:
    """The buckets of rate limits, by the digests of their keys.

    The digest chooses a set of a few places. Where they are all taken, the bucket that is full
    first is forgotten.
    """

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self._memory = mmap.mmap(-1, _SETS * _SET_BYTES)

    def full_at(self, key: str) -> float:
        digest, start = _locate(key)
        way = self._way(digest, start)
        if way is None:
            return -math.inf
        full_at: float = _MOMENTS.unpack_from(self._memory, start + _DIGESTS_BYTES)[way]
        return full_at

    def fill_until(self, key: str, full_at: float) -> None:
        digest, start = _locate(key)
        way = self._way(digest, start)
        if way is None:
            moments = _MOMENTS.unpack_from(self._memory, start + _DIGESTS_BYTES)
            way = moments.index(min(moments))
            offset = start + way * _DIGEST_BYTES
            self._memory[offset : offset + _DIGEST_BYTES] = digest
        _MOMENT.pack_into(self._memory, start + _DIGESTS_BYTES + way * _MOMENT.size, full_at)

    def _way(self, digest: bytes, start: int) -> int | None:
        found = self._memory[start : start + _DIGESTS_BYTES].find(digest)
        return None if found < 0 or found % _DIGEST_BYTES else found // _DIGEST_BYTES


def _locate(key: str) -> tuple[bytes, int]:
    """Return the digest of a key and where its set starts."""
    digest = blake2b(key.encode(), digest_size=_DIGEST_BYTES).digest()
    return digest, int.from_bytes(digest[:4]) % _SETS * _SET_BYTES


class Counters:
    """Numbers that each process counts on its own, and any of them adds up. They outlive the
    process that counted them.
    """

    def __init__(self, processes: int, lock: Lock) -> None:
        self._processes = processes
        self._lock = lock
        self._names = mmap.mmap(-1, _NAMES_BYTES)
        """A length, and the series as lines of JSON, in the order of their numbers."""
        self._numbers = memoryview(mmap.mmap(-1, processes * _NUMBERS * 8)).cast("d")
        self._known: dict[Series, slice] = {}
        self._read = 0
        self._end = 0
        self._own = 0

    def use(self, process: int) -> None:
        """Count as this process from now on."""
        self._own = process * _NUMBERS

    def cells(self, series: Series, width: int) -> memoryview[float] | list[float]:
        """Return the numbers of a series, as this process counts them; what is added to a series
        that there is no room for is lost.
        """
        found = self._known.get(series)
        if found is None:
            with self._lock:
                self._learn()
                found = self._known.get(series) or self._add(series, width)
        if found is None:
            return [0.0] * width
        return self._numbers[self._own + found.start : self._own + found.stop]

    def sums(self) -> dict[Series, list[float]]:
        """Return the sums over all processes."""
        with self._lock:
            self._learn()
        own = range(0, self._processes * _NUMBERS, _NUMBERS)
        return {
            series: [
                sum(self._numbers[start + offset] for start in own)
                for offset in range(known.start, known.stop)
            ]
            for series, known in self._known.items()
        }

    def _learn(self) -> None:
        """Take up the series that other processes have added."""
        (length,) = _LENGTH.unpack_from(self._names)
        start = _LENGTH.size
        for line in self._names[start + self._read : start + length].splitlines():
            width, *series = json.loads(line)
            self._known[tuple(series)] = slice(self._end, self._end + width)
            self._end += width
        self._read = length

    def _add(self, series: Series, width: int) -> slice | None:
        line = json.dumps([width, *series]).encode() + b"\n"
        start = _LENGTH.size + self._read
        if self._end + width > _NUMBERS or start + len(line) > _NAMES_BYTES:
            return None
        self._names[start : start + len(line)] = line
        _LENGTH.pack_into(self._names, 0, self._read + len(line))
        self._learn()
        return self._known[series]


class Roster:
    """The processes that answer, with their open connections.

    A process enters once it accepts clients: the others would leave them to it in vain before.
    """

    def __init__(self, processes: int) -> None:
        self._pids = memoryview(mmap.mmap(-1, processes * 8)).cast("q")
        self._connections = memoryview(mmap.mmap(-1, processes * 8)).cast("q")
        self._own = 0

    def enter(self, process: int) -> None:
        """Be listed as this process from now on."""
        self._own = process
        self._connections[process] = 0
        self._pids[process] = os.getpid()

    def remove(self, process: int) -> None:
        self._pids[process] = 0

    def pids(self) -> list[int]:
        return [pid for pid in self._pids if pid]

    def count(self, connections: int) -> None:
        """Tell the others how many connections this process has."""
        self._connections[self._own] = connections

    def has_fewer_elsewhere(self) -> bool:
        """Tell whether another process has fewer connections than this one."""
        own = self._connections[self._own]
        return any(
            pid and connections < own
            for pid, connections in zip(self._pids, self._connections, strict=True)
        )


class Memory(NamedTuple):
    began: float
    writing: Lock
    """Held by the process that writes to the database."""
    buckets: SharedBuckets
    counters: Counters
    roster: Roster

    @classmethod
    def of(cls, processes: int) -> Self:
        """Make the memory of so many processes. Where there are several, each has to enter."""

        def lock() -> Lock:
            return Lease() if processes > 1 else threading.Lock()

        made = cls(
            time.time(),
            lock(),
            SharedBuckets(lock()),
            Counters(processes, lock()),
            Roster(processes),
        )
        if processes == 1:
            made.enter(0)
            made.roster.enter(0)
        return made

    def enter(self, process: int) -> None:
        """Use the memory as this process from now on, which does not answer yet."""
        self.counters.use(process)
