"""Temporary folders: nobody else can read them, and what a killed process leaves is removed by the
next.

Every temporary folder of dlpctl is made here. Its maker holds a lock on it for as long as it lives,
and the system frees the lock however the process ends. Whoever makes a folder first removes those
of this user that nobody holds.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "dlpctl-scratch-"
_NAME = re.compile(_PREFIX + "[0-9a-f]{16}")


class PrivateFolder:
    """A temporary folder of mode 0700. It has a path before it exists, so that removing it can be
    arranged first.
    """

    def __init__(self) -> None:
        self.path = _new_path()
        self._lock: int | None = None

    def make(self) -> Path:
        """Create the folder, and remove those that dead processes left."""
        sweep()
        while True:
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o700)
                # Another process may have taken the new folder for one that nobody holds.
                self._lock = _lock(self.path, wait=True)
                if self._lock is not None:
                    return self.path
            self.path = _new_path()

    def remove(self) -> None:
        """Remove the folder with all it holds; what a dying process still writes is for the next
        sweep.
        """
        if self._lock is not None:
            _discard(self.path, self._lock)
            self._lock = None
        else:
            with suppress(OSError):
                self.path.rmdir()


def temporary_root() -> str:
    """Return the folder of temporary files without writing to it.

    `tempfile.gettempdir` tries it with a file, which stays where the process is killed at that
    moment.
    """
    if tempfile.tempdir is not None:
        return tempfile.gettempdir()
    named = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    for folder in (*named, "/tmp", "/var/tmp"):  # noqa: S108 -- only private folders are made there
        if (
            Path(folder).is_absolute()
            and Path(folder).is_dir()
            and os.access(folder, os.W_OK | os.X_OK)
        ):
            return folder
    return tempfile.gettempdir()


def sweep() -> None:
    """Remove the folders of this user whose processes are dead."""
    with suppress(OSError), os.scandir(temporary_root()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                _remove_abandoned(Path(entry.path))


def _new_path() -> Path:
    return Path(temporary_root(), _PREFIX + os.urandom(8).hex())


def _remove_abandoned(folder: Path) -> None:
    lock = _lock(folder, wait=False)
    if lock is not None:
        _discard(folder, lock)


def _discard(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    shutil.rmtree(folder, ignore_errors=True)  # Windows keeps a file while it is open


if sys.platform == "win32":
    import msvcrt

    def _lock(folder: Path, *, wait: bool) -> int | None:
        """Return the locked descriptor of a file in the folder; None where another holds it or
        there is none.
        """
        try:
            lock = os.open(folder / "lock", os.O_RDWR | (os.O_CREAT if wait else 0))
        except OSError:
            return None
        try:
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(lock)
            return None
        return lock

else:
    import fcntl

    def _lock(folder: Path, *, wait: bool) -> int | None:
        """Return a locked descriptor of a private folder of this user; None where another holds it
        or it is gone.
        """
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            found, named = os.fstat(lock), folder.lstat()
            private = found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
            if private and (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino):
                return lock
        except OSError:
            pass
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
        return None
