"""Children that are forked from a clean, single-threaded process in which their modules are already
loaded: they start within milliseconds, and none is a copy of the parent.

    python -P -m dlpctl.processes.forking MODULE PRELOADED...

The process forks for each message on its standard input, a Unix socket. The child runs
`MODULE.main(*arguments)`, with the first two descriptors of the message as its standard streams.
The third receives the pid of the child, and its exit status once it has ended.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from io import FileIO
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from dlpctl.processes.child import Child, environment, python
from dlpctl.processes.pipes import Pipes
from dlpctl.processes.schema import Record, Schema, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Request = TypeVar("Request")
_NUMBER = struct.Struct("<q")
_LARGEST = 1 << 16


class Fork(NamedTuple):
    """The child to fork."""

    folder: str
    environ: list[str]
    """Alternating names and values."""
    arguments: list[str]


_FORK = Record(Fork)


class ForkServer:
    """The forking process from its parent's side: started when needed, and restarted if it dies."""

    def __init__(self, module: str, preloaded: Callable[[], Sequence[str]]) -> None:
        self._module = module
        self._preloaded = preloaded
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave)

    def fork(
        self,
        arguments: Sequence[str],
        requests: Schema[Request],
        replies: Schema[Any],
        largest: int,
        folder: Path,
    ) -> Child[Request]:
        """Start a child; raise `OSError` if that is impossible."""
        environ = [text for pair in environment(folder).items() for text in pair]
        message = encode(_FORK, Fork(str(folder), environ, [*arguments]))
        with ExitStack() as ours, ExitStack() as theirs:
            child_reading, writing = _pipe(ours, theirs)
            child_writing, reading = _pipe(ours, theirs, outwards=True)
            child_status, status = _pipe(ours, theirs, outwards=True)
            with self._lock:
                control = self._started()
                socket.send_fds(control, [message], [child_reading, child_writing, child_status])
                theirs.close()
                number = os.read(status, _NUMBER.size)
            if len(number) < _NUMBER.size:
                self.close()
                raise OSError("the forking process has ended")
            ours.pop_all()
        pipes = Pipes(FileIO(reading, "rb"), FileIO(writing, "wb"))
        handle = _Forked(_NUMBER.unpack(number)[0], FileIO(status, "rb"))
        return Child(handle, pipes, requests, replies, largest)

    def close(self) -> None:
        """End the process; its children continue to run."""
        with self._lock:
            control, process, self._control = self._control, self._process, None
        if control is not None and process is not None:
            control.close()
            process.terminate()
            process.wait()
            atexit.unregister(self.close)

    def _leave(self) -> None:
        """Leave the forking process to the parent of this process, which was just forked."""
        self._lock = threading.Lock()  # another thread of the parent may have held it
        if self._control is not None:
            self._control.close()
            self._control = None
            atexit.unregister(self.close)

    def _started(self) -> socket.socket:
        if self._control is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    python(__name__, self._module, *self._preloaded()),
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                    start_new_session=True,
                )
            self._control = ours
            atexit.register(self.close)
        return self._control


class _Forked:
    """A child of the forking process, with the operations of `subprocess.Popen`."""

    def __init__(self, pid: int, status: FileIO) -> None:
        self.pid = pid
        self._status = status
        self._returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int | None:
        if not self._status.closed:
            if timeout is not None and not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fork", timeout)
            number = self._status.read(_NUMBER.size) or b""
            self._status.close()
            # Without a status, the forking process has ended before the child.
            self._returncode = _NUMBER.unpack(number)[0] if len(number) == _NUMBER.size else None
        return self._returncode

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def _send(self, number: int) -> None:
        if not self._status.closed:
            os.kill(self.pid, number)


def _pipe(ours: ExitStack, theirs: ExitStack, *, outwards: bool = False) -> tuple[int, int]:
    """Return the child's end and the parent's end of a pipe that the child reads or, with
    `outwards`, writes.
    """
    ends = os.pipe()
    child_end, parent_end = reversed(ends) if outwards else ends
    theirs.callback(os.close, child_end)
    ours.callback(os.close, parent_end)
    return child_end, parent_end


def main(name: str, *preloaded: str) -> None:
    """Fork for each message until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=0)
    module = importlib.import_module(name)
    for each in preloaded:
        with suppress(ImportError):
            importlib.import_module(each)
    gc.freeze()  # the collector would copy pages that all children share
    statuses: dict[int, int] = {}
    # A handler alone would miss the signal that arrives just before the wait for a message: the
    # parent would wait forever.
    ended, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([control.fileno(), ended], [], [])
        if ended in ready:
            os.read(ended, _LARGEST)
            _tell(statuses)
        if control.fileno() not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(control, _LARGEST, 3)
        if not message:
            return
        child = os.fork()
        if not child:
            _live(module.main, decode(_FORK, message), descriptors)
        os.write(descriptors[2], _NUMBER.pack(child))
        statuses[child] = descriptors.pop()
        for descriptor in descriptors:
            os.close(descriptor)


def _tell(statuses: dict[int, int]) -> None:
    """Write the status of each child that has ended to its descriptor."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            descriptor = statuses.pop(ended[0])
            with suppress(OSError):
                os.write(descriptor, _NUMBER.pack(os.waitstatus_to_exitcode(ended[1])))
            os.close(descriptor)


def _live(serve: Callable[..., None], fork: Fork, descriptors: Sequence[int]) -> NoReturn:
    """Run as the child; never return into the loop of the forking process."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.chdir(fork.folder)
        os.environ.clear()
        os.environ.update(zip(fork.environ[::2], fork.environ[1::2], strict=True))
        for stream, descriptor in enumerate(descriptors[:2]):
            os.dup2(descriptor, stream)
        serve(*fork.arguments)
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
