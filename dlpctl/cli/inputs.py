"""What a command reads: files and stdin, in pieces as they come, and never what is no text."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator

from dlpctl.errors import InputError
from dlpctl.formats.recognition import starts_like_pdf, starts_like_rtf
from dlpctl.regular import NotRegularError, open_regular

STDIN = "-"
CHUNK = 1 << 20
"""Bytes that are read at once."""
_SETTLED = 0.005
"""Seconds without more input after which what has come is worth handing on."""


def read_chunks(name: str) -> Iterator[bytes]:
    """The content of a file, or of stdin for `-`, as it comes; an empty chunk says that the source has paused."""
    if name == STDIN:
        if sys.stdin is None or sys.stdin.isatty():
            sys.stderr.write("dlpctl: reading from the terminal; end with Ctrl-D\n")
        yield from _chunks(0, "stdin")
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
        raise InputError(f"{name}: cannot be read: {problem.strerror}") from None
    try:
        yield from _chunks(descriptor, name)
    finally:
        os.close(descriptor)


def peeked(name: str) -> tuple[bytes, Iterator[bytes]]:
    """The first piece of a content, and all of its pieces."""
    chunks = read_chunks(name)
    first = next((chunk for chunk in chunks if chunk), b"")

    def pieces() -> Iterator[bytes]:
        if first:
            yield first
        yield from chunks

    return first, pieces()


def read_text_chunks(name: str) -> Iterator[bytes]:
    """The same, refused where it is no text."""
    seen = False
    for chunk in read_chunks(name):
        if chunk and not seen:
            _refuse_binary(name, chunk)
            seen = True
        yield chunk


def read_text(name: str) -> str:
    """All of it; a byte that is not UTF-8 is kept as a lone surrogate, and written back as it was."""
    return b"".join(read_text_chunks(name)).decode("utf-8", "surrogateescape")


def _chunks(descriptor: int, name: str) -> Iterator[bytes]:
    waits = os.name == "posix" and not stat.S_ISREG(os.fstat(descriptor).st_mode)
    try:
        while chunk := os.read(descriptor, CHUNK):
            yield chunk
            if waits and not select.select([descriptor], [], [], _SETTLED)[0]:
                yield b""
    except OSError as problem:
        raise InputError(f"{name}: cannot be read: {problem.strerror}") from None


def is_binary(head: bytes) -> bool:
    """Whether a content is no text; with a zero byte, it is some file format or UTF-16."""
    return b"\0" in head[:8192] or starts_like_pdf(head) or starts_like_rtf(head)


def _refuse_binary(name: str, data: bytes) -> None:
    if is_binary(data):
        hint = (
            "save it to a file and use 'dlpctl check FILE'"
            if name == STDIN
            else "it needs 'dlpctl check FILE'"
        )
        raise InputError(f"{'stdin' if name == STDIN else name}: is binary, not text; {hint}")
