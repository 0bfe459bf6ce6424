"""The key for operators and exceptions: the same as on the command line, so that fingerprints and
pseudonyms agree.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path

from dlpctl.control.store import Store
from dlpctl.control.writer import Batch
from dlpctl.errors import StoreError
from dlpctl.values import derive_key


class MaskKey:
    """The key that nodes with a shared database agree on. A node with another key refuses to work,
    because it would create other pseudonyms for the same values.
    """

    def __init__(self, store: Store, file: Path, environ: Mapping[str, str]) -> None:
        self._store = store
        self._file = file
        self._environ = environ
        self._agreed = b""

    def __call__(self) -> bytes:
        from dlpctl.masking.vault import vault_key

        key = vault_key(self._file, self._environ, create=True)
        if self._store.database.is_shared and key != self._agreed:
            self._agree(key)
            self._agreed = key
        return key

    def _agree(self, key: bytes) -> None:
        own = derive_key(key, "control-mask-check")

        def job(batch: Batch) -> bytes:
            batch.execute("INSERT INTO state VALUES ('mask-key', ?) ON CONFLICT DO NOTHING", (own,))
            sql = "SELECT value FROM state WHERE name = 'mask-key'"
            found: bytes = batch.execute(sql).fetchone()["value"]
            return found

        if not hmac.compare_digest(self._store.run(job), own):
            raise StoreError(
                f"{self._file}: is not the key of the other nodes; copy theirs to this place"
            )
