"""Organizations: the requests, answers and operations of the resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer, Request

MAX_SETTINGS = 64
RETENTION_MODES = ("METADATA", "NONE")
_EMAIL = r"[^@\s]{1,64}@[^@\s.]{1,63}(?:\.[^@\s.]{1,63}){1,8}"
_SLUG = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"


class Organization(Answer):
    """An organization."""

    org_id: str = fields.text()
    name: str = fields.text()
    slug: str = fields.text()
    settings: Mapping[str, Any] = fields.any_value({"type": "object"})
    created_at: str = fields.moment()
    updated_at: str = fields.moment()


class CreatedOrganization(Organization):
    """An organization, and the license that was made with it."""

    license_id: str = fields.text()
    license_key: str = fields.text()
    license_type: str = fields.text()
    license_expires_at: str = fields.moment()


class Settings(Request):
    """null removes a key; there may be others, with 16,384 bytes in all"""

    is_open = True
    limits: ClassVar[fields.Schema] = {"maxProperties": MAX_SETTINGS}

    primary_color: str | None = fields.optional(
        fields.like("#[0-9a-fA-F]{6}", 'a colour such as "#3366cc"', "such as #3366cc")
    )
    admin_email: str | None = fields.optional(
        fields.like(_EMAIL, "an e-mail address", "an e-mail address")
    )
    retention: str | None = fields.one_of(
        RETENTION_MODES,
        "METADATA keeps partly masked samples of what was found, NONE counts alone",
        or_null=True,
    )


class OrganizationRequest(Request):
    """A new organization. It gets a trial license, a policy group and a policy."""

    name: str = fields.line()
    slug: str | None = fields.missing(
        fields.like(
            _SLUG,
            "1 to 63 lower-case letters, digits and inner hyphens",
            "made from the name where it is missing",
        )
    )
    settings: Mapping[str, Any] | None = fields.missing(fields.checked(Settings))


class OrganizationChange(Request):
    """The fields to change."""

    name: str | None = fields.missing(fields.line())
    settings: Mapping[str, Any] | None = fields.missing(fields.checked(Settings))


resource = Resource(
    "Organizations",
    "Each has policies, licenses and an audit log of its own. `org_id` is an id or a slug.",
    "/api/organizations",
    "<org_id>",
)
resource.stored("list_organizations", Organization, "List organizations")
resource.stored(
    "create_organization",
    CreatedOrganization,
    "Create an organization, with a trial license and a default policy",
    OrganizationRequest,
    fails=(409,),
)
resource.stored("get_organization", Organization, "Show an organization")
resource.stored(
    "update_organization",
    Organization,
    "Change an organization's name and settings",
    OrganizationChange,
)
resource.stored(
    "delete_organization", None, "Delete an organization and all that it has, save its audit log"
)
