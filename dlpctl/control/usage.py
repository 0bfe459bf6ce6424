"""Checks that clients make under a license and report later: decisions, but never content."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.database import Connection, Row
from dlpctl.control.directory import Directory
from dlpctl.control.ledger import Entry, Ledger, Sums
from dlpctl.control.licenses import licensed
from dlpctl.control.resources.fields import as_moment, fail, read
from dlpctl.control.resources.usage import (
    MetricsBatch,
    MetricsReceipt,
    MetricsSums,
    ReportedCheck,
    UsageReceipt,
    UsageReport,
)
from dlpctl.control.signing import TOKEN_LIFETIME
from dlpctl.policy.summary import counted
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.control.writer import Batch

CLOCK_TOLERANCE = TOKEN_LIFETIME
"""The time for which a client may continue after its license was revoked, and the largest error of
its clock that is accepted.
"""
_LISTED_TYPES = 4
_WORDS = {
    Decision.ALLOWED: "Allowed",
    Decision.ALLOWED_WITH_MASKING: "Allowed with masking",
    Decision.BLOCKED: "Blocked",
}


class Usage:
    def __init__(self, core: Core, directory: Directory) -> None:
        self._core = core
        self._directory = directory

    def report(self, license_key: str | None, body: Mapping[str, Any]) -> UsageReceipt:
        """Count each check once, however often it is reported.

        A check is recorded even if its license has expired or its policy was deleted since. Its
        time must be within the license's life, give or take `CLOCK_TOLERANCE`, and its policy must
        be one that the organization has or had.
        """
        with self._core.store.reading() as connection:
            row = licensed(connection, self._core, license_key)
        now = self._core.clock()
        life = _life_of(row, now)
        checks = UsageReport.read(body).checks
        entries = [_entry(f"checks[{index}]", check, life) for index, check in enumerate(checks)]

        def job(batch: Batch) -> UsageReceipt:
            row = licensed(batch.connection, self._core, license_key)
            _refuse_unknown(batch.connection, row["org_id"], entries)
            ledger = Ledger.of(batch, self._directory, self._core)
            recorded = sum(
                ledger.report(row["license_id"], row["org_id"], entry) for entry in entries
            )
            used = ledger.checks(row["license_id"], written(now)[:7])
            return UsageReceipt(
                recorded, len(entries) - recorded, used, row["max_checks_per_month"]
            )

        return self._core.store.run(job)

    def report_sums(self, license_key: str | None, body: Mapping[str, Any]) -> MetricsReceipt:
        """Count checks that a client library reports only as numbers.

        They count in analytics on the day on which their period ends, and against the license's
        quota for the month. They are not in the audit log, which lists single checks.
        """
        with self._core.store.reading() as connection:
            row = licensed(connection, self._core, license_key)
            groups = connection.execute(
                "SELECT name FROM license_groups JOIN policy_groups USING (group_id) WHERE"
                " license_id = ?",
                (row["license_id"],),
            ).fetchall()
        given = MetricsBatch.read(body)
        _require_same_key(given.license_key, license_key or "")
        if given.policy_group not in (None, *(group["name"] for group in groups)):
            fail("policy_group", "the license covers no such policy group")
        end = _period_end(given.period, _life_of(row, self._core.clock()))
        sums = _sums(given.aggregated)

        def job(batch: Batch) -> MetricsReceipt:
            row = licensed(batch.connection, self._core, license_key)
            ledger = Ledger.of(batch, self._directory, self._core)
            day = written(end)[:10]
            ledger.add_sums(row["license_id"], row["org_id"], day, sums)
            used = ledger.checks(row["license_id"], written(self._core.clock())[:7])
            return MetricsReceipt(sums.checks, used, row["max_checks_per_month"])

        return self._core.store.run(job)


class Life(NamedTuple):
    """The time in which a license could be used."""

    first: datetime
    last: datetime
    now: datetime

    def checked(self, path: str, given: str) -> datetime:
        """Return a time within the license's life; refuse any other."""
        moment = datetime.fromisoformat(given)
        if not self.first - CLOCK_TOLERANCE <= moment <= self.last + CLOCK_TOLERANCE:
            hours = int(CLOCK_TOLERANCE.total_seconds()) // 3600
            fail(
                path,
                f"must be between {written(self.first)} and {written(self.last)}, when the"
                f" license could be used,"
                f" with a tolerance of {hours} hours; see to the clock of the client",
            )
        return moment


