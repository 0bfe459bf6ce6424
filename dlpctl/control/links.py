"""Links and ends of the audit chain.

A link is a keyed hash over the previous link and the complete content of a record. The ends of the
chain are one signed row of the database.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from dlpctl.control.database import Connection
from dlpctl.control.keys import Secrets
from dlpctl.errors import StoreError

START = bytes(32)
"""The link before the first record."""
_json = json.JSONEncoder(separators=(",", ":")).encode
_READ = (
    "SELECT first_seq, first_link, last_seq, last_link, first_event, last_event, root, clock, seal"
    " FROM chain"
)
VERIFY = "see 'dlpctl audit verify', and restore a backup with 'dlpctl db restore'"
Written = tuple[Secrets, tuple[Any, ...]]
"""A row of ends, and the secrets that signed it."""


class Ends(NamedTuple):
    """The start of the chain, after the last pruned record, and its end."""

    first_seq: int = 0
    first_link: bytes = START
    last_seq: int = 0
    last_link: bytes = START
    first_event: int = 0
    last_event: int = 0
    root: bytes = START
    """The sum of the seals of all rows; see `seals`."""
    clock: str = ""

    def is_older_than(self, seq: int, event: int) -> bool:
        return self.last_seq < seq or self.last_event < event

    def signature(self, secrets: Secrets) -> bytes:
        content = (
            f"{self.first_seq}:{self.first_link.hex()}:{self.last_seq}:{self.last_link.hex()}"
            f":{self.first_event}:{self.last_event}:{self.root.hex()}:{self.clock}"
        )
        return secrets.mac("chain-head", content.encode())


def link(secrets: Secrets, before: bytes, content: Sequence[Any]) -> bytes:
    return secrets.mac("chain", before + _json(content).encode())


def read_ends(connection: Connection, secrets: Secrets, written: Written | None = None) -> Ends:
    """Read and verify the ends; ends that this process has `written` are not verified again."""
    row = connection.execute(_READ).fetchone()
    if row is None:
        raise StoreError(f"the end of the audit log's chain is missing; {VERIFY}")
    values = tuple(row)
    ends = Ends(*values[:-1])
    if written is not None and written[0] is secrets and written[1] == values:
        return ends
    if not hmac.compare_digest(ends.signature(secrets), values[-1]):
        raise StoreError(f"the end of the audit log's chain is not what was written; {VERIFY}")
    return ends
