"""Admit requests by a policy: that of this machine, or of the control plane."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.files.checking import FileChecker
from dlpctl.gateway.inspecting import Inspector
from dlpctl.types import Destination

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.control.checks import Checks
    from dlpctl.control.rates import RateLimiter
    from dlpctl.preflight import Checker
    from dlpctl.types import Decision

KEY_HEADER = "x-dlpctl-key"
_KEPT = 64

Record = Callable[["Decision", Mapping[str, int], int], None]


class Grant(NamedTuple):
    """The policy that a request is inspected by."""

    inspector: Inspector
    files: FileChecker
    key: bytes
    """The organization's key."""
    org: str
    policy: str
    record: Record
    """Records a decision with the counts of types and the size of the request."""
    answers: Checker | None = None
    """The checker of answers, where these are inspected."""


class Admission(Protocol):
    """Admits requests. Threads may share it."""

    def admit(self, key: str | None) -> Grant:
        """Return what holds for a request; raise `DlpctlError` where it may not be made."""


def grant(
    checker: Checker,
    limits: FileLimits,
    key: bytes,
    record: Record,
    *,
    refuses_unread: bool,
    org: str = "",
    policy: str = "",
    answers: Checker | None = None,
) -> Grant:
    files = FileChecker(
        checker, limits=limits, on_uninspected="block" if refuses_unread else "warn"
    )
    inspector = Inspector(checker, files, refuses_unread=refuses_unread)
    return Grant(inspector, files, key, org, policy, record, answers)


class LocalAdmission:
    """Admits everybody by one policy."""

    def __init__(self, everybody: Grant) -> None:
        self._everybody = everybody

    def admit(self, key: str | None) -> Grant:
        del key
        return self._everybody


class ControlAdmission:
    """Admits those who have a policy's key, by that policy, within its rate and quota."""

    def __init__(
        self,
        checks: Checks,
        destination: Destination,
        operator: str,
        limits: FileLimits,
        rates: RateLimiter,
        *,
        refuses_unread: bool,
        inspects_answers: bool = False,
    ) -> None:
        self._inspects_answers = inspects_answers
        self._checks = checks
        self._destination = destination
        self._operator = operator
        self._limits = limits
        self._rates = rates
        self._refuses_unread = refuses_unread
        self._made: OrderedDict[tuple[str, str, str], Grant] = OrderedDict()

    def admit(self, key: str | None) -> Grant:
        opened = self._checks.open(key, self._destination)
        self._rates.take(opened.policy_id)
        known = (opened.policy_id, opened.version, opened.day)
        made = self._made.get(known)
        if made is None:
            answers = None
            if self._inspects_answers:
                answers = self._checks.open(key, Destination.CUSTOMER).checker()
            made = grant(
                opened.checker().by_operator(self._operator),
                self._limits,
                opened.key,
                opened.record,
                refuses_unread=self._refuses_unread,
                org=opened.org_id,
                policy=opened.policy_id,
                answers=answers and answers.by_operator("redact"),
            )
            self._made[known] = made
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return made._replace(record=opened.record)
