"""Access to the database: one connection per reader for the time of a read, and one that writes."""

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
        """Open the database; create or upgrade it if needed. Processes that write to the database
        may share a `turn`.
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
        """Notify the observer of transactions, and record the sealed rows that each touches."""
        self._observer = self._writer.observer = observer
        with self.alone() as connection:
            self.database.watch(connection)

    def close(self) -> None:
        self._writer.close()
        while self._readers:
            self._readers.pop().close()

    def upgrade(self) -> None:
        """Apply the missing migration steps."""
        with self.alone() as connection:
            self.database.upgrade(connection)

    def run(self, job: Callable[[Batch], _T]) -> _T:
        """Run a job in a transaction. When this returns, the job is on disk; if this raises,
        nothing has changed.
        """
        return self._writer.submit(job).result()

    def run_alone(self, job: Callable[[Batch], _T]) -> _T:
        """Run a job in a transaction of its own: jobs that shared it could not continue."""
        return self._writer.run_alone(job)

    def submit(self, job: Callable[[Batch], _T]) -> Ticket[_T]:
        """Queue a job, which waits until its ticket is awaited."""
        return self._writer.submit(job)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for reads that see one state of the database."""
        with self._reported(), self._asked(self.database.reading) as (connection, _):
            try:
                if self._observer is not None:
                    self._observer.begun(connection)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    def generation(self) -> bytes:
        """Return a value that changes when cached data become invalid, in any process. Every check
        reads it.
        """
        with self._reported(), self._asked(GENERATION) as (_, cursor):
            row: tuple[bytes] = cursor.fetchone()
            return row[0]

    @contextmanager
    def using(self) -> Iterator[Connection]:
        """Yield a connection that commits each statement by itself, for data outside of the log."""
        with self._reported(), self._asked("SELECT 1") as (connection, _):
            yield connection

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """Yield the writer's connection outside of any transaction, for statements that cannot run
        in one.
        """
        with self._writer.alone() as connection, self._reported():
            yield connection

    @contextmanager
    def _asked(self, first: str) -> Iterator[tuple[Connection, Cursor]]:
        """Yield a reader's connection and the result of a first statement. A connection that was
        lost while idle is replaced.
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
