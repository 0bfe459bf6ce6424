"""Limits and the sandbox that a process imposes on itself before it reads hostile input, without
privileges.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from dlpctl.processes import sandbox

_OPEN_FILES = 256


def confine(
    memory_bytes: int, folder: str, *, file_bytes: int = 0, programs: Iterable[str] = ()
) -> list[str]:
    """Limit memory and files, enter the sandbox, and return what the system refuses from now on.

    The process may write to its folder and start the given programs.
    """
    os.umask(0o077)
    apply_priority_to_session()
    # First, since it needs more memory and files than the process will be allowed.
    refused = sandbox.enter(folder, programs)
    if sys.platform != "win32":
        import resource
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: _OPEN_FILES,
            resource.RLIMIT_FSIZE: file_bytes,
            # macOS accepts the call and ignores it: there, the time limit ends a growing process.
            resource.RLIMIT_AS: memory_bytes,
        }
        for limited, most in limits.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(limited, (most, most))
    return refused


def apply_priority_to_session() -> None:
    """Give the session the priority of its process, since Linux may divide processor time among
    sessions first.
    """
    with contextlib.suppress(OSError, AttributeError):
        Path("/proc/self/autogroup").write_text(str(os.nice(0)))


def limit_processor_time(seconds: float, spare: int = 2) -> None:
    """Let the system end the process after that much more processor time, plus a reserve."""
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = int(used.ru_utime + used.ru_stime + seconds) + spare
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
