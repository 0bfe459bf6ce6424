"""Postal addresses: spans of the tagger, adjusted and scored by the structure of addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dlpctl.detect.entities import address_lines
from dlpctl.detect.entities.lexicon import alternatives
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.detect.validators.devices import private_address
from dlpctl.regex import lazy
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.detect.entities.crf.sequence import Tagged, Word

_UNSHAPED = 0.3  # the most that a span without the structure of an address scores
_LONGEST = 250
_MOST_LINES = 8
_MOST_NUMBERS = 8
_LONGEST_NUMBER = 7  # digits: of a postal code

_STREET_COMPOUND = lazy(rf"[^\W\d_]{{2,}}(?:{alternatives('street_compounds')})\b", re.IGNORECASE)
_POSTCODE = lazy(
    r"\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|(?:[A-Z]{1,2}[- ])?\d{4,6}"
    r"|\d{5}-\d{3,4}|"
    r"\d{4}-\d{3}|\d{4} ?[A-Z]{2}|\d{2}-\d{3}|\d{3} \d{2})\b",
    re.IGNORECASE,
)
_RIVER_PREPOSITIONS = lexicon_words("river_prepositions")
_IN_PLACES = _RIVER_PREPOSITIONS | lexicon_words("in_places")
_NEXT_VALUES = lexicon_words("next_values")
STATES = lexicon_words("states")
_UNITS = lexicon_words("units")
_CODES = ("d5", "d6")
_LONGEST_STREET = 4  # words
_ABBREVIATED = 3  # letters of a word that a stop may belong to: St. Gallen
_LONGEST_LABEL = 4  # tokens
_MOST_PLACES = 3
_BEFORE_PLACE = (",", "/")
_FARTHEST = 8  # words and marks between a street and a postal code
_PREMISES = lexicon_words("premises")
_NOT_ADDRESSES = lexicon_words("not_addresses")
_NOT_ADDRESSES_LOWER = lexicon_words("not_addresses_lower")
_ADDRESS_KINDS = lexicon_words("address_kinds")
_LIVES = lexicon_words("lives")
_PREPOSITIONS = lexicon_words("place_prepositions")
_QUANTITIES = lexicon_words("quantities")
_NUMBER = lazy(r"\d+")
_MEASURE = lazy(r"\d ?(?:mg|ml|cl|dl|kg|mm)\b|\d\d g\b")
_YEAR = lazy(r"(?:19|20)\d\d")
_YEARS = lazy(r"(?:19|20)\d\d(?:, ?| ?[-–] ?)(?:19|20)\d\d")  # of a copyright
_FILE = lazy(
    rf"(?:{alternatives('file_labels')})\b\.? ?(?:id|no\b|num|nr|#)",
    re.IGNORECASE,
)
_BOX = lazy(rf"\b(?:{alternatives('box_labels')})\b[ .:#]*\d", re.IGNORECASE)
_NEXT_COLUMN = lazy(r"(?<=[ ,^]\d{5})(?: {3,}|\t|\|\|)")
_HOUSE = lazy(
    r"(?:^|[\s,(/])\d{1,5}[a-zA-Z]?(?:[-/]\d{1,4}[a-zA-Z]?)?(?:st|nd|rd|th|bis|ter)?[ ,.]+[^\W\d_]|"
    r"[^\W\d_][ ,.]+(?:n[º°o]\.? ?|no[:.]? ?|№ ?|# ?)?\d{1,5} ?[a-zA-Z]?\b",
    re.IGNORECASE,
)


def find(text: str, region: Tagged, spans: Iterable[tuple[int, int, float]]) -> list[Finding]:
    """Return the addresses of a region; `spans` are runs of tokens with the tagger's scores."""
    found = []
    for opening, last, score in address_lines.joined(region.words, spans):
        ended = address_lines.end_before_cell(region.words, opening, last)
        ended = _before_next_sentence(region.words, opening, ended)
        ended = _before_label_line(region.words, opening, ended)
        ended = _before_phone(region.words, opening, _before_date(region.words, opening, ended))
        stop = _with_place(region, opening, _without_common_words(region, opening, ended))
        stop = _before_label(region.words, opening, stop)
        stop = address_lines.end_with_lines(region.words, opening, stop)
        first = address_lines.start_with_house(region.words, _start(region.words, opening, stop))
        start, end = _trim(text, region.matches[first].start(), region.matches[stop - 1].end())
        if end - start < 6 or end - start > _LONGEST or not private_address(text[start:end]):
            continue
        shaped = _is_shaped(text[start:end], region, first, stop)
        kept = (
            (1 + score) / 2
            if shaped
            and not _is_quantity(region.words, stop)
            and not _is_masked(region.words[first:stop])
            else min(score, _UNSHAPED)
        )
        found.append(Finding("ADDRESS", Category.PII, start, end, round(kept, 4), "address"))
    return found


