"""The log of calls, one line of JSON each, without content, and their metrics."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.errors import OutputError, os_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_LARGEST = 64 << 20
"""The size in bytes at which the log is renamed and a new one is started."""
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_POLL_SECONDS = 0.25


class CallRecord(NamedTuple):
    """A call as it is logged, without content."""

    id: str
    route: str
    model: str
    decision: str
    counts: Mapping[str, int]
    bytes: int
    added_ms: float
    status: int
    org: str = ""
    policy: str = ""


class CallLog:
    """A log file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def write(self, record: CallRecord) -> None:
        """Append a call; raise `OutputError` if that fails."""
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"time": moment, **record._asdict(), "counts": dict(sorted(record.counts.items()))}
        line = json.dumps(entry, ensure_ascii=True, separators=(",", ":")) + "\n"
        with os_errors(OutputError, f"{self._path}: cannot be written"), self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(line.encode("ascii"))
                if file.tell() > _LARGEST:
                    self._path.replace(self._path.with_suffix(".old.jsonl"))


def tell(message: str) -> None:
    """Report a failure to the operator that does not affect the answer."""
    sys.stderr.write(f"dlpctl: gateway: {message}\n")


def call_log(data_folder: Path) -> Path:
    return data_folder / "gateway" / "calls.jsonl"


def shown(call: Mapping[str, Any], *, as_json: bool) -> str:
    """Return a call as a line of text, or as JSON."""
    if as_json:
        return json.dumps(call, ensure_ascii=True, separators=(",", ":"))
    counts = ", ".join(f"{number} {name}" for name, number in call["counts"].items())
    parts = (
        call["time"][:19],
        str(call["status"]),
        call["decision"],
        call["route"],
        call["model"],
        f"{call['bytes']:,} B",
        f"+{call['added_ms']} ms",
        counts,
    )
    return "  ".join(part for part in parts if part)


def follow(path: Path, last: int, *, waits: bool = True) -> Iterator[dict[str, Any]]:
    """Yield the last calls of a log, then new ones as they are written."""
    position = 0
    lines: list[bytes] = []
    if path.exists():
        data = path.read_bytes()
        position = data.rfind(b"\n") + 1
        lines = data[:position].splitlines()
    yield from (json.loads(line) for line in lines[max(len(lines) - last, 0) :])
    while waits:
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < position:
                    position = 0
                file.seek(position)
                data = file.read()
        except (FileNotFoundError, NotADirectoryError):
            data, position = b"", 0
        complete = data.rfind(b"\n") + 1
        yield from (json.loads(line) for line in data[:complete].splitlines())
        position += complete
        if not complete:
            time.sleep(_POLL_SECONDS)


class Metrics:
    """Counts for Prometheus."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._decisions: Counter[str] = Counter()
        self._masked: Counter[str] = Counter()
        self._stages: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._open = 0

    def call(self, record: CallRecord) -> None:
        with self._lock:
            self._requests[record.route, record.status] += 1
            self._decisions[record.decision] += 1
            self._masked.update(record.counts)

    def stage(self, name: str, seconds: float) -> None:
        """Record the latency that a stage has added."""
        with self._lock:
            counts = self._stages.setdefault(name, [0] * (len(_BUCKETS) + 1))
            counts[bisect_left(_BUCKETS, seconds)] += 1
            self._seconds[name] += seconds  # type: ignore[assignment]

    def stream(self, change: int) -> None:
        with self._lock:
            self._open += change

    def text(self) -> str:
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield "# HELP dlpctl_gateway_requests_total Requests that were answered."
        yield "# TYPE dlpctl_gateway_requests_total counter"
        for (route, status), number in sorted(self._requests.items()):
            labels = f'route="{route}",status="{status}"'
            yield f"dlpctl_gateway_requests_total{{{labels}}} {number}"
        yield "# HELP dlpctl_gateway_decisions_total Decisions on requests."
        yield "# TYPE dlpctl_gateway_decisions_total counter"
        for decision, number in sorted(self._decisions.items()):
            yield f'dlpctl_gateway_decisions_total{{decision="{decision}"}} {number}'
        yield "# HELP dlpctl_gateway_values_total Values that were masked or blocked."
        yield "# TYPE dlpctl_gateway_values_total counter"
        for name, number in sorted(self._masked.items()):
            yield f'dlpctl_gateway_values_total{{type="{name}"}} {number}'
        yield "# HELP dlpctl_gateway_streams_open Streams that are open."
        yield "# TYPE dlpctl_gateway_streams_open gauge"
        yield f"dlpctl_gateway_streams_open {self._open}"
        yield "# HELP dlpctl_gateway_added_seconds Latency that the gateway adds."
        yield "# TYPE dlpctl_gateway_added_seconds histogram"
        for name, counts in sorted(self._stages.items()):
            below = 0
            for bound, number in zip((*_BUCKETS, "+Inf"), counts, strict=True):
                below += number
                labels = f'stage="{name}",le="{bound}"'
                yield f"dlpctl_gateway_added_seconds_bucket{{{labels}}} {below}"
            yield f'dlpctl_gateway_added_seconds_sum{{stage="{name}"}} {self._seconds[name]:.6f}'
            yield f'dlpctl_gateway_added_seconds_count{{stage="{name}"}} {below}'
