"""Deadlines for clients: for the headers of a request, for its body, and for reading the answer."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Stage(Enum):
    """The event that a connection waits for."""

    IDLE = "idle"
    HEADERS = "headers"
    BODY = "body"
    ANSWER = "answer"
    """The client reads an answer."""
    LINGERING = "lingering"
    """The client reads a refusal, and may not have stopped sending."""
    WORK = "work"
    """The service, not the client."""


class _Limit(NamedTuple):
    seconds: float
    bytes_a_second: int = 0
    """More time for each so many bytes that have to move; 0 for none."""
    window: float = 0.0
    least: int = 0
    """Bytes that must move within each window of seconds."""


_LIMITS = {
    Stage.IDLE: _Limit(60.0),
    Stage.HEADERS: _Limit(10.0),
    Stage.BODY: _Limit(20.0, 32 << 10, 10.0, 8 << 10),
    Stage.ANSWER: _Limit(20.0, 32 << 10, 10.0, 8 << 10),
    Stage.LINGERING: _Limit(2.0),
}


_DRIP_BYTES = 256
_LEAST_REST_SECONDS = 0.01


class Pace(NamedTuple):
    """The pace at which a client sends a request."""

    since: float = 0.0

    def rest(self, received: int, now: float) -> float:
        """Return the seconds to read no more after a small piece: as many as the client has taken.

        A thousand clients that send a byte a second would otherwise take a thousand turns of the
        loop a second.
        """
        taken = now - self.since
        return taken if received < _DRIP_BYTES and taken >= _LEAST_REST_SECONDS else 0.0


class Progress(NamedTuple):
    """A stage of a connection, and how far it is."""

    stage: Stage
    number: int
    """Tells requests of one connection apart."""
    moved: int = 0
    left: int = 0


class Watch:
    """A connection's progress as it was seen from time to time."""

    def __init__(self) -> None:
        self._stage = Progress(Stage.WORK, 0)
        self._since = self._window_since = 0.0
        self._mark = 0

    def is_overdue(self, seen: Progress, now: float) -> bool:
        limit = _LIMITS.get(seen.stage)
        if limit is None or (seen.stage, seen.number) != self._stage[:2]:
            self._stage = seen
            self._since = self._window_since = now
            self._mark = seen.moved
            return False
        allowed = limit.seconds
        if limit.bytes_a_second:
            allowed += (seen.moved + seen.left) / limit.bytes_a_second
        if now - self._since > allowed:
            return True
        if not limit.window or now - self._window_since < limit.window:
            return False
        stalled = seen.moved - self._mark < min(limit.least, seen.left)
        self._window_since, self._mark = now, seen.moved
        return stalled
