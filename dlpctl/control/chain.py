"""The chain of all records: each link is a keyed hash over the link before it and over all that a
record says.

Checks and events share the chain, each with numbers of their own; an event notes the check that it
comes after. The head is the end of the chain, signed. It also signs what the tables hold that a
decision depends on (see `seals`) and the history of the clock. A copy of it is kept outside of the
database, so that an older or emptied database is noticed.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

from dlpctl.control.clock import TrustedClock
from dlpctl.control.heads import NotedHead, SignedHead
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.errors import StoreError

START = bytes(32)
"""The link before the first."""
_json = json.JSONEncoder(separators=(",", ":")).encode
_READ = "SELECT first_seq, first_link, last_seq, last_link, first_event, last_event, root, clock, seal FROM chain"
_UPDATE = (
    "UPDATE chain SET first_seq = ?, first_link = ?, last_seq = ?, last_link = ?, first_event = ?,"
    " last_event = ?, root = ?, clock = ?, seal = ?"
)
_INSERT = (
    "INSERT INTO chain (only, first_seq, first_link, last_seq, last_link, first_event, last_event, root, clock,"
    " seal) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_VERIFY = "see 'dlpctl audit verify', and restore a backup with 'dlpctl db restore'"


class Ends(NamedTuple):
    """The start of the chain, after the last record that was pruned, and its end."""

    first_seq: int = 0
    first_link: bytes = START
    last_seq: int = 0
    last_link: bytes = START
    first_event: int = 0
    last_event: int = 0
    root: bytes = START
    """The sum of the seals of all rows, see `seals`."""
    clock: str = ""

    def is_behind(self, seq: int, event: int) -> bool:
        return self.last_seq < seq or self.last_event < event

    def signature(self, secrets: Secrets) -> bytes:
        said = (
            f"{self.first_seq}:{self.first_link.hex()}:{self.last_seq}:{self.last_link.hex()}"
            f":{self.first_event}:{self.last_event}:{self.root.hex()}:{self.clock}"
        )
        return secrets.mac("chain-head", said.encode())


_Written = tuple[Secrets, tuple[Any, ...]]


class Chain:
    def __init__(self, ring: KeyRing, clock: TrustedClock, noted: NotedHead) -> None:
        self._ring = ring
        self._clock = clock
        self._written: _Written | None = None
        """The last row that this process has written, and with which secrets."""
        self.noted = noted

    def link(self, before: bytes, said: Sequence[Any], secrets: Secrets | None = None) -> bytes:
        return link(secrets or self._ring.current, before, said)

    def read(self, connection: sqlite3.Connection) -> Ends:
        """Return the ends; raises `StoreError` where records are missing at the end, or everything
        is.
        """
        ends = read_ends(connection, self._ring.current, self._written)
        if self.noted.is_ahead_of(ends):
            raise StoreError(
                f"the end of the audit log is missing: the database is an older one; {_VERIFY}"
            )
        return ends

    def write(
        self, connection: sqlite3.Connection, ends: Ends, secrets: Secrets | None = None
    ) -> None:
        """Write the ends, signed with the current secrets or with those that are about to replace
        them.
        """
        secrets = secrets or self._ring.current
        ends = ends._replace(clock=self._clock.observe(ends.clock))
        row = (*ends, ends.signature(secrets))
        if not connection.execute(_UPDATE, row).rowcount:
            connection.execute(_INSERT, row)
        self._written = (secrets, row)
        self.noted.pending = (ends, secrets)

    def observe(self, connection: sqlite3.Connection) -> None:
        """Take up what other processes have seen of the clock, and add a reading."""
        self.write(connection, self.read(connection))

    def head(self, ends: Ends) -> SignedHead:
        return SignedHead.of(ends, self._ring.current, self._clock())


def link(secrets: Secrets, before: bytes, said: Sequence[Any]) -> bytes:
    return secrets.mac("chain", before + _json(said).encode())


def read_ends(
    connection: sqlite3.Connection, secrets: Secrets, written: _Written | None = None
) -> Ends:
    """Read and verify the ends; what this process has `written` itself needs no second look."""
    row = connection.execute(_READ).fetchone()
    if row is None:
        raise StoreError(f"the end of the audit log's chain is missing; {_VERIFY}")
    values = tuple(row)
    ends = Ends(*values[:-1])
    if written is not None and written[0] is secrets and written[1] == values:
        return ends
    if not hmac.compare_digest(ends.signature(secrets), values[-1]):
        raise StoreError(f"the end of the audit log's chain is not what was written; {_VERIFY}")
    return ends
