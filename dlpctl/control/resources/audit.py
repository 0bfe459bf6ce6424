"""The log of checks and events: the answers and operations of the resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlpctl.control.resources import fields
from dlpctl.control.resources.operations import LINES, Resource
from dlpctl.control.resources.shapes import Answer
from dlpctl.types import Decision, Destination

MAX_SEARCH = 500
LIMIT: fields.Field = fields.integer(low=1, high=1_000, default=50)
OFFSET: fields.Field = fields.integer(default=0)


class AuditItem(Answer):
    """A check, without what was checked."""

    preflight_id: str = fields.text()
    created_at: str = fields.moment()
    destination: str = fields.one_of(Destination, "where the content is to go")
    decision: str = fields.one_of(Decision)
    summary: str = fields.text()
    policy_version: str = fields.text()
    policy_name: str = fields.text()
    org_id: str = fields.text()
    org_name: str = fields.text()


class FoundType(Answer):
    """The findings of one type in a check."""

    type: str = fields.text("such as EMAIL")
    count: int = fields.integer(low=1)


class AuditedCheck(AuditItem):
    """A check with all that the log has of it, save samples."""

    policy_id: str = fields.text()
    license_id: str = fields.text()
    bytes: int = fields.integer("of the content")
    is_file: bool = fields.flag()
    detected: Sequence[FoundType] = fields.array(FoundType)


class AuditPage(Answer):
    """Some checks, the newest first."""

    items: Sequence[AuditItem] = fields.array(AuditItem)
    limit: int = fields.integer(low=1)
    offset: int = fields.integer()
    total: int = fields.integer()


class AuditEvent(Answer):
    """An administrative change, or the first use of a key on a day."""

    number: int = fields.integer(low=1)
    created_at: str = fields.moment()
    actor: str = fields.text("the id of a token or key, `local` or `service`")
    action: str = fields.text("such as policy.updated")
    org_id: str = fields.text("empty where it concerns no organization alone")
    subject: str = fields.text("the id of what it happened to")
    details: Mapping[str, Any] = fields.any_value({"type": "object", "additionalProperties": True})


class EventPage(Answer):
    """Some events, the newest first."""

    items: Sequence[AuditEvent] = fields.array(AuditEvent)
    limit: int = fields.integer(low=1)
    offset: int = fields.integer()
    total: int = fields.integer()


class ChainReport(Answer):
    """The result of verifying the audit log, and what the database holds beside it."""

    intact: bool = fields.flag()
    checked: int = fields.integer("checks whose links were followed")
    events: int = fields.integer("events whose links were followed")
    head: str = fields.text("the signed end of the log; note it elsewhere")
    broken_at: str | None = fields.any_value(
        {
            "type": ["string", "null"],
            "description": "the first check or event whose link does not hold",
        }
    )
    reason: str = fields.text("the first problem")
    problems: Sequence[str] = fields.array(fields.text(), default=())


class AuditHead(Answer):
    """The signed end of the audit log."""

    head: str = fields.text("one line, for the query `head` of /api/audit/verify")
    checks: int = fields.integer("the number of the last check")
    events: int = fields.integer("the number of the last event")
    created_at: str = fields.text()


resource = Resource(
    "Audit", "The log of all checks: what was decided, by which policy, and never what was checked."
)
_OF_ORG = {"org_id": fields.text("of this organization alone, by id or slug")}
_FILTER = {
    **_OF_ORG,
    "search": fields.text(
        "words, or parts of them, in summary, policy, organization and destination; or the start"
        " of an id",
        longest=MAX_SEARCH,
    ),
}
_PAGE = {"limit": LIMIT, "offset": OFFSET}

resource.operation(
    "search_audit",
    "GET /api/audit",
    "audit.search",
    AuditPage,
    "Search the log, the newest checks first",
    query=_PAGE | _FILTER,
)
resource.operation(
    "export_audit",
    "GET /api/audit/export",
    "audit.export",
    fields.text("an AuditItem a line"),
    "Give the whole log, one JSON object a line",
    query=_FILTER,
    media=LINES,
)
resource.operation(
    "get_audited_check",
    "GET /api/audit/checks/<preflight_id>",
    "audit.check",
    AuditedCheck,
    "Show what the log has of a check",
)
resource.operation(
    "list_events",
    "GET /api/audit/events",
    "audit.events",
    EventPage,
    "List administrative changes and the first use of each key on a day, the newest first",
    query=_PAGE
    | _OF_ORG
    | {"search": fields.text("a part of action, ids or details", longest=MAX_SEARCH)},
)
resource.operation(
    "get_head",
    "GET /api/audit/head",
    "audit.head",
    AuditHead,
    "Give the signed end of the log, to be noted elsewhere",
)
resource.operation(
    "verify_audit",
    "GET /api/audit/verify",
    "audit.verify",
    ChainReport,
    "Verify the log, and the policies, licenses, tokens and counters beside it",
    query={"head": fields.text("a head noted earlier, which must be in the log", longest=300)},
)
