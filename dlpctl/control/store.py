"""The database: each reader has a connection for the time of a read, and one connection writes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from dlpctl.control.database import GENERATION, Connection, Cursor, Database
from dlpctl.control.writer import Batch, Observer, Ticket, Writer

_IDLE_READERS = 16
_T = TypeVar("_T")


class Store:
    def __init__(
        self, database: Database, turn: AbstractContextManager[object] | None = None
    ) -> None:
        """Open the database; create it or bring it up to date where needed. Processes that write
        to it may have a `turn` in common.
        """
        self.database = database
        self._readers: deque[Connection] = deque()
        self._observer: Observer | None = None
        self._writer = Writer(database, self._connect_writer, turn)
        try:
            self.upgrade()
        except BaseException:
            self._writer.close()
            raise

    def observe(self, observer: Observer) -> None:
        """Let the observer hear of every transaction, and note which sealed rows they touch."""
        self._observer = self._writer.observer = observer
        with self.alone() as connection:
            self.database.watch(connection)

    def close(self) -> None:
        self._writer.close()
        while self._readers:
            self._readers.pop().close()

    def upgrade(self) -> None:
        """Take the steps that are missing."""
        with self.alone() as connection:
            self.database.upgrade(connection)

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
    def reading(self) -> Iterator[Connection]:
        """A connection for reads that see one state of the database."""
        with self._reported(), self._asked(self.database.reading) as (connection, _):
            try:
                if self._observer is not None:
                    self._observer.begun(connection)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    def generation(self) -> bytes:
        """Return a value that changes, in whatever process, when remembered data become invalid;
        every check asks for it.
        """
        with self._reported(), self._asked(GENERATION) as (_, cursor):
            row: tuple[bytes] = cursor.fetchone()
            return row[0]

    @contextmanager
    def using(self) -> Iterator[Connection]:
        """A connection of its own, each statement a transaction, for what is no part of the log."""
        with self._reported(), self._asked("SELECT 1") as (connection, _):
            yield connection

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """The writer's connection outside of any transaction, for what cannot be done in one."""
        with self._writer.alone() as connection, self._reported():
            yield connection

    @contextmanager
    def _asked(self, first: str) -> Iterator[tuple[Connection, Cursor]]:
        """A reader's connection, and the answer to a first statement. One that was lost while it
        was idle is replaced.
        """
        connection, cursor = self._idle_reader(first)
        if connection is None or cursor is None:
            connection = self.database.connect()
            cursor = connection.execute(first)
        try:
            yield connection, cursor
        finally:
            if len(self._readers) < _IDLE_READERS and not self.database.has_lost(connection):
                self._readers.append(connection)
            else:
                connection.close()

    def _idle_reader(self, first: str) -> tuple[Connection | None, Cursor | None]:
        try:
            connection = self._readers.pop()
        except IndexError:
            return None, None
        try:
            return connection, connection.execute(first)
        except self.database.errors:
            connection.close()
            if not self.database.has_lost(connection):
                raise
            return None, None

    def _connect_writer(self) -> Connection:
        connection = self.database.connect()
        if self._observer is not None:
            self.database.watch(connection)
        return connection

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except self.database.errors as problem:
            raise self.database.explained(problem) from None
