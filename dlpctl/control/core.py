"""The parts that all services share (store, key ring, clock, chain), and the look-up of
organizations.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple, TypeVar

from dlpctl.control.access import Access
from dlpctl.control.chain import Chain
from dlpctl.control.clock import TrustedClock, written
from dlpctl.control.database import Connection, Row
from dlpctl.control.keys import KeyRing
from dlpctl.control.store import Store
from dlpctl.errors import NotFoundError, TamperedError, UnauthorizedError

_T = TypeVar("_T")
OVERLAP = timedelta(days=30)
"""The time after a rotation of the key file during which a token that was not used since is
accepted.
"""


class Core(NamedTuple):
    store: Store
    ring: KeyRing
    clock: TrustedClock
    chain: Chain
    used: set[tuple[str, str]]
    """Keys that are known to have been used on a day: the key's owner and the day."""

    def now(self) -> str:
        return written(self.clock())

    def unless_rotated(self, ask: Callable[[], _T]) -> _T:
        """Try again if the key file was replaced in the meantime, so that a rotation refuses
        nobody.
        """
        before = self.ring.current
        try:
            found = ask()
        except (UnauthorizedError, TamperedError):
            if self.ring.current is before:
                raise
            return ask()
        return found


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


def key_columns(core: Core, key: str, owner: str) -> dict[str, bytes]:
    """Return the columns in which an owner's row stores a key: a keyed hash and a ciphertext."""
    return {
        "key_lookup": core.ring.lookup(key),
        "key_sealed": core.ring.seal(key.encode(), owner),
    }


def find_organization(connection: Connection, access: Access, org: str) -> Row:
    """Return an organization by id or slug; raise `NotFoundError` for one that the access cannot
    see.
    """
    if org.isprintable():
        row: Row | None = connection.execute(
            "SELECT * FROM organizations WHERE org_id = ? OR slug = ?", (org, org)
        ).fetchone()
        if row is not None:
            access.see(row["org_id"])
            return row
    raise NotFoundError("there is no such organization")


def find(sql: str, what: str, connection: Connection, access: Access, org: str, given: str) -> Row:
    """Return a row of an organization; `sql` has the parameters `:org_id` and `:given`."""
    org_id = find_organization(connection, access, org)["org_id"]
    if given.isprintable():
        row: Row | None = connection.execute(sql, {"org_id": org_id, "given": given}).fetchone()
        if row is not None:
            return row
    raise NotFoundError(f"there is no such {what}")
