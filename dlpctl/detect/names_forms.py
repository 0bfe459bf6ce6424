"""Names that their form gives away where the tagger takes them for something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
_LOCATION, _ORGANIZATION = 5, 6
_EVEN = 0.5
_HONORIFICS = frozenset(("san", "sama", "sensei", "kun", "chan", "ssi", "nim"))
_FIRMS = frozenset(
    tuple(name.split("_"))
    for name in [
        "eli_lilly",
        "philip_morris",
        "charles_schwab",
        "calvin_klein",
        "ralph_lauren",
        "tommy_hilfiger",
        "louis_vuitton",
        "hugo_boss",
        "jimmy_choo",
        "merrill_lynch",
        "walt_disney",
        "giorgio_armani",
        "christian_dior",
        "michael_kors",
        "kate_spade",
        "betty_crocker",
        "jack_daniel",
        "jim_beam",
        "johnnie_walker",
        "captain_morgan",
        "aston_martin",
        "alfa_romeo",
        "john_deere",
        "max_mara",
        "mary_kay",
        "elizabeth_arden",
        "lockheed_martin",
        "morgan_stanley",
        "wells_fargo",
        "arthur_andersen",
        "rolls_royce",
        "harley_davidson",
        "paul_smith",
        "ted_baker",
        "karen_millen",
        "laura_ashley",
    ]
)
_OTHERS = STREET | TITLE | COMPANY | CALENDAR | PARTICLE


def find(region: Tagged) -> Iterator[tuple[int, int, float]]:
    """Runs of tokens (first, behind the last, score)."""
    if not _HONORIFICS.isdisjoint(region.tokens):
        yield from _honoured(region.words)
    if "/" in region.tokens:
        yield from _ticketed(region.words)
    for place, votes in region.chances.items():
        if votes[_LOCATION] + votes[_ORGANIZATION] > _EVEN and _paired(region.words, place):
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
    if (given.key, surname.key) in _FIRMS or given.flags >> GIVEN & 3 < 2 or surname.flags >> SURNAME & 3 < 2:
        return False
    if given.flags >> COMMON & 3 or surname.flags >> COMMON & 3:
        return False
    if given.flags >> PLACE & 3 > 1 or surname.flags >> PLACE & 3 > 2:
        return False
    before = words[place - 1] if place else None
    behind = words[place + 2] if place + 2 < len(words) else None
    return not any(one is not None and one.outline[0] == "X" for one in (before, behind))
