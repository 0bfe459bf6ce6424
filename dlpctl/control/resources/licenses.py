"""Licenses, and the keys that sign their tokens: requests, answers and operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Credential, Resource
from dlpctl.control.resources.shapes import Answer, Request
from dlpctl.types import LARGEST_NUMBER

LICENSE_TYPES = ("trial", "standard", "enterprise")
UNLIMITED = LARGEST_NUMBER
"""Means unlimited, so that clients which compare numbers need no special case."""
MAX_CHECKS = fields.integer(f"{UNLIMITED} is no limit")
_FUTURE = fields.given_moment("a day or a moment in the future, ISO 8601")


class License(Answer):
    """A license."""

    license_id: str = fields.text()
    org_id: str = fields.text()
    license_key: str = fields.text("cut down to its end for auditors")
    license_type: str = fields.one_of(LICENSE_TYPES)
    status: str = fields.one_of(("active", "expired", "revoked"))
    expires_at: str = fields.moment()
    max_checks_per_month: int = MAX_CHECKS
    default_policy_group: str = fields.text()
    created_at: str = fields.moment()
    updated_at: str = fields.moment()
    policy_groups: Sequence[str] = fields.array(fields.text())
    checks_this_month: int = fields.integer()


class LicenseChange(Request):
    """The fields to change."""

    license_type: str | None = fields.missing(fields.one_of(LICENSE_TYPES))
    expires_at: str | None = fields.missing(_FUTURE)
    max_checks_per_month: int | None = fields.missing(MAX_CHECKS)


class LicenseRequest(LicenseChange):
    """A license."""

    license_type: str = fields.one_of(LICENSE_TYPES)
    policy_groups: Sequence[str] = fields.texts(
        description="ids or names; the default group if none is given"
    )


class Validation(Answer):
    """The validity of a license key."""

    valid: bool = fields.flag()
    expires: str = fields.moment()
    org_id: str = fields.text()
    policy_version: str = fields.text()
    policy_config: Mapping[str, Any] = fields.any_value(
        {
            "type": "object",
            "description": "the policies of the license's groups:"
            " default_policy_id, groups, policies",
        }
    )
    policy_groups: Sequence[str] = fields.array(fields.text())
    default_policy_group: str = fields.text()
    jwt_token: str = fields.text("RS256; verify it by the public key")


class PublicKey(Answer):
    """A key that verifies license tokens."""

    key_id: str = fields.text()
    public_key: str = fields.text("PEM")
    algorithm: str = fields.text()


resource = Resource(
    "Licenses",
    "The policies, quota and expiry of an organization's checks.",
    "/api/orgs/<org_id>/licenses",
    "<license_id>",
)
resource.stored("list_licenses", License, "List an organization's licenses")
resource.stored("create_license", License, "Create a license", LicenseRequest, fails=(409,))
resource.stored(
    "extend_license",
    License,
    "Let a license last longer, or allow more",
    LicenseChange,
    fails=(409,),
)
resource.stored(
    "revoke_license",
    None,
    "Revoke a license, which deactivates the policies of its groups at once",
)
resource.operation(
    "validate_license",
    "GET /v1/license/validate",
    "licenses.validate",
    Validation,
    "Say what a license key is good for, and sign that",
    credential=Credential.LICENSE_KEY,
    fails=(429,),
)
resource.operation(
    "get_public_key",
    "GET /v1/license/public-key",
    "licenses.public_key",
    PublicKey,
    "Give the key that verifies license tokens",
    query={"key_id": fields.text("an older key; the one that signs now where it is missing")},
    credential=Credential.NONE,
    fails=(404,),
)
resource.operation(
    "rotate_keys",
    "POST /v1/license/rotate-keys",
    "licenses.rotate_keys",
    PublicKey,
    "Sign license tokens with a new key; those that are out stay good until they expire",
)
