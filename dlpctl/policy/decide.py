"""Decide on findings by a policy.

A rule covers a finding if it is enabled, names the destination, names the finding's category, type
or pattern, and the finding's score reaches the rule's `minScore`, or else the policy's. Of the
rules that cover it the strictest action wins: BLOCK, then MASK, then ALLOW. A rule that does not
reach its `minCount` or `minDistinct` has no effect; neither has one that would thereby loosen the
`defaultAction`, since more findings never allow more. A value that a rule's exceptions list is
allowed by that rule. A finding that no rule covers gets the policy's `defaultAction`, or is allowed
and listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.operators import OPERATORS
from dlpctl.policy.model import Policy
from dlpctl.policy.rules import Exemption, Rule
from dlpctl.policy.selectors import Reach, closest, reach
from dlpctl.types import Action, Category, Decision, Destination, Finding
from dlpctl.values import canonical

if TYPE_CHECKING:
    from datetime import date


_STRICTNESS = {action: index for index, action in enumerate(Action)}
_STRENGTH = {name: len(OPERATORS) - index for index, name in enumerate(OPERATORS)}

ValueOf = Callable[[Finding], str]


class Verdict(NamedTuple):
    """The action on a finding, and the rule that decided."""

    action: Action
    rule: str | None
    """The rule's id; None if no rule covers the finding."""
    operator: str | None = None
    """The operator to mask with; None if the rules name none."""


class FindingDecision(NamedTuple):
    finding: Finding
    verdict: Verdict


class Tally(NamedTuple):
    """Findings of one pattern with the same verdict."""

    first: Finding
    verdict: Verdict
    occurrences: int


class PackedDecisions(Sequence[FindingDecision]):
    """Decisions that are made only when accessed."""

    @property
    def findings(self) -> Sequence[Finding]:
        raise NotImplementedError

    def tallies(self) -> list[Tally]:
        """Count the findings by pattern and verdict, in order of first occurrence."""
        raise NotImplementedError


