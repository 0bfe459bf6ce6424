"""Policy groups."""

from __future__ import annotations

from dlpctl_daemon.endpoints import Call, Resource
from dlpctl_daemon.schemas import array, ref

resource = Resource(
    "Policy groups", "Named sets of policies, which licenses cover. `group_id` is an id or a name."
)

_ALL = "/api/orgs/<org_id>/groups"
_ONE = f"{_ALL}/<path:group_id>"  # a name may hold a slash


@resource.endpoint("GET", _ALL, answer=array(ref("Group")))
def list_groups(call: Call, org_id: str) -> object:
    """List an organization's policy groups"""
    return [one.to_dict() for one in call.control.groups.list(call.access, org_id)]


@resource.endpoint("POST", _ALL, answer="Group", status=201, body="GroupRequest", fails=(409,))
def create_group(call: Call, org_id: str) -> object:
    """Create a policy group"""
    return call.control.groups.create(call.access, org_id, call.body).to_dict()


@resource.endpoint("GET", _ONE, answer="Group")
def get_group(call: Call, org_id: str, group_id: str) -> object:
    """Show a policy group"""
    return call.control.groups.get(call.access, org_id, group_id).to_dict()


@resource.endpoint("PATCH", _ONE, answer="Group", body="GroupChange", fails=(409,))
def update_group(call: Call, org_id: str, group_id: str) -> object:
    """Change a policy group, or the policies that it holds"""
    return call.control.groups.update(call.access, org_id, group_id, call.body).to_dict()


@resource.endpoint("DELETE", _ONE, status=204, fails=(409,))
def delete_group(call: Call, org_id: str, group_id: str) -> None:
    """Delete a policy group; its policies stay"""
    call.control.groups.delete(call.access, org_id, group_id)
