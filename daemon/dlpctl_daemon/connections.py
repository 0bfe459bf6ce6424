"""The table of connections. If it is full, a new connection replaces the one that waits longest
for its client.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

UNKNOWN_PEER = ""
"""The peer of a socket in the file system."""


class Tabled(Protocol):
    """A connection in the table."""

    @property
    def peer(self) -> str: ...

    @property
    def is_expendable(self) -> bool:
        """Return true if no request of it was admitted or is being answered."""

    def handle_close(self) -> None: ...


class Connections:
    def __init__(self, most: int, trusted: Iterable[str] = ()) -> None:
        """Keep at most `most` connections, and half of them for one peer, except for `trusted` ones
        such as proxies.
        """
        self._most = most
        self._most_of_peer = max(1, most // 2)
        self._trusted = frozenset((*trusted, UNKNOWN_PEER))
        self._all: OrderedDict[Tabled, None] = OrderedDict()
        """The connections; those that have waited longest come first."""
        self._of_peer: dict[str, OrderedDict[Tabled, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def make_room(self, peer: str) -> bool:
        """Drop a connection if a new one of the peer needs its place; return False if none can be
        dropped.
        """
        own = self._of_peer.get(peer, OrderedDict())
        if peer not in self._trusted and len(own) >= self._most_of_peer:
            return self._drop(own)
        return len(self._all) < self._most or self.drop_oldest()

    def drop_oldest(self) -> bool:
        """Drop the connection that has waited longest; return False if all have requests."""
        return self._drop(self._all)

    def add(self, connection: Tabled) -> None:
        self._all[connection] = None
        self._of_peer.setdefault(connection.peer, OrderedDict())[connection] = None

    def remove(self, connection: Tabled) -> None:
        self._all.pop(connection, None)
        own = self._of_peer.get(connection.peer, OrderedDict())
        own.pop(connection, None)
        if not own:
            self._of_peer.pop(connection.peer, None)

    def waits(self, connection: Tabled) -> None:
        """Record that a connection waits for its client again. Any thread may call it."""
        with suppress(KeyError):  # closed meanwhile
            self._all.move_to_end(connection)
            self._of_peer[connection.peer].move_to_end(connection)

    def _drop(self, table: OrderedDict[Tabled, None]) -> bool:
        # A copy, made in one step, since other threads move connections in the table.
        oldest = next((each for each in list(table) if each.is_expendable), None)
        if oldest is not None:
            oldest.handle_close()
        return oldest is not None
