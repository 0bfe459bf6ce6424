"""Open files by name without waiting: a pipe, a device or a socket under the name is refused at
once.

Secrets alone may come from a pipe as well, since shells make one of `<(pass show acme)`.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its writer
    | getattr(os, "O_NOCTTY", 0)
)
_LARGEST_SECRET = 1 << 16
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularError(OSError):
    """The name is that of a pipe, a device, a socket or another special file."""


def open_regular(path: str | os.PathLike[str], *, follow: bool = True) -> int:
    """Return a descriptor for reading a regular file; raise `OSError` for anything else.

    The type is read from the open descriptor, so nothing can change between the check and the
    reading. Without `follow`, a symbolic link is an error as well.
    """
    if not follow and not _NO_FOLLOW and Path(path).is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    try:
        descriptor = os.open(path, _FLAGS if follow else _FLAGS | _NO_FOLLOW)
    except OSError as problem:
        if problem.errno in {
            errno.ENXIO,
            errno.EOPNOTSUPP,
        }:  # a socket, or a device without a driver
            raise _refusal(Path(path).stat().st_mode) from None
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise _refusal(mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Return a regular file opened for reading its bytes."""
    return os.fdopen(open_regular(path), "rb")


def read_regular(path: str | os.PathLike[str], *, follow: bool = True) -> bytes:
    """Return the content of a regular file."""
    with os.fdopen(open_regular(path, follow=follow), "rb") as opened:
        return opened.read()


def read_secret(path: str | os.PathLike[str]) -> bytes:
    """Return the secret in a file, or in a pipe that somebody writes to."""
    try:
        return read_regular(path)
    except NotRegularError:
        if not Path(path).is_fifo():
            raise
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            raise _refusal(os.fstat(descriptor).st_mode)
        first = pipe.read(1)
        if first == b"":  # nobody writes to it, and nobody may ever
            raise _refusal(os.fstat(descriptor).st_mode)
        os.set_blocking(descriptor, True)
        secret = first or b""
        while len(secret) < _LARGEST_SECRET and (part := pipe.read(_LARGEST_SECRET)):
            secret += part
        return secret


def why_not_regular(mode: int) -> str:
    """Return the reason why a file of this mode is not read by name."""
    file_kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "a special file")
    return f"it is {file_kind}, not a file"


def _refusal(mode: int) -> NotRegularError:
    return NotRegularError(errno.EINVAL, why_not_regular(mode))