def _life_of(license_row: Row, now: datetime) -> Life:
    first, *ends = (
        datetime.fromisoformat(license_row[name])
        for name in ("created_at", "expires_at", "revoked_at")
        if license_row[name]
    )
    return Life(first, min(now, *ends), now)


def _refuse_unknown(connection: Connection, org_id: str, entries: Sequence[Entry]) -> None:
    """Refuse a report that names unknown policies, before any part of it is recorded."""
    owned: dict[str, bool] = {}
    for index, entry in enumerate(entries):
        if entry.policy_id not in owned:
            row = connection.execute(
                "SELECT 1 FROM policy_owners WHERE policy_id = ? AND org_id = ?",
                (entry.policy_id, org_id),
            ).fetchone()
            owned[entry.policy_id] = row is not None
        if not owned[entry.policy_id]:
            fail(
                f"checks[{index}].policy_id",
                "the license's organization has never had such a policy",
            )


def _entry(path: str, check: ReportedCheck, life: Life) -> Entry:
    """Return a reported check; a time in the future (from a fast clock) becomes the current one."""
    moment = min(life.checked(f"{path}.created_at", check.created_at), life.now)
    detected = tuple((each.type, each.count, None) for each in check.detected)
    return Entry(
        check.policy_id,
        check.preflight_id,
        moment,
        written(moment),
        check.destination,
        check.decision,
        _summary(check.decision, check.destination, detected),
        detected,
        check.policy_version,
        check.bytes,
        check.is_file,
    )


def _summary(decision: str, to: str, detected: tuple[tuple[str, int, None], ...]) -> str:
    """Return the summary of a check that another program has made."""
    parts = [counted(name, count, {}) for name, count, _ in detected[:_LISTED_TYPES]]
    if len(detected) > _LISTED_TYPES:
        parts.append(f"{len(detected) - _LISTED_TYPES} other types")
    found = f"found {', '.join(parts)}" if parts else "nothing sensitive found"
    return f"{_WORDS[Decision(decision)]} for {to} by a client; {found}"


def _require_same_key(given: object, license_key: str) -> None:
    """Require that the key in the body is the key that authorized the request; it is not stored."""
    if given is None:
        return
    if not isinstance(given, str) or not hmac.compare_digest(
        given.encode("utf-8", "replace"), license_key.encode("utf-8", "replace")
    ):
        fail("license_key", "is not the key that the request is sent with")


def _period_end(period: str, life: Life) -> datetime:
    """Return the end of a period; the current time if a fast clock has put it in the future."""
    first, last = (
        life.checked("period", read(half, "period", as_moment)) for half in period.split("/")
    )
    if first > last:
        fail("period", "ends before it starts")
    return min(last, life.now)


def _sums(given: MetricsSums) -> Sums:
    total, decisions = given.total_checks, given.decisions
    for field, counts in (("decisions", decisions), ("destinations", given.destinations)):
        if sum(counts.values()) != total:
            fail(f"aggregated.{field}", f"must add up to total_checks, which is {total:,}")
    return Sums(
        decisions.get(Decision.ALLOWED, 0),
        decisions.get(Decision.ALLOWED_WITH_MASKING, 0),
        decisions.get(Decision.BLOCKED, 0),
        given.bytes_scanned,
        {name: count for name, count in given.detections.items() if count},
    )
