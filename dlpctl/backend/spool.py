"""Checks under a license that wait to be reported: one file each, without the checked content."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dlpctl.backend.licensing import write_privately

SILENT_SECONDS = 60
"""The seconds after which a silent sender counts as dead, and an unreachable server is tried
again.
"""
_MOST_WAITING = 20_000


class Spool:
    """Files that many processes add and several send at the same time: the server counts a check
    once, even if it is reported twice.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = folder / "sender"

    def put(self, check: Mapping[str, Any]) -> bool:
        """Add a check; return False if the disk is full or too many checks wait."""
        try:
            if self.folder.is_dir() and sum(1 for _ in self.folder.iterdir()) > _MOST_WAITING:
                return False
            write_privately(
                self.folder / f"{check['preflight_id']}.json", json.dumps(check).encode()
            )
        except OSError:
            return False
        return True

    def waiting(self, at_most: int, without: Container[Path] = ()) -> dict[Path, dict[str, Any]]:
        """Return the waiting checks, oldest first; remove files that hold none."""
        found: list[tuple[int, Path]] = []
        for file in self.folder.glob("pf_*.json"):
            if file in without:
                continue
            with suppress(OSError):
                found.append((file.stat().st_mtime_ns, file))
        checks: dict[Path, dict[str, Any]] = {}
        for _, file in sorted(found)[:at_most]:
            with suppress(OSError):
                try:
                    checks[file] = json.loads(file.read_bytes())
                except ValueError:
                    file.unlink()
        return checks

    def remove(self, files: Iterable[Path]) -> None:
        for file in files:
            with suppress(OSError):
                file.unlink()

    def start_sender(self, url: str) -> None:
        """Start a process that outlives this one, unless another is running or has just failed."""
        if self._is_marked():
            return
        self.mark()
        # -P: nothing is imported from the working directory, which may be anybody's.
        command = [sys.executable, "-P", "-m", "dlpctl.backend.sending", str(self.folder)]
        environ = os.environ | {"DLPCTL_SERVER": url}
        with suppress(OSError):
            _start(command, environ)

    def mark(self) -> None:
        with suppress(OSError):
            self._mark.touch(mode=0o600)

    def unmark(self) -> None:
        with suppress(OSError):
            self._mark.unlink()

    def _is_marked(self) -> bool:
        with suppress(OSError):
            return 0 <= time.time() - self._mark.stat().st_mtime < SILENT_SECONDS
        return False


if sys.platform == "win32":

    def _start(command: list[str], environ: Mapping[str, str]) -> None:
        import subprocess

        detached = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        nothing = subprocess.DEVNULL
        subprocess.Popen(
            command,
            env=environ,
            creationflags=detached,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )

else:

    def _start(command: list[str], environ: Mapping[str, str]) -> None:
        # Importing subprocess takes longer than the check before it. Readers of our output do not
        # wait for the sender's.
        nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
        os.posix_spawn(command[0], command, environ, file_actions=nothing, setpgroup=0)
