"""One value, one finding: what is kept where candidates overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dlpctl.types import Finding

_BLOCK = 64
"""Characters that a block of `Overlaps` covers: about as long as a finding, so that few share one.
"""
_CERTAIN = 0.75
"""From this score on a finding also stands against a proven one within it: a key that happens to
hold a valid card number is a key.
"""


_LIKELY = 0.6
"""Below this score a check digit may be right by chance: `teléfono 612 345 678` is no social
insurance number of Canada.
"""


class Candidate(NamedTuple):
    """A match that the validators accepted, in bytes; `pattern` is its index in the detector."""

    start: int
    end: int
    score: float
    proven: bool
    pattern: int


def resolve(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates that are kept, none of which overlaps another, in the order of the text.

    Proven and likely goes over unproven, then score, then length; but what contains another goes
    first unless it scores less than both it and 0.75, because dropping the outer one would leave a
    part of it in the open.
    """
    candidates.sort()
    kept: list[Candidate] = []
    cluster: list[Candidate] = []
    reach = -1
    previous: Candidate | None = None
    for candidate in candidates:
        if candidate == previous:  # found in a second text as well
            continue
        previous = candidate
        start, end, *_ = candidate
        if start >= reach:
            kept += cluster if len(cluster) < 2 else _winners(cluster)
            cluster = [candidate]
            reach = end
        else:
            cluster.append(candidate)
            reach = max(reach, end)
    kept += cluster if len(cluster) < 2 else _winners(cluster)
    return kept


def cannot_beat(best: float, proven: bool, pattern: int, held: Candidate) -> bool:
    """Return whether no match of a pattern within `held` can change what is kept there.

    Such a match is either inside `held` or has its place; `best` is the highest score of the pattern.
    """
    score = held.score
    return (score >= best or score >= _CERTAIN) and (
        not (proven and best >= _LIKELY),
        -best,
        pattern,
    ) >= (not (held.proven and score >= _LIKELY), -score, held.pattern)


def clusters(candidates: Iterable[Candidate]) -> Iterator[tuple[int, int]]:
    """From where to where sorted candidates overlap in a chain; those of two clusters have no say
    in each other.
    """
    first, reach = 0, 0
    for candidate in candidates:
        if candidate.start >= reach:
            if reach:
                yield first, reach
            first = candidate.start
        reach = max(reach, candidate.end)
    if reach:
        yield first, reach


class Overlaps:
    """Findings by their places, so that those which overlap another one are looked up, not searched
    for.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._numbered: dict[int, Finding] = {}
        self._added = 0
        self._blocks: dict[int, list[int]] = {}
        for finding in findings:
            self._add(finding)

    def _add(self, finding: Finding) -> None:
        number, self._added = self._added, self._added + 1
        self._numbered[number] = finding
        for block in range(finding.start // _BLOCK, (finding.end - 1) // _BLOCK + 1):
            self._blocks.setdefault(block, []).append(number)

    def overlapping(self, finding: Finding) -> dict[int, Finding]:
        """Return the findings that overlap one, in the order in which they were added, by their
        numbers.
        """
        start, end, found = finding.start, finding.end, self._numbered
        blocks = range(start // _BLOCK, (end - 1) // _BLOCK + 1)
        near = {
            number for block in blocks for number in self._blocks.get(block, ()) if number in found
        }
        return {
            number: found[number]
            for number in sorted(near)
            if start < found[number].end and found[number].start < end
        }

    def replace(self, numbers: Iterable[int], finding: Finding) -> None:
        for number in numbers:
            del self._numbered[number]
        self._add(finding)

    def findings(self) -> list[Finding]:
        return list(self._numbered.values())


def _winners(cluster: Sequence[Candidate]) -> list[Candidate]:
    if cluster[0][:2] == cluster[-1][:2]:  # sorted, so that all have the same place
        return [min(cluster, key=rank)]
    offset = cluster[0].start
    taken = bytearray(max(candidate.end for candidate in cluster) - offset)
    winners: list[Candidate] = []
    for candidate in sorted(_without_contained(cluster), key=rank):
        start, end = candidate.start - offset, candidate.end - offset
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            winners.append(candidate)
    winners.sort()
    return winners


def rank(candidate: Candidate) -> tuple[bool, float, int, int, int]:
    start, end, score, proven, pattern = candidate
    return not (proven and score >= _LIKELY), -score, start - end, start, pattern


def _without_contained(cluster: Sequence[Candidate]) -> list[Candidate]:
    """Without the candidates inside a longer one that beats them.

    Few can still contain something at any place, since the values of one pattern do not overlap
    each other.
    """
    left: list[Candidate] = []
    outers: list[Candidate] = []
    for candidate in sorted(cluster, key=lambda one: (one.start, -one.end)):
        start, end, score, *_ = candidate
        enough = min(score, _CERTAIN)
        beaten = False
        reaching: list[Candidate] = []
        for outer in outers:
            if outer.end > start:
                reaching.append(outer)
                if (
                    outer.end >= end
                    and outer.end - outer.start > end - start
                    and outer.score >= enough
                ):
                    beaten = True
        outers = reaching
        if not beaten:
            left.append(candidate)
            outers.append(candidate)
    return left
