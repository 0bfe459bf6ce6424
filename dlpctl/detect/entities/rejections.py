"""Rejection rules: a name that the tagger has found is a place, an institution, a method, a thing.

To add a rule, write a predicate and call it in `is_rejected`; words belong in the lexicons. A rule
stays only if `tests/training/ablation.py` shows that it keeps false findings out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.entities.addresses import STATES
from dlpctl.detect.entities.evidence import has_cue, is_name_key
from dlpctl.detect.entities.label_keys import LABELS_OF_THINGS, OWNERS, is_key
from dlpctl.detect.entities.lexicon import alternatives
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.detect.entities.crf.sequence import Word


def is_rejected(words: Sequence[Word], left: int, right: int) -> bool:
    """Return whether one of the rules rejects the words as a name."""
    span = words, left, right
    if _has_legal_form(*span) or _is_lower_case_phrase(*span) or _follows_institution(*span):
        return True
    if _is_of_thing(*span) or _follows_eponym(*span) or _is_of_street(*span):
        return True
    if right - left > 1:
        return (
            _is_institution(*span)
            or _is_firm(*span)
            or _is_city(*span)
            or _is_compound_label(*span)
            or _is_compound_institution(*span)
            or _ends_in_noun(*span)
            or _is_version(*span)
            or _is_of_noun(*span)
        )
    return (
        _is_product(*span)
        or _is_noun(*span)
        or _is_after_locative(*span)
        or _is_city(*span)
        or _is_institution(*span)
        or _is_eponym(*span)
        or _is_in_list_of_words(*span)
        or _is_before_abbreviation(*span)
        or _is_abbreviation(*span)
        or _is_of_noun(*span)
    )


def _is_of_thing(words: Sequence[Word], left: int, right: int) -> bool:
    """ "city": "Charlotte", codename: felix: all that a label of a thing precedes; <river
    name="Murray">: a single word after the label of anything.
    """
    label = left - 1
    while label > 0 and words[label].is_sign and left - label < _LONGEST_MARKS:
        label -= 1
    marks = {word.key.strip() for word in words[label + 1 : left]}
    named = is_name_key(words, label)
    if not (
        (words[label].key in LABELS_OF_THINGS and not marks.isdisjoint(_ASSIGNMENTS))
        or (right - left == 1 and "=" in marks and named)
        or (_is_attribute(words, label, marks) and not _is_full_name(words[left:right], named))
    ):
        return False
    return right == len(words) or not words[right].is_word


def _is_attribute(words: Sequence[Word], label: int, marks: set[str]) -> bool:
    """Return whether a value in quotes follows a label that tells of no person: location="..."."""
    word = words[label]
    if "=" not in marks or marks.isdisjoint(_QUOTES) or word.outline[0] not in "xi":
        return False
    if is_name_key(words, label):
        return True
    return not (word.flags.label or word.flags.title or word.key in OWNERS or is_key(word.key))


def _is_full_name(words: Sequence[Word], named: bool) -> bool:
    """Return whether a usual given name is first, and a usual surname last, which may be unknown
    below the label `name`.
    """
    if len(words) < _FEWEST_PARTS or words[0].flags.given < 2 or words[1].key == "-":
        return False
    return named or words[-1].flags.surname >= 2


def _is_product(words: Sequence[Word], left: int, right: int) -> bool:
    """Mozilla/5.0, which every browser sends, and words of payslips."""
    if right + 1 < len(words) and words[right].key == "/" and words[right + 1].outline[0] == "d":
        return True
    joined = words[max(0, left - 1)], words[min(right, len(words) - 1)]
    if left and words[left - 1].key in _MAKES:  # Skoda Octavia
        return True
    return words[left].key in _NOT_NAMES or any(word.key == "::" for word in joined)


def _is_noun(words: Sequence[Word], left: int, _right: int) -> bool:
    """A long word with the ending of a noun, in no list of names: Medikation, Versicherung."""
    word = words[left]
    if len(word.key) < _LONG_NOUN or word.flags.named or not word.key.endswith(_NOUN_ENDS):
        return False
    before = words[max(0, left - 3) : left]
    is_apart = any(each.key == ", " for each in before)
    return is_apart or not any(each.flags.title for each in before)


def _ends_in_noun(words: Sequence[Word], left: int, right: int) -> bool:
    """Jackson Parish, Ariel IOMMU, KİRA SÖZLEŞMESİ: the last word is a usual one, an abbreviation
    or has the ending of a noun, and is in no list of names; Joe Hockey is a name.
    """
    first, last = words[left], words[right - 1]
    has_ending = len(last.key) >= _LONG_NOUN and last.key.endswith(_NOUN_ENDS)
    is_title = has_ending and last.outline == "XX"
    if last.key in _NOT_NAMES:
        return True
    if last.flags.named or last.flags.suffix:
        return False
    if first.flags.given == _IN_ALL_LISTS and not is_title:
        return False
    is_noun = has_ending or (last.outline == "Xx" and last.flags.common >= _USUAL_WORD)
    is_short = last.outline == "XX" and len(last.key) <= _LONGEST_ABBREVIATION
    return (is_noun or (is_short and first.outline == "Xx")) and not has_cue(words, left)


def _is_version(words: Sequence[Word], left: int, right: int) -> bool:
    """Vega II, MAX II: a word that is no usual given name, with the number of a version; AES128."""
    if any(word.outline == "A0" for word in words[left:right]):
        return True
    if right - left != 2 or words[right - 1].key not in _VERSIONS:
        return False
    usual = words[left].outline == "Xx" and words[left].flags.given == _IN_ALL_LISTS
    return words[right - 1].outline == "XX" and not usual and not has_cue(words, left)


def _is_of_noun(words: Sequence[Word], left: int, right: int) -> bool:
    """PCI to ISA Bridge: an abbreviation with a usual word that is no given name, or before it."""
    first, last = words[left], words[min(max(right - 1, left + 1), len(words) - 1)]
    if first.outline != "XX" or not 2 < len(first.key) < _LONGEST_ABBREVIATION:
        return False
    is_noun = last.outline == "Xx" and last.flags.common > _USUAL_WORD and not last.flags.given
    return is_noun and not has_cue(words, left)


def _is_before_abbreviation(words: Sequence[Word], left: int, right: int) -> bool:
    """Ariel PCIe, Luna IOMMU: a single word before an abbreviation or an identifier."""
    if right == len(words) or words[right].outline not in ("XX", "xX"):
        return False
    known = words[right].flags
    if known.named or known.suffix or known.common:
        return False
    if words[left].outline != "Xx" or words[left].flags.given == _IN_ALL_LISTS:
        return False
    return not has_cue(words, left)


def _is_abbreviation(words: Sequence[Word], left: int, right: int) -> bool:
    """Ethernet with LAN power, EVA 4: a short word in capitals, beside one in lower case; before a
    number even a usual given name.
    """
    word = words[left]
    if word.outline != "XX" or len(word.key) >= _LONGEST_ABBREVIATION or has_cue(words, left):
        return False
    if right < len(words) and words[right].outline in ("d1", "d2"):
        return True
    if word.flags.given == _IN_ALL_LISTS:
        return False
    return any(
        near.outline == "x" for near in (*words[max(0, left - 1) : left], *words[right : right + 1])
    )


def _has_legal_form(words: Sequence[Word], left: int, right: int) -> bool:
    """Ortega S.L.: the legal form of a firm is at the end of the name or after it, or before an
    abbreviation that is no name.
    """
    last = words[right - 1]
    is_short = last.outline == "XX" and len(last.key) <= _LONGEST_ABBREVIATION
    starts_there = is_short and right - left > 1 and not last.flags.named
    return any(
        words[first].key.strip() in _FORM_STARTS
        and _LEGAL_FORM.match(_written(words[first : first + 7]))
        for first in range(left + (not starts_there), min(right + 1, len(words)))
    )


def _written(words: Sequence[Word]) -> str:
    """Return tokens as in the text, in lower case but for words in capitals."""
    written = (word.key.upper() if word.outline == "XX" else word.key for word in words)
    return " " + " ".join(" ".join(written).split()).replace(" .", ".").replace(" ,", ",")


def _is_after_locative(words: Sequence[Word], left: int, right: int) -> bool:
    """A single word after "in", "Mount" and the like that is no usual given name."""
    if not left:
        return False
    word, before = words[left], words[left - 1]
    if before.outline == "Xx" and before.key in _LANDMARKS:
        return True
    place_grade = word.flags.place_name
    if before.key in _PLACE_PREPOSITIONS and place_grade == 3:
        return True
    if word.flags.given >= 2:
        return False
    return before.key in _LOCATIVES or (before.key == "in" and place_grade > 0)


def _follows_institution(words: Sequence[Word], left: int, right: int) -> bool:
    """Hospital Gregorio Marañón, Rathaus Barmen: a name after the word for what bears it."""
    start = max(0, left - 1)
    if start and words[start].outline == "Xx" and not words[start].flags.title:
        start -= 1  # Clínica Dentária Monte Verde
    return any(
        words[at].key in _INSTITUTIONS_FIRST
        and (at < left or words[at].outline == words[right - 1].outline)
        for at in range(start, right - 1)
    )


def _is_of_street(words: Sequence[Word], left: int, right: int) -> bool:
    """Rue Victor-Hugo, plaza de Pedro Zerolo, Karl Johans torg: a word for a street is before a
    name, its first word, or after it, where it is no usual word of other languages.
    """
    first = left if right - left > 1 else left - 1
    before = left - 2 if left > 1 and words[left - 1].key == "de" else left - 1
    for at in (before, first, right):
        if 0 <= at < len(words) and words[at].flags.street:
            flags = words[at].flags
            most_common = 0 if at == right else _USUAL_WORD
            is_role = flags.title or words[at].key in _PERSON_ROLES  # Pt Clementine Ashdown
            if flags.common <= most_common and not (is_role or flags.particle):
                return at != right or not has_cue(words, left)
    return False


def _is_compound_institution(words: Sequence[Word], left: int, right: int) -> bool:
    """Max-Planck-Institut: a compound that ends in an institution."""
    return words[right - 2].key == "-" and words[right - 1].key in _INSTITUTIONS


def _is_compound_label(words: Sequence[Word], left: int, right: int) -> bool:
    """Steuer-ID: a compound that ends in an abbreviation, in ordinary writing."""
    return (
        right - left > 2
        and words[right - 1].outline == "XX"
        and words[right - 2].key == "-"
        and words[right - 3].outline == "Xx"
    )


def _is_city(words: Sequence[Word], left: int, right: int) -> bool:
    """ "Austin, TX": a place before its state or country, or above a letter: "Braga, 9 de maio"."""
    if right - left == 3:
        right -= 2
    if right - left > 1 or right + 1 >= len(words) or words[right].key != ", ":
        return False
    city, region = words[left], words[right + 1]
    if not city.flags.place_name:
        return False
    if region.outline in ("d1", "d2") and (not left or words[left - 1].is_line_break):
        return True
    known = region.flags.place_name == 3 and region.flags.given < 3
    return (region.outline == "XX" and region.key in STATES) or (
        known and region.outline == city.outline
    )


def _is_institution(words: Sequence[Word], left: int, right: int) -> bool:
    """The Melinda Gates Foundation, St. Patrick's Day: an institution, a hotel, a church, a
    holiday.
    """
    if (
        right < len(words)
        and words[right].outline in ("Xx", "XX")
        and words[right].outline == words[left].outline
    ):
        noun = words[right]
        alone = right - left == 1
        if noun.flags.company or noun.key in _INSTITUTIONS or (alone and noun.flags.street):
            return not any(word.flags.title for word in words[max(0, left - 2) : left])
    if right - left > 1:
        return False
    if (
        right + 1 < len(words)
        and words[right].key in (" & ", "and")
        and words[right + 1].key in (words[left].key, *_PARTNERS)
    ):
        return True
    if left > 1 and words[left - 1].key == " & " and words[left - 2].key == words[left].key:
        return True
    owned = (
        right + 1 < len(words)
        and words[right].key in _POSSESSIVES
        and words[right + 1].outline == "Xx"
    )
    if owned and words[right + 1].key in _INSTITUTIONS:
        return True
    return left > 1 and words[left - 1].key == ". " and words[left - 2].key == "st"


def _is_firm(words: Sequence[Word], left: int, right: int) -> bool:
    """A firm with the name of its founder, or its product: Apache Flink, Renault Clio."""
    first = words[left].flags
    is_product = (first.company and not first.named) or words[left].key in _MAKES
    if right - left != 2 or not (is_product or (words[left].key, words[left + 1].key) in FIRMS):
        return False
    return not any(
        (word.flags.title or word.flags.label) for word in words[max(0, left - 2) : left]
    )


def _is_lower_case_phrase(words: Sequence[Word], left: int, right: int) -> bool:
    """ "fox brown", "sys": no usual name, no capital, no cue before it."""
    named = [word for word in words[left:right] if word.is_word]
    if len(named) == 1 and named[0].outline == "x" and named[0].key in _NOT_NAMES_LOWER:
        return True
    if any(word.outline not in ("x", "x1") or word.flags.given >= 2 for word in named):
        return False
    is_thing = left > 0 and words[left - 1].key.strip() in _BEFORE_THINGS
    if len(named) == 1 and named[0].flags.named and not is_thing:
        return False
    return not has_cue(words, left)


def _is_eponym(words: Sequence[Word], left: int, right: int) -> bool:
    """Parkinson's disease, Markov chains: a disease, a law or a method; Maria's number is hers."""
    owned = right < len(words) and words[right].key in _POSSESSIVES
    if owned and words[left].flags.given == _IN_ALL_LISTS:
        return False
    index = right + 1 if owned else right
    of = words[index : index + 1 + owned]  # Heisenberg's uncertainty principle
    return any(word.key in _EPONYMS for word in of)


def _follows_eponym(words: Sequence[Word], left: int, _right: int) -> bool:
    """Morbus Crohn, signo de Kernig: a disease, a sign or a method."""
    before = left - 2 if left > 1 and words[left - 1].flags.particle else left - 1
    return any(words[at].key in _EPONYMS_BEFORE for at in (max(0, before), left))


def _is_in_list_of_words(words: Sequence[Word], left: int, right: int) -> bool:
    """RED, GREEN, BLUE: a common word in capitals that is no usual given name, beside a comma and
    another such word.
    """
    if not _is_common_in_capitals(words[left]):
        return False
    for comma, index in ((left - 1, left - 2), (right, right + 1)):
        is_listed = 0 <= index < len(words) and words[comma].key == ", "
        if is_listed and _is_common_in_capitals(words[index]):
            return True
    return False


def _is_common_in_capitals(word: Word) -> bool:
    return word.outline == "XX" and word.flags.common > 1 and word.flags.given < 2


_LONG_NOUN = 7
_USUAL_WORD = 2
_IN_ALL_LISTS = 3
_LONGEST_ABBREVIATION = 5
_LONGEST_MARKS = 4
_VERSIONS = ("ii", "iii", "iv")
_FEWEST_PARTS = 2
_QUOTES = ('"', "'", '\\"')
_ASSIGNMENTS = frozenset((":", "=", ">"))
_NOT_NAMES = lexicon_words("not_names")
_NOT_NAMES_LOWER = frozenset().union(
    *map(lexicon_words, ("not_names_lower", "number_labels", "relatives"))
)
_NOUN_ENDS = tuple(lexicon_words("noun_endings"))
_BEFORE_THINGS = frozenset((":", "=", ";", "|", *lexicon_words("purposes")))
_LEGAL_FORM = lazy(
    rf" ?,? (?:sp\. z|(?:s\. (?:[acl]|r\. l|p\. a|r\. o|n\. c)|[bn]\. v|d\. o\. o|k\. k)(?:\. |$)"
    rf"|S[AL]\b|(?:{alternatives('legal_forms')})\b)"
)
_FORM_STARTS = frozenset(
    (",", "sp", "s", "b", "n", "d", "k", "sa", "sl", *lexicon_words("legal_forms"))
)
"""The first words of what `_LEGAL_FORM` matches; only there the text is put together."""
_LANDMARKS = lexicon_words("landmarks")
_LOCATIVES = lexicon_words("locatives")
_PLACE_PREPOSITIONS = lexicon_words("place_prepositions")
_POSSESSIVES = ("''", "’’", "'", "’", "' ", "’ ")  # as keys of tokens


_INSTITUTIONS = lexicon_words("institutions")
_INSTITUTIONS_FIRST = lexicon_words("institutions_first")
_PARTNERS = lexicon_words("partners")
_EPONYMS = lexicon_words("eponyms")
_EPONYMS_BEFORE = lexicon_words("eponyms_before")
_MAKES = lexicon_words("makes")
_PERSON_ROLES = lexicon_words("person_roles")
FIRMS = frozenset(tuple(name.split(" ")) for name in lexicon_words("firms"))
