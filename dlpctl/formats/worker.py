"""Runs formats in a process of its own: native parsers abort, loop and grow, and must not take the caller with them.

`spawn` starts a fresh interpreter and suits a command that reads one file; `forkserver` forks from a clean process and suits a daemon.
A worker is killed, with all it started, when it takes too long; memory and processor time are limited by the system.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, Protocol, Self

from dlpctl import errors
from dlpctl.config.settings import FileLimits
from dlpctl.errors import DlpctlError, FormatError
from dlpctl.formats.discovery import format_in, home_of, homes
from dlpctl.formats.interface import Document, Edit, Limits, NotThisFormatError
from dlpctl.formats.tempfiles import private_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection
    from types import TracebackType

Method = Literal["spawn", "forkserver"]
_LENGTH = struct.Struct("!Q")
_KEPT_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "SYSTEMROOT",
    "HOME",
    "USERPROFILE",
    "TESSDATA_PREFIX",
    "LD_LIBRARY_PATH",
)
# What a message may be made of. A worker that a hostile file took over must not be able to run code in its parent.
_MODULES = ("dlpctl.formats.",)
_NAMES = {
    ("array", "array"),
    ("array", "_array_reconstructor"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("dlpctl.config.settings", "FileLimits"),
}
# What a forked worker finds there already: importing what reads a PDF takes longer than reading one.
_PRELOADED = (
    "dlpctl.formats.pdf.extract",
    "dlpctl.formats.pdf.mask",
    "dlpctl.formats.pdf.second",
    "pikepdf",
    "pypdfium2",
    "pypdf",
)
_NEVER = {"dlpctl.formats.worker", "dlpctl.formats.tempfiles"}


class _Channel(Protocol):
    def send(self, message: bytes) -> None: ...

    def receive(self) -> bytes: ...

    def kill(self) -> None: ...

    def wait(self) -> int | None: ...


class Worker:
    """A process that reads, masks and reads again; it is started when first needed and again after it died."""

    def __init__(self, limits: Limits, method: Method = "spawn") -> None:
        self._limits = limits
        self._method: Method = method if hasattr(os, "fork") else "spawn"
        self._channel: _Channel | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
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
        document = self._call(seconds, "extract", name, data, limits, password)
        if not isinstance(document, Document):
            raise FormatError("the worker process gave something that is no document")
        return document

    def mask(
        self,
        name: str,
        data: bytes,
        document: Document,
        edits: Sequence[Edit],
        children: Mapping[str, bytes | None],
        seconds: float,
    ) -> bytes:
        # Edits are of segments: what detectors looked at need not be sent.
        read = replace(document, views=[])
        masked = self._call(seconds, "mask", name, data, read, list(edits), dict(children))
        if not isinstance(masked, bytes):
            raise FormatError("the worker process gave something that is no file")
        return masked

    def read_again(self, name: str, data: bytes, limits: Limits, seconds: float) -> list[str]:
        texts = self._call(seconds, "read_again", name, data, limits)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise FormatError("the worker process gave something that is no text")
        return texts

    def picture(
        self, name: str, data: bytes, page: int, limits: Limits, password: str | None, seconds: float
    ) -> bytes:
        """A page as PNG, by a format that has pages."""
        made = self._call(seconds, "picture", name, data, page, limits, password)
        if not isinstance(made, bytes):
            raise FormatError("the worker process gave something that is no picture")
        return made

    def start(self, modules: Sequence[str] = ()) -> None:
        """Start the process before there is anything to do, so that it has imported these modules by then."""
        if self._channel is None:
            folder = self._stack.enter_context(private_folder())
            self._channel = (
                _Forked(self._limits, folder)
                if self._method == "forkserver"
                else _Spawned(self._limits, folder, modules)
            )

    def _call(self, seconds: float, operation: str, *arguments: object) -> object:
        name, *rest = arguments
        request = pickle.dumps((operation, home_of(str(name)), name, rest), protocol=5)
        self.start()
        channel = self._channel
        assert channel is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            channel.kill()

        watchdog = threading.Timer(max(seconds, 0.0), expire)
        watchdog.daemon = True
        watchdog.start()
        try:
            channel.send(request)
            del request
            reply = channel.receive()
        except (EOFError, OSError):
            status = self._end()
            if expired.is_set():
                raise FormatError(
                    f"reading took longer than {self._limits.seconds:g} s: raise limits.seconds"
                ) from None
            raise FormatError(_death(status)) from None
        except BaseException:
            self.close()
            raise
        finally:
            watchdog.cancel()
        return _unpacked(reply)


class _Spawned:
    """A fresh interpreter behind two pipes. multiprocessing would run the caller's main module in it once more."""

    def __init__(self, limits: Limits, folder: Path, modules: Sequence[str]) -> None:
        environment = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
        environment |= {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
            "OMP_THREAD_LIMIT": "1",
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)),
        }
        code = f"from dlpctl.formats.worker import main; main({limits.memory_bytes}, {tuple(modules)})"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )

    def send(self, message: bytes) -> None:
        assert self._process.stdin is not None
        _write(self._process.stdin, message)

    def receive(self) -> bytes:
        assert self._process.stdout is not None
        return _read(self._process.stdout)

    def kill(self) -> None:
        _kill_group(self._process.pid, self._process.kill)

    def wait(self) -> int | None:
        status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return status


