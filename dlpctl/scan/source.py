"""The interface of a source, which lists contents and reads them, completely or in ranges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.regex import lazy
from dlpctl.scan.results import Skip, Why

if TYPE_CHECKING:
    from dlpctl.scan.selection import Selection

DATABASES = {
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
"""The schemes of databases, and the drivers that read them."""
_ADDRESS = lazy(r"[a-z][a-z0-9+.-]*+://")
Read = Callable[[int], bytes]
"""Returns the next bytes: the requested number, unless the content ends."""


class File(NamedTuple):
    """A content that a source lists: a file, an object or stdin. Tasks carry it as JSON."""

    path: str
    """The name by which the source reads the content."""
    shown: str
    """The path in results."""
    size: int
    stream: bool = False
    """True for content that is read from start to end: its size is unknown, or it has no ranges."""
    version: str = ""
    """Changes with the content, such as an ETag; empty if the source has no versions."""


class UnreadError(Exception):
    """A content cannot be read."""

    def __init__(self, why: Why, detail: str = "") -> None:
        super().__init__(detail or why.value)
        self.why = why
        self.detail = detail

    def skip(self, shown: str) -> Skip:
        return Skip(shown, self.why, self.detail)


def is_address(name: str) -> bool:
    """Return whether a name is the address of objects or a database rather than a path."""
    return "://" in name and bool(_ADDRESS.match(name)) and not os.path.lexists(name)


def is_database(name: str) -> bool:
    """Return whether a name is the address of a database."""
    return name.partition("://")[0] in DATABASES and "://" in name


def address_shown(address: str) -> str:
    """Return an address without its query, which may contain a signature."""
    return address.partition("?")[0] if address.startswith(("http://", "https://")) else address


class Source(Protocol):
    """Lists contents in the main process of the scan, and reads them in each of its workers."""

    noun: str
    """The word for one content, such as "file"."""
    has_threads: bool
    """True if listing starts threads, so that workers must be forked before."""

    def files(self, selection: Selection) -> Iterator[File | Skip]:
        """Yield the selected contents, in an order that depends only on their names."""

    def key(self, file: File) -> str:
        """Return the name of a content that is the same wherever the scan is started."""

    def read_all(self, files: Sequence[File]) -> Iterator[bytes | UnreadError]:
        """Yield the complete contents of small files, in order."""

    def read_range(self, file: File, first: int, last: int) -> bytes:
        """Return a range of the listed content; raise `UnreadError` if the content has changed."""

    def open(self, file: File) -> AbstractContextManager[Read]:
        """Open a content to read it from start to end, in bounded memory."""

    def next_data(self, file: File, position: int) -> int:
        """Return the end of a hole in the content; the position itself if holes are unknown."""
