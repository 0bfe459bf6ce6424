"""The source of local files and folders, and of stdin."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dlpctl.scan.results import Skip, Why
from dlpctl.scan.selection import Selection
from dlpctl.scan.source import File, Read, UnreadError
from dlpctl.scan.walk import walk
from dlpctl.system.regular import NotRegularError, open_regular

STDIN = "-"
_UNKNOWN_SIZE = 1 << 16
_SLACK = 1 << 20
"""A file that grows by more than this while it is read is given up."""


class LocalFiles:
    """Files and folders by name; `-` is stdin."""

    noun = "file"
    has_threads = False

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def files(self, selection: Selection) -> Iterator[File | Skip]:
        yield from walk([name for name in self.names if name != STDIN], selection)
        if STDIN in self.names:  # last, since stdin may take any length of time
            yield File(STDIN, "stdin", 0, stream=True)

    def key(self, file: File) -> str:
        # Links are not resolved: a file is identified by the name in results.
        return os.path.abspath(file.path)  # noqa: PTH100

    def read_all(self, files: Sequence[File]) -> Iterator[bytes | UnreadError]:
        for file in files:
            try:
                with _reading():
                    yield _read(file.path)
            except UnreadError as error:
                yield error

    def read_range(self, file: File, first: int, last: int) -> bytes:
        with (
            _reading(),
            os.fdopen(open_regular(file.path, follow=False), "rb", buffering=0) as opened,
        ):
            opened.seek(first)
            return read_fully(opened.read, last - first)

    @contextmanager
    def open(self, file: File) -> Iterator[Read]:
        with _reading():
            descriptor = 0 if file.stream else open_regular(file.path, follow=False)
            with open(descriptor, "rb", buffering=_UNKNOWN_SIZE, closefd=not file.stream) as opened:
                yield opened.read

    def next_data(self, file: File, position: int) -> int:
        seek_data = getattr(os, "SEEK_DATA", None)
        if seek_data is None:
            return position
        with _reading():
            descriptor = open_regular(file.path, follow=False)
            try:
                return os.lseek(descriptor, position, seek_data)
            except OSError as problem:
                return sys.maxsize if problem.errno == errno.ENXIO else position
            finally:
                os.close(descriptor)


@contextmanager
def _reading() -> Iterator[None]:
    """Convert errors of the operating system into reasons why a file cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise UnreadError(Why.GONE) from None
    except NotRegularError:
        raise UnreadError(Why.SPECIAL) from None
    except OSError as problem:
        raise UnreadError(Why.UNREADABLE, problem.strerror or "") from None


def read_fully(read: Read, size: int) -> bytes:
    """Read the given number of bytes, or fewer at the end, from a function that may return short
    reads.
    """
    parts: list[bytes] = []
    while size and (data := read(size)):
        parts.append(data)
        size -= len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _read(path: str) -> bytes:
    # A file found by the walk may have become a link or a pipe since.
    descriptor = open_regular(path, follow=False)
    try:
        size = os.fstat(descriptor).st_size
        data = os.read(descriptor, size + 1 if size else _UNKNOWN_SIZE)
        if len(data) == size:
            return data
        parts = [data]
        while data and sum(map(len, parts)) <= size + _SLACK:
            data = os.read(descriptor, _UNKNOWN_SIZE)
            parts.append(data)
    finally:
        os.close(descriptor)
    if data:
        raise OSError(0, "it grows while it is read")
    return b"".join(parts)
