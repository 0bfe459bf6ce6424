"""Group commit: threads that wait to write share one transaction.

A job is queued, and its ticket gets the outcome. The first thread that waits for an outcome while
nobody writes runs all queued jobs in one transaction and commits once. Then it wakes the threads
that wait for these jobs, and hands writing over to a thread whose job arrived in the meantime.
Under load, one disk sync thus serves many checks, and a single caller never waits.

If a transaction fails, each half of its jobs is retried in a transaction of its own, and so on, so
that only the failing job fails.

Several processes may write to one database, one at a time. If they share a turn, they wait for that
rather than for SQLite, which would sleep and retry.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Generic, Protocol, TypeVar, cast

from dlpctl.control.database import Connection, Cursor, Database
from dlpctl.errors import ConflictError, DlpctlError, StoreError

_T = TypeVar("_T")


class Tally(Protocol):
    """Values that the jobs of a transaction collect, to be written together."""

    def flush(self) -> None: ...


_TallyType = TypeVar("_TallyType", bound=Tally)


class Batch:
    """A transaction that several jobs share."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tallies: dict[type[Tally], Any] = {}
        self._flushed = 0
        """The number of changes made by writing tallies."""

    @property
    def connection(self) -> Connection:
        """Return the connection, which sees all changes of the previous jobs."""
        if self._tallies:
            self.flush()
        return self._connection

    def execute(self, sql: str, values: tuple[Any, ...] | dict[str, Any] = ()) -> Cursor:
        return self.connection.execute(sql, values)

    def insert(self, table: str, **values: Any) -> None:
        """Insert a row given by column names."""
        marks = ", ".join("?" * len(values))
        sql = " ".join(("INSERT INTO", table, f"({', '.join(values)}) VALUES ({marks})"))
        self.execute(sql, tuple(values.values()))

    def update(self, table: str, key: str, identifier: str, **values: Any) -> None:
        """Change columns of the row whose column `key` holds an identifier."""
        changes = ", ".join(f"{column} = ?" for column in values)
        sql = " ".join(("UPDATE", table, "SET", changes, "WHERE", key, "= ?"))
        self.execute(sql, (*values.values(), identifier))

    def tally(
        self, tally_type: type[_TallyType], make: Callable[[Connection], _TallyType]
    ) -> _TallyType:
        """Return the tally that this job shares with the previous ones. A job must not change it
        and then fail.
        """
        if tally_type not in self._tallies:
            self._tallies[tally_type] = make(self._connection)
        tally: _TallyType = self._tallies[tally_type]
        return tally

    def flush(self) -> None:
        before = self._connection.total_changes
        self.finish()
        self._flushed += self._connection.total_changes - before

    def finish(self) -> None:
        """Write the remaining tallies without counting their changes."""
        tallies, self._tallies = self._tallies, {}
        for tally in tallies.values():
            tally.flush()

    def changes(self) -> int:
        """Return the number of rows that the jobs have changed, without those of tallies."""
        return self._connection.total_changes - self._flushed


class Ticket(Generic[_T]):
    """A job that is queued or done."""

    __slots__ = ("_writer", "awaited", "error", "job", "settled", "value", "woken")

    def __init__(self, writer: Writer, job: Callable[[Batch], _T]) -> None:
        self._writer = writer
        self.job = job
        self.settled = False
        self.value: _T | None = None
        self.error: Exception | None = None
        self.awaited = False
        """A thread sleeps until the job is done, or until the thread is asked to run the queue."""
        self.woken = threading.Lock()
        self.woken.acquire()

    def result(self) -> _T:
        """Return the result once the job is on disk; raise if the job failed and changed nothing.
        Some thread must call this: until then the job may wait.
        """
        self._writer.settle(self)
        if self.error is not None:
            raise self.error
        return cast("_T", self.value)


class Observer(Protocol):
    """Is notified of transactions."""

    def begun(self, connection: Connection) -> None: ...
    def committed(self) -> None: ...


