"""Child processes from the parent's side: spawned or forked from a clean process, asked within a
deadline, and ended together with everything that they started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from dlpctl.processes.pipes import DeadlineError, Pipes
from dlpctl.processes.schema import InvalidMessageError, Schema, decode, encode

Request = TypeVar("Request")
_INHERITED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TESSDATA_PREFIX", "LD_LIBRARY_PATH")
_LAST_SECONDS = 2.0
"""The seconds that a process may take to end after closing its pipe, so that its status is
known.
"""
_OF_FOLDER = ("TMPDIR", "TEMP", "TMP", "HOME", "USERPROFILE")


class EndedError(Exception):
    """The process ended or closed its pipe before it answered."""


class Handle(Protocol):
    """The operations of `subprocess.Popen` that `Child` needs."""

    @property
    def pid(self) -> int: ...

    def wait(self, timeout: float | None = None) -> int | None: ...

    def kill(self) -> None: ...

    def terminate(self) -> None: ...


class Child(Generic[Request]):
    """A process that answers requests. Its messages are only data."""

    def __init__(
        self,
        handle: Handle,
        pipes: Pipes,
        requests: Schema[Request],
        replies: Schema[Any],
        largest: int,
    ) -> None:
        """`largest` is the maximum size of a reply in bytes."""
        self._handle = handle
        self._pipes = pipes
        self._requests = requests
        self._replies = replies
        self._largest = largest

    def ask(self, request: Request, seconds: float) -> Any:
        """Return the reply to a request; raise `DeadlineError`, `EndedError` or
        `InvalidMessageError`, after which the process must be ended.
        """
        deadline = time.monotonic() + seconds
        self.send(request, deadline)
        return self.receive(deadline)

    def send(self, request: Request, deadline: float) -> None:
        """Send a request. A process that has ended may have sent its reason before: `receive`
        returns it, or raises `EndedError`.
        """
        message = encode(self._requests, request)
        with self._limited(deadline), contextlib.suppress(BrokenPipeError):
            self._pipes.send(message, deadline)

    def receive(self, deadline: float) -> Any:
        """Return the next reply."""
        with self._limited(deadline):
            message = self._pipes.receive(self._largest, deadline)
        try:
            return decode(self._replies, message)
        except (MemoryError, OverflowError):
            raise InvalidMessageError("the message does not fit into memory") from None

    def terminate(self) -> None:
        """Ask the process to end."""
        with contextlib.suppress(OSError):
            self._handle.terminate()

    def end(self, patience: float = 0.0) -> int | None:
        """End the process and its group, and return its exit status as `Popen` does.

        With `patience`, it is first asked to end, and given that many seconds.
        """
        if patience:
            self.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._handle.wait(patience)
        self._kill()
        status = self._handle.wait()
        self._pipes.close()
        return status

    def _kill(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            pid = self._handle.pid
            if hasattr(os, "killpg") and os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
            else:
                self._handle.kill()

    @contextlib.contextmanager
    def _limited(self, deadline: float) -> Iterator[None]:
        """Translate errors of pipes; if pipes have no deadline, a thread ends the process."""
        watchdog: threading.Timer | None = None
        if os.name == "nt":
            watchdog = threading.Timer(max(deadline - time.monotonic(), 0.0), self._kill)
            watchdog.daemon = True
            watchdog.start()
        try:
            yield
        except (EOFError, OSError):
            if time.monotonic() >= deadline:
                raise DeadlineError from None
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._handle.wait(_LAST_SECONDS)
            raise EndedError from None
        finally:
            if watchdog is not None:
                watchdog.cancel()


def environment(folder: Path | None = None) -> dict[str, str]:
    """Return the environment of a child: the paths of programs and libraries, no secrets, and its
    own folder if given.
    """
    inherited = _INHERITED if folder else (*_INHERITED, *_OF_FOLDER)
    found = {name: os.environ[name] for name in inherited if name in os.environ}
    if folder:
        found |= dict.fromkeys(_OF_FOLDER, str(folder))
    return found | {
        "OMP_THREAD_LIMIT": "1",
        "PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
    }


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module in a new interpreter, which imports nothing from the
    working directory.
    """
    return (sys.executable, "-P", "-m", module, *arguments)


def spawn(
    command: Sequence[str],
    requests: Schema[Request],
    replies: Schema[Any],
    largest: int,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Child[Request]:
    """Start a process in a session of its own; raise `OSError` if that is impossible."""
    process = subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment(folder) if environ is None else environ,
        start_new_session=True,
    )
    pipes = Pipes(cast("FileIO", process.stdout), cast("FileIO", process.stdin))
    return Child(process, pipes, requests, replies, largest)
