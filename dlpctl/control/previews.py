"""Previews: how a policy masks content. A preview is neither recorded nor counted, so it does not
allow anything to be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dlpctl.control.checks import Checks, Limits, refuse_larger
from dlpctl.control.core import Core, find_organization
from dlpctl.control.resources.preflight import (
    DESTINATION,
    CheckedDetection,
    Preview,
    PreviewRequest,
)
from dlpctl.errors import NotFoundError
from dlpctl.types import Destination

if TYPE_CHECKING:
    from dlpctl.control.access import Access
    from dlpctl.control.directory import CoveredPolicy, Directory
    from dlpctl.control.inspection import Inspector
    from dlpctl.preflight import Report


class Previews:
    """Makes previews, in the inspector if there is one, otherwise in this process."""

    def __init__(
        self,
        core: Core,
        directory: Directory,
        checks: Checks,
        limits: Limits,
        inspector: Inspector | None,
    ) -> None:
        self._core = core
        self._directory = directory
        self._checks = checks
        self._limits = limits
        self._inspector = inspector

    def text(self, access: Access, org: str, policy_id: str, body: Mapping[str, Any]) -> Preview:
        given = PreviewRequest.read(body)
        size, to = len(given.text.encode("utf-8", "surrogatepass")), Destination(given.destination)
        refuse_larger("text", size, self._limits.text_bytes)
        covered = self._covered(access, org, policy_id)
        stored = self._checks.stored(covered, to)
        if self._inspector is not None:
            report = self._inspector.check_text(stored, given.text)
        else:
            report = self._checks.checker(covered, to).check(given.text)
        return _preview(report, report.masked_content)

    def file(
        self, access: Access, org: str, policy_id: str, destination: str, name: str, data: bytes
    ) -> tuple[Preview, bytes | None]:
        """Return the preview of a file, with the masked copy if the file could be sent."""
        to = Destination(DESTINATION.read(destination, "destination"))
        refuse_larger("file", len(data), self._limits.file_bytes)
        covered = self._covered(access, org, policy_id)
        report, masked = self._checks.inspect_file(covered, to, data, name)
        return _preview(report, None), masked

    def _covered(self, access: Access, org: str, policy_id: str) -> CoveredPolicy:
        with self._core.store.reading() as connection:
            org_id = find_organization(connection, access, org)["org_id"]
            known = policy_id.isprintable()
            found = self._directory.covered(connection, policy_id) if known else None
        if found is None or found.org_id != org_id:
            raise NotFoundError("there is no such policy")
        return found


def _preview(report: Report, masked: str | None) -> Preview:
    from dlpctl.text_report import interface_detections

    detected = tuple(CheckedDetection(*each) for each in interface_detections(report))
    return Preview(report.decision.value, report.summary, detected, masked, report.policy_version)
