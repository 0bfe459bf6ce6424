"""A SQLite file as the database of the control plane."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

from dlpctl.control.database import BUSY_SECONDS, Connection
from dlpctl.control.migrations import STEPS, statements
from dlpctl.control.seals import triggers
from dlpctl.errors import StoreError, os_errors

_OLDEST_SQLITE = (3, 37, 0)
_PAUSE = 0.01
RESTORE = "restore a backup with 'dlpctl db restore BACKUP --yes'"
_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -1000",
    "PRAGMA temp_store = MEMORY",
)


class SqliteDatabase:
    errors: type[Exception] = sqlite3.Error
    contradictions: type[Exception] = sqlite3.IntegrityError
    reading = "BEGIN"
    writing = "BEGIN IMMEDIATE"
    is_shared = False
    shortest_word = 3

    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = str(file)
        self._is_private = False
        self._may_be_damaged = True

    @property
    def is_new(self) -> bool:
        return not self.file.exists()

    def connect(self) -> Connection:
        if not self._is_private:
            # Create the file before any connection exists: closing it later would drop the locks of
            # all connections.
            _create_privately(self.file)
            self._is_private = True
        connection = sqlite3.connect(
            self.file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        return connection

    def set_aside_unreadable(self) -> None:
        """Rename a file that SQLite cannot open to `control.db.damaged`, and its logs likewise."""
        if self.is_new:
            return
        try:
            with closing(open_read_only(self.file)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as problem:
            if not _is_damage(problem):
                raise self.explained(problem) from None
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    Path(f"{self.file}{suffix}").replace(f"{self.file}.damaged{suffix}")

    def upgrade(self, connection: Connection) -> None:
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            needed = ".".join(map(str, _OLDEST_SQLITE))
            raise StoreError(
                f"this Python has SQLite {sqlite3.sqlite_version}; {needed} or newer is needed"
            )
        if self._version(connection) == len(STEPS):
            return
        from sqlite_utils import Database

        _write_ahead(connection)
        # Take the lock first, so that two processes do not apply the same steps.
        connection.execute("BEGIN IMMEDIATE")
        try:
            database = Database(cast("sqlite3.Connection", connection))
            for step in STEPS[self._version(connection) :]:
                for statement in statements(step.sql()):
                    database.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(STEPS)}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _version(self, connection: Connection) -> int:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(STEPS):
            raise StoreError(
                f"{self.file}: a newer dlpctl has written it (schema {version}, this one knows"
                f" {len(STEPS)}); upgrade dlpctl"
            )
        return version

    def watch(self, connection: Connection) -> None:
        """Create temporary triggers that record the rows touched on this connection."""
        connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS touched (tbl TEXT, key TEXT, held TEXT)"
        )
        for table, change, statement in triggers():
            name = f"touched_{table}_{change}".lower()
            connection.execute(
                f"CREATE TEMP TRIGGER {name} AFTER {change} ON main.{table} BEGIN {statement} END"
            )

    def replace(self, connection: Connection, source: sqlite3.Connection) -> None:
        """Replace the content of this database by another one, and upgrade it."""
        for table, change, _ in triggers():
            connection.execute(f"DROP TRIGGER IF EXISTS temp.touched_{table}_{change}".lower())
        source.backup(cast("sqlite3.Connection", connection))
        self.upgrade(connection)
        self.watch(connection)

    def has_lost(self, connection: Connection) -> bool:
        del connection  # a connection to a file is never lost
        return False

    def problems(self, connection: Connection) -> tuple[str, ...]:
        return problems(connection)

    def damage(self, connection: Connection) -> str:
        """Read all pages, a gigabyte a second, once and after each error that tells of damage."""
        if not self._may_be_damaged:
            return ""
        self._may_be_damaged = False  # before the check: another thread may meet damage meanwhile
        found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found == "ok":
            return ""
        self._may_be_damaged = True
        return found.splitlines()[-1]

    def vacuum(self, connection: Connection) -> None:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def copy(self, connection: Connection, target: Path) -> None:
        """Write the state that a connection sees to a file."""
        try:
            with closing(sqlite3.connect(target)) as copy:
                cast("sqlite3.Connection", connection).backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorname in ("SQLITE_FULL", "SQLITE_IOERR_WRITE"):
                raise StoreError(f"{target}: cannot be written: {problem}") from None
            raise

    def explained(self, problem: Exception) -> StoreError:
        name = getattr(problem, "sqlite_errorname", "")
        if _is_busy(problem):
            advice = f"another process has held it for {BUSY_SECONDS:.0f} seconds; try again"
        elif name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            advice = f"{problem}; make room on the disk, nothing was recorded"
        elif _is_damage(problem):
            self._may_be_damaged = True
            advice = f"{problem}; {RESTORE}"
        else:
            advice = str(problem)
        return StoreError(f"{self.file}: {advice}")


def _write_ahead(connection: Connection) -> None:
    """Log changes ahead; SQLite itself does not wait for another process that does the same."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as problem:
            if not _is_busy(problem) or time.monotonic() >= end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def problems(connection: Connection) -> tuple[str, ...]:
    rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    # The first row has several lines if a page is damaged; the checks after it would fail.
    if found := [line for row in rows for line in row[0].splitlines() if row[0] != "ok"]:
        return tuple(found)
    return tuple(
        f"a row of {row[0]} refers to a row of {row[2]} that is not there"
        for row in connection.execute("PRAGMA foreign_key_check")
    )


def _is_busy(problem: Exception) -> bool:
    name = getattr(problem, "sqlite_errorname", "")
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _is_damage(problem: Exception) -> bool:
    name = getattr(problem, "sqlite_errorname", "")
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def open_read_only(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def _create_privately(file: Path) -> None:
    with os_errors(StoreError, f"{file}: cannot be opened"):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
