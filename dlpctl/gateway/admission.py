"""Admit requests by a policy: one of this machine, or one of the control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.errors import InputError
from dlpctl.files.checking import FileChecker
from dlpctl.gateway.inspecting import Inspector
from dlpctl.system.recent import Recent
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from dlpctl.config import FileLimits
    from dlpctl.control.checks import Checks
    from dlpctl.control.rates import RateLimiter
    from dlpctl.preflight import Checker

KEY_HEADER, POLICY_HEADER = "x-dlpctl-key", "x-dlpctl-policy"
_KEPT = 64

Record = Callable[["Decision", Mapping[str, int], int], None]


class Grant(NamedTuple):
    """The policy by which a request is inspected."""

    inspector: Inspector
    files: FileChecker
    key: bytes
    """The organization's key."""
    org: str
    policy: str
    record: Record
    """Records a decision with the counts of types and the size of the request."""
    answers: Checker | None = None
    """The policy for answers, if they are inspected."""


class Admission(Protocol):
    """Admits requests. Thread-safe."""

    def admit(self, key: str | None, policy: str | None = None) -> Grant:
        """Return the grant for a request; raise `DlpctlError` if it is not admitted.

        `policy` is the one that the request names, if its key allows several.
        """


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
    """Admits every request by one policy."""

    def __init__(self, everybody: Grant) -> None:
        self._everybody = everybody

    def admit(self, key: str | None, policy: str | None = None) -> Grant:
        del key, policy
        return self._everybody


class Terms(NamedTuple):
    """The terms that all policies of a gateway share."""

    destination: Destination
    operator: str
    limits: FileLimits
    rates: RateLimiter
    refuses_unread: bool
    inspects_answers: bool = False


class Policies:
    """The most recently used policies, each ready for requests."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._made: Recent[tuple[str, str, str], Grant] = Recent(_KEPT)

    def grant(
        self,
        known: tuple[str, str, str],
        checker: Callable[[Destination], Checker],
        key: bytes,
        org: str,
        record: Record,
    ) -> Grant:
        """Return the grant of a policy; `known` holds its id, version and day."""
        made = self._made.get(known)
        if made is None:
            terms = self._terms
            answers = checker(Destination.CUSTOMER) if terms.inspects_answers else None
            made = grant(
                checker(terms.destination).by_operator(terms.operator),
                terms.limits,
                key,
                record,
                refuses_unread=terms.refuses_unread,
                org=org,
                policy=known[0],
                answers=answers and answers.by_operator("redact"),
            )
            self._made.put(known, made)
        return made._replace(record=record)


class ControlAdmission:
    """Admits requests with a policy key, by that policy, within its rate and quota."""

    def __init__(self, checks: Checks, terms: Terms) -> None:
        self._checks = checks
        self._terms = terms
        self._policies = Policies(terms)

    def admit(self, key: str | None, policy: str | None = None) -> Grant:
        if policy is not None:
            raise InputError("X-Dlpctl-Policy goes with the key of a license")
        opened = self._checks.open(key, self._terms.destination)
        self._terms.rates.take(opened.policy_id)
        return self._policies.grant(
            (opened.policy_id, opened.version, opened.day),
            lambda destination: self._checks.open(key, destination).checker(),
            opened.key,
            opened.org_id,
            opened.record,
        )
