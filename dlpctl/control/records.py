"""What the services answer. `to_dict` of each is the JSON of the interface, key for key and in its
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dlpctl.policy.model import Policy
from dlpctl.types import LARGEST_NUMBER

Json = dict[str, Any]


class Organization(NamedTuple):
    org_id: str
    name: str
    slug: str
    settings: Mapping[str, Any]
    created_at: str
    updated_at: str

    def to_dict(self) -> Json:
        return self._asdict() | {"settings": dict(self.settings)}


class CreatedOrganization(NamedTuple):
    """An organization and the license that was made with it."""

    organization: Organization
    license: License

    def to_dict(self) -> Json:
        return self.organization.to_dict() | {
            "license_id": self.license.license_id,
            "license_key": self.license.license_key,
            "license_type": self.license.license_type,
            "license_expires_at": self.license.expires_at,
        }


class Group(NamedTuple):
    """A named set of policies."""

    group_id: str
    org_id: str
    name: str
    description: str
    is_default: bool
    """New policies join it, and new licenses cover it, where nothing else is said."""
    policy_ids: tuple[str, ...]
    created_at: str
    updated_at: str

    def to_dict(self) -> Json:
        return self._asdict() | {"policy_ids": list(self.policy_ids)}


class StoredPolicy(NamedTuple):
    """A policy in the store. `api_key` is cut down to its end for those who may not see keys."""

    policy_id: str
    org_id: str
    policy: Policy
    is_active: bool
    api_key: str
    created_at: str
    updated_at: str

    def to_dict(self) -> Json:
        table = self.policy.to_dict()
        return {
            "policy_id": self.policy_id,
            "org_id": self.org_id,
            "name": table.pop("name"),
            "description": table.pop("description"),
            "version": table.pop("version"),
            "tags": table.pop("tags"),
            "is_active": self.is_active,
            "api_key": self.api_key,
            "rules": table.pop("rules"),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        } | table


class PolicyVersion(NamedTuple):
    """What a policy said at some time."""

    policy_id: str
    version: str
    created_at: str
    policy: Policy

    def to_dict(self) -> Json:
        return {
            "policy_id": self.policy_id,
            "version": self.version,
            "created_at": self.created_at,
            "policy": self.policy.to_dict(),
        }


class PolicyKey(NamedTuple):
    """The answer to a regenerated key."""

    api_key: str
    policy_id: str

    def to_dict(self) -> Json:
        return self._asdict()


class License(NamedTuple):
    """`license_key` is cut down to its end for those who may not see keys."""

    license_id: str
    org_id: str
    license_key: str
    license_type: str
    status: str
    """`active`, `expired` or `revoked`."""
    expires_at: str
    max_checks_per_month: int
    """`UNLIMITED` where there is no limit."""
    default_policy_group: str
    created_at: str
    updated_at: str
    policy_groups: tuple[str, ...]
    checks_this_month: int

    def to_dict(self) -> Json:
        return self._asdict() | {"policy_groups": list(self.policy_groups)}


UNLIMITED = LARGEST_NUMBER
"""Stands for no limit, so that a client that compares needs no special case."""


class Validation(NamedTuple):
    """The answer to a license key."""

    valid: bool
    expires: str
    org_id: str
    policy_version: str
    policy_config: Mapping[str, Any]
    policy_groups: tuple[str, ...]
    default_policy_group: str
    jwt_token: str

    def to_dict(self) -> Json:
        return self._asdict() | {
            "policy_config": dict(self.policy_config),
            "policy_groups": list(self.policy_groups),
        }


class PublicKey(NamedTuple):
    key_id: str
    public_key: str
    """PEM."""
    algorithm: str

    def to_dict(self) -> Json:
        return self._asdict()


class UsageReceipt(NamedTuple):
    """The answer to checks that a client has reported."""

    recorded: int
    known: int
    """Of checks that were reported before."""
    checks_this_month: int
    max_checks_per_month: int

    def to_dict(self) -> Json:
        return self._asdict()


class MetricsReceipt(NamedTuple):
    """The answer to sums of checks that a client has reported."""

    recorded: int
    checks_this_month: int
    max_checks_per_month: int

    def to_dict(self) -> Json:
        return self._asdict()


class CheckedDetection(NamedTuple):
    type: str
    occurrences: int
    sample: str | None

    def to_dict(self) -> Json:
        return {"type": self.type, "count": self.occurrences, "sample": self.sample}


class CheckResult(NamedTuple):
    """A check that is in the store: the answer to it, and what is answered later on."""

    preflight_id: str
    decision: str
    summary: str
    detected: tuple[CheckedDetection, ...]
    masked_content: str | None
    """Of a text that was checked just now; what comes from the store has none."""
    masked_file_url: str | None
    """A path with its query; whoever serves it puts his address before it."""
    policy_version: str
    created_at: str
    is_file: bool

    def to_dict(self, base_url: str = "") -> Json:
        url = self.masked_file_url
        masked = (
            {"masked_file_url": f"{base_url}{url}" if url else None}
            if self.is_file
            else {"masked_content": self.masked_content}
        )
        return {
            "preflight_id": self.preflight_id,
            "decision": self.decision,
            "summary": self.summary,
            "detected": [one.to_dict() for one in self.detected],
            **masked,
            "policy_version": self.policy_version,
            "created_at": self.created_at,
        }


class MaskedFile(NamedTuple):
    """What a signed URL gives."""

    name: str
    data: bytes


class OrganizationAnalytics(NamedTuple):
    org_id: str
    org_name: str
    total_checks: int
    bytes_protected: int
    allowed: int
    masked: int
    blocked: int
    safe_share_rate: float
    prevented_exposures: int
    from_date: str
    to_date: str

    def to_dict(self) -> Json:
        return self._asdict()


class Day(NamedTuple):
    date: str
    checks_total: int
    allowed: int
    masked: int
    blocked: int
    bytes_processed: int


class TimeSeries(NamedTuple):
    org_id: str
    period: str
    data: tuple[Day, ...]

    def to_dict(self) -> Json:
        return self._asdict() | {"data": [day._asdict() for day in self.data]}


class DetectedType(NamedTuple):
    type: str
    label: str
    occurrences: int
    percentage: float

    def to_dict(self) -> Json:
        return {
            "type": self.type,
            "label": self.label,
            "count": self.occurrences,
            "percentage": self.percentage,
        }


class DetectionBreakdown(NamedTuple):
    org_id: str
    total_detections: int
    types: tuple[DetectedType, ...]
    from_date: str
    to_date: str

    def to_dict(self) -> Json:
        return self._asdict() | {"types": [one.to_dict() for one in self.types]}


class AuditItem(NamedTuple):
    preflight_id: str
    created_at: str
    destination: str
    decision: str
    summary: str
    policy_version: str
    policy_name: str
    org_id: str
    org_name: str

    def to_dict(self) -> Json:
        return self._asdict()


class AuditPage(NamedTuple):
    items: tuple[AuditItem, ...]
    limit: int
    offset: int
    total: int

    def to_dict(self) -> Json:
        return self._asdict() | {"items": [item.to_dict() for item in self.items]}


class ChainReport(NamedTuple):
    """The result of verifying the audit log, and everything that the database holds beside it."""

    intact: bool
    checked: int
    """Checks whose links were followed."""
    events: int
    """Events whose links were followed."""
    head: str
    """The signed head: noted down elsewhere, it shows later whether what was before it is still the
    same.
    """
    broken_at: str | None
    """The first check or event whose link does not hold."""
    reason: str
    """The first problem."""
    problems: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        return self._asdict() | {"problems": list(self.problems)}


class AuditHead(NamedTuple):
    """The signed end of the audit log."""

    head: str
    checks: int
    """Up to this number."""
    events: int
    """Up to this number."""
    created_at: str

    def to_dict(self) -> Json:
        return self._asdict()


class AuditEvent(NamedTuple):
    """An administrative change, or the use of a key."""

    number: int
    created_at: str
    actor: str
    """The id of a token or key, `local` or `service`."""
    action: str
    org_id: str
    subject: str
    """The id of what it happened to."""
    details: Mapping[str, Any]

    def to_dict(self) -> Json:
        return self._asdict() | {"details": dict(self.details)}


class EventPage(NamedTuple):
    items: tuple[AuditEvent, ...]
    limit: int
    offset: int
    total: int

    def to_dict(self) -> Json:
        return self._asdict() | {"items": [item.to_dict() for item in self.items]}


class Token(NamedTuple):
    """An admin token. The token itself is there once, when it is made."""

    token_id: str
    name: str
    role: str
    org_id: str | None
    created_at: str
    expires_at: str | None
    token: str | None = None

    def to_dict(self) -> Json:
        table = self._asdict()
        return (
            table if self.token else {key: value for key, value in table.items() if key != "token"}
        )
