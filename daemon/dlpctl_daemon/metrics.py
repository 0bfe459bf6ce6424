"""Metrics of the service in the text format of Prometheus."""

from __future__ import annotations

import os
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dlpctl import __version__

_CHECKS = "/api/preflight"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Latency(NamedTuple):
    """The time that most requests did not exceed, in seconds; None is longer than any bound."""

    name: str
    requests: int
    median: float | None
    p95: float | None


class Metrics:
    def __init__(self) -> None:
        self._began = time.time()
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[tuple[str, str], list[int]] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        self._decisions: Counter[tuple[str, str]] = Counter()
        self._housekeeping_failures = 0
        self._queued: dict[str, list[int]] = {}
        self._queued_seconds: dict[str, float] = {}

    def request(
        self,
        method: str,
        route: str,
        status: int,
        seconds: float,
        queued: tuple[str, float] | None = None,
    ) -> None:
        """Count an answer; `queued` is the lane that the request waited in, and for how many
        seconds.
        """
        bucket = bisect_left(_BUCKETS, seconds)
        with self._lock:
            self._requests[method, route, status] += 1
            counts = self._buckets.get((method, route))
            if counts is None:
                counts = self._buckets[method, route] = [0] * (len(_BUCKETS) + 1)
            counts[bucket] += 1
            self._seconds[method, route] = self._seconds.get((method, route), 0) + seconds
            if queued is not None:
                self._count_queued(*queued)

    def _count_queued(self, lane: str, seconds: float) -> None:
        counts = self._queued.get(lane)
        if counts is None:
            counts = self._queued[lane] = [0] * (len(_BUCKETS) + 1)
            self._queued_seconds[lane] = 0.0
        counts[bisect_left(_BUCKETS, seconds)] += 1
        self._queued_seconds[lane] += seconds

    def decision(self, content: str, decision: str) -> None:
        with self._lock:
            self._decisions[content, decision] += 1

    def latency(self) -> list[Latency]:
        """Return how long checks have taken since the start, by route and by lane."""
        with self._lock:
            named = [(route, counts) for (_, route), counts in sorted(self._buckets.items())]
            rows = [(route, counts) for route, counts in named if route.startswith(_CHECKS)]
            rows += [(f"waiting: {lane}", counts) for lane, counts in sorted(self._queued.items())]
            return [
                Latency(name, sum(counts), _quantile(counts, 0.5), _quantile(counts, 0.95))
                for name, counts in rows
            ]

    def housekeeping_failed(self) -> None:
        with self._lock:
            self._housekeeping_failures += 1

    def text(self) -> str:
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield "# HELP dlpctl_build_info The version that runs."
        yield "# TYPE dlpctl_build_info gauge"
        yield f'dlpctl_build_info{{version="{__version__}"}} 1'
        yield "# HELP dlpctl_requests_total Requests that were answered."
        yield "# TYPE dlpctl_requests_total counter"
        for (method, route, status), number in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"dlpctl_requests_total{{{labels}}} {number}"
        yield "# HELP dlpctl_request_seconds How long it took to answer."
        yield "# TYPE dlpctl_request_seconds histogram"
        for (method, route), counts in sorted(self._buckets.items()):
            labels = f'method="{method}",route="{route}"'
            yield from _histogram(
                "dlpctl_request_seconds", labels, counts, self._seconds[method, route]
            )
        yield "# HELP dlpctl_queue_seconds How long requests have waited in their lane."
        yield "# TYPE dlpctl_queue_seconds histogram"
        for lane, counts in sorted(self._queued.items()):
            yield from _histogram(
                "dlpctl_queue_seconds", f'lane="{lane}"', counts, self._queued_seconds[lane]
            )
        yield "# HELP dlpctl_checks_total Checks that were decided."
        yield "# TYPE dlpctl_checks_total counter"
        for (kind, decision), number in sorted(self._decisions.items()):
            yield f'dlpctl_checks_total{{kind="{kind}",decision="{decision}"}} {number}'
        yield "# HELP dlpctl_housekeeping_failures_total Tasks of housekeeping that have failed."
        yield "# TYPE dlpctl_housekeeping_failures_total counter"
        yield f"dlpctl_housekeeping_failures_total {self._housekeeping_failures}"
        yield "# HELP process_start_time_seconds When the process began."
        yield "# TYPE process_start_time_seconds gauge"
        yield f"process_start_time_seconds {self._began:.3f}"
        if (memory := resident_bytes()) is not None:
            yield "# HELP process_resident_memory_bytes Memory that it holds."
            yield "# TYPE process_resident_memory_bytes gauge"
            yield f"process_resident_memory_bytes {memory}"


def _quantile(counts: list[int], part: float) -> float | None:
    """Return the upper bound of the bucket that a quantile is in."""
    wanted, below = part * sum(counts), 0
    for bound, number in zip(_BUCKETS, counts, strict=False):
        below += number
        if below >= wanted:
            return bound
    return None


def _histogram(name: str, labels: str, counts: list[int], seconds: float) -> Iterator[str]:
    below = 0
    for bound, number in zip((*_BUCKETS, "+Inf"), counts, strict=True):
        below += number
        yield f'{name}_bucket{{{labels},le="{bound}"}} {below}'
    yield f"{name}_sum{{{labels}}} {seconds:.6f}"
    yield f"{name}_count{{{labels}}} {below}"


def resident_bytes() -> int | None:
    """Return the memory of this process, where the system tells it."""
    if sys.platform != "linux":
        return None
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
