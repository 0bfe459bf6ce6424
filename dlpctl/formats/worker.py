"""Run formats in a separate process: native parsers abort, hang and use up memory, which must not
affect the caller.

`spawn` starts a fresh interpreter; `forkserver` forks from a clean process, which takes a tenth of
the time once that process has started. `adaptive` spawns the first workers and forks the following
ones, which suits a command that reads one file as well as a program that reads thousands. A worker
is killed, with its child processes, when it exceeds the time limit or sends an invalid message.
`isolation.messages` declares the valid messages.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import home_of, homes
from dlpctl.formats.interface import Children, Document, Edits, Limits
from dlpctl.formats.isolation import messages
from dlpctl.processes.child import EndedError, python, spawn
from dlpctl.processes.pipes import DeadlineError
from dlpctl.processes.schema import InvalidMessageError
from dlpctl.system.tempfiles import PrivateFolder

if TYPE_CHECKING:
    from dlpctl.formats.ocr.seen import ReadPicture
    from dlpctl.processes.forking import ForkServer


class StartedWorker(Protocol):
    """The operations of `Child` that `Worker` needs."""

    def ask(self, request: messages.Request, seconds: float) -> Any: ...

    def end(self) -> int | None: ...


Method = Literal["adaptive", "spawn", "forkserver"] | Callable[[int], StartedWorker]
"""A way to start workers; or a function that starts one, given its memory limit in bytes."""
T = TypeVar("T")
_SPAWNED = 4
"""The workers that `adaptive` spawns: together they cost what starting the forking process does."""
_adaptive = count()
"""The number of workers that `adaptive` has started in this process."""
_CHILD = "dlpctl.formats.isolation.child"
# Modules that a forked worker already has: importing the PDF modules takes longer than reading a
# PDF.
_PRELOADED = (
    "ctypes",
    "dlpctl.formats.pdf.extract",
    "dlpctl.formats.pdf.mask",
    "dlpctl.formats.pdf.second",
    "pikepdf",
    "pypdfium2",
    "pypdf",
)


class Worker:
    """A process that reads, masks and verifies files, started on demand."""

    def __init__(self, limits: Limits, method: Method = "adaptive") -> None:
        self._limits = limits
        self._method = method
        self._child: StartedWorker | None = None
        self._recalled: Sequence[ReadPicture] = ()
        """The pictures to pass to the process before its first request."""
        self._stack = ExitStack()
        # A worker that holds a message and its source cannot hold a larger one.
        self._most = limits.memory_bytes // 2

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove its temporary files."""
        self._end()

    def _end(self) -> int | None:
        child, self._child = self._child, None
        status = None if child is None else child.end()
        self._stack.close()
        return status

    def extract(
        self, name: str, data: bytes, limits: Limits, password: str | None, seconds: float
    ) -> Document:
        request = messages.Extract(home_of(name), name, data, limits, password)
        reading = self._call(request, messages.Reading, seconds)
        with self._refusing():
            return messages.document_of(name, reading, self._most)

    def parts(self, name: str, data: bytes, limits: Limits) -> Iterator[Document]:
        """Read a file part by part, each within the time of a file."""
        request: messages.Request = messages.ExtractParts(home_of(name), name, data, limits)
        while reading := self._call(request, messages.Part, limits.seconds).reading:
            with self._refusing():
                document = messages.document_of(name, reading, self._most)
            del reading
            yield document
            request = messages.FollowingPart(limits)

    def mask(
        self,
        name: str,
        data: bytes,
        limits: Limits,
        password: str | None,
        edits: Edits,
        children: Children,
        seconds: float,
    ) -> bytes:
        """Return a copy of a file; limits and password are those of reading."""
        replaced = [messages.Replacement(*child) for child in children.items()]
        changes = messages.changes_of(edits)
        request = messages.Mask(home_of(name), name, data, limits, password, changes, replaced)
        return self._call(request, messages.Copy, seconds).data

    def read_again(self, name: str, data: bytes, limits: Limits, seconds: float) -> list[str]:
        request = messages.ReadAgain(home_of(name), name, data, limits)
        return self._call(request, messages.Texts, seconds).texts

    def picture(
        self,
        name: str,
        data: bytes,
        page: int,
        limits: Limits,
        password: str | None,
        seconds: float,
    ) -> bytes:
        """Return a page as PNG, from a format that has pages."""
        request = messages.Picture(home_of(name), name, data, page, limits, password)
        return self._call(request, messages.Copy, seconds).data

    def recall(self, pictures: Sequence[ReadPicture]) -> None:
        """Know what other workers read on pictures."""
        self._recalled = pictures

    def pictures_read(self) -> list[ReadPicture]:
        """Return what the process and those before it read on pictures."""
        if self._child is None:
            return list(self._recalled)
        request = messages.AskPictures(self._limits)
        reply = self._call(request, messages.Pictures, self._limits.seconds)
        with self._refusing():
            if not all(picture.is_consistent for picture in reply.pictures):
                raise InvalidMessageError("the columns of a picture's words do not fit each other")
        return reply.pictures

    def sandbox(self, seconds: float) -> list[str]:
        """Return what the system denies the process."""
        return self._call(messages.AskSandbox(self._limits), messages.Texts, seconds).texts

    def start(self, modules: Sequence[str] = ()) -> None:
        """Start the process early, so that it has imported these modules when it is needed."""
        if self._child is not None:
            return
        # Register removal first: a signal may arrive at any point between creating a folder and
        # recording it.
        private = PrivateFolder()
        self._stack.callback(private.remove)
        folder = private.make()
        arguments = str(self._limits.memory_bytes)
        schemas = messages.REQUEST, messages.REPLY, self._most
        if callable(self._method):
            self._child = self._method(self._limits.memory_bytes)
        elif _forks(self._method):
            self._child = _fork_server().fork([arguments], *schemas, folder)
        else:
            self._child = spawn(python(_CHILD, arguments, *modules), *schemas, folder)

    def _call(self, request: messages.Request, expected: type[T], seconds: float) -> T:
        home = getattr(request, "home", "")
        self.start([home] if home else ())
        recalled, self._recalled = self._recalled, ()
        if recalled:
            self._call(messages.Recall(self._limits, [*recalled]), messages.Pictures, seconds)
        child = self._child
        assert child is not None
        try:
            with self._refusing():
                reply = child.ask(request, max(seconds, 0.0))
                if isinstance(reply, messages.Refusal):
                    raise messages.error_of(reply)
                if not isinstance(reply, expected):
                    raise InvalidMessageError("the reply answers another question")
                return reply
        except DeadlineError:
            self._end()
            raise FormatError(
                f"reading took longer than {self._limits.seconds:g} s: raise limits.seconds"
            ) from None
        except EndedError:
            raise FormatError(_death(self._end())) from None
        except FormatError:
            raise
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """End a worker whose message does not fit the schema."""
        try:
            yield
        except (InvalidMessageError, MemoryError, OverflowError):
            self._end()
            raise FormatError(
                "the worker process sent an answer that cannot be trusted: the file may be hostile"
            ) from None


def _forks(method: str) -> bool:
    """Return whether the next worker is forked."""
    if method == "adaptive":
        method = "spawn" if next(_adaptive) < _SPAWNED else "forkserver"
    return method == "forkserver" and hasattr(os, "fork")


@cache
def _fork_server() -> ForkServer:
    """Return the process from which all workers of this process are forked."""
    from dlpctl.processes.forking import ForkServer

    return ForkServer(_CHILD, lambda: [*homes(), *_PRELOADED])


def _death(status: int | None) -> str:
    if status is not None and status < 0:
        number = -status
        if number == getattr(signal, "SIGXCPU", None):
            return "reading took too much processor time: raise limits.seconds"
        names = {item.value: item.name for item in signal.Signals}
        return f"the parser crashed ({names.get(number, number)}): the file is damaged or hostile"
    return f"the parser failed (status {status}): the file is damaged or of an unknown type"
