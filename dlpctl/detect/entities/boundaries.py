"""Boundaries of names: complete and trim the spans that the tagger has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.entities.evidence import introduces
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.detect.entities.crf.sequence import Tagged, Word


def split_lines(words: Sequence[Word], first: int, stop: int) -> Iterable[tuple[int, int]]:
    """Yield the parts of a span between line breaks, wide blanks and commas between given names: no
    name runs over one.
    """
    start = first
    for index in range(first, stop):
        word = words[index]
        if word.is_line_break or word.outline == "TAB" or _is_between_given(words, index):
            if index > start:
                yield start, index
            start = index + 1
    if stop > start:
        yield start, stop


def _is_between_given(words: Sequence[Word], index: int) -> bool:
    """Return whether a comma is between two given names that are no surnames: Hideo, Perpetua."""
    if words[index].key != ", " or not 0 < index < len(words) - 1:
        return False
    before, after = words[index - 1].flags, words[index + 1].flags
    return before.given >= 2 > before.surname and after.given >= 2 > after.surname


def complete(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end of a name with what the tagger left out: surnames, initials, "Last, First"."""
    stop = _past_hyphen(words, first, _past_surname(words, first, _past_hyphen(words, first, stop)))
    if _is_nickname(words, stop):
        stop = _past_hyphen(words, first, stop + 4)
    while stop + 1 < len(words) and words[stop].key in _DESCENT and words[stop + 1].outline == "Xx":
        stop = _past_hyphen(words, first, stop + 2)
        while stop < len(words) and _is_rare(words[stop]):
            stop = _past_hyphen(words, first, stop + 1)
    if stop + 2 < len(words) and words[stop].key in _ARTICLES and words[stop + 1].key == "-":
        return stop + 3 if words[stop + 2].outline == "Xx" else stop  # Khalid Al-Farsi
    return _past_particles(words, first, stop)


def _past_particles(words: Sequence[Word], first: int, stop: int) -> int:
    """Return the end after the name that follows a particle: Apolline de | La Rochefordière."""
    if stop - first < 2 or words[stop - 1].outline != "x" or not words[stop - 1].flags.particle:
        return stop
    index = stop
    while (
        index < len(words) and words[index].flags.particle and words[index].outline in ("x", "Xx")
    ):
        index += 1
    return index + 1 if index < len(words) and words[index].outline == "Xx" else stop


def _is_nickname(words: Sequence[Word], stop: int) -> bool:
    """Return whether a nickname and another name follow: Mohammed "Mo" Siddiqui."""
    if (
        stop + 3 >= len(words)
        or words[stop].key not in _OPENING
        or words[stop + 2].key not in _CLOSING
    ):
        return False
    return words[stop + 1].outline == words[stop + 3].outline == "Xx"


def _is_rare(word: Word) -> bool:
    return (
        word.outline == "Xx"
        and not word.flags.common
        and not (word.flags.company or word.flags.calendar or word.flags.street)
    )


def _past_hyphen(words: Sequence[Word], first: int, stop: int) -> int:
    hyphen = stop - 1 if words[stop - 1].key == "-" else stop
    if hyphen + 1 >= len(words) or words[hyphen].key != "-":
        return stop
    part = words[hyphen + 1]
    turned = hyphen - first > 2 and words[hyphen - 2].key == ", "  # Lee, Min-ho
    rare = turned or part.flags.common < 2
    if part.flags.particle and part.outline == "x" and hyphen + 2 < len(words):
        following = words[hyphen + 2]
        return hyphen + 3 if following.outline == "Xx" else stop  # Kuipers-de Wit
    given = (
        hyphen - first == 1
        and part.outline == "x"
        and len(part.key) < 5
        and hyphen + 2 < len(words)
    )
    if given and words[hyphen + 2].outline == "Xx" and words[hyphen + 2].flags.surname > 1:
        return hyphen + 3  # Sun-hee Park
    syllable = (
        part.outline == "x" and len(part.key) < 6 and (rare or part.key in _SYLLABLES)
    )  # Kim Jong-un
    return hyphen + 2 if part.outline[0] == "X" or (syllable and hyphen - first > 1) else stop