def _is_quantity(words: Sequence[Word], stop: int) -> bool:
    """Return whether the last number is none of a house: Bağdat Caddesi 3 | gün kapalı."""
    if stop == len(words) or words[stop - 1].outline[0] != "d":
        return False
    return words[stop].key in _QUANTITIES


def _is_masked(words: Sequence[Word]) -> bool:
    """Return whether more is masked than not, which the tagger takes for an address."""
    masked = sum("*" in word.key for word in words)
    return masked > 0 and masked > sum(word.outline != "p" for word in words)


def _start(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the start after words for the premises: die Wohnung | Hauptstr. 5."""
    if first + 2 < stop and words[first].key in _PREMISES and words[first + 1].outline == "Xx":
        return first + 1
    if (
        first > 2 and words[first - 1].key == ", " and words[first - 3].key in _UNITS
    ):  # Flat 3, 27 Albert Road
        return first - 3 if words[first - 2].outline[0] in "d0AX" else first
    if (
        first > 1 and words[first - 1].key in ("/", "-") and words[first - 2].outline[0] in "d0A"
    ):  # 12/45 Main Road
        return first - 2
    while first + 2 < stop and _is_address_kind(words, first):
        first += 1
    if words[first].flags.street:
        return _from_number(words, first)
    start = _after_verb(words, first, stop)
    while start + 2 < stop and words[start].outline == "x" and words[start].key in _PREPOSITIONS:
        start += 1
    return start


def _is_address_kind(words: Sequence[Word], at: int) -> bool:
    """Return whether a word tells that an address follows: Adresse | Osterdeich 17."""
    street = words[at].outline == "Xx" and words[at + 1].flags.street  # Service Road
    return words[at].key in _ADDRESS_KINDS and not street


def _after_verb(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the start after "I live at" of some languages."""
    return max((at + 1 for at in range(first, stop - 1) if words[at].key in _LIVES), default=first)


def _from_number(words: Sequence[Word], first: int) -> int:
    """Return the start at the house number before a street: 1600 PENNSYLVANIA | AVE."""
    index = first
    while index and first - index < _LONGEST_STREET and words[index - 1].outline[0] == "X":
        index -= 1
    return index - 1 if 0 < index < first and words[index - 1].outline[0] in "d0" else first


def _before_next_sentence(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end before what follows the postal code and its place."""
    codes = [index for index in range(first + 1, stop - 1) if _is_code(words, index)]
    outlines = {word.outline for word in words[first : codes[0]]} if codes else {"XX"}
    if "XX" in outlines and "Xx" not in outlines:
        return stop
    # A long house number looks like a code, but then a code with its place follows.
    code = max((index for index in codes if words[index + 1].outline[0] == "X"), default=codes[0])
    for index in range(code + 1, stop):
        before, mark = words[index - 1 : index + 1]
        following = words[min(index + 1, stop - 1)]
        sentence = mark.key == ". " and following.is_word
        if sentence and (not before.is_word or len(before.key) > _ABBREVIATED):
            return index
        if (
            mark.key == ", "
            and following.outline == "x"
            and not (following.flags.particle or following.flags.street)
        ):
            return index
        if before.outline[0] == "X" and _is_ordinary(mark, following):  # 8001 Zürich | wurde
            return index
        if mark.is_line_break and following.outline == "XX" and not following.flags.place_name:
            return stop if following.key in STATES else index
    return stop


def _is_ordinary(word: Word, following: Word) -> bool:
    """Return whether a word in lower case is no part of a street or place, or a particle before
    such a word: 60-775 Poznań | do piątku.
    """
    flags, after = word.flags, following.flags
    if not word.is_word or word.outline[0] != "x" or word.key in _IN_PLACES:
        return False
    if flags.particle:
        return following.outline == "x" and not (after.particle or after.street or after.place_name)
    return not (flags.street or flags.place_name)


def _before_label_line(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end before a last line that starts with a label: Berlin | Steuer-ID: 65."""
    line = next((index for index in range(stop - 1, first, -1) if words[index].is_line_break), 0)
    if not line or stop - line > _LONGEST_LABEL:
        return stop
    for word in words[stop : line + _LONGEST_LABEL + 1]:
        if word.key.strip() == ":":
            return line
        if word.is_line_break:
            break
    return stop


def _before_date(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end before a date after a place: via Roma 9, Torino | , 14 maggio."""
    for index in range(first + 3, stop - 1):
        comma, day, month = words[index - 1 : index + 2]
        if comma.key == ", " and day.outline in ("d1", "d2") and month.flags.calendar:
            return index - 1
    return stop


def _before_phone(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end before groups of more digits than a postal code has: Leeds | , 0113 496 00."""
    at = stop
    while at > first + 1 and words[at - 1].outline[0] == "d":
        at -= 1
    digits = len("".join(word.key for word in words[at:stop]))
    return at if stop - at > 1 and digits > _LONGEST_NUMBER + 1 else stop


def _before_label(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end before the label of a next value: Sparkasse Leipzig | , IBAN DE02."""
    last = stop - 1
    if last <= first or words[last].key not in _NEXT_VALUES:
        return stop
    while (
        last > first + 1 and not words[last - 1].is_word and words[last - 1].outline[0] not in "d0A"
    ):
        last -= 1
    return last


def _is_code(words: Sequence[Word], index: int) -> bool:
    """Return whether a postal code ends at a token: it is long, or a place follows it."""
    outline = words[index].outline
    town = words[index + 1]
    if outline == "d2" and index and words[index - 1].outline == "d3":  # 411 15 Göteborg
        return town.outline[0] == "X"
    is_place = town.outline[0] == "X" or (town.outline == "x" and town.flags.place_name > 0)
    return outline in _CODES or (outline in ("d3", "d4") and is_place)


def _without_common_words(region: Tagged, first: int, stop: int) -> int:
    """Return the end without common words in lower case, if the address has capitals."""
    words = region.words
    if not any(word.outline[0] == "X" for word in words[first:stop]):
        return stop
    last = stop
    while last > first + 1 and not words[last - 1].is_sign:
        word = words[last - 1]
        if word.is_word and (word.outline != "x" or word.flags.street or not word.flags.common):
            break
        last -= 1
        stop = last
        while last > first + 1 and words[last - 1].outline == "p":
            last -= 1
    return stop


def _with_place(region: Tagged, first: int, stop: int) -> int:
    """Return the end after what belongs to the place: state, district, postal code."""
    words = region.words
    stop = _with_further_places(words, first, _with_postcode(words, first, stop))
    if stop == len(words) or words[stop - 1].outline != "Xx":
        return stop
    following = words[stop]
    if _coded_place(words, stop):
        return stop + 3
    coded = sum(word.outline[0] in "d0" for word in words[first:stop]) > 1
    if following.outline == "XX" and following.key in STATES:
        zipped = stop + 1 < len(words) and words[stop + 1].outline == "d5"
        return stop + 2 if zipped else stop + 1
    last = stop + 1 == len(words) or not words[stop + 1].is_word
    if (
        coded
        and not last
        and following.key in _RIVER_PREPOSITIONS
        and words[stop + 1].outline == "Xx"
    ):  # am Main
        return stop + 2
    if coded and last and following.outline in ("d1", "X1"):  # Praha 1, København K
        return stop + 1
    return stop if coded else _after_code_of_six(words, stop)


def _after_code_of_six(words: Sequence[Word], stop: int) -> int:
    """Return the end after an Indian postal code: Karnataka 560001, Pune - 411 038."""
    at = stop + (words[stop].key.strip() == "-")
    outlines = [word.outline for word in words[at : at + 3]]
    if outlines[:1] == ["d6"]:
        return at + 1
    is_last = len(outlines) == 2 or outlines[-1] in ("NL", "NL2", "p")
    return at + 2 if outlines[:2] == ["d3", "d3"] and is_last else stop


def _with_further_places(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end after places and a code of four digits: Victoria Island | , Lagos."""
    for _ in range(_MOST_PLACES):
        if stop + 1 >= len(words) or words[stop].key.strip() not in _BEFORE_PLACE:
            break
        town = stop + 1
        while (
            town < len(words) and words[town].outline == "Xx" and words[town].flags.place_name > 1
        ):
            town += 1
        if town == stop + 1 or (town < len(words) and words[town].outline[0] == "X"):
            break
        stop = town
    if stop + 1 >= len(words) or words[stop + 1].outline != "d4":
        return stop
    parted = words[stop].is_line_break or words[stop].key == ", "
    last = stop + 2 == len(words) or words[stop + 2].is_line_break
    coded = any(word.outline in ("d4", *_CODES) for word in words[first + 1 : stop])
    return (
        stop + 2
        if parted and last and not coded and not _YEAR.fullmatch(words[stop + 1].key)
        else stop
    )


def _with_postcode(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end after places and a postal code: Drive | , Chicago, Illinois 60606."""
    if any(word.outline in _CODES for word in words[first + 1 : stop]):
        return stop
    placed = words[stop - 1].flags.place_name > 0
    for at in range(stop, min(stop + _FARTHEST, len(words))):
        word = words[at]
        if word.outline in _CODES:
            return at + 1 if placed else stop
        if word.outline not in ("Xx", "XX") and word.key != ", " and word.outline != "NL":
            return stop
        placed = placed or word.flags.place_name > 0
    return stop


def _coded_place(words: Sequence[Word], index: int) -> bool:
    """Return whether a comma or a line break, a postal code and a place follow."""
    if index + 2 >= len(words) or not (words[index].is_line_break or words[index].key == ", "):
        return False
    code, city = words[index + 1], words[index + 2]
    return code.outline in ("d4", "d5", "d6") and city.outline == "Xx" and city.flags.place_name > 0


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    column = _NEXT_COLUMN.search(text[start:end])
    if column:
        end = start + column.start()
    while start < end and not (text[start].isalnum() or text[start] == "#"):
        start += 1
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in ".)"):
        end -= 1
    if end > start and text[end - 1] == ")" and "(" not in text[start:end]:
        end -= 1
    if (
        end > start
        and text[end - 1] == "."
        and not re.search(r"\b[^\W\d_]{1,5}\.$", text[start:end])
    ):
        end -= 1
    return start, end


def _is_not_address(word: Word) -> bool:
    if word.key.endswith("nummer"):
        return word.key != "hausnummer"
    return word.key in _NOT_ADDRESSES or (word.outline == "x" and word.key in _NOT_ADDRESSES_LOWER)


def _is_shaped(value: str, region: Tagged, first: int, stop: int) -> bool:
    numbers = _NUMBER.findall(value)
    if value.count("\n") > _MOST_LINES or "\t" in value or not numbers:
        return False
    if (
        _YEARS.search(value)
        or len(numbers) > _MOST_NUMBERS
        or max(map(len, numbers)) > _LONGEST_NUMBER
    ):
        return False
    made = first + 1 < stop and bool(region.words[first + 1].flags.company)
    if (
        _MEASURE.search(value) or _FILE.match(value) or (made and _YEAR.match(value))
    ):  # 2019 Honda Civic
        return False
    if any(map(_is_not_address, region.words[first:stop])):
        return False
    if _BOX.search(value):
        return True
    words = [word for word in region.words[first:stop] if word.is_word]
    if not any(len(word.key) > 2 for word in words):
        return False
    street = any(word.flags.street for word in words) or bool(_STREET_COMPOUND.search(value))
    house = bool(_HOUSE.search(value))
    if house and street:
        return True
    has_place = any(word.flags.place_name for word in words)
    capitals = sum(word.outline[0] == "X" for word in words)
    if not street and any(word.flags.calendar for word in words):
        return False
    if not street and all(_YEAR.fullmatch(number) for number in numbers):
        return False
    return bool(_POSTCODE.search(value)) and (house or street) and (has_place or capitals >= 2)
