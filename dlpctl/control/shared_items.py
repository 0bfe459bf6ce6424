"""Temporary items, such as sessions, which all nodes with the same database share.

Items are encrypted, and found by a secret identifier of which only a digest is stored. A rotation
of the key file ends them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import blake2b
from typing import Any

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.database import Row
from dlpctl.errors import StoreError

Item = dict[str, Any]


class SharedItems:
    def __init__(self, core: Core) -> None:
        self._core = core

    def add(self, item: Item, seconds: float) -> str:
        """Store an item for a number of seconds; return its identifier."""
        identifier = secrets.token_urlsafe(32)
        digest = digest_of(identifier)
        with self._core.store.using() as connection:
            connection.execute(
                "INSERT INTO shared_items VALUES (?, ?, ?)",
                (digest, self._until(seconds), self._sealed(digest, item)),
            )
        return identifier

    def take(self, identifier: str) -> Item | None:
        """Return an item, and remove it."""
        digest = digest_of(identifier)
        with self._core.store.using() as connection:
            row = connection.execute(
                "DELETE FROM shared_items WHERE digest = ? RETURNING *", (digest,)
            ).fetchone()
        return self._opened(row)

    def use(self, identifier: str, seconds: float) -> Item | None:
        """Return an item, and extend its life to a number of seconds from now."""
        digest = digest_of(identifier)
        with self._core.store.using() as connection:
            row = connection.execute(
                "UPDATE shared_items SET until = ? WHERE digest = ? AND until > ? RETURNING *",
                (self._until(seconds), digest, self._core.now()),
            ).fetchone()
        return self._opened(row)

    @contextmanager
    def changing(self, identifier: str) -> Iterator[Item]:
        """Yield an item for changes while no other node changes it. A missing item is empty, and is
        not stored.
        """
        digest = digest_of(identifier)
        sql = "SELECT * FROM shared_items WHERE digest = ? FOR UPDATE"
        with self._core.store.using() as connection:
            connection.execute("BEGIN")
            try:
                item = self._opened(connection.execute(sql, (digest,)).fetchone())
                yield item if item is not None else {}
                if item is not None:
                    connection.execute(
                        "UPDATE shared_items SET content = ? WHERE digest = ?",
                        (self._sealed(digest, item), digest),
                    )
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    def sweep(self) -> None:
        """Remove expired items."""
        with self._core.store.using() as connection:
            connection.execute("DELETE FROM shared_items WHERE until <= ?", (self._core.now(),))

    def _until(self, seconds: float) -> str:
        return written(self._core.clock() + timedelta(seconds=seconds))

    def _sealed(self, digest: bytes, item: Item) -> bytes:
        return self._core.ring.seal(json.dumps(item).encode(), digest.hex())

    def _opened(self, row: Row | None) -> Item | None:
        if row is None or row["until"] <= self._core.now():
            return None
        try:
            item: Item = json.loads(self._core.ring.open(row["content"], row["digest"].hex()))
        except StoreError:
            return None
        return item


def digest_of(identifier: str) -> bytes:
    return blake2b(identifier.encode("utf-8", "replace"), digest_size=32).digest()