def _past_surname(words: Sequence[Word], first: int, stop: int) -> int:
    last = words[stop - 1]
    if stop < len(words) and stop - first > 1 and words[stop].key in _GENERATIONS:
        return stop + 1
    if stop < len(words) and last.outline == "x" and words[stop].outline == "x":
        flags = words[stop].flags
        if flags.surname >= 2 and flags.common < 3:
            return stop + 1
    if last.key == "-" or stop == len(words):
        return stop
    if stop - first == 1 and last.flags.given >= 2 and _surname_ends(words, first, stop):
        return stop + 1
    if _surname_follows(words, first, stop):
        return stop + 1
    if words[stop].outline == "X1" and _is_last_initial(words, first, stop):
        return stop + 1
    index = stop
    if all(word.outline == "X1" or word.key in _STOPS for word in words[first:stop]):
        while index < len(words) and (words[index].key in _STOPS or words[index].outline == "X1"):
            index += 1
        if index < len(words) and words[index].outline == "Xx" and words[index].flags.common < 3:
            return index + 1
    if (
        stop + 1 < len(words)
        and words[stop].key == ", "
        and stop - first == 1
        and _starts_field(words, first)
    ):
        given = words[stop + 1]
        listed = stop + 3 < len(words) and words[stop + 2].key == ", " and words[stop + 3].is_word
        if given.outline != last.outline or listed:
            return stop
        if stop + 3 < len(words) and words[stop + 2].key == "-" and words[stop + 3].outline == "x":
            return stop + 4 if len(words[stop + 3].key) < 6 else stop  # Lee, Min-ho
        if given.flags.given >= 2 and last.flags.given != 3:
            initial = stop + 2 < len(words) and words[stop + 2].outline == "X1"
            return stop + 3 if initial else stop + 2
    return stop


def _is_last_initial(words: Sequence[Word], first: int, index: int) -> bool:
    """Return whether an initial, as of a father's name, is the last of a name: Ramanathan K."""
    if index + 1 >= len(words) or words[index + 1].key not in _STOPS:
        return False
    is_name = index - first == 1 and words[first].outline == "Xx" and words[first].flags.usual
    ends = index + 2 == len(words) or words[index + 2].outline[0] != "X"
    return is_name and ends


def _surname_ends(words: Sequence[Word], first: int, index: int) -> bool:
    """Return whether a surname that is a common word ends the line or value: Tom Hall, jane doe."""
    word, before = words[index], words[index - 1]
    if not word.is_word or word.outline != before.outline or word.flags.surname < 2:
        return False
    if (
        word.flags.street
        or word.flags.company
        or word.flags.calendar
        or word.flags.label
        or word.flags.title
    ):
        return False
    ends = (
        index + 1 == len(words)
        or words[index + 1].is_line_break
        or words[index + 1].key.strip() in _CLOSERS
    )
    return ends and (word.outline[0] == "X" or _starts_field(words, first))


def _surname_follows(words: Sequence[Word], first: int, index: int) -> bool:
    """Return whether an unambiguous surname follows that belongs to nothing after it."""
    word = words[index]
    if word.outline != "Xx" or words[index - 1].outline != "Xx" or not word.flags.surname:
        return False
    if word.flags.common or (
        word.flags.street
        or word.flags.company
        or word.flags.calendar
        or word.flags.label
        or word.flags.title
    ):
        return False
    given = words[first].flags.given
    known = given > 1 and (not words[first].flags.common or (given > 2 and index - first > 1))
    return known and (index + 1 == len(words) or words[index + 1].outline[0] not in "Xd")


def _starts_field(words: Sequence[Word], first: int) -> bool:
    """Return whether a line, a value or what follows a label starts at this token."""
    return first == 0 or words[first - 1].is_line_break or words[first - 1].key.strip() in _OPENERS


CLOSINGS = lexicon_words("closings")
_GENERATIONS = lexicon_words("generations")
_PARTIES = lexicon_words("parties")
_ROLES = lexicon_words("person_roles")
_OF_FULL_NAME = 2
_SALUTATIONS = lexicon_words("relatives") | CLOSINGS
_SUFFIXES = lexicon_words("suffixes")
_LONG_ROLE = 8
_LONGEST_CODE = _SHORTEST_IN_CAPITALS = 3
_ARTICLES = lexicon_words("articles")
_DESCENT = lexicon_words("descent")  # of whom a person is a child: Ahmed bin Khalid
_OPENING, _CLOSING = (' "', " “", " '", " ‘"), ('" ', "” ", "' ", "’ ")
_SYLLABLES = lexicon_words("syllables")
_STOPS = (".", ". ")
_SENTENCE_ENDS = (". ", "! ", "? ")
_CLOSERS = (",", ".", ";", '"', "'", "<", "(", ")", "|", "TAB")
_OPENERS = (":", '"', "=", ";", "|", "(", "TAB")


def trim(words: Sequence[Word], first: int, stop: int) -> tuple[int, int] | None:
    """Return a name without titles, common words, quotes and stops; None if nothing is left."""
    cased = any(word.outline[0] == "X" for word in words[first:stop])
    while first < stop and _is_before_name(words, first, stop, cased):
        first += 1
    while first < stop and (
        not words[stop - 1].is_word
        or (stop - first > 1 and words[stop - 1].key in _SUFFIXES)
        or (cased and _is_no_part(words, stop - 1))
        or (cased and _follows_initials(words, first, stop - 1))
    ):
        stop -= 1
    if (
        first == stop
        or _is_abbreviation(words[first:stop])
        or any(word.outline[0] in "id0a" or word.outline == "xX" for word in words[first:stop])
    ):
        return None
    if stop - first > 2 and is_race_and_sex(words, stop - 1):
        stop -= 1
    while first and words[first].outline == words[first - 1].outline == "XX":
        if not words[first - 1].flags.particle:
            break
        first -= 1  # VON | HOLSTEIN
    return first, stop


