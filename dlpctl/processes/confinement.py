"""Limits that a process sets for itself before it reads a hostile file, without any privilege."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

_INHERITED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TESSDATA_PREFIX", "LD_LIBRARY_PATH")
_OWN_FOLDER = ("TMPDIR", "TEMP", "TMP", "HOME", "USERPROFILE")
_OPEN_FILES = 256


def environment(folder: str) -> dict[str, str]:
    """Return all that the process gets: where programs and libraries are, and its own folder."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return inherited | dict.fromkeys(_OWN_FOLDER, folder) | {"OMP_THREAD_LIMIT": "1"}


def confine(memory_bytes: int) -> None:
    """Limit memory, files and what files show to others, until the process ends."""
    os.umask(0o077)
    apply_priority_to_session()
    if sys.platform != "win32":
        import resource
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: _OPEN_FILES,
            resource.RLIMIT_FSIZE: memory_bytes,
            # macOS accepts the call and ignores it: there, the time limit ends a growing process.
            resource.RLIMIT_AS: memory_bytes,
        }
        for kind, most in limits.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(kind, (most, most))


def apply_priority_to_session() -> None:
    """Give the session the priority of its process: Linux may share the processor out among
    sessions first.
    """
    with contextlib.suppress(OSError, AttributeError):
        Path("/proc/self/autogroup").write_text(str(os.nice(0)))


def limit_processor_time(seconds: float) -> None:
    """Let the system end the process when it uses that much more processor time."""
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = int(used.ru_utime + used.ru_stime + seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def keep_only(requests: int, replies: int) -> tuple[int, int]:
    """Close all descriptors but copies of these two; the standard streams lead nowhere."""
    reading, writing = 3, 4
    high = [os.dup(requests), os.dup(replies)]
    while min(high) <= writing:  # a copy must not be overwritten by the other
        high = [os.dup(each) for each in high]
    os.dup2(high[0], reading)
    os.dup2(high[1], writing)
    with Path(os.devnull).open("r+b") as nothing:
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    if sys.platform != "win32":  # where nothing is inherited that is not named
        os.closerange(writing + 1, max(os.sysconf("SC_OPEN_MAX"), *high) + 1)
    return reading, writing
