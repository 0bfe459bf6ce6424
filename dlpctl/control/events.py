"""Events: every administrative change and the use of keys, as records of the audit chain.

A change, its event and the seals of the changed rows are one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.control.access import Access
from dlpctl.control.database import Connection
from dlpctl.control.seals import Mention, seal_touched
from dlpctl.control.writer import Batch, changed

if TYPE_CHECKING:
    from dlpctl.control.chain import Chain
    from dlpctl.control.core import Core
    from dlpctl.control.keys import Secrets
    from dlpctl.control.links import Ends

LOCAL_ACTOR = "local"
"""The actor for a user who can read the key file and therefore needs no token."""
SERVICE_ACTOR = "service"
KEY_USED = "key.used"
"""The first use of a key on a day, in UTC."""
SUMS_REPORTED = "sums.reported"
"""Checks that a client library reports only as numbers: `day`, `checks` and `findings`."""
_MOST_USED = 10_000
_LAST_USE = (
    "SELECT number FROM events WHERE action = 'key.used' AND subject = ? AND created_at >= ?"
)
_json = json.JSONEncoder(separators=(",", ":")).encode
_INSERT = (
    "INSERT INTO events (number, after_seq, created_at, actor, action, org_id, subject, details,"
    " sealed, link)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Event(NamedTuple):
    """An event that is not part of the chain yet."""

    created_at: str
    actor: str
    action: str
    org_id: str
    subject: str
    """The id of the object that changed."""
    details: Mapping[str, Any] = {}
    mentions: Sequence[Mention] = ()

    def linked(
        self, chain: Chain, ends: Ends, secrets: Secrets | None = None
    ) -> tuple[tuple[Any, ...], Ends]:
        """Return the event's row, and the ends of the chain after the event."""
        number = ends.last_event + 1
        content = (
            number,
            ends.last_seq,
            *self[:5],
            _json(dict(self.details)),
            _json(self.mentions),
        )
        link = chain.link(ends.last_link, ("event", *content), secrets)
        return (*content, link), ends._replace(last_event=number, last_link=link)


def record(
    batch: Batch,
    core: Core,
    access: Access,
    action: str,
    subject: str,
    org_id: str | None,
    **details: Any,
) -> None:
    """Record the changes of this job as an event, seal the rows that it touched, and invalidate
    cached data.
    """
    changed(batch)
    event = Event(
        core.now(), access.token_id or LOCAL_ACTOR, action, org_id or "", subject, details
    )
    append(batch.connection, core, event)


def append(connection: Connection, core: Core, event: Event) -> None:
    ends = core.chain.read(connection)
    root, mentions = seal_touched(connection, core.ring.current, ends.root)
    row, ends = event._replace(mentions=mentions).linked(core.chain, ends)
    insert(connection, [row])
    core.chain.write(connection, ends._replace(root=root))


def insert(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    connection.executemany(_INSERT, rows)


def last_use(connection: Connection, subject: str, day: str) -> int | None:
    """Return the number of the event that logs the use of a key on a day, if there is one."""
    row = connection.execute(_LAST_USE, (subject, day)).fetchone()
    return row["number"] if row else None


def remember_use(core: Core, use: tuple[str, str]) -> None:
    if len(core.used) >= _MOST_USED:
        core.used.clear()
    core.used.add(use)


def note_use(core: Core, subject: str, org_id: str) -> None:
    """Record the first use of a key on a day by an operation other than a check."""
    now = core.now()
    use = (subject, now[:10])
    if use in core.used:
        return
    with core.store.reading() as connection:
        known = last_use(connection, *use)
    if known is None:

        def job(batch: Batch) -> None:
            if last_use(batch.connection, *use) is None:
                append(batch.connection, core, Event(now, subject, KEY_USED, org_id, subject))

        core.store.run(job)
    remember_use(core, use)
