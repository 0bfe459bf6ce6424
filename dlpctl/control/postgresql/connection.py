"""Connections to PostgreSQL that accept the SQL of the control plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from dlpctl.control.database import BUSY_SECONDS
from dlpctl.control.postgresql.dialect import translated

SCHEMA = "dlpctl"
"""The schema of all tables."""

WRITING = "BEGIN to write"
"""Starts a transaction that only one node at a time can hold."""
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_TAKE_TURN = f"SELECT pg_advisory_xact_lock({int.from_bytes(b'dlpctl')})"
TURN = f"{_BEGIN}; {_TAKE_TURN}"
"""The statements for the same before the tables exist."""
_MOST_FORESEEN = 8
_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR, TransactionStatus.ACTIVE)
_CHANGES = ("INSERT", "UPDATE", "DELETE")
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "client_encoding": "utf8",
    "application_name": "dlpctl",
}
"""Timeouts for a server that does not answer, unless the address sets others."""
_SESSION = f"""
    SET search_path = {SCHEMA}, pg_temp;
    SET lock_timeout = '{BUSY_SECONDS:.0f}s';
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'"""
"""A check is on disk before it is answered, whatever the default of the database."""


class NamedRow(tuple[Any, ...]):
    """A row, accessible by the index or name of a column."""

    __slots__ = ()
    indexes: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.indexes[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        return list(self.indexes)


_Question = tuple[str, tuple[Any, ...]]
"""A statement that reads, and its values."""


class _Answer(list[NamedRow]):
    """Rows that were read before the statement was executed."""

    rowcount = -1

    def fetchone(self) -> NamedRow | None:
        return self.pop(0) if self else None

    def fetchall(self) -> list[NamedRow]:
        return list(self)


class PostgresConnection:
    """A connection that behaves like one of SQLite."""

    def __init__(self, connection: psycopg.Connection[NamedRow]) -> None:
        self._connection = connection
        self._changes = 0
        self._waiting: list[tuple[str, list[Sequence[Any]]]] = []
        self._asked: dict[_Question, None] = {}
        """The reads of this transaction before its first write, in order."""
        self._foreseen: dict[_Question, list[NamedRow]] | None = None
        """Prefetched results, valid until this transaction writes."""

    @classmethod
    def open(cls, parameters: Mapping[str, Any]) -> PostgresConnection:
        connection = psycopg.connect(
            **{**_PATIENCE, **parameters}, autocommit=True, row_factory=_row_factory
        )
        adapters = connection.adapters
        adapters.register_dumper(int, Int8Dumper)
        adapters.register_dumper(bool, _BoolDumper)
        adapters.register_dumper(str, StrDumper)
        adapters.register_loader("numeric", _IntLoader)
        connection.execute(_SESSION)
        return cls(connection)

    @property
    def in_transaction(self) -> bool:
        return self._connection.info.transaction_status in _OPEN

    @property
    def is_lost(self) -> bool:
        return self._connection.closed

    @property
    def total_changes(self) -> int:
        self._send()
        return self._changes

    def execute(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = (), /) -> Any:
        if sql == "ROLLBACK":
            self._waiting.clear()
        if sql == WRITING:
            return self._start()
        if not sql.startswith("SELECT"):
            self._foreseen = None
        elif self._foreseen is not None and isinstance(values, tuple):
            question = (sql, values)
            self._asked[question] = None
            if question in self._foreseen:
                return _Answer(self._foreseen[question])
        if not self._waiting:
            cursor = self._ask(sql, values)
        else:
            with self._connection.pipeline():
                self._send()
                cursor = self._ask(sql, values)
        if (cursor.statusmessage or "").startswith(_CHANGES):
            self._changes += cursor.rowcount
        return cursor

    def _start(self) -> _Answer:
        """Start to write and, in the same round trip, prefetch what the last transaction read
        before its first write: the next transaction mostly reads the same.
        """
        questions, self._asked = list(self._asked)[:_MOST_FORESEEN], {}
        with self._connection.pipeline():
            for statement in (_BEGIN, _TAKE_TURN):
                self._connection.execute(statement)
            cursors = [self._ask(*question) for question in questions]
        answers = [cursor.fetchall() for cursor in cursors]
        self._foreseen = dict(zip(questions, answers, strict=True))
        return _Answer([])

    def _ask(self, sql: str, values: Sequence[Any] | Mapping[str, Any]) -> psycopg.Cursor[NamedRow]:
        prepare = False if ";" in sql else None  # several statements cannot be prepared
        return self._connection.execute(translated(sql), values or None, prepare=prepare)

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> None:
        """Queue statements and send them together with the next one, so that none waits for the one
        before.
        """
        self._foreseen = None
        self._waiting.append((sql, list(values)))

    def _send(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        with self._connection.pipeline():
            cursors = []
            for sql, values in waiting:
                cursors.append(self._connection.cursor())
                cursors[-1].executemany(translated(sql), values)
        self._changes += sum(cursor.rowcount for cursor in cursors)

    def script(self, sql: str) -> None:
        """Run statements in the SQL of PostgreSQL, without values."""
        self._connection.execute(sql, prepare=False)

    def close(self) -> None:
        self._connection.close()


class _BoolDumper(Int8Dumper):
    """Writes a bool as SQLite does: the columns of flags are numeric."""

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _IntLoader(Loader):
    """Reads sums, which PostgreSQL returns in a wider type than the summands."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data))


@lru_cache(maxsize=1_000)
def _row_type(names: tuple[bytes | None, ...]) -> type[NamedRow]:
    indexes = {(name or b"").decode(): index for index, name in enumerate(names)}
    return type("Row", (NamedRow,), {"__slots__": (), "indexes": indexes})


def _row_factory(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], NamedRow]:
    result = cursor.pgresult
    if result is None:
        return NamedRow
    return _row_type(tuple([result.fname(index) for index in range(result.nfields)]))
