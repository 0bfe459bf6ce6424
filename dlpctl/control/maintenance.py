"""Maintenance of the database: checks, backups, pruning, and the rotation of the key file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from dlpctl.control import custody
from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.events import LOCAL_ACTOR, SERVICE_ACTOR, Event, append
from dlpctl.control.files import MaskedFiles
from dlpctl.control.heads import SignedHead
from dlpctl.control.links import read_ends
from dlpctl.control.migrations import STEPS
from dlpctl.control.rotation import KeyRotation, rotate
from dlpctl.control.shared_items import SharedItems
from dlpctl.control.sqlite import RESTORE, SqliteDatabase, open_read_only, problems
from dlpctl.control.writer import Batch
from dlpctl.errors import StoreError, UsageError, os_errors

_AT_ONCE = 5_000


class Maintenance:
    def __init__(
        self, core: Core, files: MaskedFiles, key_file: Path, items: SharedItems | None
    ) -> None:
        self._core = core
        self._items = items
        self._files = files
        self._key_file = key_file

    def ready(self) -> None:
        """Raise `StoreError` if a check could not be recorded now, or the database is damaged."""
        database = self._core.store.database
        with self._core.store.reading() as connection:
            if damage := database.damage(connection):
                raise StoreError(f"{database.name}: is damaged: {damage}; {RESTORE}")
        self._core.store.run(
            lambda batch: batch.execute(
                "INSERT INTO state VALUES ('ready', ?) ON CONFLICT (name) DO UPDATE"
                " SET value = excluded.value",
                (os.urandom(8),),
            )
        )

    def check(self) -> tuple[str, ...]:
        """Return the problems of the database."""
        with self._core.store.reading() as connection:
            return self._core.store.database.problems(connection)

    def backup(self, target: Path) -> None:
        """Write a consistent copy while other processes write. The copy does not include the key
        file, which must be kept elsewhere.
        """
        database = self._file()
        if target.exists():
            raise StoreError(f"{target}: exists already; name another file, or remove it")
        with os_errors(StoreError, f"{target}: cannot be written"):
            os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with self._core.store.reading() as connection:
                database.copy(connection, target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def restore(self, source: Path) -> None:
        """Replace the database by a backup through SQLite, so that other processes see one or the
        other.
        """
        database = self._file()
        if not source.is_file():
            raise StoreError(f"{source}: there is no such file")
        with closing(open_read_only(source)) as backup:
            self._accept(source, backup)
            replaced = self._head()
            with self._core.store.alone() as connection:
                database.replace(connection, backup)
        custody.adopt(self._core)
        noted = {"replaced_head": str(replaced)} if replaced else {}
        event = Event(self._core.now(), LOCAL_ACTOR, "database.restored", "", "", noted)
        self._core.store.run(lambda batch: append(batch.connection, self._core, event))

    def _file(self) -> SqliteDatabase:
        database = self._core.store.database
        if isinstance(database, SqliteDatabase):
            return database
        raise UsageError(
            f"{database.name}: back it up and restore it with pg_dump and pg_restore; see"
            ' daemon/README.md, "Three nodes"'
        )

    def _head(self) -> SignedHead | None:
        """Return the head that the head of a restored backup replaces, as far as it is known."""
        chain = self._core.chain
        try:
            with self._core.store.reading() as connection:
                return chain.head(chain.read(connection))
        except StoreError:
            return chain.noted.latest()

    def _accept(self, source: Path, backup: sqlite3.Connection) -> None:
        try:
            wrong = problems(backup)
            version = backup.execute("PRAGMA user_version").fetchone()[0]
            check = backup.execute("SELECT value FROM state WHERE name = 'key'").fetchone()
            sealed = custody.is_sealed(backup)
        except sqlite3.Error as problem:
            raise StoreError(f"{source}: is not a backup of dlpctl: {problem}") from None
        if wrong:
            raise StoreError(f"{source}: is damaged: {wrong[0]}")
        if version > len(STEPS):
            raise StoreError(f"{source}: a newer dlpctl has written it; upgrade dlpctl")
        if check is None or check["value"] != self._core.ring.key_for("check"):
            raise StoreError(
                f"{source}: was made with another key file; put that one beside the database first"
            )
        if sealed:
            read_ends(backup, self._core.ring.current)

    def rotate_key_file(self) -> KeyRotation:
        """Replace the key file while other processes use the database. Keep the old file with the
        backups made before.
        """
        return rotate(self._core, self._key_file)

    def vacuum(self) -> None:
        with self._core.store.alone() as connection:
            self._core.store.database.vacuum(connection)

    def prune(self, older_than: timedelta) -> int:
        """Remove checks, with the events between them, but keep what analytics counted.

        The chain then starts after the last removed record. Nothing is removed after a recent jump
        of the clock.
        """
        self.observe()
        before = written(self._core.clock.erasing_time() - older_than)
        removed = 0

        def job(batch: Batch) -> int:
            return self._prune_some(batch, before)

        while some := self._core.store.run(job):
            removed += some
        return removed

    def observe(self) -> None:
        """Add a reading to the history of the clock."""
        self._core.store.run(lambda batch: self._core.chain.observe(batch.connection))

    def _prune_some(self, batch: Batch, before: str) -> int:
        connection, chain = batch.connection, self._core.chain
        ends = chain.read(connection)
        # Clients report checks later than they made them: cut the log before the first check that
        # is kept.
        kept = connection.execute(
            "SELECT seq FROM checks WHERE seq > ? AND seq <= ? AND created_at >= ? ORDER BY seq"
            " LIMIT 1",
            (ends.first_seq, ends.first_seq + _AT_ONCE, before),
        ).fetchone()
        last = connection.execute(
            "SELECT seq, link FROM checks WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
            (kept["seq"] - 1 if kept else ends.first_seq + _AT_ONCE,),
        ).fetchone()
        if last is None:
            return 0
        connection.execute(
            "UPDATE phrase_counts SET checks = phrase_counts.checks - gone.checks FROM"
            " (SELECT phrase_id, count(*) AS checks FROM checks WHERE seq <= ? GROUP BY"
            " phrase_id) AS gone"
            " WHERE phrase_counts.phrase_id = gone.phrase_id",
            (last["seq"],),
        )
        removed = connection.execute("DELETE FROM checks WHERE seq <= ?", (last["seq"],)).rowcount
        connection.execute(
            "DELETE FROM phrases WHERE phrase_id IN (SELECT phrase_id FROM phrase_counts WHERE"
            " checks = 0)"
        )
        first_event = connection.execute(
            "SELECT coalesce(max(number), ?) FROM events WHERE after_seq < ?",
            (ends.first_event, last["seq"]),
        ).fetchone()[0]
        connection.execute("DELETE FROM events WHERE number <= ?", (first_event,))
        chain.write(
            connection,
            ends._replace(first_seq=last["seq"], first_link=last["link"], first_event=first_event),
        )
        details = {"checks": removed, "before": before}
        append(
            connection,
            self._core,
            Event(self._core.now(), SERVICE_ACTOR, "checks.pruned", "", "", details),
        )
        return removed

    def sweep(self) -> int:
        """Remove expired masked files; nothing is removed after a recent jump of the clock."""
        self.observe()
        if self._items is not None:
            self._items.sweep()
        return self._files.sweep()
