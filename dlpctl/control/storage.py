"""Storage for masked copies of files: a folder, or a database that nodes share."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol

from dlpctl.control.clock import written
from dlpctl.control.store import Store
from dlpctl.errors import StoreError, os_errors


class FileStorage(Protocol):
    def put(self, name: str, content: bytes, moment: datetime) -> None: ...
    def read(self, name: str) -> bytes | None: ...
    def drop(self, name: str) -> None: ...
    def sweep(self, oldest: datetime) -> None:
        """Remove files stored before a given time."""


class FolderStorage:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, name: str, content: bytes, moment: datetime) -> None:
        del moment  # the file system records it
        with os_errors(StoreError, f"{self._folder}: a masked file cannot be kept"):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except OSError:
            return None

    def drop(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).unlink()

    def sweep(self, oldest: datetime) -> None:
        if not self._folder.is_dir():
            return
        for file in self._folder.iterdir():
            with suppress(OSError):
                if file.stat().st_mtime < oldest.timestamp():
                    file.unlink()


class TableStorage:
    """Stores files in the database, so that any node can return a file that another node has
    masked.

    Files are written outside of the transactions of checks, which a large file would delay.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, name: str, content: bytes, moment: datetime) -> None:
        with self._store.using() as connection:
            connection.execute(
                "INSERT INTO masked_contents VALUES (?, ?, ?)", (name, written(moment), content)
            )

    def read(self, name: str) -> bytes | None:
        with self._store.using() as connection:
            row = connection.execute(
                "SELECT content FROM masked_contents WHERE preflight_id = ?", (name,)
            ).fetchone()
        return row["content"] if row else None

    def drop(self, name: str) -> None:
        with suppress(StoreError), self._store.using() as connection:
            connection.execute("DELETE FROM masked_contents WHERE preflight_id = ?", (name,))

    def sweep(self, oldest: datetime) -> None:
        with self._store.using() as connection:
            connection.execute("DELETE FROM masked_contents WHERE kept_at < ?", (written(oldest),))
