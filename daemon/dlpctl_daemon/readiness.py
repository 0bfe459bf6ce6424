"""Readiness of the service: whether a check could be recorded, asked of the disk at most once a
second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dlpctl.errors import BusyError

_LASTS = 1.0


class Readiness:
    def __init__(
        self, probe: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`probe` raises where the service is not ready."""
        self._probe = probe
        self._clock = clock
        self._lock = threading.Lock()
        self._good_until = 0.0

    def check(self) -> None:
        # A slow probe must not keep all threads of its lane: they answer whether the process lives.
        if not self._lock.acquire(timeout=_LASTS):
            raise BusyError("the last question has no answer yet")
        try:
            if self._clock() >= self._good_until:
                self._probe()
                self._good_until = self._clock() + _LASTS
        finally:
            self._lock.release()
