"""Time as the control plane records and trusts it.

Times are written as ISO 8601 in UTC with milliseconds, so that their order as text is their order
in time.

A clock may jump. After a jump forward, nothing is erased on account of the new time until it has
been watched for a day. After a jump back, what had expired stays expired, because time continues
from the latest trusted time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

Clock = Callable[[], datetime]

STEP = timedelta(hours=1)
"""The longest time between two readings that counts as ordinary progress."""
WATCH = timedelta(days=1)
"""The time for which a jump forward is watched before it may cause anything to be erased."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return f"{moment.isoformat(timespec='milliseconds')[:-6]}Z"


def next_month(moment: datetime) -> datetime:
    """Return the time at which the quotas of the next month start."""
    return datetime(moment.year + moment.month // 12, moment.month % 12 + 1, 1, tzinfo=UTC)


class ClockHistory(NamedTuple):
    """The readings of a clock that decide how far the next reading is trusted."""

    trusted: datetime
    """The latest time reached by ordinary progress, or watched for long enough."""
    latest: datetime
    """The last reading."""
    jumped: datetime | None = None
    """The first reading after a jump that is still being watched."""
    watched: timedelta = timedelta()
    """The time for which the jump was watched, in steps of ordinary progress."""
    resumed: datetime | None = None
    """The first reading after the last gap since the jump."""
    steady: timedelta = timedelta()
    """The time since then without a gap."""

    def observe(self, now: datetime) -> ClockHistory:
        if now - self.trusted <= STEP:
            return ClockHistory(max(now, self.trusted), now)
        if self.jumped is None or self.resumed is None or now < self.latest:
            return ClockHistory(self.trusted, now, now, timedelta(), now)
        gap = now - self.latest
        watched = self.watched + min(gap, STEP)
        resumed, steady = (self.resumed, self.steady + gap) if gap <= STEP else (now, timedelta())
        if steady >= WATCH:
            return ClockHistory(now, now)
        if watched >= WATCH:
            return ClockHistory(self.jumped, now, resumed, steady, resumed, steady)
        return ClockHistory(self.trusted, now, self.jumped, watched, resumed, steady)

    def dump(self) -> str:
        moments = [
            each and written(each)
            for each in (self.trusted, self.latest, self.jumped, self.resumed)
        ]
        return json.dumps([*moments, self.watched.total_seconds(), self.steady.total_seconds()])

    @classmethod
    def load(cls, text: str) -> ClockHistory:
        *moments, watched, steady = json.loads(text)
        trusted, latest, jumped, resumed = (
            each and datetime.fromisoformat(each) for each in moments
        )
        return cls(
            trusted, latest, jumped, timedelta(seconds=watched), resumed, timedelta(seconds=steady)
        )


class TrustedClock:
    """A clock with a history, which the head of the audit chain carries from process to process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._written = ""
        self.history: ClockHistory | None = None

    def __call__(self) -> datetime:
        """Return the time for expiry: never earlier than a time that was trusted before."""
        now = self._clock()
        return now if self.history is None else max(now, self.history.trusted)

    def erasing_time(self) -> datetime:
        """Return the time for erasure: never later than the latest trusted time."""
        now = self._clock()
        return now if self.history is None else min(now, self.history.trusted)

    def observe(self, stored: str) -> str:
        """Merge the stored history of other processes, add a reading, and return the history as it
        is stored.
        """
        now = self._clock()
        if (
            self.history is not None
            and stored == self._written
            and _is_soon(now, self.history.latest)
        ):
            return stored
        known = [] if self.history is None else [self.history]
        if stored and stored != self._written:
            known.insert(0, ClockHistory.load(stored))
        history = max(known, key=lambda history: history.trusted, default=ClockHistory(now, now))
        self.history = history.observe(now)
        self._written = self.history.dump()
        return self._written

    def take_up(self, stored: str) -> None:
        """Continue from the stored history of an earlier process, without a new reading."""
        self.history = ClockHistory.load(stored)


def _is_soon(now: datetime, latest: datetime) -> bool:
    """Return whether a reading is too close to the last one to add anything."""
    return timedelta() <= now - latest < timedelta(seconds=1)
