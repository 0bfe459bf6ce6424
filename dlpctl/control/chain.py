"""The audit chain of an open database: read, verify and write its ends.

Checks and events share the chain, each with their own numbering; an event notes the check that it
follows. The head is the signed end of the chain. Its signature also covers the rows that decisions
depend on (see `seals`) and the history of the clock. A copy of the head is kept outside of the
database, so that an older or emptied database is detected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlpctl.control.clock import TrustedClock
from dlpctl.control.database import Connection
from dlpctl.control.heads import NotedHead, SignedHead
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.control.links import VERIFY, Ends, Written, link, read_ends
from dlpctl.errors import StoreError

_COLUMNS = (
    *("first_seq", "first_link", "last_seq", "last_link", "first_event", "last_event"),
    *("root", "clock", "seal"),
)
_WRITE = " ".join(
    (
        f'INSERT INTO chain ("only", {", ".join(_COLUMNS)})',
        f"VALUES (1, {', '.join('?' * len(_COLUMNS))})",
        'ON CONFLICT ("only") DO UPDATE SET',
        ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS),
    )
)


class Chain:
    def __init__(self, ring: KeyRing, clock: TrustedClock, noted: NotedHead) -> None:
        self._ring = ring
        self._clock = clock
        self._written: Written | None = None
        """The last row that this process has written, and the secrets that signed it."""
        self.noted = noted

    def link(self, before: bytes, content: Sequence[Any], secrets: Secrets | None = None) -> bytes:
        return link(secrets or self._ring.current, before, content)

    def read(self, connection: Connection) -> Ends:
        """Return the ends; raise `StoreError` if records are missing at the end, or all of them
        are.
        """
        ends = read_ends(connection, self._ring.current, self._written)
        if self.noted.is_ahead_of(ends):
            raise StoreError(
                f"the end of the audit log is missing: the database is an older one; {VERIFY}"
            )
        return ends

    def write(self, connection: Connection, ends: Ends, secrets: Secrets | None = None) -> None:
        """Write the ends, signed with the current secrets or with those that are about to replace
        them.
        """
        secrets = secrets or self._ring.current
        ends = ends._replace(clock=self._clock.observe(ends.clock))
        row = (*ends, ends.signature(secrets))
        connection.executemany(_WRITE, [row])
        self._written = (secrets, row)
        self.noted.pending = (ends, secrets)

    def observe(self, connection: Connection) -> None:
        """Take over the clock readings of other processes, and add a reading."""
        self.write(connection, self.read(connection))

    def head(self, ends: Ends) -> SignedHead:
        return SignedHead.of(ends, self._ring.current, self._clock())
