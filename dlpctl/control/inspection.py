"""The interface of inspectors, which take large texts and files off the serving process, and the
reports on what they inspect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.types import Decision, Destination, Detection

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.preflight import Checker, Report


class StoredPolicy(NamedTuple):
    """A stored version of a policy, with everything that a check by it needs."""

    policy_id: str
    version: str
    body: str
    """The policy as JSON."""
    destination: Destination
    day: str
    """The day of the check: an exception ends with its day."""
    key: bytes
    """The key for operators and exceptions."""


class Inspector(Protocol):
    """Inspects content in processes of its own."""

    text_bytes: int
    """The size above which texts are sent to the inspector."""

    def check_text(self, policy: StoredPolicy, text: str) -> Report:
        """Check a text; block it if it cannot be inspected."""

    def check_file(
        self, policy: StoredPolicy, data: bytes, name: str, limits: FileLimits | None
    ) -> tuple[Report, bytes | None]:
        """Return the report on a file, with the masked copy if the file may be sent."""


def check_file(
    checker: Checker, data: bytes, name: str, limits: FileLimits | None = None
) -> tuple[Report, bytes | None]:
    """Return the report on a file, with the masked copy if the file may be sent; the file is read
    in a separate process forked from a clean one.
    """
    from dlpctl.files.checking import FileChecker

    answer = FileChecker(checker, limits=limits, method="forkserver").check(data, name)
    return answer.report, answer.masked


def blocked(policy: StoredPolicy, reason: str) -> Report:
    """Return the report on content that could not be inspected."""
    summary = f"Blocked for {policy.destination}: {reason}"
    return _report(policy.version, Decision.BLOCKED, summary, ())


def gateway_report(
    version: str, destination: Destination, decision: Decision, detected: tuple[Detection, ...]
) -> Report:
    """Return the report on a request that the gateway has inspected."""
    from dlpctl.policy.summary import counted

    found = ", ".join(counted(each.type, each.occurrences, {}) for each in detected)
    words = decision.value.capitalize().replace("_", " ")
    summary = f"{words} for {destination} by the gateway; found {found or 'nothing sensitive'}"
    return _report(version, decision, summary, detected)


def _report(
    version: str, decision: Decision, summary: str, detected: tuple[Detection, ...]
) -> Report:
    import os

    from dlpctl.preflight import Report
    from dlpctl.text_report import written_now

    return Report(
        f"pf_{os.urandom(12).hex()}",
        decision,
        summary,
        detected,
        None,
        version,
        written_now(),
        (),
    )
