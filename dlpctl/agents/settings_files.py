"""Settings files of agents: read, written atomically, and backed up next to the original."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from dlpctl.errors import ConfigError, OutputError, os_errors
from dlpctl.system.newfiles import write_whole
from dlpctl.system.regular import open_file

BACKUP = ".before-dlpctl"
_LARGEST = 16 << 20


class SettingsFile(NamedTuple):
    """A file that other programs may change at any time."""

    path: Path

    @property
    def backup(self) -> Path:
        real = self.path.resolve()
        return real.with_name(real.name + BACKUP)

    def read(self) -> str | None:
        """Return the text; None if there is no file."""
        return _read(self.path)

    def before(self) -> str | None:
        """Return the text of the backup."""
        return _read(self.backup)

    def write(self, before: str | None, after: str, *, keeps: bool) -> None:
        """Replace the text that was read; `keeps` leaves a backup of it. A symbolic link keeps its
        target.
        """
        real = self.path.resolve()
        mode = 0o644
        with os_errors(OutputError, f"{self.path}: cannot be written"):
            real.parent.mkdir(parents=True, exist_ok=True)
            if before is not None:
                if not os.access(real, os.W_OK):
                    raise OutputError(f"{self.path}: is read-only; nothing was changed")
                mode = stat.S_IMODE(real.stat().st_mode)
                if keeps and not self.backup.exists():
                    write_whole(self.backup, before.encode(), mode=mode)
            if self.read() != before:
                raise OutputError(f"{self.path}: was changed meanwhile; run the command again")
            write_whole(real, after.encode(), mode=mode)


def _read(path: Path) -> str | None:
    try:
        with open_file(path) as opened:
            return opened.read(_LARGEST).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8; nothing was changed") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
