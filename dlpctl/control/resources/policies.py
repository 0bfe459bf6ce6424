"""Policies: the requests, answers and operations of the resource.

`dlpctl.policy` reads what a policy says, in requests as in files; this module describes that.
"""

# ruff: noqa: N815  # the interface names some fields in camel case
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlpctl.control.resources.fields import (
    MAX_ITEMS,
    MAX_NAME,
    Schema,
    any_value,
    array,
    described,
    flag,
    integer,
    internal,
    line,
    missing,
    moment,
    omitted,
    one_of,
    optional,
    text,
    texts,
)
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer, Json, Request
from dlpctl.policy.model import Policy
from dlpctl.types import Action, Category, Destination

_WHERE = "where the content is to go"
_ANSWERED = any_value(
    {"description": "of an answer that is sent back; not looked at"}, default=None
)
_SCORE = any_value({"type": "number", "minimum": 0, "maximum": 1})
_OBJECT: Schema = {"type": "object"}


_DATA_TYPES = array(
    text(),
    description=f"categories ({', '.join(Category)}), detection types and pattern ids",
    least=1,
)
_MASKING = any_value(
    {
        "description": "an operator, or operators by data type",
        "anyOf": [
            {"type": "string"},
            {"type": "object", "additionalProperties": {"type": "string"}},
        ],
    }
)
_EXCEPTION = any_value(
    _OBJECT | {"description": "values that pass: owner, reason, expires, and hmac or pattern"}
)


class RuleRequest(Request):
    """A rule."""

    id: Any = optional(text("made from the name where it is missing"))
    name: Any = optional(text())
    enabled: Any = optional(flag(default=True))
    minScore: Any = optional(_SCORE)
    minCount: Any = optional(integer(low=1))
    minDistinct: Any = optional(integer(low=1))
    masking: Any = optional(_MASKING)
    exceptions: Any = optional(array(_EXCEPTION))
    dataTypes: Any = _DATA_TYPES
    destinations: Any = array(one_of(Destination, _WHERE, any_case=True), least=1)
    action: Any = one_of(Action, "the strictest that covers a finding wins", any_case=True)


class Rule(Answer):
    """A rule."""

    id: str = text("made from the name where it is missing")
    name: str = text()
    enabled: bool = flag(default=True)
    dataTypes: Sequence[str] = _DATA_TYPES
    destinations: Sequence[str] = array(one_of(Destination, _WHERE), least=1)
    action: str = one_of(
        Action, "the strictest one that covers a finding wins: BLOCK, then MASK, then ALLOW"
    )
    minScore: float | None = omitted(_SCORE)
    minCount: int | None = omitted(integer(low=1))
    minDistinct: int | None = omitted(integer(low=1))
    masking: Any = omitted(_MASKING)
    exceptions: Any = omitted(array(_EXCEPTION))


class PolicyChange(Request):
    """What is to change. A change of what it says makes a new version."""

    name: Any = described(line())
    description: Any = described(optional(text()))
    version: Any = described(
        optional(
            text(
                "two numbers; a change that names none newer counts up by itself",
                pattern=r"^[0-9]{1,9}\.[0-9]{1,9}$",
            )
        )
    )
    tags: Any = described(optional(array(text(maxLength=MAX_NAME))))
    is_active: bool | None = missing(flag())
    groups: Sequence[str] | None = missing(
        texts(description="ids or names of policy groups; the default one where none is said")
    )
    rules: Any = described(
        optional(
            array(
                RuleRequest,
                most=MAX_ITEMS,
                description="those of the organization's default policy where a new one has none",
            )
        )
    )
    minScore: Any = described(optional(_SCORE))
    defaultAction: Any = described(one_of(Action, "for what no rule covers", or_null=True))
    customPatterns: Any = described(
        optional(array(any_value(_OBJECT | {"description": "a pattern, as pattern files have it"})))
    )
    policy_id: Any = _ANSWERED
    org_id: Any = _ANSWERED
    api_key: Any = _ANSWERED
    created_at: Any = _ANSWERED
    updated_at: Any = _ANSWERED


class PolicyRequest(PolicyChange):
    """A policy."""

    name: Any = any_value(line().schema)


class StoredPolicy(Answer, name="Policy"):
    """A policy."""

    policy_id: str = text()
    org_id: str = text()
    name: str = text()
    description: str = text()
    version: str = text()
    tags: Sequence[str] = array(text())
    is_active: bool = flag()
    api_key: str = text("opens checks by this policy; cut down to its end for auditors")
    rules: Sequence[Json] = array(Rule)
    created_at: str = moment()
    updated_at: str = moment()
    minScore: float | None = omitted(_SCORE)
    defaultAction: str | None = omitted(one_of(Action))
    customPatterns: Sequence[Json] | None = omitted(array(any_value(_OBJECT)))
    policy: Policy = internal()


class PolicyVersion(Answer):
    """What a policy said at some time."""

    policy_id: str = text()
    version: str = text()
    created_at: str = moment()
    policy: Policy = any_value(_OBJECT | {"description": "as a policy file has it"})


class PolicyKey(Answer):
    """A policy's new key."""

    api_key: str = text()
    policy_id: str = text()


resource = Resource(
    "Policies",
    "What happens to what is found. Each has a key of its own, which opens checks by it.",
)
_ALL = "/api/orgs/<org_id>/policies"
_ONE = f"{_ALL}/<policy_id>"

resource.operation(
    "list_policies",
    f"GET {_ALL}",
    "policies.list",
    array(StoredPolicy),
    "List an organization's policies",
)
resource.operation(
    "create_policy",
    f"POST {_ALL}",
    "policies.create",
    StoredPolicy,
    "Create a policy, which gets a key of its own",
    body=PolicyRequest,
    status=201,
    fails=(409,),
)
resource.operation("get_policy", f"GET {_ONE}", "policies.get", StoredPolicy, "Show a policy")
resource.operation(
    "update_policy",
    f"PATCH {_ONE}",
    "policies.update",
    StoredPolicy,
    "Change a policy, or switch it on or off",
    body=PolicyChange,
    fails=(409,),
)
resource.operation("delete_policy", f"DELETE {_ONE}", "policies.delete", None, "Delete a policy")
resource.operation(
    "regenerate_key",
    f"POST {_ONE}/regenerate-key",
    "policies.regenerate_key",
    PolicyKey,
    "Give a policy a new key; the old one opens nothing from now on",
)
resource.operation(
    "list_versions",
    f"GET {_ONE}/versions",
    "policies.versions",
    array(PolicyVersion),
    "List what a policy has said, the newest first",
)
