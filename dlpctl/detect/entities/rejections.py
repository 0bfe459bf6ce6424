"""What speaks against a name that the tagger has found: places, institutions, diseases and methods
that are called after persons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.detect.entities.addresses import STATES
from dlpctl.detect.entities.crf.words import (
    COMPANY,
    GIVEN,
    LABEL,
    PARTICLE,
    PLACE,
    STREET,
    SURNAME,
    TITLE,
)
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
    return not any(word.flags & (TITLE | LABEL) for word in words[max(0, first - 4) : first])


def unheard(words: Sequence[Word], left: int, right: int) -> bool:
    """A single word that no list of names has, and nothing in front that says what it is."""
    if right - left != 1 or words[left].flags >> GIVEN & 15:
        return False
    return not any(word.flags & (TITLE | LABEL) for word in words[max(0, left - 3) : left])


def _product(words: Sequence[Word], left: int, right: int) -> bool:
    """What every browser says of itself, and every payslip: Mozilla/5.0."""
    if right + 1 < len(words) and words[right].key == "/" and words[right + 1].outline[0] == "d":
        return True
    return words[left].key in ("macintosh", "netto", "brutto")


def _noun(words: Sequence[Word], left: int, _right: int) -> bool:
    """A long word that no list of names has and that ends as nouns do: Medikation, Versicherung."""
    word = words[left]
    if len(word.key) < _LONG or word.flags >> GIVEN & 15 or not word.key.endswith(_NOUN_ENDS):
        return False
    return not any(before.flags & TITLE for before in words[max(0, left - 3) : left])


def _insured(words: Sequence[Word], left: int, right: int) -> bool:
    """What a health plan is called: BCBS MA PPO."""
    return any(word.key in _PLANS for word in words[left:right])


def _joined(words: Sequence[Word], left: int, right: int) -> bool:
    """An identifier or a part of one, of which no word is a usual given name: frontend-service."""
    for place in range(max(1, left), min(right + 1, len(words) - 1)):
        one, mark, other = words[place - 1 : place + 2]
        if mark.key in _JOINTS and one.outline == "x" and other.outline in ("x", "x1"):
            return not any(word.flags >> GIVEN & 3 >= 2 for word in words[left:right])
    return False


def _shouted(words: Sequence[Word], left: int, right: int) -> bool:
    """Words in capitals that no list of names has, and nothing in front that says what they are: a
    headline.
    """
    if any(
        word.kind == 1
        and (
            (word.outline != "XX" and not _joined_letter(words, place)) or word.flags >> GIVEN & 15
        )
        for place, word in enumerate(words[left:right], left)
    ):
        return False
    return not any(word.flags & (TITLE | LABEL) for word in words[max(0, left - 4) : left])


def _joined_letter(words: Sequence[Word], place: int) -> bool:
    """A single capital behind a hyphen, as the key of a substance ends."""
    return words[place].outline == "X1" and place > 0 and words[place - 1].key == "-"


def _plain(words: Sequence[Word], left: int, _right: int) -> bool:
    """A word in lower case that is no usual given name, as the value of what is no label of a name,
    or behind "for".
    """
    word = words[left]
    if not left or word.outline != "x" or word.flags >> GIVEN & 3 >= 2:
        return False
    if words[left - 1].key in ("para", "por"):
        return True
    if words[left - 1].key.strip() not in _ASSIGNED:
        return False
    if _of_anything(words, left) and not word.flags >> GIVEN & 15:
        return True
    return not any(one.flags & (TITLE | LABEL) for one in words[max(0, left - 3) : left])


def _column(words: Sequence[Word], left: int, right: int) -> bool:
    """A word in lower case that is no usual name, alone between the commas of a table without a
    header.
    """
    if not left or right == len(words) or words[left].outline != "x":
        return False
    if words[left].flags >> GIVEN & 3 >= 2 or words[left].flags >> SURNAME & 3 >= 2:
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
    place = word.flags >> PLACE & 3
    if before.key in ("in", "of") and place == 3:
        return True
    if word.flags >> GIVEN & 3 >= 2:
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
    if not city.flags >> PLACE & 3:
        return False
    known = region.flags >> PLACE & 3 == 3 and region.flags >> GIVEN & 3 < 3
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
        if kind.flags & COMPANY or kind.key in _INSTITUTIONS or (alone and kind.flags & STREET):
            return not any(word.flags & TITLE for word in words[max(0, left - 2) : left])
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
    return not any(word.flags & (TITLE | LABEL) for word in words[max(0, left - 2) : left])


def _small(words: Sequence[Word], left: int, right: int) -> bool:
    """Words in lower case of which none is a usual given name, and nothing in front that says what
    they are: "fox brown".
    """
    named = words[left:right]
    if any(
        word.outline not in ("x", "x1") or word.flags >> GIVEN & 3 >= 2
        for word in named
        if word.kind == 1
    ):
        return False
    return not any(word.flags & (TITLE | LABEL) for word in words[max(0, left - 4) : left])


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
    if not words[left].flags & PARTICLE or words[left].flags >> GIVEN & 3 >= 2:
        return False
    return not any(
        word.flags & (TITLE | LABEL) for word in words[max(0, left - 2) : left] if word.kind != 2
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
_NOUN_ENDS_LISTED = "tion tions sion ung ungen heit keit schaft nummer fall tät ismus itis ment ments zione ción ções ção ness ware nahme gebnis"
_NOUN_ENDS = tuple(_NOUN_ENDS_LISTED.split())
_ASSIGNED = (":", "=")
_SEPARATORS = (",", ";", "|", "\t")
_PLANS = ("ppo", "hmo", "epo", "bcbs", "hdhp")
_JOINTS = ("-", "_", "/", ".")
_FORMS = "kft zrt nyrt bt ltda lda sarl sasu srl spa sro doo aps oy oyj oü uab"
_LEGAL_FORM = lazy(
    rf" ?,? (?:sp\. z|(?:s\. (?:[acl]|r\. l|p\. a|r\. o|n\. c)|[bn]\. v|d\. o\. o|k\. k)(?:\. |$)|S[AL]\b|(?:{'|'.join(_FORMS.split())})\b)"
)
_FORM_BEGINS = frozenset((",", "sp", "s", "b", "n", "d", "k", "sa", "sl", *_FORMS.split()))
"""How what `_LEGAL_FORM` matches begins: words are put together behind these alone."""
_SIGHTS = (
    *(
        "mount",
        "lake",
        "fort",
        "port",
        "cape",
        "san",
        "saint",
        "north",
        "south",
        "east",
        "west",
        "river",
    ),
    *("hurricane", "storm", "typhoon", "cyclone"),
)
_LOCATIVES = ("nach", "aus", "a", "à", "em", "te", "naar", "across", "throughout")
_POSSESSIVES = ("''", "’’", "'", "’", "' ", "’ ")  # as the keys of tokens are


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INSTITUTIONS = _set(
    "inn hotel hotels resort resorts airport stadium bridge day prize award awards medal trophy scholarship fellowship "
    "county parish foundation trust fund cathedral basilica chapel cup tower towers stores store center centre library"
)
_FIRMS = ("sons", "co", "company", "bros", "brothers", "daughters", "associates", "partners")
_EPONYMS = _set(
    "disease syndrome lymphoma palsy sarcoma law laws theorem lemma equation equations conjecture paradox constant "
    "principle chain chains process processes model models transform transforms distribution filter filters number "
    "numbers matrix series algorithm optimizer optimiser calendar era effect scale"
)
FIRMS = frozenset(
    tuple(name.split("_"))
    for name in _set(
        "eli_lilly philip_morris charles_schwab calvin_klein ralph_lauren tommy_hilfiger louis_vuitton hugo_boss "
        "jimmy_choo merrill_lynch walt_disney giorgio_armani christian_dior michael_kors kate_spade betty_crocker "
        "jack_daniel jim_beam johnnie_walker captain_morgan aston_martin alfa_romeo john_deere max_mara mary_kay "
        "elizabeth_arden lockheed_martin morgan_stanley wells_fargo arthur_andersen rolls_royce harley_davidson "
        "paul_smith ted_baker karen_millen laura_ashley"
    )
)
