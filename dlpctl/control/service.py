"""The services of the control plane, as whoever stands on them sees them.

Errors are those of `dlpctl.errors`, each with its `http_status`. `org` is an id or a slug. Answers are those of `records`, whose `to_dict`
is the JSON of the interface. All methods may be called from any thread, and by several processes on one database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from dlpctl.control.access import Access
from dlpctl.control.records import (
    AuditItem,
    AuditPage,
    ChainReport,
    CheckResult,
    CreatedOrganization,
    DetectionBreakdown,
    Group,
    License,
    MaskedFile,
    Organization,
    OrganizationAnalytics,
    PolicyKey,
    PolicyVersion,
    PublicKey,
    StoredPolicy,
    TimeSeries,
    Token,
    Validation,
)

Body = Mapping[str, Any]
"""A request's JSON object. What is wrong with it is a `RequestError` that begins with the field; only the keys that are there change."""


class Organizations(Protocol):
    def list(self, access: Access) -> Sequence[Organization]: ...
    def create(self, access: Access, body: Body) -> CreatedOrganization:
        """`name`; `slug` (made from the name where it is missing); `settings`."""

    def get(self, access: Access, org: str) -> Organization: ...
    def update(self, access: Access, org: str, body: Body) -> Organization:
        """`name`, `settings`: keys are set, null removes one, the others stay."""

    def delete(self, access: Access, org: str) -> None: ...


class Policies(Protocol):
    def list(self, access: Access, org: str) -> Sequence[StoredPolicy]: ...
    def create(self, access: Access, org: str, body: Body) -> StoredPolicy:
        """What a policy file holds; also `is_active`, and `groups` (names or ids; the default group where it is missing)."""

    def get(self, access: Access, org: str, policy_id: str) -> StoredPolicy: ...
    def update(self, access: Access, org: str, policy_id: str, body: Body) -> StoredPolicy: ...
    def delete(self, access: Access, org: str, policy_id: str) -> None: ...
    def regenerate_key(self, access: Access, org: str, policy_id: str) -> PolicyKey: ...
    def versions(self, access: Access, org: str, policy_id: str) -> Sequence[PolicyVersion]:
        """Newest first."""


class Groups(Protocol):
    def list(self, access: Access, org: str) -> Sequence[Group]: ...
    def create(self, access: Access, org: str, body: Body) -> Group:
        """`name`, `description`, `policy_ids`."""

    def get(self, access: Access, org: str, group: str) -> Group:
        """`group` is an id or a name, here and below."""

    def update(self, access: Access, org: str, group: str, body: Body) -> Group: ...
    def delete(self, access: Access, org: str, group: str) -> None: ...


class Licenses(Protocol):
    def list(self, access: Access, org: str) -> Sequence[License]: ...
    def create(self, access: Access, org: str, body: Body) -> License:
        """`license_type`, `expires_at`, `max_checks_per_month`, `policy_groups` (names or ids)."""

    def extend(self, access: Access, org: str, license_id: str, body: Body) -> License:
        """`expires_at`, `max_checks_per_month`, `license_type`."""

    def revoke(self, access: Access, org: str, license_id: str) -> None: ...
    def validate(self, license_key: str | None) -> Validation: ...
    def public_key(self, key_id: str | None = None) -> PublicKey: ...
    def rotate_keys(self, access: Access) -> PublicKey: ...


class Tokens(Protocol):
    def authenticate(self, token: str | None) -> Access:
        """Raises `UnauthorizedError`."""

    def list(self, access: Access) -> Sequence[Token]: ...
    def create(self, access: Access, body: Body) -> Token:
        """`role`, `org_id`, `name`, `expires_at`."""

    def revoke(self, access: Access, token_id: str) -> None: ...
    def first(self) -> Path:
        """The file with the first admin token, mode 0600; it and its token are made where they are missing."""


class Checks(Protocol):
    """Opened by a policy's key. What is answered is in the store already."""

    def identify(self, api_key: str | None) -> str:
        """The id of the policy whose key it is: what rate limits count by. Raises `UnauthorizedError`."""

    def check_text(
        self,
        api_key: str | None,
        text: str,
        destination: str,
        *,
        org_id: str | None = None,
        policy_id: str | None = None,
    ) -> CheckResult: ...
    def check_file(
        self,
        api_key: str | None,
        data: bytes,
        name: str,
        destination: str,
        *,
        org_id: str | None = None,
        policy_id: str | None = None,
    ) -> CheckResult: ...
    def get(self, api_key: str | None, preflight_id: str) -> CheckResult: ...
    def file(
        self, api_key: str | None, preflight_id: str, expires: str | None, signature: str | None
    ) -> MaskedFile:
        """The masked copy, for the query that `masked_file_url` ends with."""


class Analytics(Protocol):
    """`period` is `7d`, `30d` or `90d`."""

    def organization(self, access: Access, org: str, period: str = "30d") -> OrganizationAnalytics: ...
    def timeseries(self, access: Access, org: str, period: str = "30d") -> TimeSeries: ...
    def detections(self, access: Access, org: str, period: str = "30d") -> DetectionBreakdown: ...


class Audit(Protocol):
    def search(
        self,
        access: Access,
        *,
        limit: int = 50,
        offset: int = 0,
        org_id: str | None = None,
        search: str | None = None,
    ) -> AuditPage: ...
    def export(
        self, access: Access, *, org_id: str | None = None, search: str | None = None
    ) -> Iterator[AuditItem]:
        """All of them, newest first."""

    def verify(self, access: Access) -> ChainReport: ...


class Maintenance(Protocol):
    def ready(self) -> None:
        """Raises `StoreError` where a check could not be recorded now."""

    def check(self) -> Sequence[str]:
        """What is wrong with the database; nothing where it is whole."""

    def backup(self, target: Path) -> None: ...
    def vacuum(self) -> None: ...
    def prune(self, older_than: timedelta) -> int:
        """Removes checks, not what analytics counted of them; says how many."""

    def sweep(self) -> int:
        """Removes masked files that have expired; to be called now and then."""


class ControlPlane(Protocol):
    """`ControlPlane.open(folder, detector)` on `config.data_folder`; `close()` at the end."""

    organizations: Organizations
    policies: Policies
    groups: Groups
    licenses: Licenses
    tokens: Tokens
    checks: Checks
    analytics: Analytics
    audit: Audit
    maintenance: Maintenance

    def close(self) -> None: ...
