"""A folder of derived files that may be lost at any time and are never trusted blindly.

An entry is read only if it belongs to this user, nobody else may write it, and its checksum is
right; it is written atomically. A failure here only costs time: the caller builds the entry again.

The end of an entry may be `sealed`: megabytes with their own checksum, which the code that loads
them verifies.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from pathlib import Path

_MAGIC = b"dlpctl-cache-2\n"
_HEAD = len(_MAGIC) + 8
_PROBE = "probe"
_DAY = 86_400.0
_UNUSED = 60 * _DAY
"""The number of seconds after its last use at which an entry is removed."""


class Cache:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> tuple[bytes, bytes] | None:
        """Return the entry's content and its sealed part; None if there is no trusted entry."""
        try:
            if not _is_private(os.lstat(self.folder), folder=True):
                return None
            # Without a buffer, megabytes are read in one piece and not copied.
            with (self.folder / name).open("rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                if not _is_private(status, folder=False):
                    return None
                head = file.read(_HEAD)
                size = int.from_bytes(head[-8:-4], "little")
                if len(head) < _HEAD or not head.startswith(_MAGIC):
                    return None
                content = file.read(size)
                if zlib.crc32(content) != int.from_bytes(head[-4:], "little"):
                    return None
                _note_use(self.folder / name, status)
                return content, file.readall()
        except OSError:
            return None

    def write(self, name: str, content: bytes, sealed: bytes = b"") -> bool:
        """Store an entry; return False if this machine does not allow it (no space,
        no permission).
        """
        from dlpctl.system.newfiles import replacing

        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(os.lstat(self.folder), folder=True):
                return False
            with replacing(self.folder / name) as file:
                file.write(
                    _MAGIC
                    + len(content).to_bytes(4, "little")
                    + zlib.crc32(content).to_bytes(4, "little")
                )
                file.write(content)
                file.write(sealed)
        except OSError:
            return False
        return True

    def is_writable(self) -> bool:
        """Return whether entries can be stored, as far as that is known before the first one."""
        kept = self.write(_PROBE, b"")
        with contextlib.suppress(OSError):
            (self.folder / _PROBE).unlink()
        return kept

    def claim(self, name: str, seconds: float) -> bool:
        """Return whether this process is the first to claim a task within that time."""
        import time

        claim = self.folder / name
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(os.lstat(self.folder), folder=True):
                return False
            with contextlib.suppress(FileNotFoundError):
                if time.time() - claim.stat().st_mtime > seconds:
                    claim.unlink()
            os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError:
            return False
        return True

    def sizes(self) -> dict[str, int]:
        """Return the size of each entry in bytes."""
        try:
            with os.scandir(self.folder) as found:
                return {entry.name: entry.stat().st_size for entry in found if entry.is_file()}
        except OSError:
            return {}

    def clear(self) -> None:
        """Remove all entries; raises `OSError`."""
        for name in self.sizes():
            (self.folder / name).unlink(missing_ok=True)

    def evict(self, prefix: str, most_bytes: int) -> None:
        """Remove unused entries with a prefix, and then the least recently used ones above a total
        size.

        Several installations and versions share the folder, so the number of entries means nothing.
        """
        import time

        with contextlib.suppress(OSError):
            entries = [(entry.stat(), entry) for entry in self.folder.glob(f"{prefix}*")]
            entries.sort(key=lambda known: known[0].st_mtime, reverse=True)
            total = 0
            for status, entry in entries:
                total += status.st_size
                if total > most_bytes or time.time() - status.st_mtime > _UNUSED:
                    entry.unlink()


def _note_use(entry: Path, status: os.stat_result) -> None:
    """Set the time of the last use of an entry, at most once a day."""
    import time

    if time.time() - status.st_mtime > _DAY:
        with contextlib.suppress(OSError):
            os.utime(entry)


def _is_private(status: os.stat_result, *, folder: bool) -> bool:
    if folder != stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "getuid"):  # Windows: access lists make the user's profile folder private
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
