"""Checks a file that is plain text; any other is blocked, since nobody looked into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from dlpctl.preflight import Checker, Report


def check_file(checker: Checker, data: bytes, to: Destination) -> tuple[Report, bytes | None]:
    """The report, and the masked copy where the file may go."""
    if b"\0" in data:
        report = checker.check("")._replace(
            decision=Decision.BLOCKED,
            summary=f"Blocked for {to}: the file is not plain text, so it cannot be inspected",
            masked_content=None,
        )
        return report, None
    report = checker.check(data.decode("utf-8", "surrogateescape"))
    masked = report.masked_content
    return report, None if masked is None else masked.encode("utf-8", "surrogateescape")
