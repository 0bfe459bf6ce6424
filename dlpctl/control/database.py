"""The databases that can hold the control plane: what SQLite and PostgreSQL have in common.

Statements are written once, in the SQL that both know, with the placeholders and types of SQLite.
`Database` has what differs between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from dlpctl.errors import StoreError

GENERATION = "SELECT value FROM state WHERE name = 'generation'"
"""A value that changes when remembered data become invalid."""
KEY = "SELECT value FROM state WHERE name = 'key'"
"""A value that shows which key file the database is sealed with."""
BUSY_SECONDS = 15.0
"""The time to wait for another process that writes."""


class Row(Protocol):
    """A row, by the places and by the names of its columns."""

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
    """A connection that is in no transaction unless a statement begins one."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def total_changes(self) -> int:
        """The rows that statements have inserted, updated and deleted since it was opened."""

    def execute(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Cursor: ...
    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> object: ...
    def close(self) -> None: ...


class Database(Protocol):
    name: str
    """The file or the address, as errors call it."""
    errors: type[Exception]
    contradictions: type[Exception]
    """The errors that tell that a constraint does not hold."""
    reading: str
    """Begins a transaction that sees one state of the database."""
    writing: str
    """Begins a transaction that one process at a time can have."""
    is_shared: bool
    """Several nodes may have it in common, each with a folder of its own."""
    shortest_word: int
    """The length of the shortest word that the search index knows."""

    @property
    def is_new(self) -> bool:
        """Tell whether nothing was ever kept in it."""

    def connect(self) -> Connection: ...

    def upgrade(self, connection: Connection) -> None:
        """Take the steps that are missing, whatever other processes do meanwhile."""

    def watch(self, connection: Connection) -> None:
        """Note from now on, in the table `touched`, which sealed rows this connection touches."""

    def has_lost(self, connection: Connection) -> bool:
        """Tell whether a connection can never be used again."""

    def problems(self, connection: Connection) -> tuple[str, ...]: ...

    def vacuum(self, connection: Connection) -> None: ...

    def explained(self, problem: Exception) -> StoreError:
        """Return what is to be done about one of `errors`."""
