"""Which policy a key belongs to, and what stands behind that policy: remembered until anything of
it changes, in whatever process.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from dlpctl.control.clock import next_month, written
from dlpctl.control.keys import KeyRing, Secrets
from dlpctl.control.licenses import PLANS, not_usable
from dlpctl.control.seals import check_rows
from dlpctl.errors import ForbiddenError, QuotaError, TamperedError

_COVERS = (
    ("group_policies", "SELECT * FROM group_policies WHERE policy_id = ?"),
    (
        "license_groups",
        "SELECT license_groups.* FROM group_policies JOIN license_groups USING (group_id) WHERE policy_id = ?",
    ),
)
"""The rows that put a policy under a license."""
_LICENSES = (
    "SELECT DISTINCT licenses.* FROM group_policies JOIN license_groups USING (group_id)"
    " JOIN licenses USING (license_id) WHERE policy_id = ? ORDER BY licenses.created_at, licenses.rowid"
)


class Terms(NamedTuple):
    """A license, as far as a check asks."""

    license_id: str
    license_type: str
    max_checks: int
    expires_at: str
    refusal: str
    """Why it was no good when it was read."""


class Standing(NamedTuple):
    """A policy with its organization, and the licenses that cover it, the best first."""

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
    """The policy whose key asks for a check by this one, where that is another."""


class _Known(NamedTuple):
    generation: bytes
    policies: dict[bytes, str]
    standings: dict[str, Standing]
    used: dict[tuple[str, str], int]
    """Checks of a license in a month when they were counted last: there may be more by now."""
    sealed: dict[tuple[str, str], tuple[int, bytes]]
    """The same as this process has written it, with its seal."""


class Directory:
    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        self._known = _Known(b"", {}, {}, {}, {})

    def remembered(self, generation: bytes, lookup: bytes) -> Standing | None:
        """What stands behind a key, where that is known and holds for this generation of the store."""
        known = self._known
        return (
            known.standings.get(known.policies.get(lookup, ""))
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

    def policy_of_key(self, connection: sqlite3.Connection, lookup: bytes) -> str | None:
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

    def standing(self, connection: sqlite3.Connection, policy_id: str) -> Standing | None:
        known = self._current(connection)
        standing = known.standings.get(policy_id)
        if standing is None:
            standing = _read(connection, self._ring.current, policy_id)
            if standing is not None:
                known.standings[policy_id] = standing
        return standing

    def _current(self, connection: sqlite3.Connection) -> _Known:
        generation: bytes = connection.execute(
            "SELECT value FROM state WHERE name = 'generation'"
        ).fetchone()[0]
        known = self._known
        if known.generation != generation:
            known = self._known = _Known(generation, {}, {}, {}, {})
        return known


def _read(connection: sqlite3.Connection, secrets: Secrets, policy_id: str) -> Standing | None:
    """Read what a decision depends on; raises `TamperedError` where any of it was not written by
    this program.
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
            one["license_id"],
            one["license_type"],
            one["max_checks_per_month"],
            one["expires_at"],
            not_usable(one, ""),
        )
        for one in licenses
    ]
    best = list(reversed(PLANS))
    terms.sort(key=lambda one: best.index(one.license_type))
    return Standing(
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


def deleted_policy(connection: sqlite3.Connection, policy_id: str, org_id: str) -> Standing:
    """What the log says of a policy that an organization has no more."""
    row = connection.execute("SELECT * FROM organizations WHERE org_id = ?", (org_id,)).fetchone()
    keeps_samples = json.loads(row["settings"]).get("retention") != "NONE"
    return Standing(
        policy_id, "(deleted)", "", False, org_id, row["slug"], row["name"], keeps_samples, ()
    )


def license_for(standing: Standing, now: datetime, used: Callable[[str], int]) -> Terms:
    """The license that a check counts against. `used` says how many checks of the month a license
    has behind it.
    """
    if not standing.is_active:
        raise ForbiddenError(f"the policy {standing.policy_id} is not active")
    if not standing.licenses:
        raise ForbiddenError(
            f"the policy {standing.policy_id} is in no policy group that a license covers"
        )
    moment, refusal, spent = written(now), "", None
    for terms in standing.licenses:
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
    begins = next_month(now)
    raise QuotaError(
        f"the monthly quota of {spent.max_checks:,} checks is used up; it begins anew on {written(begins)}",
        limit=spent.max_checks,
        retry_after=max(1, int((begins - now).total_seconds())),
    )
