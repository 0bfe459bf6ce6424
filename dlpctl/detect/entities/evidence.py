"""Evidence for a name: a cue before it, words that are known as names, and English around it.

The tagger has learned from English prose what a sentence says about a name. Elsewhere, as in the
translated messages of a program, an unknown word with a capital says little.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dlpctl.detect.entities.label_keys import OWNERS
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.detect.entities.crf.sequence import Word
    from dlpctl.detect.entities.crf.words import WordFlags

_JOINTS = ("-", "_", "/", ".")
"""Marks that join the words of a compound."""
_JOINTS_OF_KEYS = (*_JOINTS, "=")
_LIKELY, _SURE, _VERY_SURE, _CERTAIN = 0.6, 0.85, 0.95, 0.97
_NEVER = 1.1
_ENGLISH = lexicon_words("only_english")
_ORDINARY = lexicon_words("ordinary")
_TITLES = lexicon_words("titles")
_INTRODUCTIONS = lexicon_words("introductions")
_ENDINGS_OF_ROLES = tuple(
    word for word in _INTRODUCTIONS | lexicon_words("relatives") if len(word) >= 4
)
"""Endings of compounds that introduce a person: Kartellamtschef, Stiefmutter."""
_PERSON_ROLES = lexicon_words("person_roles")
_ABBREVIATED = 3  # letters of an abbreviation at most, beside words that are none
_APOSTROPHES = frozenset("'’")
_NEARBY = 60
"""Tokens before and after a name whose lists tell whether its language is known."""
_TELLING = 6
"""The number of words in lower case that tell a language."""
_AROUND = 14  # tokens of the line before and after a name that tell its language

_OF_A_PERSON = lazy(
    r"\b(?:e-?mail|phone|mobile|msisdn|dob|birth|date_?of_?birth|ssn)\w{0,12}[\"']?\s?:",
    re.IGNORECASE,
)
_LONGEST_OBJECT = 300


def least_score(words: Sequence[Word], left: int, right: int) -> float:
    """Return the score that words must have as a name, by the evidence for it."""
    if has_cue(words, left, 3) or (left and introduces(words[left - 1])):
        return 0.0
    if _is_after_role(words, left, right):
        return 0.0
    if _is_compound(words, left, right) and not _is_compound_name(words, left, right):
        return _CERTAIN if _is_strange_in_sentence(words, left, right) else _NEVER
    in_english = is_english(words, left, right)
    if in_english and any(word.flags.named for word in words[left:right]):
        return 0.0
    if _has_initial(words, left, right):
        return 0.0
    if in_english:
        return _VERY_SURE
    named = [
        word
        for at, word in enumerate(words[left:right], left)
        if word.is_word and not (word.outline == "x" and at > left and words[at - 1].key == "-")
    ]
    if _is_in_unknown_language(words, left):
        return _least_of_unknown_language(named)
    least = _least_of_one(named[0]) if len(named) == 1 else _least_of_several(named)
    is_alone = len(named) == 1
    if (least == _NEVER or is_alone) and _is_strange_in_sentence(words, left, right):
        return _CERTAIN if least == _NEVER else min(least, _LIKELY)
    return least


def introduces(word: Word) -> bool:
    """Return whether a word introduces a person, or is a noun that ends with one that does."""
    is_noun = word.outline == "Xx" and not word.flags.named
    return word.key in _INTRODUCTIONS or (is_noun and word.key.endswith(_ENDINGS_OF_ROLES))


def _is_after_role(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether words that no list has as others follow the role of a person: Pacjent Jan
    Przykład.
    """
    if not left or right - left == 1 or words[left - 1].key not in _PERSON_ROLES:
        return False
    return not any(_is_listed(word.flags) and not word.flags.particle for word in words[left:right])


