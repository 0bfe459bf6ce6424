"""The log of checks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice

from flask import Response

from dlpctl.control.records import AuditItem
from dlpctl.types import LARGEST_NUMBER
from dlpctl_daemon.endpoints import Call, Resource
from dlpctl_daemon.schemas import Schema, text

resource = Resource(
    "Audit", "The log of all checks: what was decided, by which policy, and never what was checked."
)

_OF_ORG = {"org_id": text("of this organization alone, by id or slug")}
_FILTER = {
    **_OF_ORG,
    "search": text(
        "words, or parts of them, in summary, policy, organization and destination; or the start of an id",
        maxLength=500,
    ),
}
_PAGE: dict[str, Schema] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 1_000, "default": 50},
    "offset": {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER, "default": 0},
}
_LINES = 500


@resource.endpoint("GET", "/api/audit", answer="AuditPage", query=_PAGE | _FILTER)
def search_audit(call: Call) -> object:
    """Search the log, the newest checks first"""
    return call.control.audit.search(call.access, **call.query).to_dict()


@resource.endpoint(
    "GET",
    "/api/audit/export",
    answer=text("an AuditItem a line"),
    query=_FILTER,
    media="application/x-ndjson",
)
def export_audit(call: Call) -> Response:
    """Give the whole log, one JSON object a line"""
    items = call.control.audit.export(call.access, **call.query)
    first = list(islice(items, 1))  # what is wrong with the request shows before the answer begins
    return Response(_lines(chain(first, items)), content_type="application/x-ndjson")


@resource.endpoint("GET", "/api/audit/events", answer="EventPage", query=_PAGE | _OF_ORG)
def list_events(call: Call) -> object:
    """List administrative changes and the first use of each key on a day, the newest first"""
    return call.control.audit.events(call.access, **call.query).to_dict()


@resource.endpoint("GET", "/api/audit/head", answer="AuditHead")
def get_head(call: Call) -> object:
    """Give the signed end of the log, to be noted elsewhere"""
    return call.control.audit.head(call.access).to_dict()


@resource.endpoint(
    "GET",
    "/api/audit/verify",
    answer="ChainReport",
    query={"head": text("a head noted earlier, which must be in the log", maxLength=300)},
)
def verify_audit(call: Call) -> object:
    """Verify the log, and the policies, licenses, tokens and counters beside it"""
    return call.control.audit.verify(call.access, **call.query).to_dict()


def _lines(items: Iterator[AuditItem]) -> Iterator[bytes]:
    """Many in one piece, since each piece is a write to the connection."""
    while some := list(islice(items, _LINES)):
        lines = (json.dumps(item.to_dict(), separators=(",", ":")) for item in some)
        yield "".join(f"{line}\n" for line in lines).encode("ascii")
