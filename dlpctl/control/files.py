"""Masked copies of files: encrypted, fetched by a signed URL, gone when it expires."""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.errors import ForbiddenError, NotFoundError, StoreError

if TYPE_CHECKING:
    from dlpctl.control.keys import Secrets
    from dlpctl.control.writer import Batch

LIFETIME = timedelta(minutes=15)
_NONCE_BYTES = 12
_NAME_BYTES = 255


class MaskedFile(NamedTuple):
    """A masked copy, as its signed URL gives it."""

    name: str
    data: bytes


class MaskedFiles:
    def __init__(self, core: Core, folder: Path) -> None:
        self._core = core
        self._folder = folder

    def put(self, preflight_id: str, name: str, data: bytes) -> None:
        """Write a masked copy before its check is recorded; `sweep` removes one without a check."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        named = name.encode("utf-8", "replace")[:_NAME_BYTES]
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + AESGCM(self._core.ring.key_for("files")).encrypt(
            nonce, bytes([len(named)]) + named + data, preflight_id.encode()
        )
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(
                self._folder / preflight_id, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(sealed)
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            raise StoreError(
                f"{self._folder}: a masked file cannot be kept: {problem.strerror}"
            ) from None

    def drop(self, preflight_id: str) -> None:
        with suppress(OSError):
            (self._folder / preflight_id).unlink()

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
        """Remove what has expired, by a clock that is trusted."""
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
        oldest = (erasing - LIFETIME).timestamp()
        if self._folder.is_dir():
            for file in self._folder.iterdir():
                with suppress(OSError):
                    if file.stat().st_mtime < oldest:
                        file.unlink()
        return len(expired)

    def expiry(self) -> str:
        return written(self._core.clock() + LIFETIME)

    def _secrets(self) -> list[Secrets]:
        """Return the secrets that files and addresses which are still good may depend on."""
        ring = self._core.ring
        return [ring.current, *ring.retired_since(self._core.clock() - LIFETIME)]

    def _opened(self, preflight_id: str) -> MaskedFile:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            sealed = (self._folder / preflight_id).read_bytes()
        except OSError:
            raise NotFoundError("the masked file is gone; check the file again") from None
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
