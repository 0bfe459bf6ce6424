"""Keep keys, seals and heads in step with the database: at each transaction and when it opens."""

from __future__ import annotations

import hmac
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dlpctl.control.database import KEY, Connection
from dlpctl.control.events import LOCAL_ACTOR, Event, insert
from dlpctl.control.heads import NotedHead
from dlpctl.control.keys import KeyRing, RetiredKey, Secrets
from dlpctl.control.links import START, Ends, read_ends
from dlpctl.control.seals import seal_all
from dlpctl.control.writer import Batch
from dlpctl.errors import StoreError

if TYPE_CHECKING:
    from dlpctl.control.core import Core


class Custody:
    """Follows the key that seals the database, and notes the head after each transaction."""

    def __init__(self, ring: KeyRing, noted: NotedHead) -> None:
        self._ring = ring
        self._noted = noted

    def begun(self, connection: Connection) -> None:
        self._noted.pending = None
        row = connection.execute(KEY).fetchone()
        if row is not None and self._ring.follow(row["value"]):
            self._ring.retired = retired_keys(connection, self._ring.current)

    def committed(self) -> None:
        self._noted.committed()


def retired_keys(connection: Connection, current: Secrets) -> tuple[RetiredKey, ...]:
    rows = connection.execute("SELECT * FROM retired_keys ORDER BY last_event").fetchall()
    return tuple(
        RetiredKey(
            Secrets(current.open(row["sealed"], row["key_id"])),
            row["last_seq"],
            row["last_event"],
            datetime.fromisoformat(row["retired_at"]),
        )
        for row in rows
    )


def is_sealed(connection: Connection) -> bool:
    """Return whether a database has seals at all, valid or not."""
    has_seals = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'seals'").fetchone()
    return has_seals is not None and not _is_unsealed(connection)


def settle(core: Core) -> None:
    """Load retired keys, the noted head and the clock; seal a database that has no seals yet."""
    with core.store.reading() as connection:
        core.ring.retired = retired_keys(connection, core.ring.current)
        core.chain.noted.load()
        is_unsealed = _is_unsealed(connection)
        if not is_unsealed:
            with suppress(StoreError):  # reported where the chain is needed
                core.clock.take_up(read_ends(connection, core.ring.current).clock)
    if is_unsealed:
        core.store.run(lambda batch: _seal_new(batch, core))


def prepare_restore(core: Core) -> None:
    """Load what the database still tells, which may be nothing: a backup will replace it."""
    core.chain.noted.load()
    with suppress(StoreError), core.store.reading() as connection:
        core.ring.retired = retired_keys(connection, core.ring.current)


def adopt(core: Core) -> None:
    """Accept a restored backup as the current state: the chain continues from its head."""
    with core.store.reading() as connection:
        is_unsealed = _is_unsealed(connection)
        if not is_unsealed:
            ends = read_ends(connection, core.ring.current)
    if is_unsealed:
        core.store.run(lambda batch: _seal(batch, core))
        with core.store.reading() as connection:
            ends = read_ends(connection, core.ring.current)
    core.chain.noted.replace(core.chain.head(ends))


def _is_unsealed(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM seals WHERE tbl = 'unsealed'").fetchone() is not None


def _seal_new(batch: Batch, core: Core) -> None:
    if not _is_unsealed(batch.connection):
        return  # another process has sealed it
    file = core.chain.noted.file
    if file.exists():
        raise StoreError(
            f"{file}: notes records that the database beside it has lost; restore a backup with"
            f" 'dlpctl db restore BACKUP --yes', or remove {file.name} to start a new log"
        )
    _seal(batch, core)


def _seal(batch: Batch, core: Core) -> None:
    connection, secrets = batch.connection, core.ring.current
    connection.execute(
        "INSERT INTO state VALUES ('key', ?) ON CONFLICT DO NOTHING", (secrets.check,)
    )
    root, mentions = seal_all(connection, secrets)
    ends, problem = _earlier_ends(connection, secrets)
    details: dict[str, Any] = {"checks": ends.last_seq - ends.first_seq} if mentions else {}
    if problem:
        details["problem"] = problem
    action = "log.sealed" if mentions or ends.last_seq else "log.started"
    event = Event(core.now(), LOCAL_ACTOR, action, "", "", details, mentions)
    row, ends = event.linked(core.chain, ends)
    insert(connection, [row])
    core.chain.write(connection, ends._replace(root=root))


def _earlier_ends(connection: Connection, secrets: Secrets) -> tuple[Ends, str]:
    """Return the ends of a chain as written before seals existed, and the problem with them, if
    any.
    """
    row = connection.execute("SELECT * FROM chain").fetchone()
    if row is not None:
        ends = Ends(row["first_seq"], row["first_link"], row["last_seq"], row["last_link"])
        content = f"{ends.first_seq}:{ends.first_link.hex()}:{ends.last_seq}:{ends.last_link.hex()}"
        if hmac.compare_digest(secrets.mac("chain-seal", content.encode()), row["seal"]):
            return ends, ""
        return ends, "the end of the chain was not what was written when the log was sealed"
    first, last = connection.execute("SELECT min(seq), max(seq) FROM checks").fetchone()
    if last is None:
        return Ends(), ""
    (link,) = connection.execute("SELECT link FROM checks WHERE seq = ?", (last,)).fetchone()
    return Ends(
        first - 1, START, last, link
    ), "the end of the chain was missing when the log was sealed"
