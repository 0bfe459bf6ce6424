"""Check on this machine by a license's policies; its server receives decisions, never content."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dlpctl.backend.licensing import Grant, LicenseClient, reported_check
from dlpctl.backend.spool import Spool

if TYPE_CHECKING:
    from pathlib import Path

    from dlpctl.policy.model import Policy
    from dlpctl.preflight import Report
    from dlpctl.types import Decision, Destination


class Licensed:
    def __init__(self, client: LicenseClient, grant: Grant) -> None:
        self._client = client
        self._grant = grant
        self._policy: tuple[str, Policy] | None = None

    @classmethod
    def start(cls, url: str, license_key: str, data_folder: Path) -> Licensed | None:
        """Return None if the server cannot be reached and there is no valid token: then no license
        applies.
        """
        client = LicenseClient(url, license_key, data_folder)
        grant = client.grant()
        if grant is None:
            sys.stderr.write(
                f"dlpctl: {url}: cannot be reached, and there is no valid license token;"
                " the organization's policies do not apply\n"
            )
            return None
        return cls(client, grant)

    def policy(self, name: str | None) -> Policy | None:
        """Return the organization's policy of this name; None if it has none."""
        self._policy = self._grant.policy(name)
        return self._policy and self._policy[1]

    def record(
        self,
        decision: Decision,
        destination: Destination,
        report: Report | None,
        *,
        size: int,
        is_file: bool,
    ) -> None:
        """Record a check for the server, unless its policy is not the organization's."""
        from dlpctl.text_report import interface_detections

        if self._policy is None:
            return
        policy_id, policy = self._policy
        found = interface_detections(report) if report else ()
        counts = {each.type: each.occurrences for each in found}
        kept = (policy_id, policy.version)
        check = reported_check(kept, destination, decision, counts, size, is_file=is_file)
        if report:
            check |= {"preflight_id": report.preflight_id, "created_at": report.created_at}
        if not self._spool.put(check):
            sys.stderr.write(
                "dlpctl: this check cannot be stored for the server's log; free some disk space\n"
            )

    def send(self) -> None:
        """Start sending the recorded checks in the background."""
        self._spool.start_sender(self._client.url)

    @property
    def _spool(self) -> Spool:
        return Spool(self._client.spool)