def written_span(text: str, region: Tagged, first: int, stop: int) -> tuple[int, int] | None:
    """Return the position of a name in the text, with the stops of its initials; None for a single
    character.
    """
    words = region.words
    end = region.matches[stop - 1].end()
    if (words[stop - 1].outline == "X1" or words[stop - 1].flags.suffix) and text[
        end : end + 1
    ] == ".":
        end += 1
    start = region.matches[first].start()
    initials = (
        _INITIALS.search(text, max(0, start - 12), start)
        if "." in text[max(0, start - 2) : start]
        else None
    )
    if initials:
        start = initials.start()
    return (start, end) if end - start > 1 else None


def is_race_and_sex(words: Sequence[Word], index: int) -> bool:
    """Return whether a letter after a name is no initial: KOWALSKI, PIOTR  W/M."""
    if index + 2 >= len(words) or words[index + 1].key != "/":
        return False
    return words[index].outline == words[index + 2].outline == "X1"


def _is_abbreviation(words: Sequence[Word]) -> bool:
    """Return whether no word is as long as a name: codes of countries, keywords, letters."""
    named = [word for word in words if word.is_word]
    if len(words) == 3 and words[1].key == "-" and all(map(_is_code, named)):
        return True  # JFK-LHR, EG-AST
    if len(named) == 1 and named[0].outline == "XX":
        # JO is a code; a longer word may be a usual given name or surname.
        return len(named[0].key) < _SHORTEST_IN_CAPITALS or not named[0].flags.usual
    letters = [word for word in named if word.outline == "x1"]
    return 2 * len(letters) > len(named) or all(
        word.outline == "X1"
        or (len(word.key) < 3 and word.outline == "XX" and not word.flags.named)
        for word in named
    )


def _is_code(word: Word) -> bool:
    return word.outline == "XX" and len(word.key) <= _LONGEST_CODE


def _is_before_name(words: Sequence[Word], first: int, stop: int, cased: bool) -> bool:
    """Return whether the first word is no part of the name: a mark, a title, in lower case."""
    word = words[first]
    if not word.is_word:
        return True
    if stop - first == 1:
        return False
    if word.key in CLOSINGS and words[first + 1].key == ", ":
        return True
    is_salutation = word.key in _SALUTATIONS or introduces(word)
    if is_salutation and (not word.flags.named or words[first + 1].flags.given >= 2):
        return True
    if not word.flags.named and (
        (stop - first > _OF_FULL_NAME and word.key in _ROLES) or _is_role(words, first, stop)
    ):
        return True
    if cased and word.outline == "x" and word.flags.particle:
        return stop - first > 2 and words[first + 1].flags.given >= 2 and bool(word.flags.common)
    if word.key in _PARTIES and not word.flags.named:
        return True
    if not word.flags.named and _starts_sentence(words, first):
        given = words[first + 1]
        if given.outline == "Xx" and given.flags.given >= max(2, given.flags.common + 1):
            return True  # Widziałeś | Halinę Borowską
    lower = cased and word.outline in ("x", "x1") and not word.flags.particle
    return lower or (bool(word.flags.title or word.flags.label) and not _is_usual_name(word))


def _starts_sentence(words: Sequence[Word], index: int) -> bool:
    """Return whether a token follows the end of a sentence in its line."""
    return index > 1 and words[index - 1].key in _SENTENCE_ENDS and words[index - 2].outline != "X1"


def _is_role(words: Sequence[Word], first: int, stop: int) -> bool:
    """Return whether a long word in no list precedes a given name and a surname:
    Kanzleramtschef | Wolfgang Schmidt.
    """
    if stop - first < 3 or words[first].outline != "Xx" or len(words[first].key) < _LONG_ROLE:
        return False
    given = words[first + 1]
    return given.outline == "Xx" and given.flags.given >= 2 and not given.flags.common


def _is_no_part(words: Sequence[Word], index: int) -> bool:
    """Return whether a word in lower case follows a name: Bayu | rijdt mee, but Juan de la cruz."""
    word, before = words[index], words[index - 1]
    if word.outline == "x1":
        return before.key != "-"
    if word.outline != "x" or word.flags.particle or before.key == "-":
        return False
    return bool(word.flags.common) or not before.flags.particle


def _follows_initials(words: Sequence[Word], first: int, index: int) -> bool:
    """Return whether a word in lower case follows initials alone: Frau W. | erhielt."""
    before = words[first:index]
    return words[index].outline == "x" and all(
        word.outline == "X1" or not word.is_word for word in before
    )


_INITIALS = lazy(r"(?<![^\W_])(?:[A-Z]\.){2,4} ?$")


def _is_usual_name(word: Word) -> bool:
    return word.flags.given >= 2 or word.flags.surname >= 2
