"""Inspect the content of events: decide by policy, and mask with the tokens of the session."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.agents.leaves import Leaf, leaves, rebuilt
from dlpctl.leaf_masks import by_leaf, masked_windows, repeated
from dlpctl.masking.unmask import Unmasker, ValueStore
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.agents.sessions import SessionVault
    from dlpctl.masking.masker import Masker
    from dlpctl.policy.decide import FindingDecision
    from dlpctl.preflight import Checker


class Inspected(NamedTuple):
    """The decision on a content and its masked form."""

    decision: Decision
    counts: Counter[str]
    """The findings that the policy masks or blocks, by type."""
    summary: str = ""
    content: Any = None
    """The masked content in the shape of the original."""


class Joined(NamedTuple):
    """All leaves of a content in one text, so that a key and its value are read together."""

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


def inspect(checker: Checker, value: Any, vault: SessionVault) -> Inspected:
    """Decide on a JSON value; mask what the policy masks or blocks, and all values that the session
    already knows.

    Raises `StillExposedError` if a value would remain.
    """
    joined = Joined.of(value)
    findings = checker.scan(joined.text)
    ruling = checker.ruling(joined.text, findings)
    hidden = ruling.hidden()
    with vault.lock:
        hidden += repeated(joined.text, [each.finding for each in hidden], vault.known)
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
        decision, counts, summary_of(counts), _masked(checker, value, joined, hidden, vault)
    )


def _masked(
    checker: Checker,
    value: Any,
    joined: Joined,
    hidden: Sequence[FindingDecision],
    vault: SessionVault,
) -> Any:
    found = by_leaf(hidden, joined.starts, [len(leaf.text) for leaf in joined.parts])
    texts: list[str] = []
    with vault.transaction():
        masker = checker.masker(vault)
        for number, leaf in enumerate(joined.parts):
            own = found.get(number)
            texts.append(_masked_leaf(checker, leaf.text, own, masker) if own else leaf.text)
    remaining = iter(texts)
    return rebuilt(value, lambda _: next(remaining))


def _masked_leaf(
    checker: Checker, text: str, hidden: Sequence[FindingDecision], masker: Masker
) -> str:
    """Return the masked text; only the lines around its values are searched again."""
    parts: list[str] = []
    position = 0
    for start, end, _, masked in masked_windows(checker, text, hidden, masker):
        parts += (text[position:start], masked)
        position = end
    parts.append(text[position:])
    return "".join(parts)


def restored(value: Any, vault: ValueStore) -> tuple[Any, int]:
    """Return a JSON value with the tokens of the session replaced by their values, and the
    number of replacements.
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


def summary_of(counts: Counter[str]) -> str:
    """Return the counts of types in words: `2 emails and 1 SSN`."""
    from dlpctl.policy.summary import counted

    parts = [counted(name, count, _labels()) for name, count in counts.most_common()]
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)
