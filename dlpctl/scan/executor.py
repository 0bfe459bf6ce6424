"""Run tasks in several workers, and return the outcomes in the order of the tasks.

A worker is a process if the system can fork cheaply and safely, since confirming findings holds
Python's lock; it shares the compiled patterns with its parent. Elsewhere, it is a thread. A thread
of this process serves each worker with one task after the other.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, Self, TypeVar

from dlpctl.errors import DlpctlError, EngineError, fault
from dlpctl.scan.packing import packed
from dlpctl.system.forked import Child, read_message, write_message

if TYPE_CHECKING:
    from dlpctl.scan.results import Skip
    from dlpctl.scan.source import File, Source

_AHEAD = 3
"""Tasks per worker that wait, or are done and not yet collected, so that no worker idles during a
long task.
"""
_NOTICE_SECONDS = 0.5
"""The longest delay of Ctrl-C if it comes just before a wait, which it then does not interrupt."""
_LARGEST = 1 << 30
"""The largest message in bytes: a worker has read hostile files, so its lengths are not trusted."""
_DONE, _FAILED = 0, 1
_NO_ANSWER = "a worker process sent an answer that cannot be trusted; --jobs 1 needs no workers"
FORKS = sys.platform == "linux"


class ReadBatch(Protocol):
    """The job of a worker. Tasks and outcomes are JSON values."""

    def __call__(self, task: Any, /) -> Any: ...

    def close(self) -> None: ...


class Batch(Protocol):
    @property
    def task(self) -> Any:
        """Return the task for a worker; None if there is nothing to do."""


BatchT = TypeVar("BatchT", bound=Batch)


class Executor(Protocol):
    """Runs tasks; leaving the context ends the workers."""

    def __enter__(self) -> Self: ...

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None: ...

    def run(self, batches: Iterator[BatchT], /) -> Iterator[tuple[BatchT, Any]]:
        """Yield each batch with the outcome of its task, in the order of the batches."""


class Elsewhere(Protocol):
    """Other machines that read the files of a scan."""

    def executor(
        self,
        make_work: Callable[[], ReadBatch],
        prepare: Callable[[], object],
        sources: Sequence[Source],
        /,
    ) -> Executor:
        """Return an executor. `make_work` creates a worker's job, and `prepare` runs before; both
        can be pickled.
        """

    def without_own(self, source: Source, files: Iterable[File | Skip], /) -> Iterator[File | Skip]:
        """Yield the files without those that the cluster scan itself writes."""


class _Slot(NamedTuple):
    batch: Any
    answer: SimpleQueue[tuple[Any, BaseException | None]]


class InOrder:
    """Runs tasks; leaving the context ends the workers, immediately after an error."""

    def __init__(
        self,
        make_work: Callable[[], ReadBatch],
        jobs: int,
        prepare: Callable[[], object] | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """`make_work` is called in each worker, and `prepare` once if there are several.

        With `at_once`, workers are started before the first task is known: finding tasks starts
        threads, which a fork does not copy.
        """
        self._make_work = make_work
        self._prepare = prepare
        self._jobs = jobs
        self._at_once = at_once and jobs > 1
        self._todo: SimpleQueue[_Slot | None] = SimpleQueue()
        self._children: list[_Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        for _child in range(self._jobs):
            self._todo.put(None)
        for child in self._children:
            child.end(at_once=error_type is not None)

    def run(self, batches: Iterator[BatchT]) -> Iterator[tuple[BatchT, Any]]:
        """Yield each batch with its outcome; a single batch runs in this process."""
        if self._at_once:
            self._prepare_and_start()
        first = [batch for _, batch in zip(range(2), batches, strict=False)]
        if not self._at_once and (len(first) < 2 or self._jobs < 2):
            with closing(self._make_work()) as job:
                for batch in _chained(first, batches):
                    yield batch, None if batch.task is None else job(batch.task)
            return
        if not self._at_once:
            self._prepare_and_start()
        pending: deque[_Slot] = deque()
        for batch in _chained(first, batches):
            slot = _Slot(batch, SimpleQueue())
            if batch.task is None:
                slot.answer.put((None, None))
            else:
                self._todo.put(slot)
            pending.append(slot)
            if len(pending) > self._jobs * _AHEAD:
                yield _taken(pending.popleft())
        while pending:
            yield _taken(pending.popleft())

    def _prepare_and_start(self) -> None:
        if self._prepare is not None:
            self._prepare()
        if FORKS:
            for _ in range(
                self._jobs
            ):  # fork all of them before starting threads, which a fork would not copy
                self._children.append(_Child(self._make_work, self._children))
        for number in range(self._jobs):
            job = self._children[number] if FORKS else self._make_work()
            threading.Thread(target=self._serve, args=(job,), daemon=True).start()

    def _serve(self, job: ReadBatch) -> None:
        while (slot := self._todo.get()) is not None:
            try:
                slot.answer.put((job(slot.batch.task), None))
            except BaseException as problem:
                slot.answer.put((None, problem))  # raised when the outcome is awaited
                break
        if not isinstance(job, _Child):
            job.close()


def _chained(first: Iterable[Any], rest: Iterable[Any]) -> Iterator[Any]:
    yield from first
    yield from rest


def _taken(slot: _Slot) -> tuple[Any, Any]:
    while True:
        with suppress(Empty):
            outcome, problem = slot.answer.get(timeout=_NOTICE_SECONDS)
            break
    if problem is not None:
        raise problem
    return slot.batch, outcome


class _Child(Child):
    """A worker in a process of its own."""

    def __init__(self, make_work: Callable[[], ReadBatch], others: Iterable[_Child]) -> None:
        super().__init__(partial(_live, make_work), others)

    def __call__(self, task: Any, /) -> Any:
        try:
            _send(self.tasks, task)
            answer = _receive(self.answers)
        except OSError:
            answer = None
        except (ValueError, RecursionError):
            raise EngineError(_NO_ANSWER) from None
        if answer is None:
            raise EngineError("a worker process ended without an answer; --jobs 1 needs no workers")
        match answer:
            case [0, outcome]:
                return outcome
            case [1, str(reason)]:
                raise EngineError(reason)
        raise EngineError(_NO_ANSWER)


def _live(make_work: Callable[[], ReadBatch], requests: int, answers: int) -> NoReturn:
    """Run a child; this must not return into the parent's code."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children itself
        with closing(make_work()) as job:
            while (task := _receive(requests)) is not None:
                _send(answers, (_DONE, job(task)))
        status = 0
    except DlpctlError as error:
        _send(answers, (_FAILED, error.message))
    except BrokenPipeError:
        pass
    except BaseException as problem:
        _send(answers, (_FAILED, f"a worker process failed: {fault(problem)}"))
        raise
    finally:
        os._exit(status)


def _send(pipe: int, value: Any) -> None:
    write_message(pipe, json.dumps(value, default=packed).encode())


def _receive(pipe: int) -> Any:
    """Return the next value; None if the other side is gone."""
    message = read_message(pipe, _LARGEST)
    return None if message is None else json.loads(message)
