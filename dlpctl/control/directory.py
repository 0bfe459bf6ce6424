"""Look up the policy of a key, with its organization and licenses.

Results are cached until any process changes the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from dlpctl.control.clock import next_month, written
from dlpctl.control.database import GENERATION, Connection
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.control.licenses import PLANS, not_usable
from dlpctl.control.seals import check_rows
from dlpctl.errors import ForbiddenError, QuotaError, TamperedError

_COVERS = (
    ("group_policies", "SELECT * FROM group_policies WHERE policy_id = ?"),
    (
        "license_groups",
        (
            "SELECT license_groups.* FROM group_policies JOIN license_groups USING (group_id) WHERE"
            " policy_id = ?"
        ),
    ),
)
"""The rows that place a policy under a license."""
_LICENSES = (
    "SELECT DISTINCT licenses.* FROM group_policies JOIN license_groups USING (group_id)"
    " JOIN licenses USING (license_id) WHERE policy_id = ? ORDER BY licenses.created_at,"
    " licenses.rowid"
)


class Terms(NamedTuple):
    """The terms of a license that a check depends on."""

    license_id: str
    license_type: str
    max_checks: int
    expires_at: str
    refusal: str
    """The reason why the license was not valid when it was read; empty if it was valid."""


class CoveredPolicy(NamedTuple):
    """A policy with its organization, and the licenses that cover it, best first."""

    policy_id: str
    policy_name: str
    version: str
    is_active: bool
    org_id: str
    org_slug: str
    org_name: str
    keeps_samples: bool
    licenses: tuple[Terms, ...]
    asked_by: str | None = None
    """The policy whose key asked for a check by this policy, if it is another one."""


class _Known(NamedTuple):
    generation: bytes
    policies: dict[bytes, str]
    covered: dict[str, CoveredPolicy]
    used: dict[tuple[str, str], int]
    """The last known number of checks by license and month; other processes may have added more."""
    sealed: dict[tuple[str, str], tuple[int, bytes]]
    """The counters as this process has last written them, with their seals."""


class Directory:
    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        self._known = _Known(b"", {}, {}, {}, {})

    def remembered(self, generation: bytes, lookup: bytes) -> CoveredPolicy | None:
        """Return the policy of a key if it is cached for this generation of the store."""
        known = self._known
        return (
            known.covered.get(known.policies.get(lookup, ""))
            if known.generation == generation
            else None
        )

    @property
    def sealed(self) -> dict[tuple[str, str], tuple[int, bytes]]:
        return self._known.sealed

    def used(self, license_id: str, month: str) -> int:
        return self._known.used.get((license_id, month), 0)

    def count(self, used: Mapping[tuple[str, str], int]) -> None:
        self._known.used.update(used)

    def policy_of_key(self, connection: Connection, lookup: bytes) -> str | None:
        known = self._current(connection)
        policy_id = known.policies.get(lookup)
        if policy_id is None:
            row = connection.execute(
                "SELECT policy_id FROM policies WHERE key_lookup = ?", (lookup,)
            ).fetchone()
            if row is None:
                return None
            policy_id = known.policies[lookup] = row["policy_id"]
        return policy_id

    def covered(self, connection: Connection, policy_id: str) -> CoveredPolicy | None:
        known = self._current(connection)
        covered = known.covered.get(policy_id)
        if covered is None:
            covered = _read(connection, self._ring.current, policy_id)
            if covered is not None:
                known.covered[policy_id] = covered
        return covered

    def _current(self, connection: Connection) -> _Known:
        generation: bytes = connection.execute(GENERATION).fetchone()[0]
        known = self._known
        if known.generation != generation:
            known = self._known = _Known(generation, {}, {}, {}, {})
        return known


def _read(connection: Connection, secrets: Secrets, policy_id: str) -> CoveredPolicy | None:
    """Read the data that a decision depends on; raise `TamperedError` if another program wrote any
    of it.
    """
    row = connection.execute("SELECT * FROM policies WHERE policy_id = ?", (policy_id,)).fetchone()
    if row is None:
        return None
    organization = connection.execute(
        "SELECT * FROM organizations WHERE org_id = ?", (row["org_id"],)
    ).fetchone()
    if organization is None:
        raise TamperedError.of("organizations", row["org_id"])
    check_rows(connection, secrets, "policies", [row])
    check_rows(connection, secrets, "organizations", [organization])
    policy = json.loads(row["body"])
    for table, sql in _COVERS:
        check_rows(connection, secrets, table, connection.execute(sql, (policy_id,)).fetchall())
    licenses = connection.execute(_LICENSES, (policy_id,)).fetchall()
    check_rows(connection, secrets, "licenses", licenses)
    terms = [
        Terms(
            each["license_id"],
            each["license_type"],
            each["max_checks_per_month"],
            each["expires_at"],
            not_usable(each, ""),
        )
        for each in licenses
    ]
    best = list(reversed(PLANS))
    terms.sort(key=lambda each: best.index(each.license_type))
    return CoveredPolicy(
        policy_id,
        policy["name"],
        policy["version"],
        bool(row["is_active"]),
        row["org_id"],
        organization["slug"],
        organization["name"],
        json.loads(organization["settings"]).get("retention") != "NONE",
        tuple(terms),
    )


def deleted_policy(connection: Connection, policy_id: str, org_id: str) -> CoveredPolicy:
    """Return a deleted policy, as far as the log describes it."""
    row = connection.execute("SELECT * FROM organizations WHERE org_id = ?", (org_id,)).fetchone()
    keeps_samples = json.loads(row["settings"]).get("retention") != "NONE"
    return CoveredPolicy(
        policy_id, "(deleted)", "", False, org_id, row["slug"], row["name"], keeps_samples, ()
    )


def license_for(covered: CoveredPolicy, now: datetime, used: Callable[[str], int]) -> Terms:
    """Return the license that a check counts against. `used` returns the number of checks of a
    license in this month.
    """
    if not covered.is_active:
        raise ForbiddenError(f"the policy {covered.policy_id} is not active")
    if not covered.licenses:
        raise ForbiddenError(
            f"the policy {covered.policy_id} is in no policy group that a license covers"
        )
    moment, refusal, spent = written(now), "", None
    for terms in covered.licenses:
        if terms.refusal or terms.expires_at <= moment:
            refusal = (
                terms.refusal or f"the license {terms.license_id} expired on {terms.expires_at}"
            )
        elif used(terms.license_id) < terms.max_checks:
            return terms
        else:
            spent = terms
    if spent is None:
        raise ForbiddenError(refusal)
    next_start = next_month(now)
    raise QuotaError(
        f"the monthly quota of {spent.max_checks:,} checks is used up; it starts again on"
        f" {written(next_start)}",
        limit=spent.max_checks,
        retry_after=max(1, int((next_start - now).total_seconds())),
    )
