"""Names recognized by their shape, where the tagger labels them as something else.

To add a shape, write a generator of token spans and call it in `find`; words belong in the
lexicons.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from dlpctl.detect.entities.boundaries import CLOSINGS, is_race_and_sex
from dlpctl.detect.entities.evidence import is_english, is_ordinary
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.detect.entities.rejections import FIRMS
from dlpctl.detect.entities.speakers import (
    PAIRED,
    SURNAMES_FIRST,
    USUAL,
    VIETNAMESE,
    addressed,
    in_conversation,
    in_mail_head,
    is_rare,
    speaking,
    starts_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.detect.entities.crf.sequence import Tagged, Word

_SURE = 0.75
_HONORIFICS = lexicon_words("honorifics")
_TITLES = lexicon_words("titles")
_STOPS = (". ", ".")
_AFTER_CLOSING = (",", ".", "!")
_MOST_SIGNED = 3  # words of the name that signs a letter
_MOST_PARTS = 5  # words and hyphens after a title
_ENDS = ('"', "”", "'", ".", "-", "<", "/")
_PAIR = 2
_AFTER_GIVEN = (".", ",", "?", "!", ")")
_SHORTEST_SUBJECT = 3
_CLAUSE_ENDS = (". ", "! ", "? ", ", ", "; ", ": ")
_RELATIVES = lexicon_words("relatives")
_BORN = lexicon_words("born")  # the name of the parents follows
_SUFFIXES = lexicon_words("suffixes")
_SYLLABLES = lexicon_words("given_syllables")
_key = attrgetter("key")
_ROLES = frozenset(role.split()[-1] for role in lexicon_words("person_roles"))
_CUES = _TITLES | _RELATIVES | _BORN | _ROLES


def find(region: Tagged, *, among_persons: bool) -> Iterator[tuple[int, int, float]]:
    """Yield spans of tokens with a score; more of them in a text that names other persons."""
    words, tokens = region.words, region.tokens
    keys = set(map(_key, words))
    commas = _inner_marks(tokens, ", ")
    colons = _marks_of(tokens, " : " if " : " in tokens else ": ")
    if not _HONORIFICS.isdisjoint(tokens):
        yield from _before_honorific(words)
    yield from _on_ticket(words, _inner_marks(tokens, "/"))
    yield from _in_register(words, commas)
    if not _SUFFIXES.isdisjoint(keys):
        yield from _before_suffix(words)
    if among_persons:
        yield from in_mail_head(words, colons)
    if not SURNAMES_FIRST.isdisjoint(keys):
        yield from _surname_first(words)
    yield from _of_syllables(words, _inner_marks(tokens, "-"))
    yield from addressed(words, sorted(commas + _inner_marks(tokens, ": ")))
    times = _inner_marks(tokens, ":") if ":" in tokens else []
    if colons or times:
        yield from speaking(words, colons)
        yield from in_conversation(words, colons, times)
    if not CLOSINGS.isdisjoint(keys):
        yield from _in_signature(words)
    yield from _by_its_words(words, among_persons)


def _marks_of(tokens: list[str], mark: str) -> list[int]:
    """Return the indexes of a mark that follow another token."""
    if mark not in tokens:
        return []
    return [at for at, token in enumerate(tokens) if token == mark and at]


def _inner_marks(tokens: list[str], mark: str) -> list[int]:
    """Return the indexes of a mark between two tokens."""
    return [at for at in _marks_of(tokens, mark) if at + 1 < len(tokens)]


def _by_its_words(words: list[Word], among_persons: bool) -> Iterator[tuple[int, int, float]]:
    """My brother Desmond, Amara Okafor: what follows a cue, and usual given names."""
    for index, word in enumerate(words):
        if not word.is_word:
            continue
        if word.key in _CUES:
            yield from _after_cue(words, index)
        if word.outline == "Xx" and word.flags.given >= USUAL:
            if _is_pair(words, index):
                yield index, index + 2, PAIRED
            elif _is_within_sentence(words, index) or (
                among_persons and _starts_sentence(words, index)
            ):
                yield index, index + 1, PAIRED


def _after_cue(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    word = words[index]
    if word.key in _TITLES or word.key in _BORN:
        rare = word.outline == "Xx" or not word.flags.common or word.key in _BORN
        yield from (span for span in _after_title(words, index) if rare or _is_named(words, span))
    if word.outline in ("x", "Xx") and word.key in _RELATIVES:
        yield from _after_relative(words, index)
    if word.outline in ("x", "Xx") and word.key in _ROLES:
        yield from _after_role(words, index)


def _is_named(words: list[Word], span: tuple[int, int, float]) -> bool:
    return any(word.flags.usual for word in words[span[0] : span[1]])


def _before_suffix(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Tolga Bey."""
    for index in range(len(words) - 1):
        if words[index + 1].key in _SUFFIXES and is_rare(words[index]):
            yield index, index + 1, _SURE


