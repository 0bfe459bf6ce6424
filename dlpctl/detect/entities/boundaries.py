"""Where a name begins and ends, which the tagger does not always see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.detect.entities.crf.sequence import Tagged, Word


def lines(words: Sequence[Word], first: int, behind: int) -> Iterable[tuple[int, int]]:
    """A name does not run over a line break."""
    start = first
    for place in range(first, behind):
        if words[place].kind == 2:
            if place > start:
                yield start, place
            start = place + 1
    if behind > start:
        yield start, behind


def completed(words: Sequence[Word], first: int, behind: int) -> int:
    """The end of a name where the tagger stopped too early: at initials, in lower case, in "Last,
    First", at a hyphen.
    """
    behind = _hyphenated(words, first, _extended(words, first, _hyphenated(words, first, behind)))
    if _nicknamed(words, behind):
        behind = _hyphenated(words, first, behind + 4)
    while (
        behind + 1 < len(words)
        and words[behind].key in _FATHERS
        and words[behind + 1].outline == "Xx"
    ):
        behind = _hyphenated(words, first, behind + 2)
        while behind < len(words) and _is_rare(words[behind]):
            behind = _hyphenated(words, first, behind + 1)
    if behind + 2 < len(words) and words[behind].key in _ARTICLES and words[behind + 1].key == "-":
        return behind + 3 if words[behind + 2].outline == "Xx" else behind  # Khalid Al-Farsi
    return _past_particles(words, first, behind)


def _past_particles(words: Sequence[Word], first: int, behind: int) -> int:
    """The end behind the name that a particle belongs to: Apolline de | La Rochefordière."""
    if (
        behind - first < 2
        or words[behind - 1].outline != "x"
        or not words[behind - 1].flags.particle
    ):
        return behind
    place = behind
    while (
        place < len(words) and words[place].flags.particle and words[place].outline in ("x", "Xx")
    ):
        place += 1
    return place + 1 if place < len(words) and words[place].outline == "Xx" else behind


def _nicknamed(words: Sequence[Word], behind: int) -> bool:
    """Whether a short name in quotes and another name follow: Mohammed "Mo" Siddiqui."""
    if (
        behind + 3 >= len(words)
        or words[behind].key not in _OPENING
        or words[behind + 2].key not in _CLOSING
    ):
        return False
    return words[behind + 1].outline == words[behind + 3].outline == "Xx"


def _is_rare(word: Word) -> bool:
    return (
        word.outline == "Xx"
        and not word.flags.common
        and not (word.flags.company or word.flags.calendar or word.flags.street)
    )


def _hyphenated(words: Sequence[Word], first: int, behind: int) -> int:
    hyphen = behind - 1 if words[behind - 1].key == "-" else behind
    if hyphen + 1 >= len(words) or words[hyphen].key != "-":
        return behind
    part = words[hyphen + 1]
    turned = hyphen - first > 2 and words[hyphen - 2].key == ", "  # Lee, Min-ho
    rare = turned or part.flags.common < 2
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
    return hyphen + 2 if part.outline[0] == "X" or (syllable and hyphen - first > 1) else behind


def _extended(words: Sequence[Word], first: int, behind: int) -> int:
    last = words[behind - 1]
    if behind < len(words) and behind - first > 1 and words[behind].key in _GENERATIONS:
        return behind + 1
    if behind < len(words) and last.outline == "x" and words[behind].outline == "x":
        flags = words[behind].flags
        if flags.surname >= 2 and flags.common < 3:
            return behind + 1
    if last.key == "-" or behind == len(words):
        return behind
    if behind - first == 1 and last.flags.given >= 2 and _surname_ends(words, first, behind):
        return behind + 1
    if _surname_follows(words, first, behind):
        return behind + 1
    place = behind
    if all(word.outline == "X1" or word.key in _STOPS for word in words[first:behind]):
        while place < len(words) and (words[place].key in _STOPS or words[place].outline == "X1"):
            place += 1
        if place < len(words) and words[place].outline == "Xx" and words[place].flags.common < 3:
            return place + 1
    if (
        behind + 1 < len(words)
        and words[behind].key == ", "
        and behind - first == 1
        and _opens(words, first)
    ):
        given = words[behind + 1]
        listed = (
            behind + 3 < len(words)
            and words[behind + 2].key == ", "
            and words[behind + 3].kind == 1
        )
        if given.outline != last.outline or listed:
            return behind
        if (
            behind + 3 < len(words)
            and words[behind + 2].key == "-"
            and words[behind + 3].outline == "x"
        ):
            return behind + 4 if len(words[behind + 3].key) < 6 else behind  # Lee, Min-ho
        if given.flags.given >= 2 and last.flags.given != 3:
            initial = behind + 2 < len(words) and words[behind + 2].outline == "X1"
            return behind + 3 if initial else behind + 2
    return behind


def _surname_ends(words: Sequence[Word], first: int, place: int) -> bool:
    """Whether a surname that is an everyday word, too, follows a given name and ends the line or
    the value: Tom Hall, jane doe.
    """
    word, before = words[place], words[place - 1]
    if word.kind != 1 or word.outline != before.outline or word.flags.surname < 2:
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
        place + 1 == len(words)
        or words[place + 1].kind == 2
        or words[place + 1].key.strip() in _CLOSERS
    )
    return ends and (word.outline[0] == "X" or _opens(words, first))


def _surname_follows(words: Sequence[Word], first: int, place: int) -> bool:
    """Whether a surname that means nothing else follows a given name, and nothing that it could
    belong to follows it.
    """
    word = words[place]
    if word.outline != "Xx" or words[place - 1].outline != "Xx" or not word.flags.surname:
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
    known = given > 1 and (not words[first].flags.common or (given > 2 and place - first > 1))
    return known and (place + 1 == len(words) or words[place + 1].outline[0] not in "Xd")


def _opens(words: Sequence[Word], first: int) -> bool:
    """Whether a line, a value or what follows a label begins here."""
    return first == 0 or words[first - 1].kind == 2 or words[first - 1].key.strip() in _OPENERS


CLOSINGS = lexicon_words("closings")
_GENERATIONS = lexicon_words("generations")
_PARTIES = lexicon_words("parties")
_ARTICLES = lexicon_words("articles")
_FATHERS = lexicon_words("descent")  # of whom a person is a child: Ahmed bin Khalid
_OPENING, _CLOSING = (' "', " “", " '", " ‘"), ('" ', "” ", "' ", "’ ")
_SYLLABLES = lexicon_words("syllables")
_STOPS = (".", ". ")
_CLOSERS = (",", ".", ";", '"', "'", "<", "(", ")", "|", "TAB")
_OPENERS = (":", '"', "=", ";", "|", "(", "TAB")


def trim(text: str, region: Tagged, first: int, behind: int) -> tuple[int, int] | None:
    """A name without titles, common words, quotes and stops around it, or None where no name is
    left.
    """
    words = region.words
    cased = any(word.outline[0] == "X" for word in words[first:behind])
    while first < behind and _precedes(words, first, behind, cased):
        first += 1
    while first < behind and (
        words[behind - 1].kind != 1
        or (cased and _everyday(words[behind - 1]) and words[behind - 2].key != "-")
    ):
        behind -= 1
    if (
        first == behind
        or _abbreviated(words[first:behind])
        or any(word.outline[0] in "id0a" or word.outline == "xX" for word in words[first:behind])
    ):
        return None
    if behind - first > 2 and race_and_sex(words, behind - 1):
        behind -= 1
    end = region.places[behind - 1].end()
    if (words[behind - 1].outline == "X1" or words[behind - 1].flags.suffix) and text[
        end : end + 1
    ] == ".":
        end += 1
    start = region.places[first].start()
    initials = (
        _INITIALS.search(text, max(0, start - 12), start)
        if "." in text[max(0, start - 2) : start]
        else None
    )
    if initials:
        start = initials.start()
    return (start, end) if end - start > 1 else None


def race_and_sex(words: Sequence[Word], place: int) -> bool:
    """Whether a letter behind a name is no initial: KOWALSKI, PIOTR  W/M."""
    if place + 2 >= len(words) or words[place + 1].key != "/":
        return False
    return words[place].outline == words[place + 2].outline == "X1"


def _abbreviated(words: Sequence[Word]) -> bool:
    """Codes of countries, keywords in capitals, letters of the alphabet: nothing in it is as long
    as a name.
    """
    named = [word for word in words if word.kind == 1]
    codes = all(
        word.outline == "XX" and len(word.key) == 3 and not word.flags.named for word in named
    )
    if codes and len(words) == 3 and words[1].key == "-":
        return True  # JFK-LHR
    if len(named) == 1 and named[0].outline == "XX":
        return not named[0].flags.usual  # neither a usual given name nor a usual surname
    letters = [word for word in named if word.outline == "x1"]
    return 2 * len(letters) > len(named) or all(
        word.outline == "X1"
        or (len(word.key) < 3 and word.outline == "XX" and not word.flags.named)
        for word in named
    )


def _precedes(words: Sequence[Word], first: int, behind: int, cased: bool) -> bool:
    """Whether the first word is no part of the name: a mark, a title, a word in lower case."""
    word = words[first]
    if word.kind != 1:
        return True
    if behind - first == 1:
        return False
    if word.key in CLOSINGS and words[first + 1].key == ", ":
        return True
    if cased and word.outline == "x" and word.flags.particle:
        return behind - first > 2 and words[first + 1].flags.given >= 2 and bool(word.flags.common)
    if word.key in _PARTIES and not word.flags.named:
        return True
    lower = cased and word.outline in ("x", "x1") and not word.flags.particle
    return lower or (bool(word.flags.title or word.flags.label) and not _named(word))


def _everyday(word: Word) -> bool:
    if word.outline == "x1":
        return True
    return word.outline == "x" and word.flags.common > 0 and not word.flags.particle


_INITIALS = lazy(r"(?<![^\W_])(?:[A-Z]\.){2,4} ?$")


def _named(word: Word) -> bool:
    return word.flags.given >= 2 or word.flags.surname >= 2
