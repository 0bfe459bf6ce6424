"""Analytics of an organization's checks, from daily sums that are kept as checks are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, timedelta
from typing import NamedTuple

from dlpctl.control.access import Access
from dlpctl.control.core import Core, find_organization
from dlpctl.control.resources.analytics import (
    DEFAULT_PERIOD,
    PERIOD,
    PERIODS,
    Day,
    DetectedType,
    DetectionBreakdown,
    OrganizationAnalytics,
    TimeSeries,
)
from dlpctl.control.store import Row
from dlpctl.detect.patterns.catalogue import labels as type_labels
from dlpctl.policy.summary import counted
from dlpctl.types import LARGEST_NUMBER

_TENTHS = 1_000
"""Tenths of a percent in 100 percent."""


class _Span(NamedTuple):
    first: date
    last: date


class Analytics:
    def __init__(self, core: Core) -> None:
        self._core = core

    def organization(
        self, access: Access, org: str, period: str = DEFAULT_PERIOD
    ) -> OrganizationAnalytics:
        span = self._span(period)
        with self._core.store.reading() as connection:
            row = find_organization(connection, access, org)
            sums = connection.execute(
                "SELECT sum(allowed) AS allowed, sum(masked) AS masked, sum(blocked) AS blocked,"
                " sum(bytes_protected) AS bytes_protected, sum(exposures) AS exposures"
                " FROM daily WHERE org_id = ? AND day BETWEEN ? AND ?",
                (row["org_id"], *map(str, span)),
            ).fetchone()
        allowed, masked, blocked = (
            _answered(sums[name]) for name in ("allowed", "masked", "blocked")
        )
        total = allowed + masked + blocked
        return OrganizationAnalytics(
            row["org_id"],
            row["name"],
            _answered(total),
            _answered(sums["bytes_protected"]),
            allowed,
            masked,
            blocked,
            round((allowed + masked) / total * 100, 2) if total else 100.0,
            _answered(sums["exposures"]),
            *map(str, span),
        )

    def timeseries(self, access: Access, org: str, period: str = DEFAULT_PERIOD) -> TimeSeries:
        span = self._span(period)
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            rows = connection.execute(
                "SELECT * FROM daily WHERE org_id = ? AND day BETWEEN ? AND ?",
                (org_id, *map(str, span)),
            ).fetchall()
        by_day = {row["day"]: row for row in rows}
        days = [str(span.first + timedelta(days=number)) for number in range(PERIODS[period])]
        return TimeSeries(org_id, period, tuple(_day(day, by_day.get(day)) for day in days))

    def detections(
        self, access: Access, org: str, period: str = DEFAULT_PERIOD
    ) -> DetectionBreakdown:
        span = self._span(period)
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            rows = connection.execute(
                "SELECT type, sum(found) AS found FROM daily_types WHERE org_id = ? AND day"
                " BETWEEN ? AND ?"
                " GROUP BY type ORDER BY found DESC, type",
                (org_id, *map(str, span)),
            ).fetchall()
        shares = percentages([row["found"] for row in rows])
        return DetectionBreakdown(
            org_id,
            _answered(sum(row["found"] for row in rows)),
            tuple(
                DetectedType(row["type"], label(row["type"]), _answered(row["found"]), share)
                for row, share in zip(rows, shares, strict=True)
            ),
            *map(str, span),
        )

    def _span(self, period: str) -> _Span:
        PERIOD.read(period, "period")
        today = self._core.clock().astimezone(UTC).date()
        return _Span(today - timedelta(days=PERIODS[period] - 1), today)


def _day(day: str, row: Row | None) -> Day:
    if row is None:
        return Day(day, 0, 0, 0, 0, 0)
    outcomes = (row["allowed"], row["masked"], row["blocked"])
    return Day(day, _answered(sum(outcomes)), *outcomes, row["bytes"])


def _answered(total: int | None) -> int:
    """Return a sum of sums within the bound of what is answered."""
    return min(total or 0, LARGEST_NUMBER)


def percentages(counts: Sequence[int]) -> list[float]:
    """Return shares in tenths of a percent that add up to 100: the largest remainders are rounded
    up.
    """
    total = sum(counts)
    if not total:
        return [0.0] * len(counts)
    shares = [count * _TENTHS // total for count in counts]
    left = sorted(range(len(counts)), key=lambda index: -(counts[index] * _TENTHS % total))
    for index in left[: _TENTHS - sum(shares)]:
        shares[index] += 1
    return [share / 10 for share in shares]


def label(type_name: str) -> str:
    """Return a type's name for people, as summaries have it."""
    words = counted(type_name, 1, type_labels()).partition(" ")[2]
    return words[:1].upper() + words[1:]
