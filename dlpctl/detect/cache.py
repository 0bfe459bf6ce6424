"""A folder of derived files that may be lost at any time and are never trusted blindly.

An entry is read only if it belongs to this user, nobody else may write it, and its checksum is right; it is written atomically. Whatever
goes wrong here costs time, never an answer: the caller builds the entry anew.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from pathlib import Path

_MAGIC = b"dlpctl-cache-1\n"
_HEAD = len(_MAGIC) + 4


class Cache:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> memoryview | None:
        """The entry's content, or None where there is none that can be trusted."""
        try:
            if not _is_private(os.lstat(self._folder), folder=True):
                return None
            with (self._folder / name).open("rb") as file:
                if not _is_private(os.fstat(file.fileno()), folder=False):
                    return None
                content = file.read()
        except OSError:
            return None
        body = memoryview(content)[_HEAD:]
        if not content.startswith(_MAGIC) or zlib.crc32(body) != int.from_bytes(
            content[len(_MAGIC) : _HEAD], "little"
        ):
            return None
        return body

    def write(self, name: str, body: bytes) -> bool:
        """Keep an entry; False where this machine does not let us (no space, no permission)."""
        import tempfile

        temporary = None
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(os.lstat(self._folder), folder=True):
                return False
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + zlib.crc32(body).to_bytes(4, "little") + body)
            Path(temporary).replace(self._folder / name)
        except OSError:
            if temporary:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
            return False
        return True

    def forget_others(self, prefix: str, keep: int) -> None:
        """Remove all but the `keep` entries of that prefix which were written last."""
        with contextlib.suppress(OSError):
            entries = sorted(
                self._folder.glob(f"{prefix}*"), key=lambda entry: entry.stat().st_mtime, reverse=True
            )
            for entry in entries[keep:]:
                entry.unlink()


def _is_private(status: os.stat_result, *, folder: bool) -> bool:
    if folder != stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "getuid"):  # Windows: the user's profile folder is private by its access list
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
