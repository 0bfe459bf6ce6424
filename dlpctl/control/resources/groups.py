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
    "Policy groups",
    "Named sets of policies, which licenses cover. `group_id` is an id or a name.",
    "/api/orgs/<org_id>/groups",
    "<path:group_id>",  # a name may hold a slash
)
resource.stored("list_groups", Group, "List an organization's policy groups")
resource.stored("create_group", Group, "Create a policy group", GroupRequest, fails=(409,))
resource.stored("get_group", Group, "Show a policy group")
resource.stored(
    "update_group",
    Group,
    "Change a policy group, or the policies that it holds",
    GroupChange,
    fails=(409,),
)
resource.stored("delete_group", None, "Delete a policy group; its policies stay", fails=(409,))
