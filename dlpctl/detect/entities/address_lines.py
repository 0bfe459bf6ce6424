"""Parts of an address beyond the run that the tagger found: further lines, the name of the house,
the number of a unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.entities.lexicon import words as lexicon_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.detect.entities.crf.sequence import Word

    Span = tuple[int, int, float]

_HOUSES = lexicon_words("houses")
_WIDEST_GAP = 10  # tokens between a street and the line of its postal code
_LONGEST_IN_GAP = 4  # letters of a word in lower case there: an abbreviation of a floor or a door
_LONGEST_LINE = 7  # tokens
_LONGEST_HOUSE = 5
_MOST_LINES = 3
_PROVINCE = 2  # letters
_USUAL = 3  # grade of a given name
_MARKS = (", ", "-", " - ", "/", " (", ") ", ")", "'", "’")


def end_before_cell(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end before the next cell of a row: Via Roma 12 | ;10121;Torino. No entity ends."""
    cells = (at for at in range(first + 1, stop) if words[at].key == ";")
    return next((at for at in cells if words[max(at - 2, 0)].key != "&"), stop)


def is_code_start(words: Sequence[Word], index: int) -> bool:
    """Return whether a postal code starts at a token."""
    if index >= len(words):
        return False
    outline = words[index].outline
    after = words[index + 1].outline if index + 1 < len(words) else ""
    if outline in ("d2", "d3", "d4", "d5") and words[index + 1 : index + 2]:
        parted = words[index + 1].key == "-" and words[index + 2 : index + 3]
        if parted and words[index + 2].outline == "d3":
            return True
    return outline in ("d5", "d6") or (outline == "d3" and after == "d2")


def joined(words: Sequence[Word], spans: Iterable[Span]) -> list[Span]:
    """Return the spans with a street and the postal code below or after it as one."""
    found: list[Span] = []
    for first, stop, score in sorted(spans):
        if found and is_code_start(words, first) and _is_gap(words, found[-1], first):
            found[-1] = (found[-1][0], stop, max(score, found[-1][2]))
        else:
            found.append((first, stop, score))
    return found


def _is_gap(words: Sequence[Word], street: Span, code: int) -> bool:
    """Return whether only a floor or a door is between a street and a postal code."""
    first, stop, _ = street
    gap = words[stop:code]
    if len(gap) > _WIDEST_GAP or any(is_code_start(words, at) for at in range(first, stop)):
        return False
    if sum(word.is_line_break for word in gap) > 1 or not any(
        word.outline[0] == "d" or word.outline == "0" for word in words[first:code]
    ):
        return False
    return all(
        not word.is_word or word.outline[0] != "x" or len(word.key) <= _LONGEST_IN_GAP
        for word in gap
    )


def end_with_lines(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end after the province of a place, and after lines of places and postal codes
    below an address: 08020 Budoni | (NU), OT Niederndorf | 07586 Bad Köstritz.
    """
    coded = any(is_code_start(words, at) for at in range(first, stop))
    for _ in range(_MOST_LINES):
        stop = _past_province(words, stop) if coded else stop
        if stop >= len(words) or not words[stop].is_line_break:
            return stop
        end = _line_end(words, stop + 1)
        line = words[stop + 1 : end]
        has_code = any(is_code_start(words, at) for at in range(stop + 1, end))
        if not line or len(line) > _LONGEST_LINE or (coded and has_code):
            return stop
        if not all(_is_of_place(word) for word in line):
            return stop
        if not (has_code and len(line) > 1) and not _is_place(line):
            return stop
        if coded:  # the country, and no list of places below it
            return end
        coded = has_code
        stop = end
    return stop


def _line_end(words: Sequence[Word], start: int) -> int:
    breaks = (at for at in range(start, len(words)) if words[at].is_line_break)
    return next(breaks, len(words))


def _is_of_place(word: Word) -> bool:
    return word.outline[0] in "Xd" or word.key in _MARKS or bool(word.flags.particle)


def _is_place(line: Sequence[Word]) -> bool:
    """Return whether a line is a place without a number, and no name of a person."""
    named = [word for word in line if word.is_word and not word.flags.particle]
    return bool(named) and all(
        word.flags.place_name > 1 and word.flags.place_name >= word.flags.given for word in named
    )


def _past_province(words: Sequence[Word], stop: int) -> int:
    """Return the end after a province or a place in brackets: Budoni (NU), Halle (Saale)."""
    if stop + 2 >= len(words) or words[stop].key.strip() != "(":
        return stop
    province = words[stop + 1]
    is_code = province.outline == "XX" and len(province.key) == _PROVINCE
    is_one = is_code or (province.outline == "Xx" and province.flags.given < _USUAL)
    return stop + 3 if is_one and words[stop + 2].key.strip() == ")" else stop


def start_with_house(words: Sequence[Word], first: int) -> int:
    """Return the start before the number of a unit and the name of the house: 1204 - | 88 Bathurst
    Street, The Old Forge, | 3 Mill Lane.
    """
    if (
        first > 1
        and words[first - 1].key == " - "
        and words[first - 2].outline[0] in "d0A"
        and words[first].outline[0] in "d0A"
        and (first == 2 or words[first - 3].outline[0] not in "Xd")
    ):
        first -= 2
    if first < 2 or not (words[first - 1].is_line_break or words[first - 1].key == ", "):
        return first
    start = first - 1
    while start and first - start <= _LONGEST_HOUSE and words[start - 1].outline == "Xx":
        start -= 1
    house = words[start : first - 1]
    is_house = len(house) > 1 and any(word.key in _HOUSES for word in (house[0], house[-1]))
    opened = not start or not words[start - 1].is_word
    return start if is_house and opened else first
