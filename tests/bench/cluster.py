"""Time a scan on a cluster: two workers of this machine against the local executor, and 64 workers
of which only the times are real.

    python tests/bench/cluster.py [--json] [--short] [--megabytes N] [--runs N]

The tree is that of tree.py. Workers of the simulated cluster take the time that each batch of it took
to read in this process, and give the answers that it gave; the client is that of a real scan, with its
listing, journal and results. The rate of the client is measured with workers that take no time.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tree

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.scan import cluster_worker
from dlpctl.scan.cluster import Answer, OnCluster
from dlpctl.scan.content import Examiner
from dlpctl.scan.journal import Journal
from dlpctl.scan.local import LocalFiles
from dlpctl.scan.reader import Task
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File
from dlpctl.version import __version__

WORKERS = 64
TRANSFER = 0.004
"""Seconds from an answer of a worker to its next message, where that has to come from the client,
as Dask takes on this machine."""


class Recorded(NamedTuple):
    seconds: float
    answer: bytes
    units: int


class Recording:
    """A pool with this process as its only worker, which keeps what each message took."""

    threads = 1

    def __init__(self) -> None:
        self.recorded: list[Recorded] = []
        self.setup = b""
        self._answers: list[Answer] = []

    def send(self, number: int, message: bytes, /) -> None:
        start = time.perf_counter()
        answer = cluster_worker.answer(__version__, "bench", self.setup, message)
        took = time.perf_counter() - start
        assert not answer.startswith(b"{"), answer
        self.recorded.append(Recorded(took, answer, answer.count(b"\n") + 1))
        self._answers.append((number, answer))

    def answers(self, *, wait: bool) -> Iterator[Answer]:
        del wait
        yield from self._answers
        self._answers = []

    def close(self) -> None:
        cluster_worker.end("bench")


class Simulated:
    """A pool whose workers take recorded times, in turns, and answer what was recorded."""

    def __init__(self, threads: int, recorded: Sequence[Recorded], *, takes_time: bool) -> None:
        self.threads = threads
        self.busy = 0.0
        self.setup = b""
        self._recorded = recorded
        self._takes_time = takes_time
        self._free = [0.0] * threads
        self._due: list[tuple[float, int, bytes]] = []

    def send(self, number: int, message: bytes, /) -> None:
        seconds, answer, units = self._recorded[number % len(self._recorded)]
        assert len(Task(*json.loads(message)).items) == units
        if not self._takes_time:
            seconds = 0.0
        start = max(heapq.heappop(self._free), time.perf_counter() + TRANSFER)
        heapq.heappush(self._free, start + seconds)
        heapq.heappush(self._due, (start + seconds + TRANSFER, number, answer))
        self.busy += seconds

    def answers(self, *, wait: bool) -> Iterator[Answer]:
        if wait and self._due:
            time.sleep(max(0.0, self._due[0][0] - time.perf_counter()))
        while self._due and self._due[0][0] <= time.perf_counter():
            _, number, answer = heapq.heappop(self._due)
            yield number, answer

    def close(self) -> None:
        """End nothing."""


class Repeated(LocalFiles):
    """A tree that is listed again and again, as if each time were another one."""

    def __init__(self, files: Sequence[File], times: int) -> None:
        super().__init__([])
        self._files = files
        self._times = times

    def files(self, selection: Selection) -> Iterator[File]:
        del selection
        for number in range(self._times):
            for file in self._files:
                yield file._replace(shown=f"{number}/{file.shown}")


def scanned(
    examiner: Examiner, pool: Recording | Simulated, source: LocalFiles, folder: Path
) -> tuple[float, int]:
    """Return the seconds of a scan, and the files of its summary."""
    journal = Journal(folder, "bench", resumes=False)

    class Elsewhere:
        def executor(self, make_reader: Any, prepare: Any, sources: Any) -> OnCluster:
            pool.setup = pickle.dumps(([], make_reader, prepare))
            return OnCluster(pool, sources, journal)

        def without_own(self, _source: object, files: Any) -> Any:
            return files

    scan = Scan(examiner, Selection(ignore_files=False), archives=False, elsewhere=Elsewhere())
    start = time.perf_counter()
    for _ in scan._run(scan._source_batches([source]), sources=[source]):
        pass
    took = time.perf_counter() - start
    journal.remove()
    return took, scan.summary.files


def simulated(folder: Path, megabytes: int, seconds: float) -> dict[str, float]:
    """Return the efficiency of many workers, and the rate of the client alone."""
    detector = Detector()
    detector.compile()
    examiner = Examiner(detector, 0.5, AllowList())
    tree.build(folder / "tree", megabytes, 1)
    listed = LocalFiles([str(folder / "tree")]).files(Selection())
    files = [each for each in listed if isinstance(each, File)]
    recording = Recording()
    scanned(examiner, recording, Repeated(files, 1), folder)
    recorded = recording.recorded[:-1]  # the last batch is not full
    units = sum(each.units for each in recorded)
    seconds_a_unit = sum(each.seconds for each in recorded) / units

    def run(threads: int, wanted: int, *, takes_time: bool) -> tuple[float, int, Simulated]:
        times = max(1, wanted // units)
        pool = Simulated(threads, recorded, takes_time=takes_time)
        took, _ = scanned(examiner, pool, Repeated(files[:units], times), folder)
        return took, times * units, pool

    demanded = round(seconds * WORKERS / seconds_a_unit)
    took, count, pool = run(WORKERS, demanded, takes_time=True)
    alone, of_client, _ = run(WORKERS, demanded, takes_time=False)
    return {
        "ms a unit": seconds_a_unit * 1000,
        "efficiency": pool.busy / WORKERS / took,
        "units a second": count / took,
        "units a second of the client alone": of_client / alone,
    }


def here(folder: Path, megabytes: int, runs: int) -> dict[str, Any]:
    """Return seconds, processor seconds and memory of both executors for the same tree."""
    made = folder / "tree of both"
    tree.build(made, megabytes, 1)
    scan = [sys.executable, "-m", "dlpctl", "scan", str(made), "-q"]
    commands = {"local": [*scan, "--jobs", "2"], "cluster": [*scan, "--cluster", "local:2"]}
    taken = tree.in_turns(commands, runs, os.environ)
    figures = {name: run._asdict() for name, run in taken.items()}
    return {**figures, "ratio": taken["cluster"].seconds / taken["local"].seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--short", action="store_true", help="a small tree, and one run")
    parser.add_argument("--megabytes", type=int, default=448)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    megabytes, runs, seconds = chosen.megabytes, chosen.runs, 20.0
    if chosen.short:
        megabytes, runs, seconds = 2, 1, 1.0
    with tempfile.TemporaryDirectory() as folder:
        figures = {
            "simulated": simulated(Path(folder), 20 if not chosen.short else 2, seconds),
            "local:2": here(Path(folder), megabytes, runs),
        }
    if chosen.json:
        print(json.dumps(figures))
        return
    for name, each in figures.items():
        print(name)
        for what, figure in each.items():
            shown = f"{figure:,.3g}" if isinstance(figure, float) else figure
            print(f"  {what}: {shown}")


if __name__ == "__main__":
    main()
