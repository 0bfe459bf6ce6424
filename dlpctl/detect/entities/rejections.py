"""What speaks against a name that the tagger has found: places, institutions, diseases and methods
that are called after persons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.entities.addresses import STATES
from dlpctl.detect.entities.lexicon import alternatives
from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.detect.entities.crf.sequence import Word


def doubtful(words: Sequence[Word], left: int, right: int) -> bool:
    where = words, left, right
    if _incorporated(*where) or _joined(*where):
        return True
    if right - left > 1:
        return (
            _institution(*where)
            or _firm(*where)
            or _small(*where)
            or _shouted(*where)
            or _insured(*where)
            or _city(*where)
            or _labels(*where)
        )
    return (
        _product(*where)
        or _noun(*where)
        or _plain(*where)
        or _column(*where)
        or _located(*where)
        or _city(*where)
        or _institution(*where)
        or _eponym(*where)
        or _particle(*where)
        or _shortened(*where)
    )


def bare(words: Sequence[Word], first: int, behind: int) -> bool:
    """A single word, or words without a capital, and no title or label in front of them."""
    named = [word for word in words[first:behind] if word.kind == 1]
    if len(named) > 1 and any(word.outline[0] == "X" for word in named):
        return False
    return not any(
        (word.flags.title or word.flags.label) for word in words[max(0, first - 4) : first]
    )


def unheard(words: Sequence[Word], left: int, right: int) -> bool:
    """A single word that no list of names has, and nothing in front that says what it is."""
    if right - left != 1 or words[left].flags.named:
        return False
    return not any(
        (word.flags.title or word.flags.label) for word in words[max(0, left - 3) : left]
    )


def _product(words: Sequence[Word], left: int, right: int) -> bool:
    """What every browser says of itself, and every payslip: Mozilla/5.0."""
    if right + 1 < len(words) and words[right].key == "/" and words[right + 1].outline[0] == "d":
        return True
    return words[left].key in _NOT_NAMES


def _noun(words: Sequence[Word], left: int, _right: int) -> bool:
    """A long word that no list of names has and that ends as nouns do: Medikation, Versicherung."""
    word = words[left]
    if len(word.key) < _LONG or word.flags.named or not word.key.endswith(_NOUN_ENDS):
        return False
    return not any(before.flags.title for before in words[max(0, left - 3) : left])


def _insured(words: Sequence[Word], left: int, right: int) -> bool:
    """What a health plan is called: BCBS MA PPO."""
    return any(word.key in _PLANS for word in words[left:right])


def _joined(words: Sequence[Word], left: int, right: int) -> bool:
    """An identifier or a part of one, of which no word is a usual given name: frontend-service."""
    for place in range(max(1, left), min(right + 1, len(words) - 1)):
        one, mark, other = words[place - 1 : place + 2]
        if mark.key in _JOINTS and one.outline == "x" and other.outline in ("x", "x1"):
            return not any(word.flags.given >= 2 for word in words[left:right])
    return False


def _shouted(words: Sequence[Word], left: int, right: int) -> bool:
    """Words in capitals that no list of names has, and nothing in front that says what they are: a
    headline.
    """
    if any(
        word.kind == 1
        and ((word.outline != "XX" and not _joined_letter(words, place)) or word.flags.named)
        for place, word in enumerate(words[left:right], left)
    ):
        return False
    return not any(
        (word.flags.title or word.flags.label) for word in words[max(0, left - 4) : left]
    )


def _joined_letter(words: Sequence[Word], place: int) -> bool:
    """A single capital behind a hyphen, as the key of a substance ends."""
    return words[place].outline == "X1" and place > 0 and words[place - 1].key == "-"


def _plain(words: Sequence[Word], left: int, _right: int) -> bool:
    """A word in lower case that is no usual given name, as the value of what is no label of a name,
    or behind "for".
    """
    word = words[left]
    if not left or word.outline != "x" or word.flags.given >= 2:
        return False
    if words[left - 1].key in _PURPOSES:
        return True
    if words[left - 1].key.strip() not in _ASSIGNED:
        return False
    if _of_anything(words, left) and not word.flags.named:
        return True
    return not any((one.flags.title or one.flags.label) for one in words[max(0, left - 3) : left])


def _column(words: Sequence[Word], left: int, right: int) -> bool:
    """A word in lower case that is no usual name, alone between the commas of a table without a
    header.
    """
    if not left or right == len(words) or words[left].outline != "x":
        return False
    if words[left].flags.given >= 2 or words[left].flags.surname >= 2:
        return False
    return all(words[place].key in _SEPARATORS for place in (left - 1, right))


def _of_anything(words: Sequence[Word], left: int) -> bool:
    """Whether all that stands in front is "name", as in front of whatever a configuration is about."""
    return left > 1 and words[left - 2].key == "name" and (left < 3 or words[left - 3].kind != 1)


def _incorporated(words: Sequence[Word], left: int, right: int) -> bool:
    """A firm, by the form behind its name or at the end of it: Ortega S.L."""
    return any(
        words[first].key.strip() in _FORM_BEGINS
        and _LEGAL_FORM.match(_written(words[first : first + 7]))
        for first in range(left + 1, min(right + 1, len(words)))
    )


def _written(words: Sequence[Word]) -> str:
    """Tokens as they stand in the text, in lower case but for words in capitals."""
    written = (word.key.upper() if word.outline == "XX" else word.key for word in words)
    return " " + " ".join(" ".join(written).split()).replace(" .", ".").replace(" ,", ",")


def _located(words: Sequence[Word], left: int, right: int) -> bool:
    """A single word behind "in", "Mount" and their like that is no usual given name."""
    if not left:
        return False
    word, before = words[left], words[left - 1]
    if before.outline == "Xx" and before.key in _SIGHTS:
        return True
    place = word.flags.place
    if before.key in ("in", "of") and place == 3:
        return True
    if word.flags.given >= 2:
        return False
    return before.key in _LOCATIVES or (before.key == "in" and place > 0)


def _labels(words: Sequence[Word], left: int, right: int) -> bool:
    """Steuer-ID: a compound that ends in an abbreviation, in ordinary writing."""
    return (
        right - left > 2
        and words[right - 1].outline == "XX"
        and words[right - 2].key == "-"
        and words[right - 3].outline == "Xx"
    )


def _city(words: Sequence[Word], left: int, right: int) -> bool:
    """A place with its state or country behind a comma: "Florence, Italy", "Austin, TX"."""
    if right - left == 3:
        right -= 2
    if right - left > 1 or right + 1 >= len(words) or words[right].key != ", ":
        return False
    city, region = words[left], words[right + 1]
    if not city.flags.place:
        return False
    known = region.flags.place == 3 and region.flags.given < 3
    return (region.outline == "XX" and region.key in STATES) or (
        known and region.outline == city.outline
    )


def _institution(words: Sequence[Word], left: int, right: int) -> bool:
    """What a foundation, a hotel, a holiday or a church is called after: the Melinda Gates
    Foundation, St. Patrick's Day.
    """
    if (
        right < len(words)
        and words[right].outline in ("Xx", "XX")
        and words[right].outline == words[left].outline
    ):
        kind = words[right]
        alone = right - left == 1
        if kind.flags.company or kind.key in _INSTITUTIONS or (alone and kind.flags.street):
            return not any(word.flags.title for word in words[max(0, left - 2) : left])
    if right - left > 1:
        return False
    if (
        right + 1 < len(words)
        and words[right].key in (" & ", "and")
        and words[right + 1].key in (words[left].key, *_FIRMS)
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


def _firm(words: Sequence[Word], left: int, right: int) -> bool:
    """A firm that is called as its founder was."""
    if right - left != 2 or (words[left].key, words[left + 1].key) not in FIRMS:
        return False
    return not any(
        (word.flags.title or word.flags.label) for word in words[max(0, left - 2) : left]
    )


def _small(words: Sequence[Word], left: int, right: int) -> bool:
    """Words in lower case of which none is a usual given name, and nothing in front that says what
    they are: "fox brown".
    """
    named = words[left:right]
    if any(
        word.outline not in ("x", "x1") or word.flags.given >= 2 for word in named if word.kind == 1
    ):
        return False
    return not any(
        (word.flags.title or word.flags.label) for word in words[max(0, left - 4) : left]
    )


def _eponym(words: Sequence[Word], left: int, right: int) -> bool:
    """What a disease, a law or a method is called after: Parkinson's disease, Markov chains."""
    owned = right < len(words) and words[right].key in _POSSESSIVES
    place = right + 1 if owned else right
    of = words[place : place + 1 + owned]  # Heisenberg's uncertainty principle
    return any(word.key in _EPONYMS for word in of)


