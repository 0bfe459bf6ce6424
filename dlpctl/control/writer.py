"""Who writes shares a transaction with all who wait to write.

A job is put in a queue, and its ticket says what came of it. Who asks a ticket while nobody writes does all jobs of the queue, its own and
others', in one transaction, and commits once; then it wakes those who wait for one of these, and hands the writing on to one whose job came
meanwhile. So one sync of the disk serves many checks under load, and a single caller waits for nobody.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from dlpctl.errors import ConflictError, DlpctlError, StoreError

if TYPE_CHECKING:
    from dlpctl.control.store import Observer

_T = TypeVar("_T")


class Tally(Protocol):
    """What the jobs of a transaction sum up, to be written once."""

    def flush(self) -> None: ...


_TallyType = TypeVar("_TallyType", bound=Tally)


class Batch:
    """A transaction that several jobs share."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tallies: dict[type[Tally], Any] = {}

    @property
    def connection(self) -> sqlite3.Connection:
        """Sees all that the jobs before have done."""
        if self._tallies:
            self.flush()
        return self._connection

    def execute(self, sql: str, values: tuple[Any, ...] | dict[str, Any] = ()) -> sqlite3.Cursor:
        return self.connection.execute(sql, values)

    def tally(self, kind: type[_TallyType], make: Callable[[sqlite3.Connection], _TallyType]) -> _TallyType:
        """The one that this job shares with those before. What it holds must not be touched by a job that then fails."""
        if kind not in self._tallies:
            self._tallies[kind] = make(self._connection)
        tally: _TallyType = self._tallies[kind]
        return tally

    def flush(self) -> None:
        tallies, self._tallies = self._tallies, {}
        for tally in tallies.values():
            tally.flush()


class Ticket(Generic[_T]):
    """A job that waits to be done, or is done."""

    __slots__ = ("_writer", "awaited", "error", "job", "settled", "value", "woken")

    def __init__(self, writer: Writer, job: Callable[[Batch], _T]) -> None:
        self._writer = writer
        self.job = job
        self.settled = False
        self.value: _T | None = None
        self.error: DlpctlError | None = None
        self.awaited = False
        """Whether a thread sleeps until it is woken, since the job is done or since it is to do what waits."""
        self.woken = threading.Lock()
        self.woken.acquire()

    def result(self) -> _T:
        """Once the job is on the disk; raises where it has left nothing. One thread may ask, and must: until then the job may be left to wait."""
        self._writer.settle(self)
        if self.error is not None:
            raise self.error
        return cast("_T", self.value)


class _UndoneError(Exception):
    """A job failed that had written already: all is to be done again, with care."""


class Writer:
    def __init__(self, connection: sqlite3.Connection, error: Callable[[sqlite3.Error], StoreError]) -> None:
        """`error` says what is to be done about one of the database's."""
        self._connection = connection
        self._error = error
        self.observer: Observer | None = None
        self._queue: deque[Ticket[Any]] = deque()
        self._guard = threading.Lock()
        """Of the queue and of who writes."""
        self._is_writing = False
        self._writing = threading.Lock()
        """Of the connection."""

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The connection outside of any transaction, for what cannot be done in one."""
        with self._writing:
            yield self._connection

    def submit(self, job: Callable[[Batch], _T]) -> Ticket[_T]:
        """Leave a job to be done when its ticket is asked, or earlier with others; it may be done more than once, each time as if it were the first."""
        ticket = Ticket(self, job)
        with self._guard:
            self._queue.append(ticket)
        return ticket

    def run_alone(self, job: Callable[[Batch], _T]) -> _T:
        """Do a job in a transaction that no other job shares."""
        ticket = Ticket(self, job)
        with self._writing:
            try:
                self._transaction([ticket], with_care=True)
            except sqlite3.Error as problem:
                raise self._error(problem) from None
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
        with self._guard:
            tickets = list(self._queue)
            self._queue.clear()
        try:
            with self._writing:
                try:
                    self._transaction(tickets, with_care=False)
                except _UndoneError:
                    self._transaction(tickets, with_care=True)
        except sqlite3.Error as problem:
            for ticket in tickets:
                ticket.error = self._error(problem)
        except BaseException as problem:
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

    def _transaction(self, tickets: list[Ticket[Any]], *, with_care: bool) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self.observer is not None:
                self.observer.begun(connection)
            batch = Batch(connection)
            for ticket in tickets:
                _do(ticket, batch, connection, with_care=with_care)
            batch.flush()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if self.observer is not None:
            self.observer.committed()


def _do(ticket: Ticket[Any], batch: Batch, connection: sqlite3.Connection, *, with_care: bool) -> None:
    """Nearly every job succeeds, or fails before it writes. So the point to go back to, which costs as much as a job, is set only with care."""
    ticket.value = ticket.error = None
    if with_care:
        batch.flush()
        connection.execute("SAVEPOINT job")
    before = connection.total_changes
    try:
        ticket.value = ticket.job(batch)
    except DlpctlError as error:
        ticket.error = error
    except sqlite3.IntegrityError:
        ticket.error = ConflictError("this stands against something that was changed meanwhile")
    if ticket.error is not None and connection.total_changes != before:
        if not with_care:
            raise _UndoneError
        connection.execute("ROLLBACK TO job")
    if with_care:
        connection.execute("RELEASE job")


def changed(batch: Batch) -> None:
    """What was remembered of organizations, policies, licenses and their keys holds no longer, in any process.

    A random value, since a counter could come to the same number twice after a transaction that was rolled back.
    """
    batch.execute("UPDATE state SET value = randomblob(8) WHERE name = 'generation'")
