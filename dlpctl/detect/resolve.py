"""Overlap policy: one value, one finding.

`resolve` decides between the candidates of patterns, `merged` between these and names and
addresses, and `Overlaps` looks up the findings that overlap another. Positions are bytes of valid
UTF-8.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from dlpctl.detect.entities.lexicon import words
from dlpctl.regex import lazy
from dlpctl.types import Finding

_BLOCK = 64
"""The number of characters in a block of `Overlaps`: about as long as a finding."""
CERTAIN = 0.75
"""The score from which on a finding also wins over a proven one within it: a key that happens to
contain a valid card number is a key.
"""
_LIKELY = 0.6
"""Below this score, a check digit may be right by coincidence: `teléfono 612 345 678` is not a
Canadian social insurance number.
"""

ADDRESS, PERSON_NAME = -2, -1
"""The indexes of candidates that do not come from a pattern."""
_TAKEN_IN = frozenset({"ADDRESS", "POSTAL_CODE", "REFERENCE_NUMBER"})
"""Types that a pattern finds within an address, which includes them."""
_FEWEST_WORDS = 2
_DIGIT = lazy(rb"[0-9]")
_WORD_AND_BLANKS = lazy(rb"([^\s\d.,:;]+):?\s+")
_WORD = lazy(rb"[^\W\d_]{2,}|[\x80-\xff]{2,}")
_FEWEST = 3
"""The minimum number of letters and digits of a remaining part, after a pattern has
found the rest.
"""
_EVEN, _SURE, _VERY_SURE = 0.5, 0.7, 0.9
_BOUNDARIES = b" \t\r\n,;:-/|()[]<>\"'"


class Candidate(NamedTuple):
    """A match that the validators accepted, in bytes; `pattern` is its index in the detector."""

    start: int
    end: int
    score: float
    proven: bool
    pattern: int


def resolve(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates that are kept, none of which overlaps another, in the order of the
    text.

    Proven and likely goes over unproven, then score, then length; but what contains another goes
    first unless it scores less than both it and 0.75, because dropping the outer one would leave a
    part of it in the open. Once an outer one loses, what it contains counts again.
    """
    candidates.sort()
    kept: list[Candidate] = []
    cluster: list[Candidate] = []
    reach = -1
    previous: Candidate | None = None
    for candidate in candidates:
        if candidate == previous:  # found in a derived text as well
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

    Such a match is either inside `held` or has its place; `best` is the highest score of the
    pattern.
    """
    score = held.score
    return (score >= best or score >= CERTAIN) and best_rank(best, proven, pattern) >= best_rank(
        score, held.proven, held.pattern
    )


def best_rank(score: float, proven: bool, pattern: int) -> tuple[bool, float, int]:
    """Return the rank of a match among those in its place; the lowest one is kept."""
    return not (proven and score >= _LIKELY), -score, pattern


def clusters(candidates: Iterable[Candidate]) -> Iterator[tuple[int, int]]:
    """Return the spans in which sorted candidates overlap in a chain; those of two clusters do not
    affect each other.
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
    outer = _without_contained(cluster)
    contained = sorted(set(cluster).difference(outer), key=rank)
    for candidate in chain(sorted(outer, key=rank), contained):
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
    """Return the candidates without those inside a longer one that beats them.

    Few can contain something at any place, since the values of one pattern do not overlap each
    other.
    """
    left: list[Candidate] = []
    outers: list[Candidate] = []
    for candidate in sorted(cluster, key=lambda each: (each.start, -each.end)):
        start, end, score, *_ = candidate
        enough = min(score, CERTAIN)
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