def _particle(words: Sequence[Word], left: int, right: int) -> bool:
    """A word that stands within names, alone: "Le" begins a sentence more often than it is a Mr.
    Le.
    """
    if not words[left].flags.particle or words[left].flags.given >= 2:
        return False
    return not any(
        (word.flags.title or word.flags.label)
        for word in words[max(0, left - 2) : left]
        if word.kind != 2
    )


def _shortened(words: Sequence[Word], left: int, right: int) -> bool:
    """A part of a title, as in "Dr. med. Ulrike Hahn"."""
    return (
        words[left].outline == "x"
        and right < len(words)
        and words[right].key == ". "
        and left > 0
        and words[left - 1].key == ". "
    )


_LONG = 7
_NOT_NAMES = lexicon_words("not_names")
_PURPOSES = lexicon_words("purposes")
_NOUN_ENDS = tuple(lexicon_words("noun_endings"))
_ASSIGNED = (":", "=")
_SEPARATORS = (",", ";", "|", "\t")
_PLANS = lexicon_words("health_plans")
_JOINTS = ("-", "_", "/", ".")
_LEGAL_FORM = lazy(
    rf" ?,? (?:sp\. z|(?:s\. (?:[acl]|r\. l|p\. a|r\. o|n\. c)|[bn]\. v|d\. o\. o|k\. k)(?:\. |$)|S[AL]\b|(?:{alternatives('legal_forms')})\b)"
)
_FORM_BEGINS = frozenset(
    (",", "sp", "s", "b", "n", "d", "k", "sa", "sl", *lexicon_words("legal_forms"))
)
"""How what `_LEGAL_FORM` matches begins: words are put together behind these alone."""
_SIGHTS = lexicon_words("landmarks")
_LOCATIVES = lexicon_words("locatives")
_POSSESSIVES = ("''", "’’", "'", "’", "' ", "’ ")  # as the keys of tokens are


_INSTITUTIONS = lexicon_words("institutions")
_FIRMS = lexicon_words("partners")
_EPONYMS = lexicon_words("eponyms")
FIRMS = frozenset(tuple(name.split(" ")) for name in lexicon_words("firms"))
