"""Runs formats in a process of its own: native parsers abort, loop and grow, and must not take the
caller with them.

`spawn` starts a fresh interpreter and suits a command that reads one file; `forkserver` forks from
a clean process and suits a daemon. A worker is killed, with all it started, when it takes too long
or says what it must not say. Nothing that it says is more than data (`isolation.messages`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeVar, cast

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import home_of, homes
from dlpctl.formats.isolation import messages
from dlpctl.formats.isolation.confinement import environment
from dlpctl.formats.isolation.frames import Frames
from dlpctl.formats.isolation.wire import RefusedMessageError, decoded, encoded
from dlpctl.tempfiles import PrivateFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from dlpctl.formats.interface import Document, Edit, Limits

Method = Literal["spawn", "forkserver"]
T = TypeVar("T")
_CHILD = "dlpctl.formats.isolation.child"
# What a forked worker finds there already: importing what reads a PDF takes longer than reading
# one.
_PRELOADED = (
    "dlpctl.formats.pdf.extract",
    "dlpctl.formats.pdf.mask",
    "dlpctl.formats.pdf.second",
    "pikepdf",
    "pypdfium2",
    "pypdf",
)


class Worker:
    """A process that reads, masks and reads again; it is started when first needed and again after
    it died.
    """

    def __init__(self, limits: Limits, method: Method = "spawn") -> None:
        self._limits = limits
        self._method: Method = method if hasattr(os, "fork") else "spawn"
        self._channel: _Channel | None = None
        self._stack = ExitStack()
        # A worker that holds a message and what it was made of cannot hold a larger one.
        self._most = limits.memory_bytes // 2

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove its temporary files."""
        self._end()

    def _end(self) -> int | None:
        channel, self._channel = self._channel, None
        status = None
        if channel is not None:
            channel.kill()
            status = channel.wait()
        self._stack.close()
        return status

    def extract(
        self, name: str, data: bytes, limits: Limits, password: str | None, seconds: float
    ) -> Document:
        request = messages.Extract(home_of(name), name, data, limits, password)
        reading = self._call(request, messages.Reading, seconds)
        with self._refusing():
            return messages.document_of(name, reading, self._most)

    def mask(
        self,
        name: str,
        data: bytes,
        limits: Limits,
        password: str | None,
        edits: Sequence[Edit],
        children: Mapping[str, bytes | None],
        seconds: float,
    ) -> bytes:
        """Return a copy of a file; limits and password are those that it was read with."""
        replaced = [messages.Replacement(*child) for child in children.items()]
        request = messages.Mask(home_of(name), name, data, limits, password, edits, replaced)
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
        """Return a page as PNG, by a format that has pages."""
        request = messages.Picture(home_of(name), name, data, page, limits, password)
        return self._call(request, messages.Copy, seconds).data

    def start(self, modules: Sequence[str] = ()) -> None:
        """Start the process before there is anything to do, so that it has imported these modules
        by then.
        """
        if self._channel is None:
            # Removing comes first: a signal may arrive at any point between making a folder and
            # knowing of it.
            private = PrivateFolder()
            self._stack.callback(private.remove)
            folder = private.make()
            make = _Forked if self._method == "forkserver" else _Spawned
            self._channel = make(self._limits.memory_bytes, folder, modules)

    def _call(self, request: object, expected: type[T], seconds: float) -> T:
        message = encoded(messages.REQUEST, request)
        self.start()
        channel = self._channel
        assert channel is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            channel.kill()

        deadline = time.monotonic() + max(seconds, 0.0)
        watchdog = threading.Timer(max(seconds, 0.0), expire)
        watchdog.daemon = True
        watchdog.start()
        try:
            channel.frames.send(message, deadline)
            del message
            with self._refusing():
                reply = decoded(messages.REPLY, channel.frames.receive(self._most, deadline))
                if isinstance(reply, messages.Refusal):
                    raise messages.error_of(reply)
                if not isinstance(reply, expected):
                    raise RefusedMessageError("the reply answers another question")
                return reply
        except (EOFError, OSError):
            status = self._end()
            if expired.is_set():
                raise FormatError(
                    f"reading took longer than {self._limits.seconds:g} s: raise limits.seconds"
                ) from None
            raise FormatError(_death(status)) from None
        except FormatError:
            raise
        except BaseException:
            self.close()
            raise
        finally:
            watchdog.cancel()

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """End a worker whose message does not fit the schema."""
        try:
            yield
        except (RefusedMessageError, MemoryError, OverflowError):
            self._end()
            raise FormatError(
                "the worker process gave an answer that cannot be trusted: the file may be hostile"
            ) from None


class _Channel(Protocol):
    """A process and the pipes to it."""

    frames: Frames

    def kill(self) -> None: ...

    def wait(self) -> int | None: ...


class _Spawned:
    """A fresh interpreter. multiprocessing would run the caller's main module in it once more."""

    def __init__(self, memory_bytes: int, folder: Path, modules: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _CHILD, str(memory_bytes), *modules],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment(str(folder))
            | {
                "PYTHONPATH": os.pathsep.join(
                    str(Path(path).absolute()) for path in sys.path if path
                ),
                "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
            },
            start_new_session=True,
        )
        self.frames = Frames(
            cast("FileIO", self._process.stdout), cast("FileIO", self._process.stdin)
        )

    def kill(self) -> None:
        _kill_group(self._process.pid, self._process.kill)

    def wait(self) -> int | None:
        status = self._process.wait()
        self.frames.close()
        return status


class _Forked:
    """A fork of a clean server process."""

    def __init__(self, memory_bytes: int, folder: Path, modules: Sequence[str]) -> None:
        del modules
        import multiprocessing

        from dlpctl.formats.isolation.child import main_forked

        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([_CHILD, *homes(), *_PRELOADED])
        ours, theirs = context.Pipe()
        with ours, theirs:
            self._process = context.Process(
                target=main_forked, args=(theirs, memory_bytes, str(folder)), daemon=True
            )
            self._process.start()
            self.frames = Frames(
                FileIO(os.dup(ours.fileno()), "rb"), FileIO(os.dup(ours.fileno()), "wb")
            )

    def kill(self) -> None:
        if self._process.pid is not None:
            _kill_group(self._process.pid, self._process.kill)

    def wait(self) -> int | None:
        self._process.join()
        status = self._process.exitcode
        self.frames.close()
        self._process.close()
        return status


def _kill_group(pid: int, kill: Callable[[], None]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
        if hasattr(os, "killpg") and os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            kill()


def _death(status: int | None) -> str:
    if status is not None and status < 0:
        number = -status
        if number == getattr(signal, "SIGXCPU", None):
            return "reading took too much processor time: raise limits.seconds"
        names = {item.value: item.name for item in signal.Signals}
        return f"the parser crashed ({names.get(number, number)}): the file is damaged or hostile"
    return f"the parser failed (status {status}): the file is damaged or of an unknown kind"