def _surname_first(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Le Quang Vinh, Pham, Thu Trang; Nam Nguyen: a surname beside words of given names."""
    written = [
        index for index, word in enumerate(words) if word.key in VIETNAMESE and word.outline == "Xx"
    ]
    stop = 0
    for start in written:
        if start < stop:
            continue
        stop = start + 1
        while stop < len(words) and words[stop].outline == "Xx" and words[stop].key in VIETNAMESE:
            stop += 1
        if stop - start > 1 and _is_alone(words, start, stop):
            keys = tuple(word.key for word in words[start:stop])
            known = keys[0] in SURNAMES_FIRST or (
                len(keys) == _PAIR and keys[1] in SURNAMES_FIRST and len(keys[1]) > _PAIR
            )
            if known and keys not in FIRMS:
                yield start, stop, PAIRED


def _is_alone(words: list[Word], index: int, stop: int) -> bool:
    """Return whether no word with a capital is beside some, other than a usual noun."""
    beside = (*words[max(0, index - 1) : index], *words[stop : stop + 1])
    return not any(
        word.outline[0] == "X" and (word.flags.named or not word.flags.common) for word in beside
    )


def _before_honorific(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Tanaka-san."""
    for index in range(len(words) - 2):
        word = words[index]
        if (
            word.outline == "Xx"
            and words[index + 1].key == "-"
            and words[index + 2].key in _HONORIFICS
        ):
            yield index, index + 1, _SURE


def _of_syllables(words: list[Word], hyphens: list[int]) -> Iterator[tuple[int, int, float]]:
    """Soo-jin, Ji-woo Han, Kim Min-jae: a given name of two syllables, also beside a surname."""
    for hyphen in hyphens:
        first, second = words[hyphen - 1], words[hyphen + 1]
        if first.outline != "Xx" or second.outline not in ("x", "Xx"):
            continue
        if first.key in _SYLLABLES and second.key in _SYLLABLES:
            start, stop = hyphen - 1, hyphen + 2
            if stop < len(words) and words[stop].key == "-":
                continue
            if start and _is_usual_surname(words[start - 1]):
                start -= 1
            elif stop < len(words) and _is_usual_surname(words[stop]):
                stop += 1
            yield start, stop, _SURE


def _is_usual_surname(word: Word) -> bool:
    return is_rare(word) and word.flags.surname >= USUAL


def _on_ticket(words: list[Word], slashes: list[int]) -> Iterator[tuple[int, int, float]]:
    """OKORO/GRACE."""
    for slash in slashes:
        surname, given = words[slash - 1], words[slash + 1]
        if surname.outline == given.outline == "XX" and given.flags.given > 1:
            titled = slash + 2 < len(words) and bool(words[slash + 2].flags.title)
            if titled or (
                surname.flags.surname and not (surname.flags.common or given.flags.common)
            ):
                yield slash - 1, slash + 2, _SURE


def _in_register(words: list[Word], commas: list[int]) -> Iterator[tuple[int, int, float]]:
    """DOE, JANE Q: not in a list of cities or countries, and not in the middle of a list."""
    for comma in commas:
        index = comma - 1
        surname, given = words[index], words[comma + 1]
        if not surname.outline == given.outline == "XX":
            continue
        if given.flags.given < 2 or given.flags.common > 2 or given.flags.place_name > 1:
            continue
        if surname.flags.other or given.flags.other or surname.flags.surname == 0:
            continue
        stop = index + 3
        while stop < min(len(words), index + 5) and words[stop].outline == "X1":
            if is_race_and_sex(words, stop):
                break
            stop += 1
        listed = (index > 0 and words[index - 1].key == ", ") or (
            stop < len(words)
            and words[stop].key == ", "
            and stop + 1 < len(words)
            and words[stop + 1].outline == "XX"
        )
        if not listed:
            yield index, stop, _SURE


def _after_title(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    """Ms. Rodham-Clinton, Rep. Ocasio-Cortez, MRS M SLADE: a word that is hardly anything else."""
    first = name = (
        index + 2 if index + 1 < len(words) and words[index + 1].key in _STOPS else index + 1
    )
    while name + 1 < len(words) and words[name].outline == "X1":
        name += 2 if words[name + 1].key in _STOPS else 1
    stop = name
    in_capitals = words[index].outline == "XX" and name > first
    while stop < len(words) and stop - name < _MOST_PARTS:
        if not (_is_surname(words[stop]) or (in_capitals and _is_initialed(words[stop]))):
            break
        stop += 2 if stop + 2 < len(words) and words[stop + 1].key == "-" else 1
    if stop > name and (stop == len(words) or in_capitals or words[stop].outline[0] != "X"):
        yield first, stop, PAIRED


def _after_relative(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    """My brother Desmond, her supervisor Ed Marsh, die Familie Kessler, su madre, Miren."""
    first = index + 1
    if index + 2 < len(words) and words[first].key == ", " and words[index].outline == "x":
        first += words[index + 2].flags.given >= USUAL > words[index + 2].flags.place_name
    if first >= len(words) or words[first].outline != "Xx" or words[first].flags.other:
        return
    flags = words[first].flags
    if max(flags.given, flags.surname) < max(2, flags.common) and not _is_owned(words, index):
        return
    stop = first + 1
    if stop < len(words) and words[stop].outline == "Xx" and words[stop].flags.common < 3:
        stop += not words[stop].flags.other
    if stop == len(words) or words[stop].outline[0] != "X":
        yield first, stop, PAIRED


def _is_owned(words: list[Word], index: int) -> bool:
    """Return whether a rare word in no list follows a relative and the word for whose it is: il
    figlio Gualtiero al telefono, ihres Sohnes Maik.
    """
    outlines = {word.outline for word in words[max(0, index - 1) : index + 1]}
    is_owned = index > 0 and words[index - 1].is_word and "x" in outlines
    return is_owned and is_rare(words[index + 1]) and not is_english(words, index, index + 1)


def _after_role(words: list[Word], index: int) -> Iterator[tuple[int, int, float]]:
    """Emergency contact Barnaby Winslow: two rare words, one known as a name."""
    stop = index + 3
    pair = words[index + 1 : stop]
    ends = stop == len(words) or (stop < len(words) and words[stop].outline[0] != "X")
    if ends and all(map(is_rare, pair)) and any(word.flags.named for word in pair):
        yield index + 1, stop, PAIRED


def _is_surname(word: Word) -> bool:
    return word.outline == "Xx" and word.flags.common < 2 and not word.flags.other


def _is_initialed(word: Word) -> bool:
    """Return whether a word in capitals is a surname after initials rather than a usual word."""
    is_name = word.flags.usual or not word.flags.common
    return word.outline == "XX" and is_name and not word.flags.other


def _is_within_sentence(words: list[Word], index: int) -> bool:
    """Return whether a given name is between words in lower case, in a language of which the tagger
    knows little: setz Friederike in Kopie.
    """
    word = words[index]
    if not 0 < index < len(words) - 1 or not is_rare(word) or is_ordinary(word):
        return False
    before, after = words[index - 1], words[index + 1]
    if before.outline != "x" or before.flags.particle:  # plano de Saúde
        return False
    is_noun = after.outline == "Xx" and after.flags.common and not after.flags.named
    ends = after.outline == "x" or is_noun or after.key.strip() in _AFTER_GIVEN
    return bool(ends) and not is_english(words, index, index + 1)


def _starts_sentence(words: list[Word], index: int) -> bool:
    """Return whether a given name is the first word of a sentence, or follows the only capital
    before it, and a word in lower case follows: Joost belt morgen. Bitte Uwe fragen.
    """
    word = words[index]
    if index + 1 >= len(words) or words[index + 1].outline != "x":
        return False
    if len(word.key) < _SHORTEST_SUBJECT or not is_rare(word) or is_ordinary(word):
        return False
    before = words[index - 1]
    verb = index > 0 and before.outline == "Xx" and before.flags.common and not before.flags.named
    return _starts_clause(words, index - 1 if verb else index)


def _starts_clause(words: list[Word], index: int) -> bool:
    return starts_line(words, index) or words[index - 1].key in _CLAUSE_ENDS


def _in_signature(words: list[Word]) -> Iterator[tuple[int, int, float]]:
    """Thx, Raj: a name after the closing of a letter, at the end of its line; one in no list has
    a line of its own, and several words where the closing does not start its line.
    """
    for index in range(len(words) - 1):
        if words[index].key not in CLOSINGS:
            continue
        name = index + 1 + (words[index + 1].key.strip() in _AFTER_CLOSING)
        name += name < len(words) and words[name].is_line_break
        if name >= len(words):
            continue
        word = words[name]
        named = max(word.flags.given, word.flags.surname) > word.flags.common
        if named and word.outline == "Xx" and not word.flags.other and _ends(words, name + 1):
            yield name, name + 1, PAIRED
        stop = name
        while stop < len(words) and stop - name < _MOST_SIGNED and is_rare(words[stop]):
            stop += 1
        least = 1 if starts_line(words, index) else 2
        if stop - name >= least and words[name - 1].is_line_break and _ends(words, stop):
            yield name, stop, PAIRED


def _ends(words: list[Word], stop: int) -> bool:
    """Return whether a line or its text ends at a token."""
    return stop == len(words) or words[stop].is_line_break or words[stop].key.strip() in _ENDS


def _is_pair(words: list[Word], index: int) -> bool:
    """Return whether an unambiguous given name and surname occur alone."""
    if index + 1 >= len(words):
        return False
    given, surname = words[index], words[index + 1]
    if (
        given.outline != "Xx"
        or surname.outline != "Xx"
        or (given.flags.other or surname.flags.other)
    ):
        return False
    if (given.key, surname.key) in FIRMS or given.flags.given < 2:
        return False
    if surname.flags.surname < 2 and (given.flags.given < 3 or len(surname.key) < 3):
        return False
    if given.flags.common or surname.flags.common:
        return False
    if given.flags.place_name > 1 or surname.flags.place_name > 2:
        return False
    before = words[index - 1] if index else None
    after = words[index + 2] if index + 2 < len(words) else None
    return not any(word is not None and word.outline[0] == "X" for word in (before, after))
