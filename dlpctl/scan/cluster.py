"""Run the tasks of a scan on the workers of a cluster, and return the outcomes in order.

Outcomes arrive as they are completed. Early ones wait for those before them, and all are written to
the journal, so that a stopped scan can be resumed.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol, Self

from dlpctl.errors import EngineError
from dlpctl.scan import units
from dlpctl.scan.executor import BatchT
from dlpctl.scan.journal import Journal
from dlpctl.scan.local import LocalFiles
from dlpctl.scan.reader import BLOBS, PART, Outcome, Task
from dlpctl.scan.results import Skip, Tally, Why
from dlpctl.scan.source import File, Source

_SENT = 3
"""Messages per thread of a worker, so that no thread idles while an answer is on its way."""
_AHEAD = 32
"""Batches per thread that may be running or waiting for an earlier one."""

Answer = tuple[int, bytes | None]
"""The number of a message with its answer; None if workers died while they had it."""


class Pool(Protocol):
    """Workers that answer messages, in any order."""

    @property
    def threads(self) -> int:
        """The number of messages that the workers can answer at the same time."""

    def send(self, number: int, message: bytes, /) -> None: ...

    def answers(self, *, wait: bool) -> Iterable[Answer]:
        """Return the answers that have come; with `wait`, at least one, or none after a while."""

    def close(self) -> None: ...


class _Slot:
    """A batch, and the outcomes of its units as lines of JSON."""

    def __init__(self, batch: Any, tasks: Sequence[Task], keys: Sequence[str]) -> None:
        self.batch = batch
        self.tasks = tasks
        self.keys = keys
        self.lines: list[str] = [""] * len(tasks)
        self.missing = len(tasks)

    def put(self, unit: int, line: str) -> None:
        self.missing -= not self.lines[unit]
        self.lines[unit] = line

    def outcome(self) -> Outcome | None:
        if not self.lines:
            return None
        return units.total_of([units.decoded(line) for line in self.lines])


class _Sent(NamedTuple):
    """The units of a slot that are in one message."""

    slot: _Slot
    units: Sequence[int]
    is_again: bool


class OnCluster:
    """An executor that sends tasks to a pool of workers."""

    def __init__(self, pool: Pool, sources: Sequence[Source], journal: Journal) -> None:
        self._pool = pool
        self._sources = sources
        self._journal = journal
        self._numbers = count()
        self._sent: dict[int, _Sent] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def run(self, batches: Iterator[BatchT], /) -> Iterator[tuple[BatchT, Any]]:
        """Yield each batch with the outcome of its task, in the order of the batches."""
        pending: deque[_Slot] = deque()
        is_listed = False
        while pending or not is_listed:
            threads = self._pool.threads
            has_room = len(self._sent) < threads * _SENT and len(pending) < threads * _AHEAD
            lists = has_room and not is_listed
            if lists:
                batch = next(batches, None)
                is_listed = batch is None
                if batch is not None:
                    pending.append(self._started(batch))
            if self._sent:
                for number, answer in self._pool.answers(wait=not lists):
                    self._settle(number, answer)
            while pending and not pending[0].missing:
                slot = pending.popleft()
                yield slot.batch, slot.outcome()

    def _started(self, batch: Any) -> _Slot:
        """Send the units of a batch whose outcomes are not in the journal."""
        task: Task | None = batch.task
        if task is None:
            return _Slot(batch, [], [])
        assert task.inputs != BLOBS
        tasks = units.units_of(task)
        source = self._sources[task.source]
        slot = _Slot(batch, tasks, [units.key_of(each, source) for each in tasks])
        known = self._journal.known(slot.keys)
        for unit, key in enumerate(slot.keys):
            if key in known:
                slot.put(unit, known[key])
        if slot.missing:
            self._send(slot, [unit for unit, line in enumerate(slot.lines) if not line])
        return slot

    def _send(self, slot: _Slot, numbers: Sequence[int], *, is_again: bool = False) -> None:
        task = units.joined([slot.tasks[unit] for unit in numbers])
        if isinstance(self._sources[task.source], LocalFiles):
            task = _with_absolute_paths(task)
        number = next(self._numbers)
        self._sent[number] = _Sent(slot, numbers, is_again)
        self._pool.send(number, json.dumps(task).encode())

    def _settle(self, number: int, answer: bytes | None) -> None:
        sent = self._sent.pop(number, None)
        if sent is None:
            return  # it was answered before
        slot = sent.slot
        if answer is None:
            self._settle_unanswered(sent)
            return
        if answer.startswith(b"{"):
            raise EngineError(json.loads(answer)["error"])
        lines = answer.decode().split("\n")
        for unit, line in zip(sent.units, lines, strict=True):
            slot.put(unit, self._seen_here(slot.tasks[unit], line))
        self._journal.add((slot.keys[unit], slot.lines[unit]) for unit in sent.units)

    def _settle_unanswered(self, sent: _Sent) -> None:
        """Retry each content separately for which workers may have died, then report it as
        unreadable.
        """
        slot = sent.slot
        if not sent.is_again:
            for unit in sent.units:
                self._send(slot, [unit], is_again=True)
            return
        (unit,) = sent.units
        file = units.file_of(slot.tasks[unit])
        slot.put(unit, _unread(file.shown, "workers ended while they read it"))

    def _seen_here(self, unit: Task, line: str) -> str:
        """Return an outcome; a file that is missing only for a worker becomes unreadable."""
        if (
            units.has_nothing(line)
            or Why.GONE not in line
            or not isinstance(self._sources[unit.source], LocalFiles)
        ):
            return line
        file = units.file_of(unit)
        if units.decoded(line).files or not os.path.lexists(file.path):
            return line
        return _unread(file.shown, "a worker of the cluster does not see it")


def _with_absolute_paths(task: Task) -> Task:
    """Return a task for workers that were started in other folders."""
    last = 1 if task.inputs == PART else len(task.items)
    files = [File(*item) for item in task.items[:last]]
    moved = [file._replace(path=os.path.abspath(file.path)) for file in files]  # noqa: PTH100
    return task._replace(items=[*moved, *task.items[last:]])


def _unread(shown: str, detail: str) -> str:
    skip = Skip(shown, Why.UNREADABLE, detail)
    return units.encoded(Outcome(0, 0, 0, [], [skip], tallies=[Tally()]))
