"""Read files and stdin in chunks as they arrive, and refuse binary content if text is needed."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from collections.abc import Iterator

from dlpctl.errors import InputError, UsageError, os_errors
from dlpctl.formats.recognition import document_in_text
from dlpctl.system.regular import NotRegularError, open_regular

STDIN = "-"
CHUNK = 1 << 20
"""The size of a chunk in bytes."""
_SETTLED = 0.005
"""The seconds without input after which a pause is reported."""


def read_chunks(name: str, *, required: bool = False) -> Iterator[bytes]:
    """Yield the content of a file, or of stdin for `-`, as it arrives; an empty chunk marks a
    pause.

    `required` refuses an empty stdin. It is for commands that read stdin because no file is named:
    the empty stdin of a CI runner must not count as a text without findings.
    """
    if name == STDIN:
        yield from _stdin(required=required)
        return
    try:
        descriptor = open_regular(name)
    except IsADirectoryError:
        raise InputError(f"{name}: is a directory; name the files in it") from None
    except NotRegularError as problem:
        raise InputError(
            f"{name}: cannot be read: {problem.strerror}; pass its content on stdin, as '-'"
        ) from None
    except OSError as problem:
        is_text = isinstance(problem, FileNotFoundError) and " " in name
        hint = "; pass a text on stdin: echo TEXT | dlpctl mask" if is_text else ""
        raise InputError(f"{name}: cannot be read: {problem.strerror}{hint}") from None
    try:
        yield from _chunks(descriptor, name)
    finally:
        os.close(descriptor)


def _stdin(*, required: bool) -> Iterator[bytes]:
    require_open_stdin()
    is_terminal = os.isatty(0)
    if is_terminal:
        sys.stderr.write("dlpctl: reading from the terminal; end with Ctrl-D\n")
    is_empty = True
    for chunk in _chunks(0, "stdin"):
        is_empty = is_empty and not chunk
        yield chunk
    if is_empty and required and not is_terminal:
        raise UsageError("stdin is empty: name a file, or pass '-' to accept an empty stdin")


def require_open_stdin() -> None:
    """Refuse a stdin that is closed."""
    try:
        os.read(0, 0)
    except OSError as problem:
        if problem.errno == errno.EBADF:
            raise UsageError("stdin is closed: name a file") from None


def may_hold_content() -> bool:
    """Return whether stdin is a pipe, a socket or a file, and so may hold content for us."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def peeked(name: str, *, required: bool = False) -> tuple[bytes, Iterator[bytes]]:
    """Return the first chunk of a content, and all of its chunks."""
    chunks = read_chunks(name, required=required)
    first = next((chunk for chunk in chunks if chunk), b"")

    def pieces() -> Iterator[bytes]:
        if first:
            yield first
        yield from chunks

    return first, pieces()


def read_text_chunks(name: str, *, required: bool = False) -> Iterator[bytes]:
    """Yield the chunks of a text; refuse binary content."""
    seen = False
    for chunk in read_chunks(name, required=required):
        if chunk and not seen:
            _refuse_binary(name, chunk)
            seen = True
        yield chunk


def read_text(name: str, *, required: bool = False) -> str:
    """Return a text. A byte that is not UTF-8 becomes a lone surrogate, which is written back as
    the same byte.
    """
    return b"".join(read_text_chunks(name, required=required)).decode("utf-8", "surrogateescape")


def _chunks(descriptor: int, name: str) -> Iterator[bytes]:
    is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    if is_regular and _is_stdout(descriptor):
        raise UsageError(f"{name}: is both input and output: write to another file")
    waits = os.name == "posix" and not is_regular
    with os_errors(InputError, f"{name}: cannot be read"):
        while chunk := os.read(descriptor, CHUNK):
            yield chunk
            if waits and not select.select([descriptor], [], [], _SETTLED)[0]:
                yield b""


def _is_stdout(descriptor: int) -> bool:
    """Return whether a file is also where stdout goes: `dlpctl mask a.txt > a.txt`."""
    try:
        return os.path.sameopenfile(descriptor, 1)
    except OSError:
        return False


def is_binary(head: bytes) -> bool:
    """Return whether content is not text; a zero byte means a file format or UTF-16."""
    return b"\0" in head[:8192] or document_in_text(head) in ("pdf", "rtf")


def _refuse_binary(name: str, data: bytes) -> None:
    if is_binary(data):
        hint = (
            "save it to a file and use 'dlpctl check FILE'"
            if name == STDIN
            else "it needs 'dlpctl check FILE'"
        )
        raise InputError(f"{'stdin' if name == STDIN else name}: is binary, not text; {hint}")
