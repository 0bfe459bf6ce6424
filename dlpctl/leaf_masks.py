"""Findings in leaves that are read as one text: those of each leaf, those that repeat a known
value, and the masked text around them.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from dlpctl.masking.repeats import Repeats, find_repeats
from dlpctl.policy.decide import FindingDecision, Verdict
from dlpctl.types import Action, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.masking.masker import Masker
    from dlpctl.preflight import Checker

_AROUND = 4_096
"""Characters before and after a finding that are searched again once it is masked."""
_MASK = Verdict(Action.MASK, None, None)


def by_leaf(
    ruled: Iterable[FindingDecision], starts: Sequence[int], lengths: Sequence[int]
) -> dict[int, list[FindingDecision]]:
    """Return the findings of each leaf, at their places in it; leaves start there in the text."""
    found: dict[int, list[FindingDecision]] = {}
    for each in ruled:
        number = max(bisect_right(starts, each.finding.start) - 1, 0)
        while number < len(starts) and starts[number] < each.finding.end:
            start = max(each.finding.start - starts[number], 0)
            end = min(each.finding.end - starts[number], lengths[number])
            if start < end:
                found.setdefault(number, []).append(_moved(each, start, end))
            number += 1
    return found


def repeated(text: str, findings: Sequence[Finding], known: Repeats) -> list[FindingDecision]:
    """Return where a text repeats its own values and known ones, which nothing there reveals."""
    return [FindingDecision(each, _MASK) for each in find_repeats(text, findings, known)]


def masked_windows(
    checker: Checker, text: str, hidden: Sequence[FindingDecision], masker: Masker
) -> Iterator[tuple[int, int, list[FindingDecision], str]]:
    """Yield the parts of a text around its findings, the findings in the part, and the part masked;
    the rest of the text needs no second search.
    """
    for start, end, own in _windows(text, hidden):
        moved = [_moved(each, each.finding.start - start, each.finding.end - start) for each in own]
        yield start, end, moved, checker.masked(text[start:end], moved, masker)


def _windows(
    text: str, hidden: Sequence[FindingDecision]
) -> Iterator[tuple[int, int, list[FindingDecision]]]:
    own: list[FindingDecision] = []
    start = end = 0
    for each in sorted(hidden, key=lambda each: each.finding.start):
        if own and each.finding.start - _AROUND > end:
            yield start, min(end, len(text)), own
            own = []
        if not own:
            start, end = max(each.finding.start - _AROUND, 0), 0
        own.append(each)
        end = max(end, each.finding.end + _AROUND)
    if own:
        yield start, min(end, len(text)), own


def _moved(each: FindingDecision, start: int, end: int) -> FindingDecision:
    return each._replace(finding=each.finding._replace(start=start, end=end))
