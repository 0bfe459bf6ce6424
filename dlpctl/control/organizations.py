"""Organizations. A new one gets a trial license, and a default policy in a default policy group."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from dlpctl.control.access import Access, Role
from dlpctl.control.core import Core, find_organization, new_id
from dlpctl.control.database import Row
from dlpctl.control.events import record
from dlpctl.control.groups import insert_group
from dlpctl.control.licenses import Plan, insert_license
from dlpctl.control.policies import insert_policy
from dlpctl.control.resources.fields import fail, read
from dlpctl.control.resources.organizations import (
    MAX_SETTINGS,
    CreatedOrganization,
    Organization,
    OrganizationChange,
    OrganizationRequest,
)
from dlpctl.control.writer import Batch
from dlpctl.errors import ConflictError
from dlpctl.mappings import as_json
from dlpctl.policy.model import Policy
from dlpctl.regex import lazy

_NOT_IN_SLUGS = lazy(r"[^a-z0-9]+")
_MAX_SETTINGS_BYTES = 16_384


class Organizations:
    def __init__(self, core: Core) -> None:
        self._core = core

    def list(self, access: Access) -> tuple[Organization, ...]:
        with self._core.store.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM organizations WHERE ? IS NULL OR org_id = ? ORDER BY created_at,"
                " rowid",
                (access.org_id, access.org_id),
            ).fetchall()
        return tuple(_organization(row) for row in rows)

    def create(self, access: Access, body: Mapping[str, Any]) -> CreatedOrganization:
        access.require_everywhere(Role.ADMIN)
        given = OrganizationRequest.read(body)
        slug = given.slug if given.slug is not None else _slug_from(given.name)
        settings = _settings(given.settings or {}, {})

        def job(batch: Batch) -> CreatedOrganization:
            if batch.execute("SELECT 1 FROM organizations WHERE slug = ?", (slug,)).fetchone():
                raise ConflictError(f"slug: {slug!r} is taken; choose another one")
            now = self._core.now()
            org_id = new_id("org")
            batch.insert(
                "organizations",
                org_id=org_id,
                name=given.name,
                slug=slug,
                settings=json.dumps(settings),
                created_at=now,
                updated_at=now,
            )
            group_id = insert_group(batch, org_id, "default", "", is_default=True, now=now)
            policy = Policy.builtin()
            insert_policy(batch, self._core, org_id, policy, [group_id], is_active=True)
            licensed = insert_license(batch, self._core, org_id, Plan.of("trial"), [group_id])
            record(batch, self._core, access, "organization.created", org_id, org_id)
            return CreatedOrganization(
                *(org_id, given.name, slug, settings, now, now),
                *(licensed.license_id, licensed.license_key),
                *(licensed.license_type, licensed.expires_at),
            )

        return self._core.store.run(job)

    def get(self, access: Access, org: str) -> Organization:
        with self._core.store.reading() as connection:
            return _organization(find_organization(connection, access, org))

    def update(self, access: Access, org: str, body: Mapping[str, Any]) -> Organization:
        access.require(Role.EDITOR)
        given = OrganizationChange.read(body)

        def job(batch: Batch) -> Organization:
            row = find_organization(batch.connection, access, org)
            settings = json.loads(row["settings"])
            if given.settings is not None:
                settings = _settings(given.settings, settings)
            org_id = row["org_id"]
            name, now = given.name or row["name"], self._core.now()
            stored = {"name": name, "settings": json.dumps(settings), "updated_at": now}
            batch.update("organizations", "org_id", org_id, **stored)
            record(batch, self._core, access, "organization.updated", org_id, org_id)
            return _organization(find_organization(batch.connection, access, org_id))

        return self._core.store.run(job)

    def delete(self, access: Access, org: str) -> None:
        """Delete an organization with its policies, groups, licenses, tokens and analytics; its
        audit log is kept.
        """
        access.require_everywhere(Role.ADMIN)

        def job(batch: Batch) -> None:
            row = find_organization(batch.connection, access, org)
            batch.execute("DELETE FROM organizations WHERE org_id = ?", (row["org_id"],))
            record(batch, self._core, access, "organization.deleted", row["org_id"], row["org_id"])

        self._core.store.run(job)


def _organization(row: Row) -> Organization:
    values = {name: row[name] for name in Organization.fields}
    return Organization(**values | {"settings": json.loads(row["settings"])})


def _slug_from(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = _NOT_IN_SLUGS.sub("-", plain).strip("-")[:63].strip("-")
    if not slug:
        fail("slug", f"cannot be made from the name {name!r}; give one")
    return slug


def _settings(given: Mapping[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the settings after a change; null removes a key."""
    checked = {key: read(value, f"settings.{key}", as_json) for key, value in given.items()}
    merged = {key: value for key, value in (before | checked).items() if value is not None}
    if len(merged) > MAX_SETTINGS or len(json.dumps(merged)) > _MAX_SETTINGS_BYTES:
        fail("settings", f"must have at most {MAX_SETTINGS} keys and {_MAX_SETTINGS_BYTES:,} bytes")
    return merged
