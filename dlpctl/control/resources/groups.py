"""Policy groups: the requests, answers and operations of the resource."""

from __future__ import annotations

from collections.abc import Sequence

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer, Request


class Group(Answer):
    """A named set of policies, which licenses cover."""

    group_id: str = fields.text()
    org_id: str = fields.text()
    name: str = fields.text()
    description: str = fields.text()
    is_default: bool = fields.flag()
    """New policies join this group, and new licenses cover it, unless they name other groups."""
    policy_ids: Sequence[str] = fields.array(fields.text())
    created_at: str = fields.moment()
    updated_at: str = fields.moment()


class GroupRequest(Request):
    """A policy group."""

    name: str = fields.line()
    description: str = fields.missing(fields.text(longest=fields.MAX_DESCRIPTION), "")
    policy_ids: Sequence[str] = fields.texts()


class GroupChange(Request):
    """The fields to change; policies replace those of the group."""

    name: str | None = fields.missing(fields.line())
    description: str | None = fields.missing(fields.text(longest=fields.MAX_DESCRIPTION))
    policy_ids: Sequence[str] | None = fields.missing(fields.texts())


resource = Resource(
    "Policy groups", "Named sets of policies, which licenses cover. `group_id` is an id or a name."
)
_ALL = "/api/orgs/<org_id>/groups"
_ONE = f"{_ALL}/<path:group_id>"  # a name may hold a slash

resource.operation(
    "list_groups",
    f"GET {_ALL}",
    "groups.list",
    fields.array(Group),
    "List an organization's policy groups",
)
resource.operation(
    "create_group",
    f"POST {_ALL}",
    "groups.create",
    Group,
    "Create a policy group",
    body=GroupRequest,
    status=201,
    fails=(409,),
)
resource.operation("get_group", f"GET {_ONE}", "groups.get", Group, "Show a policy group")
resource.operation(
    "update_group",
    f"PATCH {_ONE}",
    "groups.update",
    Group,
    "Change a policy group, or the policies that it holds",
    body=GroupChange,
    fails=(409,),
)
resource.operation(
    "delete_group",
    f"DELETE {_ONE}",
    "groups.delete",
    None,
    "Delete a policy group; its policies stay",
    fails=(409,),
)