def merged(
    data: bytes, found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> list[Candidate]:
    """Return what patterns found, and the parts of tagged spans that are outside of it.

    A tagger guesses where a pattern knows, so the pattern's finding is kept. Only a postal code is
    a part of the address around it, and no person has the name of a medicine.
    """
    if not tagged:
        return found
    found = _without_guesses(data, found, tagged, type_of)
    kept: list[Candidate] = []
    index = 0
    for each in _apart(_widened(found, tagged, type_of)):
        while index < len(found) and found[index].end <= each.start:
            kept.append(found[index])
            index += 1
        start = each.start
        while index < len(found) and found[index].start < each.end:
            other = found[index]
            if (
                each.pattern == ADDRESS
                and start <= other.start
                and other.end <= each.end
                and type_of(other.pattern) in _TAKEN_IN
            ):
                index += 1
                continue
            medicine = each.pattern == PERSON_NAME and type_of(other.pattern) == "MEDICATION"
            kept += [] if medicine else _rest(data, each, start, other.start)
            start = each.end if medicine else other.end
            if other.end > each.end:
                break
            kept.append(other)
            index += 1
        kept += _rest(data, each, start, each.end) if start > each.start else [each]
    kept += found[index:]
    return kept


def _without_guesses(
    data: bytes, found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> list[Candidate]:
    """Return what was found without what a broad pattern took for an address, where the tagger is
    sure of one that starts after everyday words and ends with it.

    Such a pattern cannot tell "She lives at Elm 5" from "Rue de la Loi 5".
    """
    known = [each for each in found if type_of(each.pattern) == "ADDRESS"]
    sure = (
        [each for each in tagged if each.pattern == ADDRESS and each.score >= _VERY_SURE]
        if known
        else []
    )
    sure.sort()
    starts = [each.start for each in sure]
    changed: dict[Candidate, Candidate | None] = {}
    for guess in known:
        first, last = bisect_right(starts, guess.start), bisect_left(starts, guess.end)
        for each in sure[first:last]:
            if guess.end <= each.end + 1:
                before = data[guess.start : each.start].split()
                if guess.score < _SURE and any(word.islower() for word in before):
                    changed[guess] = None
                elif start := _past_cues(data, guess.start, each.start):
                    changed[guess] = guess._replace(start=start)
    if not changed:
        return found
    return [kept for each in found if (kept := changed.get(each, each)) is not None]


def _past_cues(data: bytes, start: int, end: int) -> int:
    """Return the start after words that only tell that an address follows; 0 without any."""
    known = words("lives") | words("address_kinds") | words("premises_before_pattern")
    past = 0
    for word in _WORD_AND_BLANKS.finditer(data, start, end):
        written = word[1].decode(errors="ignore")
        is_preposition = past and written.islower() and written in words("place_prepositions")
        if word.start() != (past or start) or not (is_preposition or written.lower() in known):
            break
        past = word.end()
    return past


def _widened(
    found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> Iterator[Candidate]:
    """Return what was tagged, with addresses widened by what patterns found of them."""
    known = [each for each in found if type_of(each.pattern) == "ADDRESS"]
    index = 0
    for each in tagged:
        if each.pattern != ADDRESS or not known:
            yield each
            continue
        while index < len(known) and known[index].end <= each.start:
            index += 1
        joint = [each]
        following = index
        while following < len(known) and known[following].start < joint[-1].end:
            joint.append(known[following])
            following += 1
        yield each._replace(
            start=min(each.start for each in joint),
            end=max(each.end for each in joint),
            score=max(each.score for each in joint),
        )


def _apart(tagged: Iterable[Candidate]) -> Iterator[Candidate]:
    """Return what was tagged without overlaps: an address takes in a name within it, and otherwise
    the surer one is kept.
    """
    previous: Candidate | None = None
    for each in sorted(tagged):
        if previous is None or each.start >= previous.end:
            if previous is not None:
                yield previous
            previous = each
        elif _weight(each) > _weight(previous):
            previous = each
    if previous is not None:
        yield previous


def _weight(each: Candidate) -> tuple[bool, float, int]:
    return each.pattern == ADDRESS and each.score >= _EVEN, each.score, each.end - each.start


def _rest(data: bytes, each: Candidate, start: int, end: int) -> list[Candidate]:
    """Return the part of a tagged span between two findings, if enough is left to be a finding."""
    if start >= end:
        return []
    part = data[start:end]
    start += len(part) - len(part.lstrip(_BOUNDARIES))
    part = part.strip(_BOUNDARIES)
    if each.pattern == ADDRESS:
        part = _next_label().sub(b"", part)
        # What is left without a number or with a word alone was beside what a pattern found.
        if not _DIGIT.search(part) or len(_WORD.findall(part)) < _FEWEST_WORDS:
            return []
    if sum(map(str.isalnum, part.decode(errors="ignore"))) < _FEWEST:
        return []
    return [each._replace(start=start, end=start + len(part))]


@cache
def _next_label() -> re.Pattern[bytes]:
    """Return a regex for the label of another value at the end of an address."""
    labels = b"|".join(map(str.encode, sorted(words("next_values"))))
    return re.compile(rb"(?i)[\s,;./|(]+(?:%s|e-mail)[\s:.]*$" % labels)
