"""Explanations: the reasons for each finding and each near miss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dlpctl.detect.confirm.runner import Trace
from dlpctl.detect.engine import THRESHOLD, Detector
from dlpctl.types import Finding

MISSES = 5
_DISGUISED = "is encoded or written in other characters; the decoded text matches"


class Explained(NamedTuple):
    """One match of one pattern, and the reasons for its score."""

    finding: Finding
    label: str
    steps: tuple[str, ...]
    """The reasons that raised or lowered the score, in order."""
    lost: str
    """The reason why the match is not a finding; empty if it is one."""


class Explanation(NamedTuple):
    counts: list[Explained]
    misses: list[Explained]
    """Matches that nearly were findings, nearest first."""


def explain(
    detector: Detector,
    text: str,
    min_score: float = THRESHOLD,
    allowed: Iterable[Finding] = (),
    misses: int = MISSES,
) -> Explanation:
    """Return every finding of the text and up to `misses` near misses; `allowed` are findings that
    an allow list accepts.
    """
    winners = set(detector.scan(text, min_score))
    accepted = set(allowed)
    counts: list[Explained] = []
    lost: list[tuple[float, Explained]] = []
    for trace in detector.traces(text):
        finding = trace.finding
        reason, nearness = _reason(trace, winners, accepted, min_score)
        explained = Explained(finding, trace.label, tuple(trace.steps), reason)
        if reason:
            lost.append((nearness, explained))
        else:
            counts.append(explained)
    seen = {each.finding for each in counts}
    labels = {pattern.id: pattern.label for pattern in detector.patterns} if winners - seen else {}
    counts += (
        Explained(finding, labels.get(finding.pattern_id, finding.type), (_DISGUISED,), "")
        for finding in winners - seen
    )
    counts.sort(key=lambda each: each.finding.start)
    lost.sort(key=lambda pair: (-pair[0], pair[1].finding.start, pair[1].finding.pattern_id))
    return Explanation(counts, [explained for _, explained in lost[:misses]])


def _reason(
    trace: Trace, winners: set[Finding], accepted: set[Finding], min_score: float
) -> tuple[str, float]:
    """Return the reason why a match is not a finding, and how near it is to being one."""
    finding = trace.finding
    if trace.refused_by:
        return f"{trace.refused_by} refuses it", trace.best * 0.5
    if finding in accepted:
        return "the allow list accepts it", 1.0
    if finding in winners:
        return "", 1.0
    if finding.score < min_score:
        hint = f"; with context it would score {trace.best:g}" if trace.best >= min_score else ""
        return (
            f"score {finding.score:g} is below the threshold of {min_score:g}{hint}",
            finding.score,
        )
    winner = next(
        (each for each in winners if each.start < finding.end and finding.start < each.end), None
    )
    return f"overlaps {winner.pattern_id if winner else 'another finding'}, which wins", 0.9
