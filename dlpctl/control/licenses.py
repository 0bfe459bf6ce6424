"""Licenses of organizations: plans, quotas, expiry, and the tokens of their clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from dlpctl.control.access import LOCAL, Access, Role
from dlpctl.control.clock import written
from dlpctl.control.core import Core, find, find_organization, key_columns, new_id
from dlpctl.control.database import Connection, Row
from dlpctl.control.events import note_use, record
from dlpctl.control.groups import group_ids
from dlpctl.control.keys import KeyKind, mint, shortened, well_formed
from dlpctl.control.resources.fields import fail
from dlpctl.control.resources.licenses import (
    UNLIMITED,
    License,
    LicenseChange,
    LicenseRequest,
    PublicKey,
    Validation,
)
from dlpctl.control.seals import check_rows
from dlpctl.control.signing import PolicyConfig, Signer, policy_config
from dlpctl.control.writer import Batch
from dlpctl.errors import ConflictError, ForbiddenError, UnauthorizedError

_find = partial(
    find, "SELECT * FROM licenses WHERE org_id = :org_id AND license_id = :given", "license"
)


class Plan(NamedTuple):
    license_type: str
    checks: int
    days: int

    @staticmethod
    def of(license_type: str) -> Plan:
        return PLANS[license_type]


PLANS = {
    plan.license_type: plan
    for plan in (
        Plan("trial", 1_000, 30),
        Plan("standard", 50_000, 365),
        Plan("enterprise", UNLIMITED, 365),
    )
}


class Licenses:
    def __init__(self, core: Core, signer: Signer) -> None:
        self._core = core
        self._signer = signer

    def list(self, access: Access, org: str) -> tuple[License, ...]:
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            rows = connection.execute(
                "SELECT * FROM licenses WHERE org_id = ? ORDER BY created_at, rowid", (org_id,)
            ).fetchall()
            return tuple(stored_license(connection, self._core, access, row) for row in rows)

    def create(self, access: Access, org: str, body: Mapping[str, Any]) -> License:
        access.require_everywhere(Role.ADMIN)
        given = LicenseRequest.read(body)
        plan = Plan.of(given.license_type)
        if given.max_checks_per_month is not None:
            plan = plan._replace(checks=given.max_checks_per_month)
        self._refuse_past(given)

        def job(batch: Batch) -> License:
            org_id = find_organization(batch.connection, access, org)["org_id"]
            covered = group_ids(batch, org_id, given.policy_groups, "policy_groups")
            made = insert_license(batch, self._core, org_id, plan, covered, given.expires_at)
            record(batch, self._core, access, "license.created", made.license_id, org_id)
            return made

        return self._core.store.run(job)

    def extend(self, access: Access, org: str, license_id: str, body: Mapping[str, Any]) -> License:
        access.require_everywhere(Role.ADMIN)
        given = LicenseChange.read(body)
        self._refuse_past(given)
        checks = given.max_checks_per_month
        if checks is None and given.license_type is not None:
            checks = Plan.of(given.license_type).checks

        def job(batch: Batch) -> License:
            row = _find(batch.connection, access, org, license_id)
            if row["revoked_at"]:
                raise ConflictError("the license is revoked; create another one")
            expires = given.expires_at or row["expires_at"]
            batch.update(
                "licenses",
                "license_id",
                license_id,
                license_type=given.license_type or row["license_type"],
                expires_at=expires,
                max_checks_per_month=row["max_checks_per_month"] if checks is None else checks,
                updated_at=self._core.now(),
            )
            details = {"expires_at": expires}
            record(
                batch, self._core, access, "license.updated", license_id, row["org_id"], **details
            )
            again = _find(batch.connection, access, org, license_id)
            return stored_license(batch.connection, self._core, access, again)

        return self._core.store.run(job)

    def revoke(self, access: Access, org: str, license_id: str) -> None:
        """Revoke a license, and deactivate the policies of its groups from the next check on."""
        access.require_everywhere(Role.ADMIN)

        def job(batch: Batch) -> None:
            row = _find(batch.connection, access, org, license_id)
            if row["revoked_at"]:
                return
            now = self._core.now()
            batch.update("licenses", "license_id", license_id, revoked_at=now, updated_at=now)
            batch.execute(
                "UPDATE policies SET is_active = 0, updated_at = ?"
                " WHERE is_active = 1 AND policy_id IN ("
                " SELECT policy_id FROM license_groups JOIN group_policies USING (group_id) WHERE"
                " license_id = ?)",
                (now, license_id),
            )
            record(batch, self._core, access, "license.revoked", license_id, row["org_id"])

        self._core.store.run(job)

    def owner(self, license_key: str | None) -> tuple[str, str]:
        """Return the ids of a license key's license and organization, even for an expired or
        revoked license.
        """
        with self._core.store.reading() as connection:
            row = licensed(connection, self._core, license_key)
        return row["license_id"], row["org_id"]

    def generation(self) -> bytes:
        """Return a value that changes whenever a license may grant something else."""
        return self._core.store.generation()

    def validate(self, license_key: str | None) -> Validation:
        core = self._core
        row, config = core.unless_rotated(lambda: self._covered(license_key))
        note_use(core, row["license_id"], row["org_id"])
        token = self._signer.token(row, config)
        return Validation(
            valid=True,
            expires=row["expires_at"],
            org_id=row["org_id"],
            policy_version=config.policy_version,
            policy_config=config.to_dict(),
            policy_groups=config.group_names,
            default_policy_group=config.default_group,
            jwt_token=token,
        )

    def _covered(self, license_key: str | None) -> tuple[Row, PolicyConfig]:
        core = self._core
        with core.store.reading() as connection:
            row = licensed(connection, core, license_key)
            if why := not_usable(row, core.now()):
                raise ForbiddenError(why)
            return row, policy_config(connection, core.ring.current, row["license_id"])

    def public_key(self, key_id: str | None = None) -> PublicKey:
        return self._signer.public_key(key_id)

    def rotate_keys(self, access: Access) -> PublicKey:
        """Sign tokens with a new key; tokens already issued stay valid until they expire."""
        access.require_everywhere(Role.ADMIN)
        return self._signer.rotate(access)

    def _refuse_past(self, given: LicenseChange) -> None:
        if given.expires_at is not None and given.expires_at <= self._core.now():
            fail("expires_at", "must be in the future")


def insert_license(
    batch: Batch,
    core: Core,
    org_id: str,
    plan: Plan,
    groups: Iterable[str],
    expires: str | None = None,
) -> License:
    """Insert a license; the first of its groups is its default group."""
    license_id, key, now = new_id("lic"), mint(KeyKind.LICENSE), core.now()
    batch.insert(
        "licenses",
        license_id=license_id,
        org_id=org_id,
        license_type=plan.license_type,
        **key_columns(core, key, license_id),
        expires_at=expires or written(core.clock() + timedelta(days=plan.days)),
        max_checks_per_month=plan.checks,
        created_at=now,
        updated_at=now,
    )
    for position, group_id in enumerate(groups):
        batch.execute(
            "INSERT INTO license_groups VALUES (?, ?, ?)", (license_id, group_id, position == 0)
        )
    row = batch.execute("SELECT * FROM licenses WHERE license_id = ?", (license_id,)).fetchone()
    return stored_license(batch.connection, core, LOCAL, row)


def licensed(connection: Connection, core: Core, license_key: str | None) -> Row:
    """Return the license of a key, even if it has expired or was revoked."""
    if not license_key:
        raise UnauthorizedError("send the license key as 'Authorization: Bearer <LICENSE_KEY>'")
    row: Row | None = None
    if well_formed(KeyKind.LICENSE, license_key):
        lookup = core.ring.lookup(license_key)
        row = connection.execute(
            "SELECT * FROM licenses WHERE key_lookup = ?", (lookup,)
        ).fetchone()
    if row is None:
        raise UnauthorizedError("the license key is unknown")
    check_rows(connection, core.ring.current, "licenses", [row])
    return row


def not_usable(row: Row, now: str) -> str:
    """Return the reason why a license is not valid, or an empty text."""
    if row["revoked_at"]:
        return f"the license {row['license_id']} was revoked on {row['revoked_at']}"
    if row["expires_at"] <= now:
        return f"the license {row['license_id']} expired on {row['expires_at']}"
    return ""


def stored_license(connection: Connection, core: Core, access: Access, row: Row) -> License:
    now = core.now()
    groups = connection.execute(
        "SELECT name, license_groups.is_default FROM license_groups JOIN policy_groups USING"
        " (group_id)"
        " WHERE license_id = ? ORDER BY license_groups.is_default DESC, name",
        (row["license_id"],),
    ).fetchall()
    used = connection.execute(
        "SELECT checks FROM usage WHERE license_id = ? AND month = ?", (row["license_id"], now[:7])
    ).fetchone()
    key = core.ring.open(row["key_sealed"], row["license_id"]).decode()
    status = "revoked" if row["revoked_at"] else "expired" if row["expires_at"] <= now else "active"
    return License(
        **{name: row[name] for name in License.fields if name in row.keys()},  # noqa: SIM118
        license_key=key if access.sees_keys else shortened(key),
        status=status,
        default_policy_group=groups[0]["name"] if groups else "",
        policy_groups=tuple(group["name"] for group in groups),
        checks_this_month=used["checks"] if used else 0,
    )
