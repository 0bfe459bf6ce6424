"""Tasks for forked children of this process, whose results come back in order.

A child shares the memory of its parent, so that a task is a few bytes and only its result is
copied. Only a process that was given leave forks, on Linux, and while no other thread of it could
hold a lock; everywhere else, and where a child fails, the parent does the task itself.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import NoReturn

TaskFunction = Callable[[bytes], bytes]
_LENGTH = 8
_PIECE = 1 << 20
_HARMLESS = "holds_no_lock"


def mark_harmless(thread: threading.Thread) -> None:
    """Say of a thread that it holds no lock which a child could wait for."""
    setattr(thread, _HARMLESS, True)


class LeaveToFork:
    """The leave to fork, for the process that was given it: children of any kind have none."""

    def __init__(self, processes: int | None = None) -> None:
        self._owner = os.getpid()
        self._processes = processes

    def move_here(self) -> None:
        """Give the leave to this process, a child of the one that had it."""
        self._owner = os.getpid()

    def processes(self) -> int:
        """Return how many children may work at the same time; 1 if none may."""
        if sys.platform != "linux" or os.getpid() != self._owner:
            return 1
        others = (
            thread for thread in threading.enumerate() if thread is not threading.current_thread()
        )
        if not all(getattr(thread, _HARMLESS, False) for thread in others):
            return 1
        return self._processes or len(os.sched_getaffinity(0))


@contextmanager
def begun(perform: Callable[[], bytes], processes: int) -> Iterator[Callable[[], bytes]]:
    """Start work in a child; yield a function that waits for its result."""
    child: Child | None = None
    if processes > 1:
        with suppress(OSError):
            child = Child(partial(_live, lambda _: perform()), ())
    if child is None:
        yield perform
        return
    is_begun = _sent(child, b"")

    def result() -> bytes:
        found = _result(child) if is_begun else None
        return perform() if found is None else found

    try:
        yield result
    finally:
        child.end()


def in_order(
    count: int, task_of: Callable[[int], bytes], perform: TaskFunction, processes: int
) -> Iterator[bytes]:
    """Yield the results of `count` tasks; a task is asked for when a child is free for it."""
    if processes < 2 or count < 2:
        yield from (perform(task_of(number)) for number in range(count))
        return
    children: list[Child] = []
    try:
        for _ in range(min(processes, count)):
            with suppress(OSError):
                children.append(Child(partial(_live, perform), children))
        yield from _results(count, task_of, perform, children)
    finally:
        for child in children:
            child.end()


def _results(
    count: int, task_of: Callable[[int], bytes], perform: TaskFunction, children: list[Child]
) -> Iterator[bytes]:
    idle = list(children)
    busy: dict[int, tuple[Child, int, bytes]] = {}
    done: dict[int, bytes] = {}
    begun = given = 0
    waiting = select.poll()
    while given < count:
        while idle and begun < count:
            child, task = idle.pop(), task_of(begun)
            if not _sent(child, task):
                continue
            busy[child.answers] = child, begun, task
            waiting.register(child.answers, select.POLLIN | select.POLLHUP)
            begun += 1
        if given in done:
            yield done.pop(given)
            given += 1
        elif not busy:  # no child is left
            done[given] = perform(task_of(given))
            begun = max(begun, given + 1)
        else:
            for answers, _ in waiting.poll():
                waiting.unregister(answers)
                child, number, task = busy.pop(answers)
                result = _result(child)
                if result is None:
                    done[number] = perform(task)
                else:
                    done[number] = result
                    idle.append(child)


class Child:
    """A process that does one task at a time, with a pipe for tasks and one for answers."""

    def __init__(self, live: Callable[[int, int], NoReturn], others: Iterable[Child]) -> None:
        """`live` runs in the child, on its ends of the pipes."""
        to_read, self.tasks = os.pipe()
        self.answers, to_write = os.pipe()
        with warnings.catch_warnings():  # of threads, which are known to be harmless
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if not self._pid:
            # Copies of the other children's pipes would hide the end of the parent from them.
            for other in others:
                other.close()
            self.close()
            live(to_read, to_write)
        os.close(to_read)
        os.close(to_write)

    def close(self) -> None:
        os.close(self.tasks)
        os.close(self.answers)

    def end(self, *, at_once: bool = True) -> None:
        """End the process; it ends by itself when its pipe is closed, unless `at_once`."""
        if at_once:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self.close()
        os.waitpid(self._pid, 0)


def _sent(child: Child, task: bytes) -> bool:
    try:
        write_message(child.tasks, task)
    except OSError:
        return False
    return True


def _result(child: Child) -> bytes | None:
    """Return the result; None if the child is gone."""
    try:
        return read_message(child.answers)
    except OSError:
        return None


def _live(perform: TaskFunction, tasks: int, answers: int) -> NoReturn:
    """The life of a child: it must not return into what its parent was doing."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        gc.freeze()  # a collection would copy the pages of all objects
        while (task := read_message(tasks)) is not None:
            write_message(answers, perform(task))
    finally:
        os._exit(0)


def write_message(pipe: int, data: bytes) -> None:
    rest = memoryview(len(data).to_bytes(_LENGTH, "little") + data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def read_message(pipe: int, largest: int | None = None) -> bytes | None:
    """Return the next message; None if the other side is gone. A larger one is a `ValueError`."""
    header = _read_exactly(pipe, _LENGTH)
    size = 0 if header is None else int.from_bytes(header, "little")
    if largest is not None and size > largest:
        raise ValueError("the message is too large")
    return None if header is None else _read_exactly(pipe, size)


def _read_exactly(pipe: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = os.read(pipe, min(size - len(data), _PIECE))
        if not part:
            return None
        data += part
    return bytes(data)
