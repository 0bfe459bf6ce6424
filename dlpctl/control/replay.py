"""Replay recorded checks: how another policy would decide on the same types and counts.

A recorded check has types and counts, but neither scores nor values. A replay therefore treats each
finding as certain and as a distinct value, and health data as one type. If the recorded policy does
not come to the recorded decision under these assumptions, something else decided (such as content
that could not be inspected), and the check stays at least as strict as it was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.policy.decide import Decider
from dlpctl.policy.loading import with_custom
from dlpctl.types import PHI_TYPE, Category, Decision, Destination, Finding

if TYPE_CHECKING:
    from datetime import date

    from dlpctl.policy.model import Policy
    from dlpctl.policy.rules import Catalogue

_STRICTNESS = {decision: number for number, decision in enumerate(Decision)}


class RecordedCheck(NamedTuple):
    """A check as recorded in the log."""

    preflight_id: str
    created_at: str
    destination: str
    decision: str
    version: str
    detected: str
    """Types and counts as JSON."""


class Outcome(NamedTuple):
    """The decision of a draft on checks with the same types and counts."""

    after: Decision
    is_explained: bool
    """Types and counts alone lead to the recorded decision."""


class Replayed(NamedTuple):
    """The checks of a replay, and the outcome of each."""

    checks: Sequence[RecordedCheck]
    outcomes: Sequence[Outcome]

    @property
    def unexplained(self) -> int:
        return sum(not each.is_explained for each in self.outcomes)

    @property
    def before(self) -> dict[str, int]:
        return _counted(check.decision for check in self.checks)

    @property
    def after(self) -> dict[str, int]:
        return _counted(each.after for each in self.outcomes)

    @property
    def changed(self) -> list[tuple[RecordedCheck, Decision]]:
        return [
            (check, outcome.after)
            for check, outcome in zip(self.checks, self.outcomes, strict=True)
            if check.decision != outcome.after
        ]


class Replay:
    """A draft, and the policy versions that decided the recorded checks."""

    def __init__(
        self, draft: Policy, versions: Mapping[str, Policy], catalogue: Catalogue, day: date
    ) -> None:
        self._draft = draft
        self._versions = versions
        self._day = day
        every = [draft, *versions.values()]
        self._catalogue = with_custom(
            catalogue, tuple(pattern for policy in every for pattern in policy.custom_patterns)
        )
        rules = [rule for policy in every for rule in policy.rules]
        self._most = max([1, *(max(rule.min_count, rule.min_distinct) for rule in rules)])
        """The number of findings above which more findings of a type make no difference."""
        self._decider = cache(self._make_decider)
        self._outcome = cache(self._decide)

    def __call__(self, checks: Sequence[RecordedCheck]) -> Replayed:
        detected = json.loads(f"[{','.join(check.detected for check in checks)}]")
        most, outcome = self._most, self._outcome
        outcomes = [
            # Many checks differ only in their samples.
            outcome(*check[2:5], tuple([(name, min(count, most)) for name, count, _ in found]))
            for check, found in zip(checks, detected, strict=True)
        ]
        return Replayed(checks, outcomes)

    def _decide(
        self, destination: str, decision: str, version: str, counts: tuple[tuple[str, int], ...]
    ) -> Outcome:
        findings = self._findings(counts)
        to, recorded = Destination(destination), Decision(decision)
        after = self._decider(None, to)(findings).decision
        is_explained = (
            version in self._versions and self._decider(version, to)(findings).decision is recorded
        )
        if not is_explained:
            after = max(after, recorded, key=_STRICTNESS.__getitem__)
        return Outcome(after, is_explained)

    def _make_decider(self, version: str | None, to: Destination) -> Decider:
        policy = self._draft if version is None else self._versions[version]
        return Decider(policy, to, on=self._day)

    def _findings(self, counts: Iterable[tuple[str, int]]) -> list[Finding]:
        return [
            Finding(name, category, 0, 0, 1.0, "")
            for name, count in counts
            for category in [self._category(name)]
            for _ in range(count)
        ]

    def _category(self, type_name: str) -> Category:
        if type_name == PHI_TYPE:
            return Category.PHI
        known = self._catalogue.types.get(type_name, ())
        return min(known, key=list(Category).index, default=Category.CUSTOM)


def _counted(decisions: Iterable[str]) -> dict[str, int]:
    counted = Counter(decisions)
    return {str(decision): counted[decision] for decision in Decision}
