"""The event loop: waits for sockets by what the system offers for many of them.

waitress' own asks every connection before each wait what it waits for, so that a thousand silent
ones would slow every request. This one asks only those to which something has happened.
"""

from __future__ import annotations

import selectors
from collections import deque
from typing import Any

from waitress import wasyncore


class Loop:
    def __init__(self) -> None:
        self.map: dict[int, Any] = _Watched(self)
        self._selector = selectors.DefaultSelector()
        self._changed: deque[Any] = deque()
        self._events: dict[int, int] = {}
        """The events that are waited for, by descriptor."""

    def mark(self, dispatcher: Any) -> None:
        """Ask a dispatcher before the next wait what it waits for. Any thread may call this."""
        self._changed.append(dispatcher)

    def turn(self, seconds: float) -> None:
        """Wait so long for events at most, and let dispatchers handle those that have come."""
        while self._changed:
            self._ask(self._changed.popleft())
        for key, events in self._selector.select(seconds):
            dispatcher = key.data
            if events & selectors.EVENT_READ and self._has(dispatcher):
                wasyncore.read(dispatcher)
            if events & selectors.EVENT_WRITE and self._has(dispatcher):
                wasyncore.write(dispatcher)
            self._ask(dispatcher)

    def close(self) -> None:
        wasyncore.close_all(self.map)
        self._selector.close()

    def forget(self, descriptor: int) -> None:
        if self._events.pop(descriptor, 0):
            self._selector.unregister(descriptor)

    def _has(self, dispatcher: Any) -> bool:
        return self.map.get(dispatcher._fileno) is dispatcher

    def _ask(self, dispatcher: Any) -> None:
        if not self._has(dispatcher):
            return
        descriptor = dispatcher._fileno
        events = selectors.EVENT_READ if dispatcher.readable() else 0
        if dispatcher.writable() and not dispatcher.accepting:
            events |= selectors.EVENT_WRITE
        known = self._events.get(descriptor, 0)
        if events == known:
            return
        self._events[descriptor] = events
        if not known:
            self._selector.register(descriptor, events, dispatcher)
        elif not events:
            self._selector.unregister(descriptor)
        else:
            self._selector.modify(descriptor, events, dispatcher)


class _Watched(dict[int, Any]):
    """The map of dispatchers, as waitress knows it."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop

    def __setitem__(self, descriptor: int, dispatcher: Any) -> None:
        super().__setitem__(descriptor, dispatcher)
        self._loop.mark(dispatcher)

    def __delitem__(self, descriptor: int) -> None:
        super().__delitem__(descriptor)
        self._loop.forget(descriptor)
