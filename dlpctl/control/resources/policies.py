"""Policies: the requests, answers and operations of the resource.

`dlpctl.policy` parses the content of a policy, in requests as in files; this module describes it.
"""

# ruff: noqa: N815  # the interface names some fields in camel case
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import Resource
from dlpctl.control.resources.shapes import Answer, Json, Request
from dlpctl.policy.model import Policy
from dlpctl.types import Action, Category, Decision, Destination

MOST_REPLAYED = 10_000
_WHERE = "where the content is to go"
_ANSWERED = fields.any_value(
    {"description": "of an answer that is sent back; ignored"}, default=None
)
_SCORE = fields.any_value({"type": "number", "minimum": 0, "maximum": 1})
_OBJECT: fields.Schema = {"type": "object"}


_DATA_TYPES = fields.array(
    fields.text(),
    description=f"categories ({', '.join(Category)}), detection types and pattern ids",
    least=1,
)
_MASKING = fields.any_value(
    {
        "description": "an operator, or operators by data type",
        "anyOf": [
            {"type": "string"},
            {"type": "object", "additionalProperties": {"type": "string"}},
        ],
    }
)
_EXCEPTION = fields.any_value(
    _OBJECT | {"description": "values that pass: owner, reason, expires, and hmac or pattern"}
)


class RuleRequest(Request):
    """A rule."""

    id: Any = fields.optional(fields.text("made from the name where it is missing"))
    name: Any = fields.optional(fields.text())
    enabled: Any = fields.optional(fields.flag(default=True))
    minScore: Any = fields.optional(_SCORE)
    minCount: Any = fields.optional(fields.integer(low=1))
    minDistinct: Any = fields.optional(fields.integer(low=1))
    masking: Any = fields.optional(_MASKING)
    exceptions: Any = fields.optional(fields.array(_EXCEPTION))
    dataTypes: Any = _DATA_TYPES
    destinations: Any = fields.array(fields.one_of(Destination, _WHERE, any_case=True), least=1)
    action: Any = fields.one_of(Action, "the strictest that covers a finding wins", any_case=True)


class Rule(Answer):
    """A rule."""

    id: str = fields.text("made from the name where it is missing")
    name: str = fields.text()
    enabled: bool = fields.flag(default=True)
    dataTypes: Sequence[str] = _DATA_TYPES
    destinations: Sequence[str] = fields.array(fields.one_of(Destination, _WHERE), least=1)
    action: str = fields.one_of(
        Action, "the strictest one that covers a finding wins: BLOCK, then MASK, then ALLOW"
    )
    minScore: float | None = fields.omitted(_SCORE)
    minCount: int | None = fields.omitted(fields.integer(low=1))
    minDistinct: int | None = fields.omitted(fields.integer(low=1))
    masking: Any = fields.omitted(_MASKING)
    exceptions: Any = fields.omitted(fields.array(_EXCEPTION))


class PolicyChange(Request):
    """The fields to change. A change of the content makes a new version."""

    name: Any = fields.described(fields.line())
    description: Any = fields.described(fields.optional(fields.text()))
    version: Any = fields.described(
        fields.optional(
            fields.text(
                "two numbers; a change that names none newer counts up by itself",
                pattern=r"^[0-9]{1,9}\.[0-9]{1,9}$",
            )
        )
    )
    tags: Any = fields.described(
        fields.optional(fields.array(fields.text(maxLength=fields.MAX_NAME)))
    )
    is_active: bool | None = fields.missing(fields.flag())
    groups: Sequence[str] | None = fields.missing(
        fields.texts(description="ids or names of policy groups; the default one if none is given")
    )
    rules: Any = fields.described(
        fields.optional(
            fields.array(
                RuleRequest,
                most=fields.MAX_ITEMS,
                description="those of the organization's default policy where a new one has none",
            )
        )
    )
    minScore: Any = fields.described(fields.optional(_SCORE))
    defaultAction: Any = fields.described(
        fields.one_of(Action, "for what no rule covers", or_null=True)
    )
    customPatterns: Any = fields.described(
        fields.optional(
            fields.array(
                fields.any_value(_OBJECT | {"description": "a pattern, as pattern files have it"})
            )
        )
    )
    policy_id: Any = _ANSWERED
    org_id: Any = _ANSWERED
    api_key: Any = _ANSWERED
    created_at: Any = _ANSWERED
    updated_at: Any = _ANSWERED


