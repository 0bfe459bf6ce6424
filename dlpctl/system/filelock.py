"""Locks between processes, held on an open file."""

from __future__ import annotations

import sys
import time
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

from collections.abc import Callable

_PAUSE = 0.01


def lock(file: IO[bytes], seconds: float | None = None) -> None:
    """Lock a file; raise `TimeoutError` if another process holds it for longer than that."""
    if seconds is None and sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX)
        return
    end = None if seconds is None else time.monotonic() + seconds
    while not _succeeds(_try_lock, file):
        if end is not None and time.monotonic() >= end:
            raise TimeoutError
        time.sleep(_PAUSE)


def _succeeds(attempt: Callable[[IO[bytes]], None], file: IO[bytes]) -> bool:
    try:
        attempt(file)
    except (BlockingIOError, PermissionError):
        return False
    return True


if sys.platform == "win32":

    def _try_lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:

    def _try_lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
