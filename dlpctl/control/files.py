"""Masked copies of files: encrypted, available at a signed URL, and removed when it expires."""

from __future__ import annotations

import hmac
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.storage import FileStorage
from dlpctl.errors import ForbiddenError, NotFoundError, StoreError

if TYPE_CHECKING:
    from dlpctl.control.keys import Secrets
    from dlpctl.control.writer import Batch

LIFETIME = timedelta(minutes=15)
_NONCE_BYTES = 12
_NAME_BYTES = 255


class MaskedFile(NamedTuple):
    """A masked copy, as its signed URL returns it."""

    name: str
    data: bytes


class MaskedFiles:
    def __init__(self, core: Core, storage: FileStorage) -> None:
        self._core = core
        self._storage = storage

    def put(self, preflight_id: str, name: str, data: bytes) -> None:
        """Write a masked copy before its check is recorded; `sweep` removes one without a check."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        named = name.encode("utf-8", "replace")[:_NAME_BYTES]
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + AESGCM(self._core.ring.key_for("files")).encrypt(
            nonce, bytes([len(named)]) + named + data, preflight_id.encode()
        )
        self._storage.put(preflight_id, sealed, self._core.clock())

    def drop(self, preflight_id: str) -> None:
        self._storage.drop(preflight_id)

    def url(self, preflight_id: str, expires_at: str) -> str:
        expires = str(int(datetime.fromisoformat(expires_at).timestamp()))
        signature = _signature(self._core.ring.current, preflight_id, expires)
        return f"/api/preflight/{preflight_id}/file?expires={expires}&signature={signature}"

    def fetch(self, preflight_id: str, expires: str | None, signature: str | None) -> MaskedFile:
        given = (signature or "").encode("utf-8", "replace")
        if not any(
            hmac.compare_digest(_signature(each, preflight_id, expires or "").encode(), given)
            for each in self._secrets()
        ):
            raise ForbiddenError("the address of this file is not signed by this service")
        if int(expires or 0) <= self._core.clock().timestamp():
            raise ForbiddenError("the address of this file has expired; check the file again")
        return self._opened(preflight_id)

    def sweep(self) -> int:
        """Remove expired copies, by the trusted clock."""
        erasing = self._core.clock.erasing_time()
        now = written(erasing)

        def job(batch: Batch) -> list[str]:
            rows = batch.execute(
                "DELETE FROM masked_files WHERE expires_at <= ? RETURNING preflight_id", (now,)
            )
            return [row["preflight_id"] for row in rows.fetchall()]

        expired = self._core.store.run(job)
        for preflight_id in expired:
            self.drop(preflight_id)
        self._storage.sweep(erasing - LIFETIME)
        return len(expired)

    def expiry(self) -> str:
        return written(self._core.clock() + LIFETIME)

    def _secrets(self) -> list[Secrets]:
        """Return the secrets that files and URLs which are still valid may depend on."""
        ring = self._core.ring
        return [ring.current, *ring.retired_since(self._core.clock() - LIFETIME)]

    def _opened(self, preflight_id: str) -> MaskedFile:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        sealed = self._storage.read(preflight_id)
        if sealed is None:
            raise NotFoundError("the masked file is gone; check the file again")
        for keys in self._secrets():
            cipher = AESGCM(keys.key_for("files"))
            with suppress(InvalidTag, ValueError):
                plain = cipher.decrypt(
                    sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], preflight_id.encode()
                )
                end = 1 + plain[0]
                return MaskedFile(plain[1:end].decode("utf-8", "ignore"), plain[end:])
        raise StoreError("the masked file was changed or damaged; check the file again")


def _signature(keys: Secrets, preflight_id: str, expires: str) -> str:
    return keys.mac("file-urls", f"{preflight_id}:{expires}".encode("utf-8", "replace")).hex()
