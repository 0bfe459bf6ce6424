"""What all services stand on: the store, the key ring, the clock, and how an organization is found."""

from __future__ import annotations

import secrets
import sqlite3
from typing import NamedTuple

from dlpctl.control.access import Access
from dlpctl.control.clock import Clock, written
from dlpctl.control.keys import KeyRing
from dlpctl.control.store import Row, Store
from dlpctl.errors import NotFoundError


class Core(NamedTuple):
    store: Store
    ring: KeyRing
    clock: Clock

    def now(self) -> str:
        return written(self.clock())


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


def find_organization(connection: sqlite3.Connection, access: Access, org: str) -> Row:
    """By id or slug; one that the access does not see is not found."""
    if org.isprintable():
        row: Row | None = connection.execute(
            "SELECT * FROM organizations WHERE org_id = ? OR slug = ?", (org, org)
        ).fetchone()
        if row is not None:
            access.see(row["org_id"])
            return row
    raise NotFoundError("there is no such organization")


def find(connection: sqlite3.Connection, sql: str, org_id: str, given: str, what: str) -> Row:
    """A row of an organization; `sql` asks with `:org_id` and `:given`."""
    if given.isprintable():
        row: Row | None = connection.execute(sql, {"org_id": org_id, "given": given}).fetchone()
        if row is not None:
            return row
    raise NotFoundError(f"there is no such {what}")
