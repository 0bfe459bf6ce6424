"""What requests and answers look like, as JSON Schema: the one place that requests are checked by
and `/openapi.json` is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlpctl.control.client_metrics import MAX_DURATION_MS, MAX_METRICS_CHECKS, MAX_VERSION
from dlpctl.control.fields import MAX_DESCRIPTION, MAX_ITEMS, MAX_NAME, MOMENT
from dlpctl.control.organizations import EMAIL, MAX_SETTINGS
from dlpctl.control.usage import MAX_CHECKS, MAX_FINDINGS, MAX_TYPES
from dlpctl.types import LARGEST_NUMBER, Action, Category, Decision, Destination

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def text(description: str = "", **more: Any) -> Schema:
    return {"type": "string", **({"description": description} if description else {}), **more}


def count(description: str = "", **more: Any) -> Schema:
    bounds = {"minimum": 0, "maximum": LARGEST_NUMBER}
    return {
        "type": "integer",
        **bounds,
        **({"description": description} if description else {}),
        **more,
    }


def optional(schema: Schema) -> Schema:
    if "type" not in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"]}


def any_case(options: Any, description: str) -> Schema:
    """A word whose case does not count."""
    pattern = "|".join(
        "".join(
            f"[{letter}{letter.lower()}]" if letter.isalpha() else letter for letter in str(one)
        )
        for one in options
    )
    return text(f"{description}: {', '.join(map(str, options))}", pattern=f"^(?:{pattern})$")


def one_of(options: Any, description: str = "") -> Schema:
    return text(description, enum=[str(option) for option in options])


def answer(
    about: str,
    shared: Mapping[str, Schema] | None = None,
    /,
    *,
    maybe: Sequence[str] = (),
    **own: Schema,
) -> Schema:
    """An object that the service gives: its fields are all there, save those in `maybe`."""
    properties = {**(shared or {}), **own}
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": [name for name in properties if name not in maybe],
    }


def request(
    about: str,
    shared: Mapping[str, Schema] | None = None,
    /,
    *,
    required: Sequence[str] = (),
    **own: Schema,
) -> Schema:
    """An object that the service takes: it may hold no other field."""
    properties = {**(shared or {}), **own}
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_MOMENT = text("ISO 8601, UTC", format="date-time")
_DAY = text(format="date")
_NAME = text("one line", minLength=1, maxLength=MAX_NAME, pattern=r"\S")
_DESCRIPTION = text(maxLength=MAX_DESCRIPTION)
_DESTINATION = one_of(Destination, "where the content is to go")
_SCORE = {"type": "number", "minimum": 0, "maximum": 1}
_STRINGS = array(text())
_SOME = array(text(), maxItems=MAX_ITEMS)
_TYPE_NAME = "^[A-Z][A-Z0-9_]{0,63}$"
_SETTINGS: Schema = {
    "type": "object",
    "description": "null removes a key; there may be others, with 16,384 bytes in all",
    "maxProperties": MAX_SETTINGS,
    "properties": {
        "primary_color": optional(text("such as #3366cc", pattern="^#[0-9a-fA-F]{6}$")),
        "admin_email": optional(text("an e-mail address", pattern=f"^{EMAIL}$")),
        "retention": {
            "description": "METADATA keeps partly masked samples of what was found, NONE counts alone",
            "enum": ["METADATA", "NONE", None],
        },
    },
}
_FUTURE = text("a day or a moment in the future, ISO 8601", pattern=f"^{MOMENT}$")
_LICENSE_TYPE = one_of(("trial", "standard", "enterprise"))
_MAX_CHECKS = count("9007199254740991 is no limit")

_RULE = {
    "id": text("made from the name where it is missing"),
    "name": text(),
    "enabled": {"type": "boolean", "default": True},
    "dataTypes": array(
        text(),
        description=f"categories ({', '.join(Category)}), detection types and pattern ids",
        minItems=1,
    ),
    "destinations": array(_DESTINATION, minItems=1),
    "action": one_of(
        Action, "the strictest one that covers a finding wins: BLOCK, then MASK, then ALLOW"
    ),
    "minScore": _SCORE,
    "minCount": count(minimum=1),
    "minDistinct": count(minimum=1),
    "masking": {
        "description": "an operator, or operators by data type",
        "anyOf": [text(), {"type": "object", "additionalProperties": text()}],
    },
    "exceptions": array(
        {
            "type": "object",
            "description": "values that pass: owner, reason, expires, and hmac or pattern",
        }
    ),
}
_RULE_NEEDS = ("dataTypes", "destinations", "action")
_POLICY: dict[str, Schema] = {
    "name": _NAME,
    "description": optional(text()),
    "version": optional(
        text(
            "two numbers; a change that names none newer counts up by itself",
            pattern=r"^[0-9]{1,9}\.[0-9]{1,9}$",
        )
    ),
    "tags": optional(array(text(maxLength=MAX_NAME))),
    "is_active": {"type": "boolean"},
    "groups": _SOME
    | {"description": "ids or names of policy groups; the default one where none is said"},
    "rules": optional(
        array(
            ref("RuleRequest"),
            description="those of the organization's default policy where a new one has none",
            maxItems=MAX_ITEMS,
        )
    ),
    "minScore": optional(_SCORE),
    "defaultAction": {"enum": [*map(str, Action), None], "description": "for what no rule covers"},
    "customPatterns": {
        "type": ["array", "null"],
        "items": {"type": "object", "description": "a pattern, as pattern files have it"},
    },
}
_ECHOED: dict[str, Schema] = {
    name: {"description": "of an answer that is sent back; not looked at"}
    for name in ("policy_id", "org_id", "api_key", "created_at", "updated_at")
}
_ORGANIZATION = {
    "org_id": text(),
    "name": text(),
    "slug": text(),
    "settings": {"type": "object"},
    "created_at": _MOMENT,
    "updated_at": _MOMENT,
}
_RESULT = {
    "preflight_id": text(),
    "decision": one_of(Decision),
    "summary": text("for people"),
    "detected": array(ref("Detection")),
    "masked_content": {
        "type": ["string", "null"],
        "description": "of a text: the masked copy, where it may go; not stored, so null later on",
    },
    "masked_file_url": {
        "type": ["string", "null"],
        "description": "of a file: where to get the masked copy within 15 minutes; null where it is blocked, and later on",
    },
    "policy_version": text(),
    "created_at": _MOMENT,
}


def _numbers(names: Any, description: str) -> Schema:
    """An object of numbers by name."""
    return {
        "type": "object",
        "description": description,
        "properties": {str(name): count(maximum=MAX_METRICS_CHECKS) for name in names},
        "additionalProperties": False,
    }


SCHEMAS: dict[str, Schema] = {
    "Error": answer("What went wrong.", detail=text("one line, for people")),
    "TextCheck": request(
        "A text to check.",
        required=("text", "destination"),
        text=text("1 MiB of UTF-8 at most, if not set otherwise"),
        destination=_DESTINATION,
        org_id=optional(text("must be the organization of the key, by id or slug")),
        policy_id=optional(text("another policy of the key's organization")),
    ),
    "FileCheck": request(
        "A file to check.",
        required=("file", "destination"),
        file=text(
            "50 MiB at most, if not set otherwise", contentMediaType="application/octet-stream"
        ),
        destination=_DESTINATION,
        org_id=text("must be the organization of the key, by id or slug"),
        policy_id=text("another policy of the key's organization"),
    ),
    "PreflightResult": answer(
        "The decision on a content, what was found in it, and its masked copy.",
        _RESULT,
        maybe=("masked_content", "masked_file_url"),
    ),
    "Detection": answer(
        "All findings of one type.",
        type=text("such as EMAIL"),
        count=count(minimum=1),
        sample={
            "type": ["string", "null"],
            "description": "partly masked, or null where that tells too much",
        },
    ),
    "Organization": answer("An organization.", _ORGANIZATION),
    "CreatedOrganization": answer(
        "An organization, and the license that was made with it.",
        _ORGANIZATION,
        license_id=text(),
        license_key=text(),
        license_type=text(),
        license_expires_at=_MOMENT,
    ),
    "OrganizationRequest": request(
        "A new organization. It gets a trial license, a policy group and a policy.",
        required=("name",),
        name=_NAME,
        slug=text(
            "made from the name where it is missing", pattern="^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
        ),
        settings=_SETTINGS,
    ),
    "OrganizationChange": request("What is to change.", name=_NAME, settings=_SETTINGS),
    "RuleRequest": request(
        "A rule.",
        {name: optional(schema) for name, schema in _RULE.items() if name not in _RULE_NEEDS},
        required=_RULE_NEEDS,
        dataTypes=_RULE["dataTypes"],
        destinations=array(any_case(Destination, "where the content is to go"), minItems=1),
        action=any_case(Action, "the strictest that covers a finding wins"),
    ),
    "Rule": answer(
        "A rule.",
        _RULE,
        maybe=("minScore", "minCount", "minDistinct", "masking", "exceptions"),
    ),
    "PolicyRequest": request("A policy.", _POLICY | _ECHOED, required=("name",)),
    "PolicyChange": request(
        "What is to change. A change of what it says makes a new version.", _POLICY | _ECHOED
    ),
    "Policy": answer(
        "A policy.",
        maybe=("minScore", "defaultAction", "customPatterns"),
        policy_id=text(),
        org_id=text(),
        name=text(),
        description=text(),
        version=text(),
        tags=_STRINGS,
        is_active={"type": "boolean"},
        api_key=text("opens checks by this policy; cut down to its end for auditors"),
        rules=array(ref("Rule")),
        created_at=_MOMENT,
        updated_at=_MOMENT,
        minScore=_SCORE,
        defaultAction=one_of(Action),
        customPatterns=array({"type": "object"}),
    ),
    "PolicyVersion": answer(
        "What a policy said at some time.",
        policy_id=text(),
        version=text(),
        created_at=_MOMENT,
        policy={"type": "object", "description": "as a policy file has it"},
    ),
    "PolicyKey": answer("A policy's new key.", api_key=text(), policy_id=text()),
    "Group": answer(
        "A named set of policies, which licenses cover.",
        group_id=text(),
        org_id=text(),
        name=text(),
        description=text(),
        is_default={"type": "boolean"},
        policy_ids=_STRINGS,
        created_at=_MOMENT,
        updated_at=_MOMENT,
    ),
    "GroupRequest": request(
        "A policy group.",
        required=("name",),
        name=_NAME,
        description=_DESCRIPTION,
        policy_ids=_SOME,
    ),
    "GroupChange": request(
        "What is to change; policies replace those that it holds.",
        name=_NAME,
        description=_DESCRIPTION,
        policy_ids=_SOME,
    ),
    "License": answer(
        "A license.",
        license_id=text(),
        org_id=text(),
        license_key=text("cut down to its end for auditors"),
        license_type=_LICENSE_TYPE,
        status=one_of(("active", "expired", "revoked")),
        expires_at=_MOMENT,
        max_checks_per_month=_MAX_CHECKS,
        default_policy_group=text(),
        created_at=_MOMENT,
        updated_at=_MOMENT,
        policy_groups=_STRINGS,
        checks_this_month=count(),
    ),
    "LicenseRequest": request(
        "A license.",
        required=("license_type",),
        license_type=_LICENSE_TYPE,
        expires_at=_FUTURE,
        max_checks_per_month=_MAX_CHECKS,
        policy_groups=_SOME | {"description": "ids or names; the default group where none is said"},
    ),
    "LicenseChange": request(
        "What is to change.",
        license_type=_LICENSE_TYPE,
        expires_at=_FUTURE,
        max_checks_per_month=_MAX_CHECKS,
    ),
    "Validation": answer(
        "What a license key is good for.",
        valid={"type": "boolean"},
        expires=_MOMENT,
        org_id=text(),
        policy_version=text(),
        policy_config={
            "type": "object",
            "description": "the policies of the license's groups: default_policy_id, groups, policies",
        },
        policy_groups=_STRINGS,
        default_policy_group=text(),
        jwt_token=text("RS256; verify it by the public key"),
    ),
    "PublicKey": answer(
        "A key that verifies license tokens.",
        key_id=text(),
        public_key=text("PEM"),
        algorithm=text(),
    ),
    "UsageReport": request(
        "Checks that a client has made by itself, under a license.",
        required=("checks",),
        checks=array(ref("ReportedCheck"), minItems=1, maxItems=MAX_CHECKS),
    ),
    "ReportedCheck": request(
        "A check: what was decided, and never what was checked.",
        required=(
            "preflight_id",
            "created_at",
            "destination",
            "decision",
            "policy_id",
            "policy_version",
            "bytes",
            "detected",
        ),
        preflight_id=text(
            "made by the client; told twice, the check counts once", pattern="^pf_[0-9a-f]{24}$"
        ),
        created_at=text(
            "a day or a moment in the life of the license, give or take a day; ISO 8601",
            pattern=f"^{MOMENT}$",
        ),
        destination=_DESTINATION,
        decision=one_of(Decision),
        policy_id=text(
            "of a policy that the organization has or had", pattern="^pol_[0-9a-f]{24}$"
        ),
        policy_version=text(pattern=r"^[0-9]{1,9}\.[0-9]{1,9}$"),
        bytes=count("of the content"),
        is_file={"type": "boolean", "default": False},
        detected=array(ref("ReportedDetection"), maxItems=MAX_TYPES),
    ),
    "ReportedDetection": request(
        "How many findings of a type there were.",
        required=("type", "count"),
        type=text("such as EMAIL", pattern=_TYPE_NAME),
        count=count(minimum=1, maximum=MAX_FINDINGS),
    ),
    "MetricsBatch": request(
        "Sums of checks that a client's library has made under a license.",
        required=("period", "aggregated"),
        license_key=optional(text("the key that the request is sent with, once more; not kept")),
        sdk_version=optional(text(maxLength=MAX_VERSION)),
        policy_group=optional(text("the name of a policy group that the license covers")),
        period=text(
            "two moments in the life of the license; what is told counts on the day of the second",
            pattern=f"^{MOMENT}/{MOMENT}$",
        ),
        aggregated=ref("MetricsSums"),
    ),
    "MetricsSums": request(
        "How many checks there were, by decision, by destination and by what was found.",
        required=(
            "total_checks",
            "bytes_scanned",
            "decisions",
            "detections",
            "avg_duration_ms",
            "destinations",
        ),
        total_checks=count(minimum=1, maximum=MAX_METRICS_CHECKS),
        bytes_scanned=count(),
        decisions=_numbers(Decision, "they add up to total_checks"),
        detections={
            "type": "object",
            "description": "findings by type, such as EMAIL",
            "propertyNames": {"pattern": _TYPE_NAME},
            "additionalProperties": count(maximum=MAX_FINDINGS),
            "maxProperties": MAX_TYPES,
        },
        avg_duration_ms={"type": "number", "minimum": 0, "maximum": MAX_DURATION_MS},
        destinations=_numbers(Destination, "they add up to total_checks"),
    ),
    "MetricsReceipt": answer(
        "What became of the sums.",
        recorded=count("checks that now count in analytics"),
        checks_this_month=count("of the license"),
        max_checks_per_month=_MAX_CHECKS,
    ),
    "UsageReceipt": answer(
        "What became of a report.",
        recorded=count("checks that are now in the log"),
        known=count("checks that were told before"),
        checks_this_month=count("of the license"),
        max_checks_per_month=_MAX_CHECKS,
    ),
    "Token": answer(
        "An admin token. The token itself is there once, when it is made.",
        maybe=("token",),
        token_id=text(),
        name=text(),
        role=one_of(("admin", "editor", "auditor")),
        org_id={"type": ["string", "null"]},
        created_at=_MOMENT,
        expires_at={"type": ["string", "null"]},
        token=text(),
    ),
    "TokenRequest": request(
        "An admin token.",
        required=("role",),
        role=one_of(("admin", "editor", "auditor")),
        org_id=optional(text("the only organization that it sees, by id or slug")),
        name=_NAME,
        expires_at=optional(_FUTURE),
    ),
    "OrganizationAnalytics": answer(
        "Sums over a period.",
        org_id=text(),
        org_name=text(),
        total_checks=count(),
        bytes_protected=count("of checks that were masked or blocked"),
        allowed=count(),
        masked=count(),
        blocked=count(),
        safe_share_rate={"type": "number", "minimum": 0, "maximum": 100, "description": "percent"},
        prevented_exposures=count("findings in checks that were masked or blocked"),
        from_date=_DAY,
        to_date=_DAY,
    ),
    "TimeSeries": answer("Sums by day.", org_id=text(), period=text(), data=array(ref("Day"))),
    "Day": answer(
        "A day.",
        date=_DAY,
        checks_total=count(),
        allowed=count(),
        masked=count(),
        blocked=count(),
        bytes_processed=count(),
    ),
    "DetectionBreakdown": answer(
        "Findings by type.",
        org_id=text(),
        total_detections=count(),
        types=array(ref("DetectedType")),
        from_date=_DAY,
        to_date=_DAY,
    ),
    "DetectedType": answer(
        "All findings of one type.",
        type=text(),
        label=text("for people"),
        count=count(),
        percentage={"type": "number", "minimum": 0, "maximum": 100},
    ),
    "AuditItem": answer(
        "A check, without what was checked.",
        preflight_id=text(),
        created_at=_MOMENT,
        destination=_DESTINATION,
        decision=one_of(Decision),
        summary=text(),
        policy_version=text(),
        policy_name=text(),
        org_id=text(),
        org_name=text(),
    ),
    "AuditPage": answer(
        "Some checks, the newest first.",
        items=array(ref("AuditItem")),
        limit=count(minimum=1),
        offset=count(),
        total=count(),
    ),
    "ChainReport": answer(
        "The result of verifying the audit log, and what the database holds beside it.",
        intact={"type": "boolean"},
        checked=count("checks whose links were followed"),
        events=count("events whose links were followed"),
        head=text("the signed end of the log; note it elsewhere"),
        broken_at={
            "type": ["string", "null"],
            "description": "the first check or event whose link does not hold",
        },
        reason=text("the first problem"),
        problems=array(text()),
    ),
    "AuditHead": answer(
        "The signed end of the audit log.",
        head=text("one line, for the query `head` of /api/audit/verify"),
        checks=count("the number of the last check"),
        events=count("the number of the last event"),
        created_at=text(),
    ),
    "AuditEvent": answer(
        "An administrative change, or the first use of a key on a day.",
        number=count(minimum=1),
        created_at=_MOMENT,
        actor=text("the id of a token or key, `local` or `service`"),
        action=text("such as policy.updated"),
        org_id=text("empty where it concerns no organization alone"),
        subject=text("the id of what it happened to"),
        details={"type": "object", "additionalProperties": True},
    ),
    "EventPage": answer(
        "Some events, the newest first.",
        items=array(ref("AuditEvent")),
        limit=count(minimum=1),
        offset=count(),
        total=count(),
    ),
    "Health": answer("The service runs.", status=text(), version=text()),
}
