"""Findings of patterns and of the taggers in one list: which of two that overlap is kept."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from dlpctl.detect.entities.lexicon import words
from dlpctl.detect.entities.taggers import ADDRESS, PERSON_NAME
from dlpctl.detect.overlap import Candidate
from dlpctl.regex import lazy

_TAKEN_IN = frozenset({"ADDRESS", "POSTAL_CODE"})
"""What a pattern finds by itself and an address contains; of two addresses the joint one is kept.
"""
_FEWEST_WORDS = 2
_DIGIT = lazy(rb"[0-9]")
_WORD = lazy(rb"[^\W\d_]{2,}|[\x80-\xff]{2,}")
_FEWEST = 3
"""Letters and digits that a part must have to be left over where a pattern found the rest."""


def merged(
    data: bytes, found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> list[Candidate]:
    """Return the findings of patterns, and of the tagged those parts outside of them.

    A tagger guesses where a pattern knows, so the pattern's finding is kept. Only a postal code is
    part of the address around it, and no person has the name of a medicine.
    """
    if not tagged:
        return found
    found = _without_guesses(data, found, tagged, type_of)
    kept: list[Candidate] = []
    place = 0
    for one in _without_overlaps(_joined(found, tagged, type_of)):
        while place < len(found) and found[place].end <= one.start:
            kept.append(found[place])
            place += 1
        start = one.start
        while place < len(found) and found[place].start < one.end:
            other = found[place]
            if (
                one.pattern == ADDRESS
                and start <= other.start
                and other.end <= one.end
                and type_of(other.pattern) in _TAKEN_IN
            ):
                place += 1
                continue
            medicine = one.pattern == PERSON_NAME and type_of(other.pattern) == "MEDICATION"
            kept += [] if medicine else _remainder(data, one, start, other.start)
            start = one.end if medicine else other.end
            if other.end > one.end:
                break
            kept.append(other)
            place += 1
        kept += _remainder(data, one, start, one.end) if start > one.start else [one]
    kept += found[place:]
    return kept


def _without_guesses(
    data: bytes, found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> list[Candidate]:
    """Return the findings without addresses that a broad pattern found around a tagged one.

    Such a pattern cannot tell "She lives at Elm 5" from "Rue de la Loi 5".
    """
    known = [one for one in found if type_of(one.pattern) == "ADDRESS"]
    sure = (
        [one for one in tagged if one.pattern == ADDRESS and one.score >= _VERY_SURE]
        if known
        else []
    )
    sure.sort()
    starts = [one.start for one in sure]
    changed: dict[Candidate, Candidate | None] = {}
    for guess in known:
        first, last = bisect_right(starts, guess.start), bisect_left(starts, guess.end)
        for one in sure[first:last]:
            if guess.end <= one.end + 1:
                before = data[guess.start : one.start].split()
                if guess.score < _SURE and any(word.islower() for word in before):
                    changed[guess] = None
                elif b" ".join(before).decode(errors="ignore").lower() in words(
                    "premises_before_pattern"
                ):
                    changed[guess] = guess._replace(start=one.start)
    if not changed:
        return found
    return [kept for one in found if (kept := changed.get(one, one)) is not None]


def _joined(
    found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> Iterator[Candidate]:
    """Yield what was tagged, each address joined with the patterns' findings of it."""
    known = [one for one in found if type_of(one.pattern) == "ADDRESS"]
    place = 0
    for one in tagged:
        if one.pattern != ADDRESS or not known:
            yield one
            continue
        while place < len(known) and known[place].end <= one.start:
            place += 1
        joint = [one]
        following = place
        while following < len(known) and known[following].start < joint[-1].end:
            joint.append(known[following])
            following += 1
        yield one._replace(
            start=min(each.start for each in joint),
            end=max(each.end for each in joint),
            score=max(each.score for each in joint),
        )


def _without_overlaps(tagged: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the tagged without overlaps: an address includes a name, else the higher score wins."""
    previous: Candidate | None = None
    for one in sorted(tagged):
        if previous is None or one.start >= previous.end:
            if previous is not None:
                yield previous
            previous = one
        elif _weight(one) > _weight(previous):
            previous = one
    if previous is not None:
        yield previous


def _weight(one: Candidate) -> tuple[bool, float, int]:
    return one.pattern == ADDRESS and one.score >= _LIKELY, one.score, one.end - one.start


_LIKELY = 0.5
_SURE = 0.7
_VERY_SURE = 0.9
_MARKS = b" \t\r\n,;:-/|()[]<>\"'"


def _remainder(data: bytes, one: Candidate, start: int, end: int) -> list[Candidate]:
    """Return the part of a tagged span between two findings, if enough is left."""
    if start >= end:
        return []
    part = data[start:end]
    start += len(part) - len(part.lstrip(_MARKS))
    part = part.strip(_MARKS)
    if one.pattern == ADDRESS:
        part = _next_label().sub(b"", part)
        # What is left without a number or with a word alone was beside what a pattern found.
        if not _DIGIT.search(part) or len(_WORD.findall(part)) < _FEWEST_WORDS:
            return []
    if sum(map(str.isalnum, part.decode(errors="ignore"))) < _FEWEST:
        return []
    return [one._replace(start=start, end=start + len(part))]


@cache
def _next_label() -> re.Pattern[bytes]:
    """Return what matches the name of another value at the end of an address."""
    names = b"|".join(map(str.encode, sorted(words("next_values"))))
    return re.compile(rb"(?i)[\s,;./|(]+(?:%s|e-mail)[\s:.]*$" % names)
