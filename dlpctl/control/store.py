"""The database: each reader has a connection for the time of a read, and one connection writes."""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from dlpctl.control import seals
from dlpctl.control.migrations import STEPS
from dlpctl.control.writer import Batch, Observer, Ticket, Writer
from dlpctl.errors import StoreError

BUSY_SECONDS = 15.0
"""The time to wait for another process that writes."""
_IDLE_READERS = 16
_OLDEST_SQLITE = (3, 37, 0)
_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -1000",
    "PRAGMA temp_store = MEMORY",
)
_GENERATION = "SELECT value FROM state WHERE name = 'generation'"
_T = TypeVar("_T")
Row = sqlite3.Row


class Store:
    def __init__(self, file: Path, turn: AbstractContextManager[object] | None = None) -> None:
        """Open the database; create it or bring it up to date where needed. Processes that write
        to it may have a `turn` in common.
        """
        self.file = file
        self._readers: deque[sqlite3.Connection] = deque()
        _create_privately(file)
        with self._reported():
            connection = self._connect()
        self._writer = Writer(connection, self._error, turn)
        self._observer: Observer | None = None
        try:
            self.upgrade()
        except BaseException:
            connection.close()
            raise

    def observe(self, observer: Observer) -> None:
        """Let the observer hear of every transaction, and note which sealed rows they touch."""
        self._observer = self._writer.observer = observer
        with self.alone() as connection:
            seals.watch(connection)

    def replace(self, source: sqlite3.Connection) -> None:
        """Put another database in the place of this one, and bring it up to date."""
        with self.alone() as connection:
            seals.unwatch(connection)
            source.backup(connection)
            _migrate(connection, self.file)
            seals.watch(connection)

    def close(self) -> None:
        with self._writer.alone() as connection:
            connection.close()
            while self._readers:
                self._readers.pop().close()

    def upgrade(self) -> None:
        """Take the steps that are missing."""
        with self.alone() as connection:
            _migrate(connection, self.file)

    def run(self, job: Callable[[Batch], _T]) -> _T:
        """Do a job in a transaction. It is on the disk when this returns; where this raises, it has
        left nothing.
        """
        return self._writer.submit(job).result()

    def run_alone(self, job: Callable[[Batch], _T]) -> _T:
        """Do a job after which those that share its transaction could not go on."""
        return self._writer.run_alone(job)

    def submit(self, job: Callable[[Batch], _T]) -> Ticket[_T]:
        """Queue a job, which waits until its ticket is asked."""
        return self._writer.submit(job)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for reads that see one state of the database."""
        with self._reported(), self._reader() as connection:
            try:
                connection.execute("BEGIN")
                if self._observer is not None:
                    self._observer.begun(connection)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        finally:
            if len(self._readers) < _IDLE_READERS:
                self._readers.append(connection)
            else:
                connection.close()

    def generation(self) -> bytes:
        """Return a value that changes, in whatever process, when remembered data become invalid;
        every check asks for it.
        """
        with self._reported(), self._reader() as connection:
            row: tuple[bytes] = connection.execute(_GENERATION).fetchone()
            return row[0]

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The writer's connection outside of any transaction, for what cannot be done in one."""
        with self._writer.alone() as connection, self._reported():
            yield connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        return connection

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            raise self._error(problem) from None

    def _error(self, problem: sqlite3.Error) -> StoreError:
        name = getattr(problem, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            advice = f"another process has held it for {BUSY_SECONDS:.0f} seconds; try again"
        elif name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            advice = f"{problem}; make room on the disk, nothing was recorded"
        elif name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            advice = (
                f"{problem}; see 'dlpctl db check', and restore a backup with 'dlpctl db restore'"
            )
        else:
            advice = str(problem)
        return StoreError(f"{self.file}: {advice}")


def _create_privately(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as problem:
        raise StoreError(f"{file}: cannot be opened: {problem.strerror}") from None


def _migrate(connection: sqlite3.Connection, file: Path) -> None:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        needed = ".".join(map(str, _OLDEST_SQLITE))
        raise StoreError(
            f"this Python has SQLite {sqlite3.sqlite_version}; {needed} or newer is needed"
        )
    if _version(connection, file) == len(STEPS):
        return
    from sqlite_utils import Database

    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "BEGIN IMMEDIATE"
    )  # the steps that another process takes meanwhile are not taken twice
    try:
        database = Database(connection)
        for step in STEPS[_version(connection, file) :]:
            step.apply(database)
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, file: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(STEPS):
        raise StoreError(
            f"{file}: a newer dlpctl has written it (schema {version}, this one knows"
            f" {len(STEPS)}); upgrade dlpctl"
        )
    return version
