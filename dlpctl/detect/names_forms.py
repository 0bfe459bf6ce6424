"""Names that their form gives away where the tagger takes them for something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.names_doubts import FIRMS
from dlpctl.detect.tagger.words import (
    CALENDAR,
    COMMON,
    COMPANY,
    GIVEN,
    PARTICLE,
    PLACE,
    STREET,
    SURNAME,
    TITLE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.detect.tagger.sequence import Tagged, Word

_SURE = 0.75
_PAIRED = 0.55
_USUAL = 2 << GIVEN
_HONORIFICS = frozenset(("san", "sama", "sensei", "kun", "chan", "ssi", "nim"))
_OTHERS = STREET | TITLE | COMPANY | CALENDAR | PARTICLE


def find(region: Tagged) -> Iterator[tuple[int, int, float]]:
    """Runs of tokens (first, behind the last, score)."""
    if not _HONORIFICS.isdisjoint(region.tokens):
        yield from _honoured(region.words)
    if "/" in region.tokens:
        yield from _ticketed(region.words)
    for place, word in enumerate(region.words):
        if word.flags & _USUAL and word.outline == "Xx" and _paired(region.words, place):
            yield place, place + 2, _PAIRED


def _honoured(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Tanaka-san."""
    for place in range(len(words) - 2):
        word = words[place]
        if word.outline == "Xx" and words[place + 1].key == "-" and words[place + 2].key in _HONORIFICS:
            yield place, place + 1, _SURE


def _ticketed(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """OKORO/GRACE, as airlines write it."""
    for place in range(len(words) - 2):
        surname, mark, given = words[place : place + 3]
        if mark.key == "/" and surname.outline == given.outline == "XX" and given.flags >> GIVEN & 3 > 1:
            titled = place + 3 < len(words) and bool(words[place + 3].flags & TITLE)
            if titled or (surname.flags >> SURNAME & 3 and not (surname.flags | given.flags) >> COMMON & 3):
                yield place, place + 3, _SURE


def _paired(words: list[Word], place: int) -> bool:
    """A given name and a surname that mean nothing else, with nothing beside them that a place or a company would have."""
    if place + 1 >= len(words):
        return False
    given, surname = words[place], words[place + 1]
    if given.outline != "Xx" or surname.outline != "Xx" or (given.flags | surname.flags) & _OTHERS:
        return False
    if (given.key, surname.key) in FIRMS or given.flags >> GIVEN & 3 < 2:
        return False
    if surname.flags >> SURNAME & 3 < 2 and (given.flags >> GIVEN & 3 < 3 or len(surname.key) < 3):
        return False
    if given.flags >> COMMON & 3 or surname.flags >> COMMON & 3:
        return False
    if given.flags >> PLACE & 3 > 1 or surname.flags >> PLACE & 3 > 2:
        return False
    before = words[place - 1] if place else None
    behind = words[place + 2] if place + 2 < len(words) else None
    return not any(one is not None and one.outline[0] == "X" for one in (before, behind))
