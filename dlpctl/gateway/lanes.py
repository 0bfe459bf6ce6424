"""Turns at inspecting requests, so that streams proceed in the meantime and no caller waits for
another one's files.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_SHORT_TURNS, _LONG_TURNS = 3, 4
_MOST = 2
"""The number of turns that one caller may hold at a time; its requests may wait for each other."""
_SHORT = 1 << 16
"""The largest body that is inspected quickly."""
_FILE = re.compile(rb"[0-9A-Za-z+/_-]{4096}")
"""Marks the file in a body; files are read by other processes."""
TURNS = _SHORT_TURNS + _LONG_TURNS


class Lanes:
    """One lane for requests that are inspected quickly, and one for all others."""

    def __init__(self) -> None:
        self._short = Lane(_SHORT_TURNS, _MOST)
        self._long = Lane(_LONG_TURNS, _MOST)

    def of(self, body: bytes) -> Lane:
        return self._long if len(body) > _SHORT or _FILE.search(body) else self._short


class Lane:
    """Turns that callers take in rotation."""

    def __init__(self, turns: int, most: int) -> None:
        self._free = turns
        self._most = most
        self._taken: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn of the caller and hold it."""
        given = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(given)
        self._give()
        try:
            await given
            yield
        finally:
            if given.done() and not given.cancelled():
                self._return(caller)

    def _return(self, caller: str) -> None:
        self._free += 1
        self._taken[caller] -= 1
        if not self._taken[caller]:
            del self._taken[caller]
        self._give()

    def _give(self) -> None:
        """Give free turns to waiting callers in rotation."""
        callers = deque(self._waiting)
        while self._free and callers:
            caller = callers.popleft()
            waiting = self._waiting[caller]
            while waiting and waiting[0].cancelled():
                waiting.popleft()
            if waiting and self._taken[caller] >= self._most:
                continue
            del self._waiting[caller]
            if waiting:
                waiting.popleft().set_result(None)
                self._free -= 1
                self._taken[caller] += 1
            if waiting:  # to the end of the queue
                self._waiting[caller] = waiting
                callers.append(caller)