def _is_strange_in_sentence(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether words with a capital are in no list, and follow a word in lower case, its
    comma, or that of a given name: the sentence alone may tell that they are a name.
    """
    is_after_comma = left > 1 and words[left - 1].key == ", "
    before = words[left - 2 if is_after_comma else left - 1]
    is_listed_name = is_after_comma and before.outline == "Xx" and before.flags.given >= 2
    if not left or (before.outline != "x" and not is_listed_name):
        return False
    if right - left == 1 and before.flags.particle:
        return False  # der Gemeinderat von Oberweiler
    return all(
        word.outline == "Xx" and not (_is_listed(word.flags) or is_ordinary(word))
        for word in words[left:right]
    )


def _is_listed(flags: WordFlags) -> bool:
    return bool(flags.common or flags.place_name or flags.proper or flags.label or flags.other)


def _is_in_unknown_language(words: Sequence[Word], at: int) -> bool:
    """Return whether few of the words around are in any list: a capital says nothing there."""
    known = unknown = 0
    for word in words[max(0, at - _NEARBY) : at + _NEARBY]:
        if word.outline == "x" and len(word.key) > 1:
            flags = word.flags
            if flags.common or flags.named or flags.other:
                known += 1
            else:
                unknown += 1
    return known + unknown >= _TELLING and unknown > 2 * known


def _least_of_unknown_language(named: Sequence[Word]) -> float:
    """Return the least score of words in a language of which lists have little: that of a usual
    given name with a surname, or with words in no list, as Jakub Wrzosek in a Polish text.
    """
    if len(named) == 1 or named[0].flags.given < 2:
        return _NEVER
    if named[-1].flags.surname >= 2:
        return _SURE
    is_strange = all(word.outline == "Xx" and not _is_listed(word.flags) for word in named[1:])
    return _CERTAIN if is_strange and _is_rare(named[0]) else _NEVER


def _least_of_one(word: Word) -> float:
    flags = word.flags
    if is_ordinary(word) or not flags.named:
        return _NEVER
    if word.outline != "Xx":
        if flags.given < 2 or flags.common:
            return _NEVER
        return _LIKELY if flags.given == 3 else _SURE
    if flags.common or not flags.usual:
        return _SURE
    return 0.0 if flags.given >= 2 else _LIKELY


def _least_of_several(named: Sequence[Word]) -> float:
    """Only names and particles may be in lower case; one word is a given name, or all are names."""
    if any(word.outline == "x" and not _is_part(word) for word in named):
        return _NEVER
    if not named or (not named[0].flags.named and _is_lower_particle(named[1])):
        return _NEVER  # Esófago de Barrett
    telling = [word for word in named if word.outline != "x"] or named
    if any(word.flags.given == 3 for word in telling):
        return 0.0
    if any(word.outline == "Xx" for word in named) and any(map(_is_abbreviation, named)):
        return _NEVER
    if any(word.flags.given and _is_rare(word) for word in telling):
        return 0.0
    if all(len(word.key) == 1 or _is_part(word) for word in named):
        usual = any(word.flags.surname == 3 or _is_surname(word) for word in named)
        return 0.0 if usual else _NEVER
    first, last = named[0], named[-1]
    if first.flags.particle and first.outline == "Xx" and not any(map(_is_part, named[1:])):
        return _NEVER  # De Belastingdienst: an article and a noun
    if first.flags.particle or (first.flags.given >= 2 and last.flags.surname >= 2):
        return _SURE
    strange = all(word.outline == "Xx" and not word.flags.common for word in named)
    known = first.flags.given >= 2 or _is_surname(first) or _is_surname(last)
    return _SURE if strange and known else _NEVER


def _is_lower_particle(word: Word) -> bool:
    return word.outline == "x" and word.flags.particle


def _is_abbreviation(word: Word) -> bool:
    return word.outline == "XX" and len(word.key) <= _ABBREVIATED and not word.flags.suffix


def _is_surname(word: Word) -> bool:
    return word.flags.surname >= 2 and _is_rare(word)


def _is_part(word: Word) -> bool:
    return word.flags.particle or (word.flags.named and not is_ordinary(word))


def _is_rare(word: Word) -> bool:
    """Return whether a word is hardly anything but a name."""
    return not (word.flags.common or is_ordinary(word))


def is_ordinary(word: Word) -> bool:
    """Return whether a name is a usual word of another language, or one that is elided: s'ha."""
    elided = word.outline == "Xx" and word.key[1:2] in _APOSTROPHES and word.key[0] not in "do"
    return elided or word.key in _ORDINARY


def _has_initial(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether a name has an initial: E. Patanella, Almer H Hickle."""
    return any(
        words[at].outline == "X1" and (at > left or words[at + 1].key == ". ")
        for at in range(left, right - 1)
        if words[at + 1].key == ". " or words[at + 1].outline == words[left].outline == "Xx"
    )


def is_english(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether a word in the line of a name is one that only English has."""
    for nearby in (
        range(left - 1, max(-1, left - 1 - _AROUND), -1),
        range(right, min(len(words), right + _AROUND)),
    ):
        for at in nearby:
            if words[at].is_line_break:
                break
            if words[at].key in _ENGLISH and not _is_in_identifier(words, at):
                return True
    return False


def _is_in_identifier(words: Sequence[Word], at: int) -> bool:
    """Return whether a word is joined to another one, as in a.key.of.settings=value."""
    return any(word.key in _JOINTS_OF_KEYS for word in words[max(0, at - 1) : at + 2])


def is_bare(words: Sequence[Word], first: int, stop: int) -> bool:
    """Return whether the words are one, or have no capital, and follow no cue."""
    named = [word for word in words[first:stop] if word.is_word]
    if len(named) > 1 and any(word.outline[0] == "X" for word in named):
        return False
    return not has_cue(words, first)


def has_cue(words: Sequence[Word], left: int, reach: int = 4) -> bool:
    """Return whether a title or a label precedes, other than the key `name` of any setting."""
    for at in range(max(0, left - reach), left):
        flags = words[at].flags
        is_title = flags.title or (words[at].key in _TITLES and words[at + 1].key == ". ")
        if not (is_title or flags.label) or is_name_key(words, at):
            continue
        if words[left].outline == "x" and any(word.is_line_break for word in words[at:left]):
            continue  # Szanowna Pani, | informujemy
        if flags.label or words[at].key not in _ORDINARY or words[at + 1].key == ". ":
            return True  # a title that is a usual word elsewhere needs its dot: ir
    return False


def is_name_key(words: Sequence[Word], at: int) -> bool:
    """Return whether a word is `name` with no word before it, in lower case or before an equals
    sign; there, also after a word that tells of no person: <application name="...">.
    """
    word = words[at]
    is_attribute = at + 1 < len(words) and words[at + 1].key.strip() == "="
    if word.key != "name" or not (word.outline == "x" or is_attribute):
        return False
    if not at or not words[at - 1].is_word:
        return True
    return is_attribute and words[at - 1].key not in OWNERS


def _is_compound(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether the words are one, or joined without blanks."""
    return all(word.key in _JOINTS for word in words[left + 1 : right : 2])


def _is_compound_name(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether a part is known as a name; of a compound in lower case, all: jackson-core."""
    parts = words[left:right:2]
    if len(parts) > 1 and all(part.outline == "x" for part in parts):
        return all(part.flags.named for part in parts)
    return any(part.flags.named for part in parts)


def is_of_a_person(text: str, label: str, end: int) -> bool:
    """Return whether a label `name` that ends there is in an object that also has what only persons
    have, such as a birthday.
    """
    if label.lower() != "name":
        return False
    start = text.rfind("{", max(0, end - _LONGEST_OBJECT), end)
    stop = text.find("}", end, end + _LONGEST_OBJECT)
    if stop < 0:
        stop = end + _LONGEST_OBJECT
    return start >= 0 and _OF_A_PERSON.search(text, start, stop) is not None
