"""Metrics of the service in the text format of Prometheus: those of all its processes together."""

from __future__ import annotations

import os
import sys
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dlpctl import __version__
from dlpctl_daemon.memory import Memory, Series

_CHECKS = "/api/preflight"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Latency(NamedTuple):
    """The time that most requests did not exceed, in seconds; None is longer than any bound."""

    name: str
    requests: int
    median: float | None
    p95: float | None


class Metrics:
    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory or Memory.of(1)
        self._counters = self._memory.counters
        self._lock = threading.Lock()
        """Guards what this process counts."""

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
        with self._lock:
            self._count("requests", method, route, str(status))
            self._time(seconds, "request", method, route)
            if queued is not None:
                self._time(queued[1], "queue", queued[0])

    def decision(self, content: str, decision: str) -> None:
        with self._lock:
            self._count("checks", content, decision)

    def housekeeping_failed(self) -> None:
        with self._lock:
            self._count("housekeeping failures")

    def process_replaced(self) -> None:
        with self._lock:
            self._count("replaced processes")

    def latency(self) -> list[Latency]:
        """Return how long checks have taken since the start, by route and by lane."""
        sums = self._counters.sums()
        named = [(route, times) for (_, route), times in _of("request", sums)]
        rows = [(route, times) for route, times in named if route.startswith(_CHECKS)]
        rows += [(f"waiting: {lane}", times) for (lane,), times in _of("queue", sums)]
        return [
            Latency(name, int(sum(counts)), _quantile(counts, 0.5), _quantile(counts, 0.95))
            for name, (*counts, _) in rows
        ]

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _count(self, *series: str) -> None:
        self._counters.cells(series, 1)[0] += 1

    def _time(self, seconds: float, *series: str) -> None:
        cells = self._counters.cells(series, len(_BUCKETS) + 2)
        cells[bisect_left(_BUCKETS, seconds)] += 1
        cells[len(_BUCKETS) + 1] += seconds

    def _lines(self) -> Iterator[str]:
        sums, pids = self._counters.sums(), self._memory.roster.pids()
        yield "# HELP dlpctl_build_info The version that runs."
        yield "# TYPE dlpctl_build_info gauge"
        yield f'dlpctl_build_info{{version="{__version__}"}} 1'
        yield "# HELP dlpctl_requests_total Requests that were answered."
        yield "# TYPE dlpctl_requests_total counter"
        for (method, route, status), (number,) in _of("requests", sums):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"dlpctl_requests_total{{{labels}}} {number:.0f}"
        yield "# HELP dlpctl_request_seconds How long it took to answer."
        yield "# TYPE dlpctl_request_seconds histogram"
        for (method, route), times in _of("request", sums):
            labels = f'method="{method}",route="{route}"'
            yield from _histogram("dlpctl_request_seconds", labels, times)
        yield "# HELP dlpctl_queue_seconds How long requests have waited in their lane."
        yield "# TYPE dlpctl_queue_seconds histogram"
        for (lane,), times in _of("queue", sums):
            yield from _histogram("dlpctl_queue_seconds", f'lane="{lane}"', times)
        yield "# HELP dlpctl_checks_total Checks that were decided."
        yield "# TYPE dlpctl_checks_total counter"
        for (check_kind, decision), (number,) in _of("checks", sums):
            yield f'dlpctl_checks_total{{kind="{check_kind}",decision="{decision}"}} {number:.0f}'
        yield "# HELP dlpctl_housekeeping_failures_total Tasks of housekeeping that have failed."
        yield "# TYPE dlpctl_housekeeping_failures_total counter"
        yield f"dlpctl_housekeeping_failures_total {_number('housekeeping failures', sums)}"
        yield "# HELP dlpctl_processes Processes that answer."
        yield "# TYPE dlpctl_processes gauge"
        yield f"dlpctl_processes {len(pids)}"
        yield "# HELP dlpctl_replaced_processes_total Processes that died and were replaced."
        yield "# TYPE dlpctl_replaced_processes_total counter"
        yield f"dlpctl_replaced_processes_total {_number('replaced processes', sums)}"
        yield "# HELP process_start_time_seconds When the process began."
        yield "# TYPE process_start_time_seconds gauge"
        yield f"process_start_time_seconds {self._memory.began:.3f}"
        if (memory := resident_bytes(pids)) is not None:
            yield "# HELP process_resident_memory_bytes Memory that it holds."
            yield "# TYPE process_resident_memory_bytes gauge"
            yield f"process_resident_memory_bytes {memory}"


def _of(name: str, sums: dict[Series, list[float]]) -> list[tuple[Series, list[float]]]:
    """Return the labels and numbers of the series of a name, in their order."""
    return sorted((series[1:], numbers) for series, numbers in sums.items() if series[0] == name)


def _number(name: str, sums: dict[Series, list[float]]) -> int:
    return int(sum(numbers[0] for _, numbers in _of(name, sums)))


def _quantile(counts: Sequence[float], part: float) -> float | None:
    """Return the upper bound of the bucket that a quantile is in."""
    wanted, below = part * sum(counts), 0.0
    for bound, number in zip(_BUCKETS, counts, strict=False):
        below += number
        if below >= wanted:
            return bound
    return None


def _histogram(name: str, labels: str, times: Sequence[float]) -> Iterator[str]:
    *counts, seconds = times
    below = 0
    for bound, number in zip((*_BUCKETS, "+Inf"), counts, strict=True):
        below += int(number)
        yield f'{name}_bucket{{{labels},le="{bound}"}} {below}'
    yield f"{name}_sum{{{labels}}} {seconds:.6f}"
    yield f"{name}_count{{{labels}}} {below}"


def resident_bytes(pids: Iterable[int]) -> int | None:
    """Return the memory of processes, where the system tells it."""
    if sys.platform != "linux":
        return None
    pages = 0
    for pid in pids:
        with suppress(OSError):  # it has ended meanwhile
            pages += int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
