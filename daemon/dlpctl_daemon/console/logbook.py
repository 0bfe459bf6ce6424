"""The log: searching checks, single checks, events, and the state of the chain."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import request

from dlpctl.control.resources.audit import ChainReport
from dlpctl_daemon.console.pages import Answer, Pages, Visit, address, offset_asked, see_other

PAGE = 50
"""Entries on a page."""


class PageOf(NamedTuple):
    """The position of a page in a list, and the addresses of its neighbours."""

    first: int
    last: int
    total: int
    newer: str
    older: str

    @classmethod
    def of(cls, path: str, offset: int, shown: int, total: int, **query: str | None) -> PageOf:
        last = offset + shown
        newer = address(path, offset=max(0, offset - PAGE) or None, **query) if offset else ""
        older = address(path, offset=last, **query) if last < total else ""
        return cls(min(offset + 1, last), last, total, newer, older)


class _Chain:
    """The result of the last verification in this process."""

    report: ChainReport | None = None
    verified_at = ""


def _searched(visit: Visit, operation: str, path: str) -> dict[str, Any]:
    """Return the items of a page that can be searched, with the position of the page."""
    offset, search = offset_asked(), request.args.get("search", "")
    found = visit.ask(operation, limit=PAGE, offset=offset, org_id=visit.scope, search=search)
    page = PageOf.of(path, offset, len(found.items), found.total, search=search)
    return {"items": found.items, "page": page, "search": search}


def show_checks(visit: Visit) -> Answer:
    return visit.page("checks", "Checks", **_searched(visit, "search_audit", "/console/checks"))


def show_check(visit: Visit, preflight_id: str) -> Answer:
    return visit.page("check", "Check", check=visit.ask("get_audited_check", preflight_id))


def add_pages(pages: Pages) -> None:
    chain = _Chain()

    def show_events(visit: Visit) -> Answer:
        return visit.page(
            "events",
            "Audit",
            head=visit.ask("get_head"),
            report=chain.report if visit.access.org_id is None else None,
            verified_at=chain.verified_at,
            **_searched(visit, "list_events", "/console/audit"),
        )

    def verify(visit: Visit) -> Answer:
        """Verify the chain, also against a head that was noted elsewhere."""
        noted = request.form.get("head", "").strip() or None
        report = visit.ask("verify_audit", head=noted)
        if visit.access.org_id is None:
            chain.report, chain.verified_at = report, visit.ask("get_head").created_at
        if report.intact:
            visit.announce(
                f"The chain is intact: {report.checked:,} checks, {report.events:,} events."
            )
        else:
            visit.announce_problem(f"The chain is broken: {report.reason}")
        return see_other("/console/audit")

    pages.get("/console/checks", show_checks)
    pages.get("/console/checks/<preflight_id>", show_check)
    pages.get("/console/audit", show_events)
    pages.post("/console/audit/verify", verify)
