"""Checks that clients have made by themselves under a license, told afterwards: what was decided,
and never what was checked.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.directory import Directory
from dlpctl.control.fields import Fields, fail
from dlpctl.control.ledger import Entry, Ledger
from dlpctl.control.licenses import licensed
from dlpctl.control.records import UsageReceipt
from dlpctl.control.signing import TOKEN_LIFETIME
from dlpctl.control.store import Row
from dlpctl.errors import RequestError
from dlpctl.policy.summary import counted
from dlpctl.regex import lazy
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from dlpctl.control.writer import Batch

CLOCK_TOLERANCE = TOKEN_LIFETIME
"""The time that a client may go on after a license was revoked, and that its clock may be wrong by.
"""
MAX_CHECKS = 500
MAX_TYPES = 200
MAX_FINDINGS = 1_000_000_000
_LISTED_TYPES = 4
_WORDS = {
    Decision.ALLOWED: "Allowed",
    Decision.ALLOWED_WITH_MASKING: "Allowed with masking",
    Decision.BLOCKED: "Blocked",
}
_PREFLIGHT_ID = lazy(r"pf_[0-9a-f]{24}")
_POLICY_ID = lazy(r"pol_[0-9a-f]{24}")
TYPE_NAME = lazy(r"[A-Z][A-Z0-9_]{0,63}")
_VERSION = lazy(r"[0-9]{1,9}\.[0-9]{1,9}")
_FIELDS = (
    "preflight_id",
    "created_at",
    "destination",
    "decision",
    "policy_id",
    "policy_version",
    "bytes",
    "is_file",
    "detected",
)


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
        checks = Fields(body, ("checks",)).given("checks")
        if not isinstance(checks, list) or not 1 <= len(checks) <= MAX_CHECKS:
            fail("checks", f"must be a list of 1 to {MAX_CHECKS} checks")
        now = self._core.clock()
        life = life_of(row, now)
        entries = [_entry(f"checks[{place}]", check, life) for place, check in enumerate(checks)]

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

    def moment(self, fields: Fields, field: str) -> datetime:
        """Return a moment of the license's life; one in the future, by a fast clock, is now."""
        return min(self.checked(field, datetime.fromisoformat(fields.moment(field))), self.now)

    def checked(self, field: str, moment: datetime) -> datetime:
        if not self.first - CLOCK_TOLERANCE <= moment <= self.last + CLOCK_TOLERANCE:
            hours = int(CLOCK_TOLERANCE.total_seconds()) // 3600
            fail(
                field,
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
    """Before anything is recorded: a report is taken whole or not at all."""
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


def _entry(place: str, check: object, life: Life) -> Entry:
    fields = Fields(check, _FIELDS, place)
    try:
        moment = life.moment(fields, "created_at")
        detected = _detected(fields.given("detected"))
        decision = Decision(fields.choice("decision", Decision))
        destination = Destination(fields.choice("destination", Destination))
        return Entry(
            _like(fields, "policy_id", _POLICY_ID, "the id of a policy"),
            _like(fields, "preflight_id", _PREFLIGHT_ID, "'pf_' and 24 hexadecimal digits"),
            moment,
            written(moment),
            destination.value,
            decision.value,
            _summary(decision, destination, detected),
            detected,
            _like(fields, "policy_version", _VERSION, "a version such as 1.0"),
            fields.whole("bytes", 0),
            fields.flag("is_file", False),
        )
    except RequestError as error:
        raise RequestError(f"{place}.{error.message}") from None


def _like(fields: Fields, field: str, shape: re.Pattern[str], wanted: str) -> str:
    value = fields.text(field)
    if not shape.fullmatch(value):
        fail(field, f"must be {wanted}")
    return value


def _detected(given: object) -> tuple[tuple[str, int, None], ...]:
    if not isinstance(given, list) or len(given) > MAX_TYPES:
        fail("detected", f"must be a list of at most {MAX_TYPES} types")
    detected = []
    for place, one in enumerate(given):
        fields = Fields(one, ("type", "count"), f"detected[{place}]")
        try:
            name = _like(fields, "type", TYPE_NAME, "the name of a type such as EMAIL")
            detected.append((name, fields.whole("count", 1, MAX_FINDINGS), None))
        except RequestError as error:
            raise RequestError(f"detected[{place}].{error.message}") from None
    return tuple(detected)


def _summary(
    decision: Decision, to: Destination, detected: tuple[tuple[str, int, None], ...]
) -> str:
    """What can be said of a check that another program has made."""
    parts = [counted(name, count, {}) for name, count, _ in detected[:_LISTED_TYPES]]
    if len(detected) > _LISTED_TYPES:
        parts.append(f"{len(detected) - _LISTED_TYPES} other types")
    found = f"found {', '.join(parts)}" if parts else "nothing sensitive found"
    return f"{_WORDS[decision]} for {to} by a client; {found}"
