"""The chain of all records: each link is a keyed hash over the link before it and over all that a record says.

Checks and events share the chain, each with numbers of their own; an event notes the check that it comes after. The head is
the end of the chain, signed. It also signs what the tables hold that a decision depends on (see `seals`) and the history of
the clock. A copy of it is kept outside of the database, so that an older or emptied database is noticed.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from dlpctl.control.clock import ClockHistory, TrustedClock
from dlpctl.control.heads import NotedHead, SignedHead
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.errors import StoreError

START = bytes(32)
"""The link before the first."""
_json = json.JSONEncoder(separators=(",", ":")).encode
_VERIFY = "see 'dlpctl audit verify', and restore a backup with 'dlpctl db restore'"


class Ends(NamedTuple):
    """Where the chain starts (after the last record that was pruned) and where it ends."""

    first_seq: int = 0
    first_link: bytes = START
    last_seq: int = 0
    last_link: bytes = START
    first_event: int = 0
    last_event: int = 0
    root: bytes = START
    """The sum of the seals of all rows, see `seals`."""
    clock: str = ""

    def is_behind(self, head: SignedHead) -> bool:
        return self.last_seq < head.seq or self.last_event < head.event

    def signature(self, secrets: Secrets) -> bytes:
        said = _json([one.hex() if isinstance(one, bytes) else one for one in self])
        return secrets.mac("chain-head", said.encode())


class Chain:
    def __init__(self, ring: KeyRing, clock: TrustedClock, noted: NotedHead) -> None:
        self._ring = ring
        self._clock = clock
        self.noted = noted

    def link(self, before: bytes, said: Sequence[Any], secrets: Secrets | None = None) -> bytes:
        return link(secrets or self._ring.current, before, said)

    def read(self, connection: sqlite3.Connection) -> Ends:
        """Return the ends; raises `StoreError` where records are missing at the end, or everything is."""
        ends = read_ends(connection, self._ring.current)
        if self.noted.is_ahead_of(ends):
            raise StoreError(f"the end of the audit log is missing: the database is an older one; {_VERIFY}")
        return ends

    def write(self, connection: sqlite3.Connection, ends: Ends, secrets: Secrets | None = None) -> None:
        """Write the ends, signed with the current secrets or with those that are about to replace them."""
        secrets = secrets or self._ring.current
        stored = ClockHistory.load(ends.clock) if ends.clock else None
        ends = ends._replace(clock=self._clock.observe(stored).dump())
        connection.execute(
            "INSERT OR REPLACE INTO chain (only, first_seq, first_link, last_seq, last_link, first_event,"
            " last_event, root, clock, seal) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*ends, ends.signature(secrets)),
        )
        self.noted.pending = self.head(ends, secrets)

    def observe(self, connection: sqlite3.Connection) -> None:
        """Take up what other processes have seen of the clock, and add a reading."""
        self.write(connection, self.read(connection))

    def head(self, ends: Ends, secrets: Secrets | None = None) -> SignedHead:
        return SignedHead.sign(
            secrets or self._ring.current, ends.last_seq, ends.last_event, ends.last_link, self._clock()
        )


def link(secrets: Secrets, before: bytes, said: Sequence[Any]) -> bytes:
    return secrets.mac("chain", before + _json(said).encode())


def read_ends(connection: sqlite3.Connection, secrets: Secrets) -> Ends:
    row = connection.execute("SELECT * FROM chain").fetchone()
    if row is None:
        raise StoreError(f"the end of the audit log's chain is missing; {_VERIFY}")
    ends = Ends(*(row[name] for name in Ends._fields))
    if not hmac.compare_digest(ends.signature(secrets), row["seal"]):
        raise StoreError(f"the end of the audit log's chain is not what was written; {_VERIFY}")
    return ends
