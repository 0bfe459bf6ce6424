"""The evidence in a database that is opened read-only: a backup, a copy, a folder without write
access, or a database that other processes write to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from dlpctl.control.clock import ClockHistory, written
from dlpctl.control.custody import is_sealed, retired_keys
from dlpctl.control.database import KEY, Connection
from dlpctl.control.heads import NotedHead, SignedHead
from dlpctl.control.keys import KeyRing
from dlpctl.control.links import read_ends
from dlpctl.control.resources.audit import AuditHead, ChainReport
from dlpctl.control.verify import Verifier
from dlpctl.errors import StoreError

HEAD_FILE = "control.head"


class Evidence:
    """A database opened for verification. Create it with `Evidence.open`."""

    def __init__(self, connection: Connection, ring: KeyRing, noted: SignedHead | None) -> None:
        self._db = connection
        self._ring = ring
        self._noted = noted

    @classmethod
    def open(cls, database: Path | str, key_file: Path) -> AbstractContextManager[Evidence]:
        """Open a file, or the database at an address."""
        if isinstance(database, Path):
            return cls._open_file(database, key_file)
        return cls._open_shared(database, key_file)

    @classmethod
    @contextmanager
    def _open_file(cls, database: Path, key_file: Path) -> Iterator[Evidence]:
        if not database.is_file():
            raise StoreError(f"{database}: there is no such database; see 'dlpctl init'")
        ring = KeyRing.load(key_file, create=False)
        beside = NotedHead(database.parent / HEAD_FILE, ring)
        with _reading(database) as connection:
            # Read this before the state of the database is fixed, so that the noted head cannot be
            # newer.
            text = beside.text()
            connection.execute("BEGIN")
            if not is_sealed(connection):
                raise StoreError(
                    f"{database}: was last written by a dlpctl that did not seal it; any command"
                    f" that opens it does"
                )
            yield cls(connection, _followed(connection, ring), beside.parse(text))

    @classmethod
    @contextmanager
    def _open_shared(cls, address: str, key_file: Path) -> Iterator[Evidence]:
        from dlpctl.control.postgresql.database import PostgresDatabase

        database = PostgresDatabase.of(address)
        if database.is_new:
            raise StoreError(f"{database.name}: holds no control plane yet; see 'dlpctl init'")
        ring = KeyRing.load(key_file, create=False)
        beside = NotedHead(key_file.parent / HEAD_FILE, ring)
        with database.opened() as connection:
            text = beside.text()
            connection.execute(database.reading)
            yield cls(connection, _followed(connection, ring), beside.parse(text))

    def verify(self, head: str | None) -> ChainReport:
        heads = {HEAD_FILE: self._noted} if self._noted else {}
        if head is not None:
            heads["the head that was given"] = SignedHead.parse(head)
        return Verifier(self._db, self._ring, heads).report()

    def head(self) -> AuditHead:
        ends = read_ends(self._db, self._ring.current)
        seen = ClockHistory.load(ends.clock).latest
        made = SignedHead.of(ends, self._ring.current, seen)
        return AuditHead(str(made), ends.last_seq, ends.last_event, written(seen))


def _followed(connection: Connection, ring: KeyRing) -> KeyRing:
    """Return the keys of a database in a read transaction."""
    row = connection.execute(KEY).fetchone()
    if row is not None:
        ring.follow(row["value"])
    ring.retired = retired_keys(connection, ring.current)
    return ring


@contextmanager
def _reading(database: Path) -> Iterator[sqlite3.Connection]:
    try:
        connection = _connect(database)
        try:
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise StoreError(f"{database}: cannot be read: {problem}") from None


def _connect(database: Path) -> sqlite3.Connection:
    """Connect without writing anything, also in a folder that is not writable."""
    uri = f"{database.resolve().as_uri()}?mode=ro"
    try:
        return _opened(uri)
    except sqlite3.OperationalError as problem:
        log = database.with_name(f"{database.name}-wal")
        if log.exists() and log.stat().st_size:
            raise StoreError(
                f"{database}: cannot be read beside {log.name} ({problem}); copy both to a folder"
                f" of your own"
            ) from None
        return _opened(f"{uri}&immutable=1")


def _opened(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection
