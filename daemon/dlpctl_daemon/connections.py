"""The table of connections. Where it is full, a new one takes the place of the one that has waited
longest for its client.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

UNKNOWN_PEER = ""
"""Of sockets in the file system."""


class Tabled(Protocol):
    """A connection in the table."""

    @property
    def peer(self) -> str: ...

    @property
    def is_expendable(self) -> bool:
        """Whether no request of it was admitted or is worked on."""

    def handle_close(self) -> None: ...


class Connections:
    def __init__(self, most: int, trusted: Iterable[str] = ()) -> None:
        """`most` are for all peers, and half of them for one, save for `trusted` ones that speak
        for many.
        """
        self._most = most
        self._most_of_peer = max(1, most // 2)
        self._trusted = frozenset((*trusted, UNKNOWN_PEER))
        self._all: OrderedDict[Tabled, None] = OrderedDict()
        """The connections, and first those that have waited longest."""
        self._of_peer: dict[str, OrderedDict[Tabled, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def make_room(self, peer: str) -> bool:
        """Drop a connection if a new one of that peer needs its place; False where none can be
        dropped.
        """
        own = self._of_peer.get(peer, OrderedDict())
        if peer not in self._trusted and len(own) >= self._most_of_peer:
            return self._drop(own)
        return len(self._all) < self._most or self.drop_oldest()

    def drop_oldest(self) -> bool:
        """Drop the connection that has waited longest; False where all have requests under way."""
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
        """Note that a connection was answered and waits for its client again. Any thread may call
        this.
        """
        with suppress(KeyError):  # closed meanwhile
            self._all.move_to_end(connection)
            self._of_peer[connection.peer].move_to_end(connection)

    def _drop(self, table: OrderedDict[Tabled, None]) -> bool:
        # A copy, which is made at once, since other threads move connections in the table.
        oldest = next((one for one in list(table) if one.is_expendable), None)
        if oldest is not None:
            oldest.handle_close()
        return oldest is not None