class Writer:
    def __init__(
        self,
        database: Database,
        connect: Callable[[], Connection],
        turn: AbstractContextManager[object] | None = None,
    ) -> None:
        """`connect` opens the connection that writes; `turn` is held while this process writes."""
        self._database = database
        self._connect = connect
        self._made: Connection | None = None
        self._turn = turn or nullcontext()
        self.observer: Observer | None = None
        self._queue: deque[Ticket[Any]] = deque()
        self._guard = threading.Lock()
        """Guards the queue and the flag of the writing thread."""
        self._is_writing = False
        self._writing = threading.Lock()
        """Guards the connection."""

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """Yield the connection outside of transactions, for statements that cannot run in one."""
        with self._writing, self._turn:
            try:
                connection = self._connected()
            except self._database.errors as problem:
                raise self._database.explained(problem) from None
            yield connection

    def close(self) -> None:
        with self._writing:
            if self._made is not None:
                self._made.close()

    def _connected(self) -> Connection:
        """Return the connection; reconnect if it was lost."""
        if self._made is not None and self._database.has_lost(self._made):
            self._made.close()
            self._made = None
        if self._made is None:
            self._made = self._connect()
        return self._made

    def submit(self, job: Callable[[Batch], _T]) -> Ticket[_T]:
        """Queue a job, which runs when its ticket is awaited, or earlier with others. A job may run
        more than once, each time as if it were the first.
        """
        ticket = Ticket(self, job)
        with self._guard:
            self._queue.append(ticket)
        return ticket

    def run_alone(self, job: Callable[[Batch], _T]) -> _T:
        """Run a job in a transaction that no other job shares."""
        ticket = Ticket(self, job)
        with self.alone():
            self._commit([ticket])
        ticket.settled = True
        return ticket.result()

    def settle(self, ticket: Ticket[Any]) -> None:
        with self._guard:
            if ticket.settled:
                return
            if self._is_writing:
                ticket.awaited = True
            self._is_writing = True
        if ticket.awaited:
            ticket.woken.acquire()
        if not ticket.settled:
            self._run_waiting()

    def _run_waiting(self) -> None:
        tickets: list[Ticket[Any]] = []
        try:
            with self._writing, self._turn:
                tickets = self._take_queue()
                self._commit(tickets)
        except BaseException as problem:
            tickets = tickets or self._take_queue()
            for ticket in tickets:
                ticket.error = StoreError(
                    f"nothing was recorded: {type(problem).__name__} in the transaction"
                )
            raise
        finally:
            with self._guard:
                for ticket in tickets:
                    ticket.settled = True
                following = next((ticket for ticket in self._queue if ticket.awaited), None)
                self._is_writing = following is not None
            if following is not None:
                following.woken.release()
            for ticket in tickets:
                if ticket.awaited:
                    ticket.woken.release()

    def _take_queue(self) -> list[Ticket[Any]]:
        with self._guard:
            tickets = list(self._queue)
            self._queue.clear()
        return tickets

    def _commit(self, tickets: list[Ticket[Any]]) -> None:
        """Commit all jobs together; if that fails, split them until failing jobs fail alone."""
        database = self._database
        try:
            connection = self._begun()
        except (DlpctlError, database.errors) as problem:  # not caused by any job
            _fail(tickets, _explained(database, problem))
            return
        try:
            self._transaction(connection, tickets)
        except Exception as problem:
            if len(tickets) == 1 or database.has_lost(connection):
                # The ticket raises it again, in the thread that submitted the job.
                _fail(tickets, _explained(database, problem))
                return
            middle = len(tickets) // 2
            self._commit(tickets[:middle])
            self._commit(tickets[middle:])

    def _begun(self) -> Connection:
        """Start a transaction; reconnect if the connection was lost since the last one."""
        connection = self._connected()
        try:
            connection.execute(self._database.writing)
        except self._database.errors:
            if connection.in_transaction:  # started, but without the turn of this process
                connection.execute("ROLLBACK")
            if not self._database.has_lost(connection):
                raise
            connection = self._connected()
            connection.execute(self._database.writing)
        return connection

    def _transaction(self, connection: Connection, tickets: list[Ticket[Any]]) -> None:
        try:
            if self.observer is not None:
                self.observer.begun(connection)
            batch = Batch(connection)
            for ticket in tickets:
                self._do(ticket, batch, is_alone=len(tickets) == 1)
            batch.finish()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if self.observer is not None:
            self.observer.committed()

    def _do(self, ticket: Ticket[Any], batch: Batch, *, is_alone: bool) -> None:
        """Run a job. A refusal before anything is written does not roll back the transaction."""
        ticket.value = ticket.error = None
        before = batch.changes()
        try:
            ticket.value = ticket.job(batch)
        except DlpctlError as error:
            ticket.error = error
        except self._database.contradictions:
            if not is_alone:
                raise  # a tally of another job may have caused it
            raise ConflictError(
                "this contradicts something that was changed meanwhile; try again"
            ) from None
        if ticket.error is not None and batch.changes() != before:
            raise ticket.error


def _fail(tickets: list[Ticket[Any]], error: Exception) -> None:
    for ticket in tickets:
        ticket.error = error


def _explained(database: Database, problem: Exception) -> Exception:
    return database.explained(problem) if isinstance(problem, database.errors) else problem


def changed(batch: Batch) -> None:
    """Invalidate cached organizations, policies, licenses and keys in every process.

    The generation is a random value, since a counter could repeat a number after a rollback.
    """
    batch.execute("UPDATE state SET value = ? WHERE name = 'generation'", (os.urandom(8),))
