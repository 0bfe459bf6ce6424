"""Organizations."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Resource
from dlpctl_daemon.schemas import array, ref

resource = Resource(
    "Organizations",
    "Each has policies, licenses and an audit log of its own. `org_id` is an id or a slug.",
)


@resource.endpoint("GET", "/api/organizations", answer=array(ref("Organization")))
def list_organizations(call: Call) -> object:
    """List organizations"""
    return [one.to_dict() for one in call.control.organizations.list(call.access)]


@resource.endpoint(
    "POST",
    "/api/organizations",
    answer="CreatedOrganization",
    status=201,
    body="OrganizationRequest",
    fails=(409,),
)
def create_organization(call: Call) -> object:
    """Create an organization, with a trial license and a default policy"""
    return call.control.organizations.create(call.access, call.body).to_dict()


@resource.endpoint("GET", "/api/organizations/<org_id>", answer="Organization")
def get_organization(call: Call, org_id: str) -> object:
    """Show an organization"""
    return call.control.organizations.get(call.access, org_id).to_dict()


@resource.endpoint(
    "PATCH", "/api/organizations/<org_id>", answer="Organization", body="OrganizationChange"
)
def update_organization(call: Call, org_id: str) -> object:
    """Change an organization's name and settings"""
    return call.control.organizations.update(call.access, org_id, call.body).to_dict()


@resource.endpoint("DELETE", "/api/organizations/<org_id>", status=204)
def delete_organization(call: Call, org_id: str) -> None:
    """Delete an organization and all that it has, save its audit log"""
    call.control.organizations.delete(call.access, org_id)