class PolicyRequest(PolicyChange):
    """A policy."""

    name: Any = fields.any_value(fields.line().schema)


class StoredPolicy(Answer, name="Policy"):
    """A policy."""

    policy_id: str = fields.text()
    org_id: str = fields.text()
    name: str = fields.text()
    description: str = fields.text()
    version: str = fields.text()
    tags: Sequence[str] = fields.array(fields.text())
    is_active: bool = fields.flag()
    api_key: str = fields.text("opens checks by this policy; cut down to its end for auditors")
    rules: Sequence[Json] = fields.array(Rule)
    created_at: str = fields.moment()
    updated_at: str = fields.moment()
    minScore: float | None = fields.omitted(_SCORE)
    defaultAction: str | None = fields.omitted(fields.one_of(Action))
    customPatterns: Sequence[Json] | None = fields.omitted(fields.array(fields.any_value(_OBJECT)))
    policy: Policy = fields.internal()


class PolicyVersion(Answer):
    """The content of a policy at some time."""

    policy_id: str = fields.text()
    version: str = fields.text()
    created_at: str = fields.moment()
    policy: Policy = fields.any_value(_OBJECT | {"description": "as a policy file has it"})


class PolicyKey(Answer):
    """A policy's new key."""

    api_key: str = fields.text()
    policy_id: str = fields.text()


class PolicyDraft(Request):
    """A policy that is not saved."""

    policy: Any = fields.any_value(_OBJECT | {"description": "as a policy file has it"})


class ReplayRequest(PolicyDraft):
    """A draft, and how many of the policy's last checks to decide by it."""

    checks: int = fields.integer(low=1, high=MOST_REPLAYED, default=1_000)


class Problem(Answer):
    """A rule, name or exception that has no effect, or a type that no rule covers."""

    level: str = fields.text("error, warning or note")
    code: str = fields.text()
    path: str = fields.text("such as rules[2]; empty for the policy itself")
    message: str = fields.text()


class ChangedCheck(Answer):
    """A check that the draft decides otherwise."""

    preflight_id: str = fields.text()
    created_at: str = fields.moment()
    destination: str = fields.one_of(Destination, _WHERE)
    before: str = fields.one_of(Decision)
    after: str = fields.one_of(Decision)
    types: Sequence[str] = fields.array(fields.text())


_COUNTS = fields.any_value({"type": "object", "additionalProperties": {"type": "integer"}})


class ReplayResult(Answer, name="Replay"):
    """The decisions of a draft on the types and counts of recorded checks."""

    checks: int = fields.integer("of the policy, among the last 200,000 of the log")
    changed: int = fields.integer()
    unexplained: int = fields.integer(
        "checks that scores, exceptions or uninspected content decided; none becomes milder"
    )
    before: Mapping[str, int] = _COUNTS
    after: Mapping[str, int] = _COUNTS
    items: Sequence[ChangedCheck] = fields.array(ChangedCheck, description="the newest 100")


resource = Resource(
    "Policies",
    "What happens to what is found. Each has a key of its own, which opens checks by it.",
    "/api/orgs/<org_id>/policies",
    "<policy_id>",
)
resource.stored("list_policies", StoredPolicy, "List an organization's policies")
resource.stored(
    "create_policy",
    StoredPolicy,
    "Create a policy, which gets a key of its own",
    PolicyRequest,
    fails=(409,),
)
resource.stored("get_policy", StoredPolicy, "Show a policy")
resource.stored(
    "update_policy",
    StoredPolicy,
    "Change a policy, or switch it on or off",
    PolicyChange,
    fails=(409,),
)
resource.stored("delete_policy", None, "Delete a policy")
resource.operation(
    "regenerate_key",
    f"POST {resource.item_path}/regenerate-key",
    "policies.regenerate_key",
    PolicyKey,
    "Give a policy a new key; the old one opens nothing from now on",
)
resource.operation(
    "list_versions",
    f"GET {resource.item_path}/versions",
    "policies.versions",
    fields.array(PolicyVersion),
    "List what a policy has said, the newest first",
)
resource.operation(
    "lint_policy",
    "POST /api/policies/lint",
    "policies.lint",
    fields.array(Problem),
    "Find rules without effect, and types that no rule covers",
    body=PolicyDraft,
)
resource.operation(
    "replay_policy",
    f"POST {resource.item_path}/replay",
    "policies.replay",
    ReplayResult,
    "Decide the policy's last checks by a draft, as far as types and counts tell",
    body=ReplayRequest,
)
