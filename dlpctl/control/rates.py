"""Rate limits: each key has a bucket, which fills evenly and holds a burst.

It is own code, since no window of the usual packages lets a burst through and then an even flow;
and every check asks it first.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from dlpctl.errors import RateLimitError

_MOST_KEYS = 100_000


class Rate(NamedTuple):
    per_minute: int
    burst: int


class Allowance(NamedTuple):
    """The requests that a key has left."""

    limit: int
    remaining: int
    reset: int
    """Seconds until the key has its full burst again."""

    def headers(self) -> list[tuple[str, str]]:
        return [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset)),
        ]


class RateLimiter:
    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._interval = 60 / rate.per_minute
        self._depth = self._interval * rate.burst
        self._full_at: OrderedDict[str, float] = OrderedDict()
        """When the bucket of a key is full again; a key that is not there has a full one."""
        self._lock = threading.Lock()

    def take(self, key: str) -> Allowance:
        """Count a request with a key; raise where it must wait."""
        now = self._clock()
        with self._lock:
            full_at = max(self._full_at.get(key, now), now) + self._interval
            late = full_at - now - self._depth
            if late <= 1e-9:
                self._full_at[key] = full_at
                self._full_at.move_to_end(key)
                if len(self._full_at) > _MOST_KEYS:
                    self._full_at.popitem(last=False)
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
