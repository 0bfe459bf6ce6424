"""Sums that a client's library reports of the checks it has made under a license: numbers by
decision, type and destination.

They count against the license's month and in analytics, on the day on which their period ends.
The audit log lists single checks, and so none of these.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.directory import Directory
from dlpctl.control.fields import Fields, fail
from dlpctl.control.ledger import Ledger, Sums
from dlpctl.control.licenses import licensed
from dlpctl.control.records import MetricsReceipt
from dlpctl.control.usage import MAX_FINDINGS, MAX_TYPES, TYPE_NAME, Life, life_of
from dlpctl.errors import RequestError
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from dlpctl.control.writer import Batch

MAX_METRICS_CHECKS = 1_000_000
MAX_DURATION_MS = 86_400_000
MAX_VERSION = 100
_FIELDS = ("license_key", "sdk_version", "policy_group", "period", "aggregated")
_AGGREGATED = (
    "total_checks",
    "bytes_scanned",
    "decisions",
    "detections",
    "avg_duration_ms",
    "destinations",
)


class ClientMetrics:
    def __init__(self, core: Core, directory: Directory) -> None:
        self._core = core
        self._directory = directory

    def report(self, license_key: str | None, body: Mapping[str, Any]) -> MetricsReceipt:
        with self._core.store.reading() as connection:
            row = licensed(connection, self._core, license_key)
            groups = connection.execute(
                "SELECT name FROM license_groups JOIN policy_groups USING (group_id) WHERE license_id = ?",
                (row["license_id"],),
            ).fetchall()
        fields = Fields(body, _FIELDS)
        _same_key(fields, license_key or "")
        _optional_text(fields, "sdk_version", MAX_VERSION)
        group = fields.given("policy_group")
        if group is not None and group not in [one["name"] for one in groups]:
            fail("policy_group", "the license covers no such policy group")
        end = _end(fields, life_of(row, self._core.clock()))
        sums = _sums(fields.given("aggregated"))

        def job(batch: Batch) -> MetricsReceipt:
            row = licensed(batch.connection, self._core, license_key)
            ledger = batch.tally(
                Ledger, lambda connection: Ledger(connection, self._directory, self._core)
            )
            day = written(end)[:10]
            ledger.add_sums(row["license_id"], row["org_id"], day, sums)
            used = ledger.checks(row["license_id"], written(self._core.clock())[:7])
            return MetricsReceipt(sums.checks, used, row["max_checks_per_month"])

        return self._core.store.run(job)


def _same_key(fields: Fields, license_key: str) -> None:
    """The library repeats the key in the body; it is compared, and kept nowhere."""
    given = fields.given("license_key")
    if given is None:
        return
    if not isinstance(given, str) or not hmac.compare_digest(
        given.encode("utf-8", "replace"), license_key.encode("utf-8", "replace")
    ):
        fail("license_key", "is not the key that the request is sent with")


def _optional_text(fields: Fields, field: str, longest: int) -> None:
    if fields.given(field) is not None and len(fields.text(field)) > longest:
        fail(field, f"is longer than {longest} characters")


def _end(fields: Fields, life: Life) -> datetime:
    """Return when a period ended; now for one that a fast clock has put into the future."""
    start, slash, end = fields.text("period").partition("/")
    if not slash:
        fail("period", 'must be two moments in ISO 8601 with "/" between them')
    halves = Fields({"period": start}, ("period",)), Fields({"period": end}, ("period",))
    first, last = (
        life.checked("period", datetime.fromisoformat(half.moment("period"))) for half in halves
    )
    if first > last:
        fail("period", "ends before it starts")
    return min(last, life.now)


def _sums(given: object) -> Sums:
    fields = Fields(given, _AGGREGATED, "aggregated")
    try:
        checks = fields.whole("total_checks", 1, MAX_METRICS_CHECKS)
        decisions = _counts(fields, "decisions", tuple(Decision), checks, checks)
        _counts(fields, "destinations", tuple(Destination), checks, checks)
        found = _counts(fields, "detections", TYPE_NAME.fullmatch, MAX_FINDINGS)
        if len(found) > MAX_TYPES:
            fail("detections", f"must have at most {MAX_TYPES} types")
        _duration(fields)
        size = fields.whole("bytes_scanned", 0)
    except RequestError as error:
        raise RequestError(f"aggregated.{error.message}") from None
    return Sums(
        decisions.get(Decision.ALLOWED, 0),
        decisions.get(Decision.ALLOWED_WITH_MASKING, 0),
        decisions.get(Decision.BLOCKED, 0),
        size,
        {name: count for name, count in found.items() if count},
    )


def _counts(
    fields: Fields,
    field: str,
    known: Iterable[str] | Callable[[str], object],
    most: int,
    total: int | None = None,
) -> dict[str, int]:
    """Return numbers by name; with a `total`, they must add up to it."""
    given = fields.given(field)
    if not isinstance(given, Mapping):
        fail(field, "is missing" if given is None else "must be an object of numbers")
    if callable(known):
        names = [name for name in given if isinstance(name, str) and known(name)]
        if len(names) != len(given):
            fail(field, "must have names of types such as EMAIL")
    else:
        names = list(known)
    try:
        inner = Fields(given, names)
        counts = {name: inner.whole(name, 0, most) for name in given}
    except RequestError as error:
        raise RequestError(f"{field}.{error.message}") from None
    if total is not None and sum(counts.values()) != total:
        fail(field, f"must add up to total_checks, which is {total:,}")
    return counts


def _duration(fields: Fields) -> None:
    given = fields.given("avg_duration_ms")
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not math.isfinite(given) or not 0 <= given <= MAX_DURATION_MS:
        fail("avg_duration_ms", f"must be a number from 0 to {MAX_DURATION_MS:,}")
