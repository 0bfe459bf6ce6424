"""Replace the key file: everything in the database that depends on it is redone in one transaction.

What cannot be redone stays valid: existing links of the chain, and for a limited time the look-up
of tokens (the store has only a keyed hash; each is redone when the token is used) and the URLs of
masked files.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dlpctl.control.core import OVERLAP, Core, new_id
from dlpctl.control.database import Connection
from dlpctl.control.events import LOCAL_ACTOR, Event, insert
from dlpctl.control.keyfile import KeyFile
from dlpctl.control.keys import Secrets
from dlpctl.control.seals import all_rows, check_all, seal_all
from dlpctl.control.writer import Batch, changed

_OWNERS = {"policies": "policy_id", "licenses": "license_id"}
"""The tables with keys that users hold, and the column with the owner's id."""


class KeyRotation(NamedTuple):
    key_file: str
    retired_key_id: str
    tokens_until: str
    """Tokens that are not used before this time have to be created again."""

    def to_dict(self) -> dict[str, str]:
        return self._asdict()


def rotate(core: Core, path: Path) -> KeyRotation:
    """Replace the key file by a new one, and seal the database with it."""
    file = KeyFile(path)

    def job(batch: Batch) -> tuple[bytes, KeyRotation]:
        file.settle(core.ring.current.key)
        key = file.prepare()
        return key, _reseal(batch, core, Secrets(key), path)

    key, done = core.store.run_alone(job)
    file.settle(key)
    with core.store.reading():
        pass  # triggers the switch to the new key
    return done


def _reseal(batch: Batch, core: Core, new: Secrets, path: Path) -> KeyRotation:
    connection, old, now = batch.connection, core.ring.current, core.clock()
    ends = core.chain.read(connection)
    check_all(connection, old, ends.root)
    retired_id, moment = new_id("key"), core.now()
    for table, owner in _OWNERS.items():
        _redo_keys(connection, old, new, table, owner)
    for table, column in (("signing_keys", "private_sealed"), ("retired_keys", "sealed")):
        _redo_ciphertexts(connection, old, new, table, column)
    connection.execute(
        "INSERT INTO retired_keys (key_id, sealed, last_seq, last_event, retired_at) VALUES (?,"
        " ?, ?, ?, ?)",
        (retired_id, new.seal(old.key, retired_id), ends.last_seq, ends.last_event, moment),
    )
    connection.execute("UPDATE state SET value = ? WHERE name = 'key'", (new.check,))
    changed(batch)
    root, mentions = seal_all(connection, new)
    event = Event(moment, LOCAL_ACTOR, "key-file.rotated", "", retired_id, {}, mentions)
    row, ends = event.linked(core.chain, ends, new)
    insert(connection, [row])
    core.chain.write(connection, ends._replace(root=root), new)
    return KeyRotation(str(path), retired_id, (now + OVERLAP).date().isoformat())


def _redo_keys(connection: Connection, old: Secrets, new: Secrets, table: str, owner: str) -> None:
    update = " ".join(("UPDATE", table, "SET key_lookup = ?, key_sealed = ? WHERE", owner, "= ?"))
    for row in all_rows(connection, table):
        key = old.open(row["key_sealed"], row[owner])
        connection.execute(
            update, (new.lookup(key.decode()), new.seal(key, row[owner]), row[owner])
        )


def _redo_ciphertexts(
    connection: Connection, old: Secrets, new: Secrets, table: str, column: str
) -> None:
    update = " ".join(("UPDATE", table, "SET", column, "= ? WHERE key_id = ?"))
    for row in all_rows(connection, table):
        if row[column]:
            sealed = new.seal(old.open(row[column], row["key_id"]), row["key_id"])
            connection.execute(update, (sealed, row["key_id"]))
