"""Rate limits: each key has a token bucket, which refills evenly and allows a burst.

The implementation is our own: the windows of common packages do not allow a burst followed by an
even rate, and every check needs this code first.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from dlpctl.errors import RateLimitError

_MOST_KEYS = 100_000


class Rate(NamedTuple):
    per_minute: int
    burst: int


class Allowance(NamedTuple):
    """The number of requests that a key has left."""

    limit: int
    remaining: int
    reset: int
    """The number of seconds until the key has its full burst again."""

    def headers(self) -> list[tuple[str, str]]:
        return [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset)),
        ]


class Buckets(Protocol):
    """Stores when each key's bucket is full again."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Return the lock for reading and then writing a bucket."""

    def full_at(self, key: str) -> float:
        """Return the time when a bucket is full again; a time in the past for an unknown key."""

    def fill_until(self, key: str, full_at: float) -> None: ...


class LocalBuckets:
    """The buckets of one process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def full_at(self, key: str) -> float:
        return self._full_at.get(key, -math.inf)

    def fill_until(self, key: str, full_at: float) -> None:
        self._full_at[key] = full_at
        self._full_at.move_to_end(key)
        if len(self._full_at) > _MOST_KEYS:
            self._full_at.popitem(last=False)


class RateLimiter:
    def __init__(
        self,
        rate: Rate,
        clock: Callable[[], float] = time.monotonic,
        buckets: Buckets | None = None,
    ) -> None:
        self._rate = rate
        self._clock = clock
        self._interval = 60 / rate.per_minute
        self._depth = self._interval * rate.burst
        self._buckets: Buckets = buckets or LocalBuckets()

    def take(self, key: str) -> Allowance:
        """Count a request with a key; raise if it exceeds the rate."""
        buckets, now = self._buckets, self._clock()
        with buckets.lock:
            full_at = max(buckets.full_at(key), now) + self._interval
            late = full_at - now - self._depth
            if late <= 1e-9:
                buckets.fill_until(key, full_at)
        if late > 1e-9:
            wait = max(1, math.ceil(late))
            rate = self._rate
            raise RateLimitError(
                f"the limit of {rate.per_minute:,} requests a minute, {rate.burst:,} of them at"
                f" once, is reached;"
                f" try again in {wait} s",
                limit=rate.per_minute,
                retry_after=wait,
            )
        remaining = int((self._depth - (full_at - now)) / self._interval + 1e-6)
        return Allowance(self._rate.per_minute, remaining, math.ceil(full_at - now))
