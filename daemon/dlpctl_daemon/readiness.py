"""Readiness of the service: whether a check could be recorded, asked of the disk at most once a
second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

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
        with self._lock:
            if self._clock() >= self._good_until:
                self._probe()
                self._good_until = self._clock() + _LASTS
