"""The interface of the databases that can hold the control plane: SQLite and PostgreSQL.

Statements are written once, in SQL that both accept, with the placeholders and types of SQLite.
`Database` covers the differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from dlpctl.errors import StoreError

GENERATION = "SELECT value FROM state WHERE name = 'generation'"
"""A random value that changes when cached data become invalid."""
KEY = "SELECT value FROM state WHERE name = 'key'"
"""A value that identifies the key file that the database is sealed with."""
BUSY_SECONDS = 15.0
"""The time to wait for another process that writes."""


class Row(Protocol):
    """A row, accessible by the index or name of a column."""

    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def keys(self) -> list[str]: ...


class Cursor(Protocol):
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection that is in no transaction until a statement starts one."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def total_changes(self) -> int:
        """Return the number of rows inserted, updated and deleted on this connection."""

    def execute(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Cursor: ...
    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> object: ...
    def close(self) -> None: ...


class Database(Protocol):
    name: str
    """The file or address, as shown in errors."""
    errors: type[Exception]
    contradictions: type[Exception]
    """The errors raised when a constraint is violated."""
    reading: str
    """The statement that starts a transaction with a consistent view of the database."""
    writing: str
    """The statement that starts a transaction that only one process at a time can hold."""
    is_shared: bool
    """Several nodes may share the database, each with its own folder."""
    shortest_word: int
    """The length of the shortest word that the search index contains."""

    @property
    def is_new(self) -> bool:
        """Return whether the database has never been used."""

    def connect(self) -> Connection: ...

    def upgrade(self, connection: Connection) -> None:
        """Apply the missing migration steps, even if other processes upgrade at the same time."""

    def watch(self, connection: Connection) -> None:
        """From now on, record in the table `touched` which sealed rows this connection touches."""

    def has_lost(self, connection: Connection) -> bool:
        """Return whether a connection can never be used again."""

    def problems(self, connection: Connection) -> tuple[str, ...]: ...

    def damage(self, connection: Connection) -> str:
        """Return a problem of data that may be damaged, or nothing. Cheap if they may not be."""

    def vacuum(self, connection: Connection) -> None: ...

    def explained(self, problem: Exception) -> StoreError:
        """Return one of `errors` as a `StoreError` that says what to do."""