class _Forked:
    """A fork of a clean server process."""

    def __init__(self, limits: Limits, folder: Path) -> None:
        import multiprocessing

        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, *homes(), *_PRELOADED])
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve_connection, args=(theirs, limits.memory_bytes, str(folder)), daemon=True
        )
        self._process.start()
        theirs.close()

    def send(self, message: bytes) -> None:
        self._connection.send_bytes(message)

    def receive(self) -> bytes:
        return self._connection.recv_bytes()

    def kill(self) -> None:
        if self._process.pid is not None:
            _kill_group(self._process.pid, self._process.kill)

    def wait(self) -> int | None:
        self._process.join()
        status = self._process.exitcode
        self._connection.close()
        self._process.close()
        return status


def main(memory_bytes: int, modules: Sequence[str]) -> None:
    """What a spawned worker runs."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # A native library that prints must not write into the replies.
    with Path(os.devnull).open("r+b") as nothing:
        for descriptor in (0, 1):
            os.dup2(nothing.fileno(), descriptor)
    _confine(memory_bytes)
    for module in modules:
        importlib.import_module(module)
    while True:
        try:
            _write(replies, _answer(_read(requests)))
        except EOFError:
            return


def _serve_connection(connection: Connection, memory_bytes: int, folder: str) -> None:
    os.setsid()
    tempfile.tempdir = folder
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder), OMP_THREAD_LIMIT="1")
    with Path(os.devnull).open("r+b") as nothing:
        for descriptor in (0, 1, 2):
            os.dup2(nothing.fileno(), descriptor)
    _confine(memory_bytes)
    while True:
        try:
            connection.send_bytes(_answer(connection.recv_bytes()))
        except EOFError:
            return


def _confine(memory_bytes: int) -> None:
    os.umask(0o077)
    apply_priority_to_session()
    if sys.platform != "win32":
        import resource

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # macOS takes the call and does not hold it: there, the time limit is what ends a growing worker.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def apply_priority_to_session() -> None:
    """Give the session the priority of its process: Linux may share the processor out among sessions first."""
    with contextlib.suppress(OSError, AttributeError):
        Path("/proc/self/autogroup").write_text(str(os.nice(0)))


def _limit_processor_time(seconds: float) -> None:
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, hard))


def _answer(request: bytes) -> bytes:
    operation, home, name, rest = _Unpickler(io.BytesIO(request)).load()
    # A file and what was read from it: once is enough.
    del request
    limits = next((item for item in rest if isinstance(item, FileLimits)), FileLimits())
    _limit_processor_time(limits.seconds)
    # Millions of small tuples and few cycles: the collector would take a third of the time to find nothing.
    gc.disable()
    try:
        result = getattr(format_in(home, name), operation)(*rest)
        return pickle.dumps(("", result), protocol=5)
    except DlpctlError as error:
        return pickle.dumps((type(error).__name__, error.message), protocol=5)
    except MemoryError:
        return pickle.dumps(("FormatError", "reading needs more memory than limits.memory_bytes"), protocol=5)
    except RecursionError:
        return pickle.dumps(("FormatError", "the file nests too deep to be read"), protocol=5)
    finally:
        gc.enable()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) in _NAMES:
            return super().find_class(module, name)
        if module.startswith(_MODULES) and module not in _NEVER and "." not in name:
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError("not part of a message")


def _unpacked(reply: bytes) -> object:
    try:
        kind, result = _Unpickler(io.BytesIO(reply)).load()
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, ImportError, EOFError, IndexError):
        raise FormatError("the worker process gave an answer that cannot be trusted") from None
    if not kind:
        return result
    known = {"NotThisFormatError": NotThisFormatError} | vars(errors)
    error = known.get(kind, FormatError)
    raise (error if isinstance(error, type) and issubclass(error, DlpctlError) else FormatError)(str(result))


def _read(stream: IO[bytes]) -> bytes:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(header)
    message = stream.read(length)
    if len(message) < length:
        raise EOFError
    return bytes(message)


def _write(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _kill_group(pid: int, kill: object) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
        if hasattr(os, "killpg") and os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        elif callable(kill):
            kill()


def _death(status: int | None) -> str:
    if status is not None and status < 0:
        number = -status
        if number == getattr(signal, "SIGXCPU", None):
            return "reading took too much processor time: raise limits.seconds"
        names = {item.value: item.name for item in signal.Signals}
        return f"the parser crashed ({names.get(number, number)}): the file is damaged or hostile"
    return f"the parser failed (status {status}): the file is damaged or of an unknown kind"
