"""Sums that a client's library reports of the checks it has made under a license: numbers by
decision, type and destination.

They count against the license's month and in analytics, on the day on which their period ends.
The audit log lists single checks, and so none of these.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dlpctl.control.clock import written
from dlpctl.control.core import Core
from dlpctl.control.directory import Directory
from dlpctl.control.ledger import Ledger, Sums
from dlpctl.control.licenses import licensed
from dlpctl.control.resources.fields import fail, read_moment
from dlpctl.control.resources.usage import MetricsBatch, MetricsReceipt, MetricsSums
from dlpctl.control.usage import Life, life_of
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.control.writer import Batch


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
        given = MetricsBatch.read(body)
        _same_key(given.license_key, license_key or "")
        if given.policy_group not in (None, *(group["name"] for group in groups)):
            fail("policy_group", "the license covers no such policy group")
        end = _end(given.period, life_of(row, self._core.clock()))
        sums = _sums(given.aggregated)

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


def _same_key(given: object, license_key: str) -> None:
    """Compare the key, which the library repeats in the body; it is kept nowhere."""
    if given is None:
        return
    if not isinstance(given, str) or not hmac.compare_digest(
        given.encode("utf-8", "replace"), license_key.encode("utf-8", "replace")
    ):
        fail("license_key", "is not the key that the request is sent with")


def _end(period: str, life: Life) -> datetime:
    """Return when a period ended; now for one that a fast clock has put into the future."""
    first, last = (
        life.checked("period", read_moment(half, "period")) for half in period.split("/")
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
