"""Find rules, names and exceptions of a policy that have no effect."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from dlpctl.policy.decide import Candidate, Decider, loosens
from dlpctl.policy.loading import with_custom
from dlpctl.policy.model import Policy
from dlpctl.policy.rules import EVERYTHING, Catalogue, Exemption, Rule
from dlpctl.policy.selectors import Reach, is_known, reach
from dlpctl.types import Action, Category, Destination

_SOON = timedelta(days=14)
# Values of unrelated shapes: a pattern that matches all of them matches everything.
_UNRELATED = ("a", "Zoë Quartermaine", "000-12-3456", "q@w.example", "!~", "9" * 30)


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Lint(NamedTuple):
    level: Level
    code: str
    path: str
    """The path, such as `rules[2].exceptions[0]`; empty for the policy itself."""
    message: str

    def to_dict(self) -> dict[str, str]:
        return {
            "level": self.level,
            "code": self.code,
            "place": self.path,
            "message": self.message,
        }


class FindingKind(NamedTuple):
    type: str
    category: Category
    pattern_id: str


def lint(policy: Policy, catalogue: Catalogue, *, on: date | None = None) -> list[Lint]:
    """Return problems in the order of the policy, then those of the policy itself."""
    day = on or datetime.now(UTC).date()
    catalogue = with_custom(catalogue, policy.custom_patterns)
    finding_kinds = _finding_kinds(catalogue)
    deciders = {to: Decider(policy, to, on=day) for to in Destination}
    shadows = _Shadows(deciders, finding_kinds)
    found: list[Lint] = []
    for index, rule in enumerate(policy.rules):
        path = f"rules[{index}]"
        found.extend(_idle(path, rule, shadows))
        if loosens(rule, policy.default_action):
            found.append(_loosening(path, rule, policy))
        found.extend(_names(path, rule, catalogue, finding_kinds))
        found.extend(_masking(path, rule, finding_kinds))
        for number, exemption in enumerate(rule.exceptions):
            found.extend(_exemption(f"{path}.exceptions[{number}]", rule, exemption, day))
    found.extend(_uncovered(policy, deciders, finding_kinds))
    return found


def _finding_kinds(catalogue: Catalogue) -> list[FindingKind]:
    """Return every possible kind of finding; a type without a pattern is found by a tagger."""
    with_patterns = set(catalogue.patterns.values())
    finding_kinds = [
        FindingKind(name, category, "")
        for name, categories in catalogue.types.items()
        for category in categories
        if name not in with_patterns
    ]
    for pattern, name in catalogue.patterns.items():
        finding_kinds.extend(
            FindingKind(name, category, pattern) for category in catalogue.types.get(name, ())
        )
    return finding_kinds


class _Shadows:
    """The rules that decide on some kind of finding, and the rules that shadow the others."""

    def __init__(
        self, deciders: dict[Destination, Decider], finding_kinds: list[FindingKind]
    ) -> None:
        self._deciding: set[str | None] = set()
        self._before: dict[str | None, str | None] = {}
        for decider in deciders.values():
            for finding_kind in finding_kinds:
                candidates = decider.covering(*finding_kind)
                for candidate in candidates:
                    shadowing = next(
                        (each for each in candidates if _shadows(each, candidate)), None
                    )
                    if shadowing is None:
                        self._deciding.add(candidate.verdict.rule)
                    else:
                        self._before.setdefault(candidate.verdict.rule, shadowing.verdict.rule)

    def before(self, rule: Rule) -> str | None:
        """Return the rule that leaves nothing to this one."""
        return None if rule.id in self._deciding else self._before.get(rule.id)


def _shadows(item: Candidate, other: Candidate) -> bool:
    """Return whether `item` acts on all that `other` acts on, as strictly or earlier."""
    if item.counted or item.excepted or item.threshold > other.threshold:
        return False
    if item.verdict.action is not other.verdict.action:
        return list(Action).index(item.verdict.action) > list(Action).index(other.verdict.action)
    return item.number < other.number and other.verdict.operator in (None, item.verdict.operator)


def _idle(path: str, rule: Rule, shadows: _Shadows) -> Iterator[Lint]:
    if not rule.enabled:
        yield Lint(Level.NOTE, "disabled", path, f"{rule.id!r} is switched off")
    if not rule.destinations:
        message = f"{rule.id!r} names no destination, so it never acts"
        yield Lint(Level.WARNING, "no-destinations", path, message)
    if not rule.data_types:
        message = f"{rule.id!r} names no data type, so it never acts"
        yield Lint(Level.WARNING, "no-types", path, message)
    if rule.enabled and (shadowing := shadows.before(rule)):
        message = (
            f"{rule.id!r} never decides: {shadowing!r} covers the same and is as strict or stricter"
        )
        yield Lint(Level.WARNING, "shadowed", path, message)


def _loosening(path: str, rule: Rule, policy: Policy) -> Lint:
    message = (
        f"{rule.id!r} never acts: a rule with minCount or minDistinct must be as strict as the"
        f" defaultAction {policy.default_action}, or more findings would allow more"
    )
    return Lint(Level.WARNING, "loosening", path, message)


def _names(
    path: str, rule: Rule, catalogue: Catalogue, finding_kinds: list[FindingKind]
) -> Iterator[Lint]:
    for index, selector in enumerate(rule.data_types):
        at = f"{path}.dataTypes[{index}]"
        if not is_known(selector, catalogue):
            message = (
                f"{selector} is not a category, detection type or pattern,"
                " so nothing is ever found for it"
            )
            yield Lint(Level.ERROR, "unknown-type", at, message)
        elif wider := _wider(selector, rule, finding_kinds):
            message = f"{selector} is part of {wider}, which the rule names too"
            yield Lint(Level.NOTE, "redundant-type", at, message)


def _wider(selector: str, rule: Rule, finding_kinds: list[FindingKind]) -> str | None:
    named = [each for each in finding_kinds if reach(selector, *each)]
    for other in rule.data_types:
        reaches = [(reach(other, *each), reach(selector, *each)) for each in named]
        is_wider = all(Reach.NONE < wide < narrow for wide, narrow in reaches)
        if named and other != selector and is_wider:
            return other
    return None


def _masking(path: str, rule: Rule, finding_kinds: list[FindingKind]) -> Iterator[Lint]:
    if not rule.masking:
        return
    if rule.action is not Action.MASK:
        message = f"operators have no effect in a rule that does not mask ({rule.action})"
        yield Lint(Level.WARNING, "idle-masking", f"{path}.masking", message)
        return
    covered = [
        each
        for each in finding_kinds
        if any(reach(selector, *each) for selector in rule.data_types)
    ]
    for selector, _ in rule.masking:
        if selector != EVERYTHING and not any(reach(selector, *each) for each in covered):
            message = f"the rule does not cover {selector}, so this operator has no effect"
            yield Lint(Level.WARNING, "idle-masking", f"{path}.masking.{selector}", message)


def _exemption(path: str, rule: Rule, exemption: Exemption, day: date) -> Iterator[Lint]:
    who = f"{exemption.owner}, {exemption.reason!r}"
    if exemption.expired(day):
        message = f"expired on {exemption.expires}; ask {who}, then renew or remove it"
        yield Lint(Level.WARNING, "exception-expired", path, message)
    elif exemption.expires - day <= _SOON:
        message = f"expires on {exemption.expires} ({who})"
        yield Lint(Level.NOTE, "exception-expires-soon", path, message)
    if rule.action is Action.ALLOW:
        yield Lint(Level.NOTE, "idle-exception", path, "has no effect in a rule that allows anyway")
    if exemption.pattern is not None:
        from dlpctl.policy.exceptions import matcher

        matches = matcher(exemption.pattern)
        if all(matches(value) for value in _UNRELATED):
            message = "matches every value, so the rule never acts on what the exception concerns"
            yield Lint(Level.WARNING, "exception-matches-all", f"{path}.pattern", message)


def _uncovered(
    policy: Policy, deciders: dict[Destination, Decider], finding_kinds: list[FindingKind]
) -> Iterator[Lint]:
    fate = (
        f"gets the default action {policy.default_action}"
        if policy.default_action
        else "is allowed and listed"
    )
    for to, decider in deciders.items():
        for category in Category:
            own = [each for each in finding_kinds if each.category is category]
            bare = sorted({each.type for each in own if not decider.covering(*each)})
            if not bare:
                continue
            listed = ", ".join(bare[:8]) + (", ..." if len(bare) > 8 else "")
            shown = category if len(bare) == len({each.type for each in own}) else listed
            is_minor = policy.default_action or category is Category.CUSTOM
            level = Level.NOTE if is_minor else Level.WARNING
            message = f"{to}: no rule covers {shown}; what is found {fate}"
            yield Lint(level, "uncovered", "", message)
