"""Time as the control plane writes it: ISO 8601 in UTC, to the millisecond, so that texts sort as moments do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return f"{moment.isoformat(timespec='milliseconds')[:-6]}Z"


def next_month(moment: datetime) -> datetime:
    """When the month's quotas begin anew."""
    return datetime(moment.year + moment.month // 12, moment.month % 12 + 1, 1, tzinfo=UTC)
