"""Summarize a decision in one sentence, as a person would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dlpctl.types import Action, Category, Decision

if TYPE_CHECKING:
    from dlpctl.policy.decide import PolicyDecision

Labels = Mapping[str, tuple[str, str]]
"""Maps detection types to names for people, singular and plural."""
Counts = Counter[tuple[Category, str]]

SEVERITY = (Category.SECRETS, Category.PHI, Category.FINANCIAL, Category.PII, Category.CUSTOM)
"""Categories from the most to the least serious."""

_LISTED_TYPES = 4
_ACRONYMS = frozenset(
    {"API", "CVV", "IBAN", "ID", "IP", "PHI", "SSN", "UK", "URL", "US", "VAT", "VIN"}
)


def summarize(
    ruling: PolicyDecision, labels: Labels, *, reason: str = "", empty: bool = False
) -> str:
    """Return the sentence; `reason` is a cause of blocking other than a rule."""
    to = ruling.destination
    if reason:
        return f"Blocked for {to}: {reason}"
    counts: dict[Action, Counts] = {action: Counter() for action in Action}
    for first, verdict, count in ruling.tallies():
        counts[verdict.action][first.category, first.type] += count
    blocked, masked, left = counts[Action.BLOCK], counts[Action.MASK], counts[Action.ALLOW]
    if ruling.decision is Decision.BLOCKED:
        rest = masked + left
        also = f"; also found {listed(rest, labels)}" if rest else ""
        return f"Blocked for {to} because of {listed(blocked, labels)}{also}"
    if ruling.decision is Decision.ALLOWED_WITH_MASKING:
        kept = (
            f"; left {listed(left, labels)} as {'it is' if left.total() == 1 else 'they are'}"
            if left
            else ""
        )
        what = listed(masked, labels) or "what could not be inspected"
        return f"Masked {what}{kept}; nothing blocked for {to}"
    if left:
        return f"Found {listed(left, labels)}; allowed for {to}"
    return f"{'Empty input' if empty else 'Nothing sensitive found'}; allowed for {to}"


def listed(counts: Counts, labels: Labels) -> str:
    """Return `2 emails, 1 phone number and 1 SSN`: the worst first, only some types by name."""
    types: Counter[str] = Counter()
    for (_, name), count in sorted(
        counts.items(), key=lambda item: (SEVERITY.index(item[0][0]), -item[1])
    ):
        types[name] += count
    parts = [counted(name, count, labels) for name, count in types.items()]
    if len(parts) > _LISTED_TYPES + 1:
        others = sum(list(types.values())[_LISTED_TYPES:])
        parts[_LISTED_TYPES:] = [f"{others:,} values of {len(parts) - _LISTED_TYPES} other types"]
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def counted(type_name: str, count: int, labels: Labels) -> str:
    singular, plural = labels.get(type_name) or _from_name(type_name)
    return f"{count:,} {singular if count == 1 else plural}"


def _from_name(type_name: str) -> tuple[str, str]:
    words = [word if word in _ACRONYMS else word.lower() for word in type_name.split("_")]
    singular = " ".join(words)
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular, f"{singular}es"
    if singular.endswith("y") and singular[-2:-1] not in "aeiou":
        return singular, f"{singular[:-1]}ies"
    return singular, f"{singular}s"
