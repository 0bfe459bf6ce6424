"""Connections to PostgreSQL that take the SQL of the control plane."""

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
"""The time after which a server that does not answer is given up, unless the address says."""
_SESSION = f"""
    SET search_path = {SCHEMA}, pg_temp;
    SET lock_timeout = '{BUSY_SECONDS:.0f}s';
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'"""
"""A check is on the disk before it is answered, whatever is usual in the database."""


class NamedRow(tuple[Any, ...]):
    """A row, by the places and by the names of its columns."""

    __slots__ = ()
    places: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.places[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        return list(self.places)


class PostgresConnection:
    """A connection that behaves as one of SQLite does."""

    def __init__(self, connection: psycopg.Connection[NamedRow]) -> None:
        self._connection = connection
        self.total_changes = 0

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

    def execute(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = (), /) -> Any:
        prepare = False if ";" in sql else None  # several statements cannot be prepared
        cursor = self._connection.execute(translated(sql), values or None, prepare=prepare)
        self._count(cursor)
        return cursor

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> None:
        cursor = self._connection.cursor()
        cursor.executemany(translated(sql), values)
        self._count(cursor)

    def script(self, sql: str) -> None:
        """Run statements in the SQL of PostgreSQL, which take no values."""
        self._connection.execute(sql, prepare=False)

    def close(self) -> None:
        self._connection.close()

    def _count(self, cursor: psycopg.Cursor[NamedRow]) -> None:
        if cursor.rowcount > 0 and (cursor.statusmessage or "").startswith(_CHANGES):
            self.total_changes += cursor.rowcount


class _BoolDumper(Int8Dumper):
    """Writes a flag as SQLite does: its columns are numbers."""

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _IntLoader(Loader):
    """Reads sums, which PostgreSQL gives in a wider type than what it adds up."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data))


@lru_cache(maxsize=1_000)
def _row_type(names: tuple[str, ...]) -> type[NamedRow]:
    places = {name: place for place, name in enumerate(names)}
    return type("Row", (NamedRow,), {"__slots__": (), "places": places})


def _row_factory(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], NamedRow]:
    return _row_type(tuple(column.name for column in cursor.description or ()))
