"""Checks that clients make under a license and report afterwards: what was decided, never what was
checked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.directory import Directory
from dlpctl.control.ledger import Entry, Ledger
from dlpctl.control.licenses import licensed
from dlpctl.control.resources.fields import fail
from dlpctl.control.resources.usage import ReportedCheck, UsageReceipt, UsageReport
from dlpctl.control.signing import TOKEN_LIFETIME
from dlpctl.control.store import Row
from dlpctl.policy.summary import counted
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.control.writer import Batch

CLOCK_TOLERANCE = TOKEN_LIFETIME
"""The time that a client may go on after a license was revoked, and that its clock may be wrong by.
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

        A check is recorded even where its license has expired or its policy was deleted since. It
        must be of the license's life, give or take `CLOCK_TOLERANCE`, and by a policy that the
        organization has or had.
        """
        with self._core.store.reading() as connection:
            row = licensed(connection, self._core, license_key)
        now = self._core.clock()
        life = life_of(row, now)
        checks = UsageReport.read(body).checks
        entries = [_entry(f"checks[{index}]", check, life) for index, check in enumerate(checks)]

        def job(batch: Batch) -> UsageReceipt:
            row = licensed(batch.connection, self._core, license_key)
            _refuse_unknown(batch.connection, row["org_id"], entries)
            ledger = batch.tally(
                Ledger, lambda connection: Ledger(connection, self._directory, self._core)
            )
            recorded = sum(
                ledger.report(row["license_id"], row["org_id"], entry) for entry in entries
            )
            used = ledger.checks(row["license_id"], written(now)[:7])
            return UsageReceipt(
                recorded, len(entries) - recorded, used, row["max_checks_per_month"]
            )

        return self._core.store.run(job)


class Life(NamedTuple):
    """When a license could be used."""

    first: datetime
    last: datetime
    now: datetime

    def checked(self, path: str, given: str) -> datetime:
        """Return a moment of the license's life; another one is refused."""
        moment = datetime.fromisoformat(given)
        if not self.first - CLOCK_TOLERANCE <= moment <= self.last + CLOCK_TOLERANCE:
            hours = int(CLOCK_TOLERANCE.total_seconds()) // 3600
            fail(
                path,
                f"must be between {written(self.first)} and {written(self.last)}, when the license could be used,"
                f" with a tolerance of {hours} hours; see to the clock of the client",
            )
        return moment


def life_of(license_row: Row, now: datetime) -> Life:
    first, *ends = (
        datetime.fromisoformat(license_row[name])
        for name in ("created_at", "expires_at", "revoked_at")
        if license_row[name]
    )
    return Life(first, min(now, *ends), now)


def _refuse_unknown(connection: sqlite3.Connection, org_id: str, entries: Sequence[Entry]) -> None:
    """Refuse a report that names unknown policies, before anything of it is recorded."""
    owned: dict[str, bool] = {}
    for place, entry in enumerate(entries):
        if entry.policy_id not in owned:
            row = connection.execute(
                "SELECT 1 FROM policy_owners WHERE policy_id = ? AND org_id = ?",
                (entry.policy_id, org_id),
            ).fetchone()
            owned[entry.policy_id] = row is not None
        if not owned[entry.policy_id]:
            fail(
                f"checks[{place}].policy_id",
                "the license's organization has never had such a policy",
            )


def _entry(path: str, check: ReportedCheck, life: Life) -> Entry:
    """Return a reported check; one in the future, by a fast clock, is of now."""
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
