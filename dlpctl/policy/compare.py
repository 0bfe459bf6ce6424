"""Compare two policies: their rules and their decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.policy.decide import Decider, ValueOf
from dlpctl.types import Decision, Destination, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.policy.model import Policy


class Sample(NamedTuple):
    """A document that has been scanned."""

    name: str
    findings: Sequence[Finding]
    value_of: ValueOf | None = None


class Change(NamedTuple):
    """A document on which two policies differ."""

    name: str
    destination: Destination
    before: Decision
    after: Decision
    types: tuple[str, ...]
    """The types of findings whose actions differ."""


def changed_decisions(before: Policy, after: Policy, samples: Iterable[Sample]) -> Iterator[Change]:
    """Yield differences of decision or action. Scan the samples with the lower `minScore`."""
    deciders = [(to, Decider(before, to), Decider(after, to)) for to in Destination]
    for sample in samples:
        for to, old, new in deciders:
            was, is_now = (each(sample.findings, sample.value_of) for each in (old, new))
            treated = [
                {(item.finding, item.verdict.action) for item in ruling.ruled}
                for ruling in (was, is_now)
            ]
            types = tuple(sorted({finding.type for finding, _ in treated[0] ^ treated[1]}))
            if types or was.decision is not is_now.decision:
                yield Change(sample.name, to, was.decision, is_now.decision, types)


def changed_rules(before: Policy, after: Policy) -> list[str]:
    """Return the differences of the policies, one a line; rules are matched by id."""
    lines = []
    old_table, new_table = before.to_dict(), after.to_dict()
    for key in ("name", "version", "minScore", "defaultAction", "customPatterns"):
        old, new = old_table.get(key), new_table.get(key)
        if old != new:
            lines.append(f"{key}: changed" if key == "customPatterns" else f"{key}: {old} -> {new}")
    old_rules = {rule.id: rule.to_dict() for rule in before.rules}
    new_rules = {rule.id: rule.to_dict() for rule in after.rules}
    lines.extend(f"rule {name!r}: removed" for name in old_rules if name not in new_rules)
    for name, rule in new_rules.items():
        if name not in old_rules:
            lines.append(f"rule {name!r}: added")
            continue
        was = old_rules[name]
        lines.extend(
            f"rule {name!r}: {key}: {_shown(was.get(key))} -> {_shown(rule.get(key))}"
            for key in {**was, **rule}
            if was.get(key) != rule.get(key)
        )
    return lines


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
