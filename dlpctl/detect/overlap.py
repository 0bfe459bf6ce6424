"""One value, one finding: what is kept where candidates overlap."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import NamedTuple

_CERTAIN = 0.75
"""From this score on a finding also stands against a proven one within it: a key that happens to hold a valid card number is a key."""


class Candidate(NamedTuple):
    """A match that the validators accepted, in bytes; `pattern` is its index in the detector."""

    start: int
    end: int
    score: float
    proven: bool
    pattern: int


def resolve(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates that are kept, none of which overlaps another, in the order of the text.

    Proven goes over unproven, then score, then length; but what contains another goes first unless it scores less than both it and 0.75,
    because dropping the outer one would leave a part of it in the open.
    """
    candidates.sort()
    kept: list[Candidate] = []
    cluster: list[Candidate] = []
    reach = -1
    for candidate in candidates:
        if candidate.start >= reach and cluster:
            kept += cluster if len(cluster) == 1 else _winners(cluster)
            cluster = []
        cluster.append(candidate)
        reach = max(reach, candidate.end)
    kept += cluster if len(cluster) < 2 else _winners(cluster)
    return kept


def _winners(cluster: Sequence[Candidate]) -> list[Candidate]:
    ranked = sorted(_without_contained(cluster), key=_rank)
    starts: list[int] = []
    ends: list[int] = []
    winners: list[Candidate] = []
    for candidate in ranked:
        at = bisect_left(ends, candidate.start + 1)
        if at < len(starts) and starts[at] < candidate.end:
            continue
        insort(starts, candidate.start)
        insort(ends, candidate.end)
        winners.append(candidate)
    winners.sort()
    return winners


def _rank(candidate: Candidate) -> tuple[bool, float, int, int, int]:
    start, end, score, proven, pattern = candidate
    return not proven, -score, start - end, start, pattern


def _without_contained(cluster: Sequence[Candidate]) -> list[Candidate]:
    """Without the candidates inside a longer one that beats them.

    In the order of start (longest first), the stack holds what may still contain something: each ends no later than the one below it.
    """
    left: list[Candidate] = []
    outers: list[Candidate] = []
    for candidate in sorted(
        cluster, key=lambda one: (one.start, -one.end, not one.proven, -one.score, one.pattern)
    ):
        while outers and outers[-1].end < candidate.end:
            outers.pop()
        if any(
            _contains(outer, candidate) and outer.score >= min(candidate.score, _CERTAIN) for outer in outers
        ):
            continue
        left.append(candidate)
        outers.append(candidate)
    return left


def _contains(outer: Candidate, inner: Candidate) -> bool:
    return (
        outer.start <= inner.start
        and inner.end <= outer.end
        and outer.end - outer.start > inner.end - inner.start
    )
