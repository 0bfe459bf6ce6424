"""Analytics of an organization's checks, from daily sums that each recorded check updates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, timedelta
from typing import NamedTuple

from dlpctl.control.access import Access
from dlpctl.control.core import Core, find_organization
from dlpctl.control.database import Row
from dlpctl.control.resources.analytics import (
    DEFAULT_PERIOD,
    PERIOD,
    PERIODS,
    Day,
    DestinationSums,
    DetectedType,
    DetectionBreakdown,
    OrganizationAnalytics,
    Overview,
    PolicySums,
    TimeSeries,
    TypeByDestination,
)
from dlpctl.detect.patterns.catalogue import labels as type_labels
from dlpctl.policy.summary import counted
from dlpctl.types import LARGEST_NUMBER

_TENTHS = 1_000
"""The number of tenths of a percent in 100 percent."""
_OUTCOMES = "sum(allowed) AS allowed, sum(masked) AS masked, sum(blocked) AS blocked"
# The index is searched once per organization, so that sums of other days are not read.
_WANTED = """
    WHERE org_id IN (SELECT org_id FROM organizations WHERE :org_id IS NULL OR org_id = :org_id)
        AND day BETWEEN :first AND :last"""
_BY_DAY = f"""
    SELECT day, {_OUTCOMES},
        sum(bytes) AS bytes, sum(bytes_protected) AS bytes_protected, sum(exposures) AS exposures
    FROM daily {_WANTED} GROUP BY day"""  # noqa: S608 -- constants
_BY_DESTINATION = f"""
    SELECT destination, {_OUTCOMES}
    FROM daily {_WANTED} GROUP BY destination ORDER BY destination"""  # noqa: S608 -- constants
_BY_POLICY = f"""
    SELECT sums.*, json_extract(policies.body, '$.name') AS name, organizations.slug
    FROM (
        SELECT org_id, policy_id, {_OUTCOMES}
        FROM daily {_WANTED} AND policy_id <> ''
        GROUP BY org_id, policy_id ORDER BY sum(allowed + masked + blocked) DESC, policy_id
        LIMIT 10
    ) AS sums JOIN organizations USING (org_id) LEFT JOIN policies USING (policy_id)
    ORDER BY allowed + masked + blocked DESC, policy_id"""  # noqa: S608 -- constants
_BY_TYPE = f"""
    SELECT type, destination, sum(found) AS found
    FROM daily_types {_WANTED} GROUP BY type, destination"""  # noqa: S608 -- constants


class _Span(NamedTuple):
    first: date
    last: date

    def of(self, org_id: str | None) -> dict[str, str | None]:
        """Return the query parameters for one organization, or for all."""
        return {"org_id": org_id, "first": str(self.first), "last": str(self.last)}


class Analytics:
    def __init__(self, core: Core) -> None:
        self._core = core

    def organization(
        self, access: Access, org: str, period: str = DEFAULT_PERIOD
    ) -> OrganizationAnalytics:
        span = self._span(period)
        with self._core.store.reading() as connection:
            row = find_organization(connection, access, org)
            days = connection.execute(_BY_DAY, span.of(row["org_id"])).fetchall()
        allowed, masked, blocked, protected, exposures = (
            _answered(sum(day[name] for day in days))
            for name in ("allowed", "masked", "blocked", "bytes_protected", "exposures")
        )
        total = allowed + masked + blocked
        return OrganizationAnalytics(
            row["org_id"],
            row["name"],
            _answered(total),
            protected,
            allowed,
            masked,
            blocked,
            round((allowed + masked) / total * 100, 2) if total else 100.0,
            exposures,
            *map(str, span),
        )

    def timeseries(self, access: Access, org: str, period: str = DEFAULT_PERIOD) -> TimeSeries:
        span = self._span(period)
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            rows = connection.execute(_BY_DAY, span.of(org_id)).fetchall()
        return TimeSeries(org_id, period, _days(span, rows))

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

    def overview(
        self, access: Access, *, period: str = DEFAULT_PERIOD, org_id: str | None = None
    ) -> Overview:
        """Return the sums over all organizations that the access can see, or over one of them."""
        span = self._span(period)
        with self._core.store.reading() as connection:
            seen = access.org_id
            if org_id is not None:
                seen = find_organization(connection, access, org_id)["org_id"]
            days, destinations, policies, types = (
                connection.execute(sql, span.of(seen)).fetchall()
                for sql in (_BY_DAY, _BY_DESTINATION, _BY_POLICY, _BY_TYPE)
            )
        return Overview(
            data=_days(span, days),
            destinations=tuple(
                DestinationSums(row["destination"], *_outcomes(row)) for row in destinations
            ),
            policies=tuple(
                PolicySums(
                    row["policy_id"], row["name"] or "(deleted)", row["slug"], *_outcomes(row)
                )
                for row in policies
            ),
            types=_types(types),
            bytes_protected=_answered(sum(row["bytes_protected"] for row in days)),
            prevented_exposures=_answered(sum(row["exposures"] for row in days)),
            from_date=str(span.first),
            to_date=str(span.last),
        )

    def _span(self, period: str) -> _Span:
        PERIOD.read(period, "period")
        today = self._core.clock().astimezone(UTC).date()
        return _Span(today - timedelta(days=PERIODS[period] - 1), today)


def _days(span: _Span, rows: Sequence[Row]) -> tuple[Day, ...]:
    """Return every day of a span, with sums where there are any."""
    by_day = {row["day"]: row for row in rows}
    count = (span.last - span.first).days + 1
    days = (str(span.first + timedelta(days=number)) for number in range(count))
    return tuple(_day(day, by_day.get(day)) for day in days)


def _day(day: str, row: Row | None) -> Day:
    if row is None:
        return Day(day, 0, 0, 0, 0, 0)
    outcomes = _outcomes(row)
    return Day(day, _answered(sum(outcomes)), *outcomes, _answered(row["bytes"]))


def _outcomes(row: Row) -> tuple[int, int, int]:
    return (_answered(row["allowed"]), _answered(row["masked"]), _answered(row["blocked"]))


def _types(rows: Sequence[Row]) -> tuple[TypeByDestination, ...]:
    """Return the types that were found, most frequent first."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row["type"], {})[row["destination"]] = _answered(row["found"])
    by_count = sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    return tuple(
        TypeByDestination(name, label(name), _answered(sum(counts.values())), counts)
        for name, counts in by_count
    )


def _answered(total: int | None) -> int:
    """Return a total, limited to the largest number that an answer may hold."""
    return min(total or 0, LARGEST_NUMBER)


def percentages(counts: Sequence[int]) -> list[float]:
    """Return the shares of counts in tenths of a percent. They add up to 100: the largest
    remainders are rounded up.
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
    """Return the display name of a type, as used in summaries."""
    words = counted(type_name, 1, type_labels()).partition(" ")[2]
    return words[:1].upper() + words[1:]
