"""The key file of the control plane, and its replacement.

The next key is on disk before anything in the database depends on it, and replaces the old file
after the database was sealed with it. After a crash in between, the database says which of the two
files is valid.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dlpctl.errors import StoreError, VaultError, os_errors
from dlpctl.system.newfiles import write_whole

_KEY_BYTES = 32


class KeyFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = path.with_name(f"{path.name}.next")

    def read(self, *, create: bool) -> bytes:
        from dlpctl.masking.vault import vault_key

        if not create and not self.path.exists():
            raise StoreError(
                f"{self.path}: does not exist, and the database is useless without it; copy it"
                " from where you keep it, or from another node"
            )
        try:
            return vault_key(self.path, None, create=create)
        except VaultError as error:
            raise StoreError(error.message) from None

    def candidates(self) -> Iterator[bytes]:
        """Yield the keys that the database may be sealed with, even while the file is being
        replaced.
        """
        for path in (self.path, self._next, self.path):
            with suppress(StoreError):
                yield KeyFile(path).read(create=False)

    def prepare(self) -> bytes:
        """Write the next key without using it."""
        key = secrets.token_bytes(_KEY_BYTES)
        with os_errors(StoreError, f"{self._next}: cannot be written"):
            write_whole(self._next, f"{key.hex()}\n".encode())
            _sync_folder(self.path.parent)
        return key

    def replace(self) -> None:
        """Replace the key file by the next key."""
        with os_errors(StoreError, f"{self.path}: cannot be replaced"):
            self._next.replace(self.path)
            _sync_folder(self.path.parent)

    def settle(self, key: bytes) -> None:
        """Finish an interrupted replacement; `key` is the key that the database is sealed with."""
        with suppress(StoreError):
            if self._next.exists() and KeyFile(self._next).read(create=False) == key:
                self.replace()


def _sync_folder(folder: Path) -> None:
    """Make a new file name survive a power failure, if the platform can sync folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
