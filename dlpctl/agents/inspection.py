"""Inspect the content of events: decide by policy, and mask by the tokens of the session."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.agents.leaves import Leaf, leaves, rebuilt
from dlpctl.masking.leaks import Value
from dlpctl.masking.repeats import Repeats
from dlpctl.masking.unmask import Unmasker
from dlpctl.policy.decide import FindingDecision, Verdict
from dlpctl.types import Action, Decision, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.agents.sessions import SessionVault
    from dlpctl.masking.operators import Masker
    from dlpctl.masking.unmask import ValueStore
    from dlpctl.preflight import Checker

_AROUND = 4_096
"""Characters before and after a finding that are searched again once it is masked."""


class Inspected(NamedTuple):
    """The decision on a content, and what masking makes of it."""

    decision: Decision
    counts: Counter[str]
    """The findings that the policy masks or blocks, by type."""
    summary: str = ""
    content: Any = None
    """The masked content in the form of the original."""


class Joined(NamedTuple):
    """The leaves of a content in one text, so that a key and its value are read together."""

    text: str
    starts: list[int]
    parts: list[Leaf]

    @classmethod
    def of(cls, value: Any) -> Joined:
        parts = leaves(value)
        pieces: list[str] = []
        starts: list[int] = []
        position = 0
        for leaf, following in zip(parts, [*parts, Leaf("")][1:], strict=True):
            ending = ": " if leaf.is_key and "\n" not in following.text else "\n\n"
            starts.append(position)
            pieces += (leaf.text, ending)
            position += len(leaf.text) + len(ending)
        return cls("".join(pieces), starts, parts)

    def by_leaf(self, ruled: Iterable[FindingDecision]) -> dict[int, list[FindingDecision]]:
        """Return the findings of each leaf, at their places in it."""
        from bisect import bisect_right

        found: dict[int, list[FindingDecision]] = {}
        for each in ruled:
            number = bisect_right(self.starts, each.finding.start) - 1
            while number < len(self.parts) and self.starts[number] < each.finding.end:
                start = max(each.finding.start - self.starts[number], 0)
                end = min(each.finding.end - self.starts[number], len(self.parts[number].text))
                if start < end:
                    moved = each.finding._replace(start=start, end=end)
                    found.setdefault(number, []).append(each._replace(finding=moved))
                number += 1
        return found


def inspect(checker: Checker, value: Any, vault: SessionVault) -> Inspected:
    """Decide about a JSON value; mask what the policy masks or blocks, and all values that the
    session knows already.

    Raises `StillExposedError` where a value would remain.
    """
    joined = Joined.of(value)
    findings = checker.scan(joined.text)
    ruling = checker.ruling(joined.text, findings)
    hidden = [each for each in ruling.ruled if each.verdict.action is not Action.ALLOW]
    hidden += _repeated(joined.text, [each.finding for each in hidden], vault)
    reason = checker.not_inspected()
    counts = Counter(each.finding.type for each in hidden)
    decision = ruling.decision
    if decision is Decision.ALLOWED and hidden:
        decision = Decision.ALLOWED_WITH_MASKING
    if reason:
        return Inspected(Decision.BLOCKED, counts, reason)
    if not hidden:
        return Inspected(decision, counts)
    return Inspected(
        decision, counts, _summary(counts), _masked(checker, value, joined, hidden, vault)
    )


def _masked(
    checker: Checker,
    value: Any,
    joined: Joined,
    hidden: Sequence[FindingDecision],
    vault: SessionVault,
) -> Any:
    by_leaf = joined.by_leaf(hidden)
    texts: list[str] = []
    with vault.transaction():
        masker = checker.masker(vault)
        for number, leaf in enumerate(joined.parts):
            own = by_leaf.get(number)
            texts.append(_masked_leaf(checker, leaf.text, own, masker) if own else leaf.text)
    remaining = iter(texts)
    return rebuilt(value, lambda _: next(remaining))


def _masked_leaf(
    checker: Checker, text: str, hidden: Sequence[FindingDecision], masker: Masker
) -> str:
    """Return a text masked; only the lines around its values are searched again."""
    parts: list[str] = []
    position = 0
    for start, end, own in _windows(text, hidden):
        moved = [
            each._replace(
                finding=each.finding._replace(
                    start=each.finding.start - start, end=each.finding.end - start
                )
            )
            for each in own
        ]
        parts += (text[position:start], checker.masked(text[start:end], moved, masker))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _windows(
    text: str, hidden: Sequence[FindingDecision]
) -> Iterator[tuple[int, int, list[FindingDecision]]]:
    """Yield the pieces of a text that contain its findings, with some lines around them."""
    ordered = sorted(hidden, key=lambda each: each.finding.start)
    number = 0
    while number < len(ordered):
        own = [ordered[number]]
        start, end = max(own[0].finding.start - _AROUND, 0), own[0].finding.end + _AROUND
        number += 1
        while number < len(ordered) and ordered[number].finding.start - _AROUND <= end:
            own.append(ordered[number])
            end = max(end, ordered[number].finding.end + _AROUND)
            number += 1
        yield start, min(end, len(text)), own


def _repeated(text: str, findings: Sequence[Finding], vault: SessionVault) -> list[FindingDecision]:
    """Return where a text repeats its own values and those of the session, which nothing there
    reveals.
    """
    own = Repeats(
        {Value(each.type, each.category, text[each.start : each.end]): each for each in findings}
    )
    with vault.lock:
        repeated = own.outside(text, findings, vault.known)
    verdict = Verdict(Action.MASK, None, None)
    return [FindingDecision(each, verdict) for each in repeated]


def restored(value: Any, vault: ValueStore) -> tuple[Any, int]:
    """Return a JSON value with the tokens of the session replaced by their values, and their
    number.
    """
    count = 0

    def restore(text: str) -> str:
        nonlocal count
        unmasker = Unmasker(vault)
        full = unmasker.feed(text) + unmasker.finish()
        count += unmasker.restored
        return full

    return rebuilt(value, restore), count


@cache
def _labels() -> dict[str, tuple[str, str]]:
    from dlpctl.detect.patterns.catalogue import labels

    return labels()


def _summary(counts: Counter[str]) -> str:
    from dlpctl.policy.summary import counted

    parts = [counted(name, count, _labels()) for name, count in counts.most_common()]
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
