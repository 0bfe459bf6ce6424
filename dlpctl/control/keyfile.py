"""The key file of the control plane, and how another one takes its place.

The next key is on the disk before anything in the database depends on it, and takes the place of
the old one after the database has been sealed with it. Killed in between, either file is there, and
the database says which one counts.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dlpctl.errors import StoreError, VaultError
from dlpctl.newfiles import replacing

_KEY_BYTES = 32


class KeyFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = path.with_name(f"{path.name}.next")

    def read(self, *, create: bool) -> bytes:
        from dlpctl.masking.vault import vault_key

        if not create and not self.path.exists():
            raise StoreError(
                f"{self.path}: does not exist, and the database is of no use without it; copy it"
                " from where you keep it, or from another node"
            )
        try:
            return vault_key(self.path, {}, create=create)
        except VaultError as error:
            raise StoreError(error.message) from None

    def candidates(self) -> Iterator[bytes]:
        """The keys that the database may have been sealed with, even if one takes its place right
        now.
        """
        for path in (self.path, self._next, self.path):
            with suppress(StoreError):
                yield KeyFile(path).read(create=False)

    def prepare(self) -> bytes:
        """Write the next key, without using it."""
        key = secrets.token_bytes(_KEY_BYTES)
        try:
            with replacing(self._next) as file:
                file.write(f"{key.hex()}\n".encode())
            _sync_folder(self.path.parent)
        except OSError as problem:
            raise StoreError(f"{self._next}: cannot be written: {problem.strerror}") from None
        return key

    def replace(self) -> None:
        """Put the next key in the place of the one before."""
        try:
            self._next.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as problem:
            raise StoreError(f"{self.path}: cannot be replaced: {problem.strerror}") from None

    def settle(self, key: bytes) -> None:
        """Finish a replacement that was interrupted: `key` is the one that the database is sealed
        with.
        """
        with suppress(StoreError):
            if self._next.exists() and KeyFile(self._next).read(create=False) == key:
                self.replace()


def _sync_folder(folder: Path) -> None:
    """Make a new name last through a loss of power, where folders can be synced at all."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
