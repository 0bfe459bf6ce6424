"""Files that appear complete under their name or not at all, and leave nothing where their writer
is killed.

A new file has no name until it is complete, where the system has such files. Elsewhere it has a
name of its own and a lock, and the next writer of the same file removes what nobody holds.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from dlpctl.errors import InputError

if sys.platform != "win32":
    import fcntl

_LONGEST = 40
"""Characters of a file's name that the name of its unfinished copy repeats."""
_RENAMES_OPEN_FILES = os.name == "posix"
_OPENED = Path("/proc/self/fd")
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)


@contextmanager
def replacing(target: Path, *, overwrite: bool = True, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Yield a file that appears as `target`, complete and on disk, when the block ends without an
    error.

    Without `overwrite` it raises `FileExistsError` if another file has the name by then.
    """
    _remove_partials(target)
    descriptor, partial = _opened(target, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if sys.platform != "win32":
                os.fchmod(descriptor, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
            if partial is None and not overwrite:
                _name(descriptor, target)
                return
            if partial is None:
                partial = _partial_of(target)
                _name(descriptor, partial)
            if _RENAMES_OPEN_FILES:
                _publish(partial, target, overwrite=overwrite)
        if not _RENAMES_OPEN_FILES:
            _publish(partial, target, overwrite=overwrite)
    except BaseException:
        if partial is not None:
            partial.unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes, *, overwrite: bool = True, mode: int = 0o600) -> None:
    """Write a file, by default a private one; an existing one is replaced, or without `overwrite`
    an error.
    """
    try:
        with replacing(path, overwrite=overwrite, mode=mode) as file:
            file.write(data)
    except FileExistsError:
        raise InputError(f"{path} exists: name another file with -o or pass --force") from None


def _opened(target: Path, mode: int) -> tuple[int, Path | None]:
    """Open a new file beside the target: one without a name, or else one with the path that is
    returned.
    """
    if hasattr(os, "O_TMPFILE") and _OPENED.is_dir():
        try:
            descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, mode)
            _hold(descriptor)
            return descriptor, None
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
    while True:
        partial = _partial_of(target)
        descriptor = os.open(partial, _NEW, mode)
        _hold(descriptor)
        if partial.exists():  # nobody took it for abandoned before it was held
            return descriptor, partial
        os.close(descriptor)


def _partial_of(target: Path) -> Path:
    return target.with_name(f".{target.name[:_LONGEST]}.{os.urandom(8).hex()}.partial")


def _name(descriptor: int, path: Path) -> None:
    """Name a file that has no name; a folder is passed, since only then links are followed."""
    os.link(_OPENED / str(descriptor), path, src_dir_fd=descriptor, follow_symlinks=True)


def _publish(partial: Path, target: Path, *, overwrite: bool) -> None:
    if overwrite:
        partial.replace(target)
        return
    try:
        target.hardlink_to(partial)
        partial.unlink()
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links; the check and the rename then leave a moment between
        # them.
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        partial.rename(target)


def _remove_partials(target: Path) -> None:
    """Remove what dead processes left of earlier tries to write the same file."""
    name = re.compile(rf"\.{re.escape(target.name[:_LONGEST])}\.[0-9a-f]{{16}}\.partial")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_abandoned(Path(entry.path))


if sys.platform == "win32":

    def _hold(descriptor: int) -> None:
        """Do nothing: what is open cannot be removed."""

    def _remove_abandoned(partial: Path) -> None:
        partial.unlink()

else:

    def _hold(descriptor: int) -> None:
        """Lock a file until it is closed, where the file system has locks."""
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _remove_abandoned(partial: Path) -> None:
        """Remove a file of this user that no process writes any more."""
        descriptor = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(descriptor)
            if found.st_uid == os.geteuid() and stat.S_ISREG(found.st_mode):
                partial.unlink()
        finally:
            os.close(descriptor)