class PolicyDecision(NamedTuple):
    """The decision on all findings together."""

    decision: Decision
    destination: Destination
    ruled: Sequence[FindingDecision]
    """Every finding that counts, in the order given."""
    expired: tuple[Exemption, ...]
    """Exceptions of this destination's rules that have expired."""

    def of(self, action: Action) -> list[FindingDecision]:
        return [ruled for ruled in self.ruled if ruled.verdict.action is action]

    def hidden(self) -> list[FindingDecision]:
        """Return the findings that are not allowed."""
        return [ruled for ruled in self.ruled if ruled.verdict.action is not Action.ALLOW]

    def masking_blocked(self) -> PolicyDecision:
        """Return a decision that also masks what would be blocked."""
        is_masked = any(ruled.verdict.action is not Action.ALLOW for ruled in self.ruled)
        return self._replace(
            decision=Decision.ALLOWED_WITH_MASKING if is_masked else Decision.ALLOWED
        )

    def tallies(self) -> list[Tally]:
        """Count the findings by pattern and verdict."""
        if isinstance(self.ruled, PackedDecisions):
            return self.ruled.tallies()
        tallies: dict[tuple[str, str, Verdict], Tally] = {}
        for finding, verdict in self.ruled:
            key = finding.type, finding.pattern_id, verdict
            known = tallies.get(key) or Tally(finding, verdict, 0)
            tallies[key] = known._replace(occurrences=known.occurrences + 1)
        return list(tallies.values())

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings that count; for long texts, stored as columns of numbers."""
        if isinstance(self.ruled, PackedDecisions):
            return self.ruled.findings
        return tuple(finding for finding, _ in self.ruled)


def loosens(rule: Rule, default: Action | None) -> bool:
    """Return whether a rule needs several findings and is milder than the default action."""
    counted = rule.min_count > 1 or rule.min_distinct > 1
    return counted and _STRICTNESS[rule.action] < _STRICTNESS[default or Action.ALLOW]


class Candidate(NamedTuple):
    """A rule that covers a kind of finding."""

    number: int
    """The index among the rules of the destination."""
    threshold: float
    verdict: Verdict
    tolerated: Verdict
    """The verdict on a value that the rule excepts."""
    counted: bool
    excepted: bool


class Decider:
    """A policy prepared for one destination. It is immutable: build it once and reuse it."""

    def __init__(
        self,
        policy: Policy,
        destination: Destination,
        *,
        on: date | None = None,
        key: bytes | None = None,
    ) -> None:
        """`on` is the day for expiry dates, by default today; fingerprints need the `key`."""
        self.destination = destination
        self._policy = policy
        self._rules = [
            rule
            for rule in policy.rules
            if rule.enabled
            and destination in rule.destinations
            and not loosens(rule, policy.default_action)
        ]
        self.counts: bool = any(rule.min_count > 1 or rule.min_distinct > 1 for rule in self._rules)
        """True if rules count findings: the pieces of a text must be decided on together."""
        self._candidates: dict[tuple[str, Category, str], tuple[Candidate, ...]] = {}
        self._default = Verdict(policy.default_action or Action.ALLOW, None)
        self.expired: tuple[Exemption, ...] = ()
        self._excepts: dict[int, Callable[[Finding, str], bool]] = {}
        if any(rule.exceptions for rule in self._rules):
            self._prepare_exceptions(on, key)

    @property
    def excepts(self) -> bool:
        """True if the values of findings matter, since a rule allows some."""
        return bool(self._excepts)

    def _prepare_exceptions(self, on: date | None, key: bytes | None) -> None:
        from datetime import UTC, datetime

        from dlpctl.policy.exceptions import excepting

        day = on or datetime.now(UTC).date()
        self.expired = tuple(
            exemption
            for rule in self._rules
            for exemption in rule.exceptions
            if exemption.expired(day)
        )
        for index, rule in enumerate(self._rules):
            valid = [exemption for exemption in rule.exceptions if not exemption.expired(day)]
            if valid:
                self._excepts[index] = excepting(valid, key)

    def __call__(
        self, findings: Sequence[Finding], value_of: ValueOf | None = None
    ) -> PolicyDecision:
        """Decide; without `value_of` nothing is excepted and each finding is a distinct value."""
        candidates_of = self._candidates
        acting = self._acting(findings, value_of) if self.counts else frozenset[int]()
        ruled: list[FindingDecision] = []
        decision = Decision.ALLOWED
        for finding in findings:
            finding_kind = (finding.type, finding.category, finding.pattern_id)
            candidates = candidates_of.get(finding_kind)
            if candidates is None:
                candidates = candidates_of[finding_kind] = self.covering(*finding_kind)
            verdict: Verdict | None = None
            for candidate in candidates:
                if finding.score < candidate.threshold:
                    continue
                if candidate.counted and candidate.number not in acting:
                    continue
                if candidate.excepted and self._is_excepted(candidate.number, finding, value_of):
                    verdict = verdict or candidate.tolerated
                    continue
                verdict = candidate.verdict
                break
            if verdict is None:
                if finding.score < self._policy.min_score:
                    continue
                verdict = self._default
            if verdict.action is Action.BLOCK:
                decision = Decision.BLOCKED
            elif verdict.action is Action.MASK and decision is Decision.ALLOWED:
                decision = Decision.ALLOWED_WITH_MASKING
            ruled.append(FindingDecision(finding, verdict))
        return PolicyDecision(decision, self.destination, ruled, self.expired)

    def covering(
        self, type_name: str, category: Category, pattern_id: str
    ) -> tuple[Candidate, ...]:
        """Return the candidates for one kind of finding, the strictest first.

        The order of the rules only matters between rules that differ in nothing but their ids.
        """
        found: list[tuple[tuple[int, int, int, int, int], Candidate]] = []
        for index, rule in enumerate(self._rules):
            how = closest(rule.data_types, type_name, category, pattern_id)
            if how is Reach.NONE:
                continue
            operator, operator_reach = _operator_of(rule, type_name, category, pattern_id)
            candidate = Candidate(
                index,
                self._policy.min_score if rule.min_score is None else rule.min_score,
                Verdict(rule.action, rule.id, operator),
                Verdict(Action.ALLOW, rule.id),
                rule.min_count > 1 or rule.min_distinct > 1,
                index in self._excepts,
            )
            strength = _STRENGTH[operator.partition(":")[0]] if operator else 0
            order = (-_STRICTNESS[rule.action], -operator_reach, -strength, -how, index)
            found.append((order, candidate))
        return tuple(candidate for _, candidate in sorted(found, key=lambda pair: pair[0]))

    def _is_excepted(self, index: int, finding: Finding, value_of: ValueOf | None) -> bool:
        return value_of is not None and self._excepts[index](finding, value_of(finding))

    def _acting(self, findings: Iterable[Finding], value_of: ValueOf | None) -> frozenset[int]:
        """Return the rules with a minimum count that have enough findings."""
        counts = dict.fromkeys(range(len(self._rules)), 0)
        values: dict[int, set[object]] = {index: set() for index in counts}
        for number, finding in enumerate(findings):
            finding_kind = (finding.type, finding.category, finding.pattern_id)
            candidates = self._candidates.get(finding_kind)
            if candidates is None:
                candidates = self._candidates[finding_kind] = self.covering(*finding_kind)
            for candidate in candidates:
                if not candidate.counted or finding.score < candidate.threshold:
                    continue
                if candidate.excepted and self._is_excepted(candidate.number, finding, value_of):
                    continue
                counts[candidate.number] += 1
                if self._rules[candidate.number].min_distinct > 1:
                    values[candidate.number].add(
                        number
                        if value_of is None
                        else canonical(value_of(finding), finding.category)
                    )
        return frozenset(
            index
            for index, rule in enumerate(self._rules)
            if counts[index] >= rule.min_count
            and (rule.min_distinct == 1 or len(values[index]) >= rule.min_distinct)
        )


def _operator_of(
    rule: Rule, type_name: str, category: Category, pattern_id: str
) -> tuple[str | None, Reach]:
    """Return the operator of the rule's most specific selector."""
    best: str | None = None
    best_reach = Reach.NONE
    if rule.action is Action.MASK:
        for selector, operator in rule.masking:
            how = reach(selector, type_name, category, pattern_id)
            if how > best_reach:
                best, best_reach = operator, how
    return best, best_reach


class Relevant(NamedTuple):
    """The types that must be scanned."""

    selectors: frozenset[str] | None
    """Categories, types and pattern ids; None means everything."""
    min_score: float
    """The lowest score of a relevant finding."""


def relevant_selectors(
    policy: Policy, destination: Destination, *, decision_only: bool = False
) -> Relevant:
    """Return the types that are relevant for this policy and destination.

    A report also lists what no rule covers, so it needs all types. The decision alone needs those
    that can be masked or blocked.
    """
    rules = [rule for rule in policy.rules if rule.enabled and destination in rule.destinations]
    thresholds = [policy.min_score if rule.min_score is None else rule.min_score for rule in rules]
    if not decision_only or policy.default_action in (Action.MASK, Action.BLOCK):
        return Relevant(None, min([policy.min_score, *thresholds]))
    selectors: set[str] = set()
    lowest = 1.0
    for rule, threshold in zip(rules, thresholds, strict=True):
        if rule.action is not Action.ALLOW and rule.data_types:
            selectors.update(rule.data_types)
            lowest = min(lowest, threshold)
    return Relevant(frozenset(selectors), lowest)
