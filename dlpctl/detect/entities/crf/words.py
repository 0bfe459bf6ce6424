"""Divide text into tokens, and compute the features of each token. Training uses these functions,
too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from zlib import crc32

from dlpctl.detect.entities.lexicon import words as lexicon_words
from dlpctl.regex import lazy

# A word includes inner apostrophes but not a possessive 's; identifiers (first_name, x86) are one
# token; punctuation includes the blanks around it, because "foo.Bar(" and "foo. Bar (" have
# different meanings. Possessive quantifiers and bounds keep the matching linear.
TOKEN = lazy(
    r"[^\W\d_]++(?:['’](?![sS]\b)[^\W\d_]++|(?!)){0,4}+(?![\d_])"
    r"|\w++"
    r"|[^\S\n]{0,40}+\n\s*+"
    r"|[^\S\n\t]{0,40}+\t[^\S\n]{0,40}+|[ ]{3,}+"
    r"|['’][sS]\b"
    r"| ?([^\w\s])\1*+ ?"
)

SETTINGS = 4
LONGEST_NUMBER = 6
"""The number of digits from which on numbers are alike."""
GIVEN, SURNAME, COMMON, PLACE = 0, 2, 4, 6  # shifts of the two-bit frequency classes
STREET, TITLE, PARTICLE, COMPANY, CALENDAR, LABEL, PROPER, SUFFIX = (
    1 << bit for bit in range(8, 16)
)
_LETTERS = (
    (STREET, "s"),
    (TITLE, "t"),
    (PARTICLE, "p"),
    (COMPANY, "o"),
    (CALENDAR, "m"),
    (LABEL, "b"),
    (PROPER, "u"),
    (SUFFIX, "j"),
)


def normalize(word: str) -> str:
    """Return a word in lower case without accents."""
    word = word.lower()
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def is_word(token: str) -> bool:
    return token[0].isalpha()


def shape(token: str) -> str:
    """Return the outline of a token.

    x, Xx, XX, X1 (one capital), xX (mixed), d4 (digits), 0A, p, NL, NL2, TAB.
    """
    first = token[0]
    if first.isalpha() and (token.isalpha() or ("_" not in token and not _has_digit(token))):
        if token.islower():
            return "x" if len(token) > 1 else "x1"
        if token.isupper():
            return "XX" if len(token) > 1 else "X1"
        if first.isupper() and token[1:].islower():
            return "Xx"
        if first.isupper() and re.fullmatch(
            r"(?:Mc|Mac|O['’]|D['’]|De|Di|La|Le|Van)[A-Z][^\W\d_]+", token
        ):
            return "Xx"
        return "xX" if token.upper() != token.lower() else "xx"
    if first.isalnum() or first == "_":
        if token.isdigit():
            return f"d{min(len(token), LONGEST_NUMBER)}"
        if "_" in token or len(token) > 10:
            return "id"
        outline = re.sub(
            r"(.)\1+",
            r"\1",
            "".join("0" if c.isdigit() else "A" if c.isupper() else "a" for c in token),
        )
        return outline if len(outline) <= 3 else "id"
    if "\n" in token:
        return "NL" if token.count("\n") == 1 else "NL2"
    return "p" if token.strip() else "TAB"


def _has_digit(token: str) -> bool:
    return any(c.isdigit() for c in token)


def word_key(token: str, outline: str) -> str:
    """Return the form of a token in which words are compared."""
    if outline[0] == "d":
        return "0" * min(len(token), LONGEST_NUMBER)
    if outline in ("NL", "NL2", "TAB"):
        return outline
    if outline == "p":
        mark = token.strip()
        return token if len(mark) == 1 else token.replace(mark, mark[:1] * 2)
    return token.lower().replace("i\u0307", "i")  # of the Turkish İ


_ENDINGS = {
    "s": ("s", "es"),
    "n": ("n", "en"),
    "e": ("e",),
    "a": ("a",),
    "r": ("er",),
    "m": ("em",),
}
"""Endings of plurals and cases, by their last letter."""
_SHORTEST_STEM = 4


def look_up_keys(token: str) -> list[str]:
    """Return the gazetteer keys of a word, the best first: oneill, then neill, for O'Neill; for an
    inflected word its stems, too.
    """
    word = normalize(token)
    if "'" in word or "’" in word:
        parts = re.split("['’]", word)
        return ["".join(parts), max(parts, key=len)]
    endings = _ENDINGS.get(word[-1:])
    if endings is None:
        return [word]
    stems = [word[: -len(ending)] for ending in endings if word.endswith(ending)]
    return [word, *(stem for stem in stems if len(stem) >= _SHORTEST_STEM)]


class WordFlags:
    """A gazetteer entry as named properties; frequencies are 0 (never) to 3 (usual)."""

    __slots__ = (
        "calendar",
        "code",
        "common",
        "company",
        "given",
        "label",
        "named",
        "other",
        "particle",
        "place_name",
        "proper",
        "street",
        "suffix",
        "surname",
        "title",
        "usual",
    )

    def __init__(self, code: int) -> None:
        self.code = code
        self.given, self.surname, self.common, self.place_name = (
            code >> shift & 3 for shift in (GIVEN, SURNAME, COMMON, PLACE)
        )
        self.street = bool(code & STREET)
        self.title = bool(code & TITLE)
        self.particle = bool(code & PARTICLE)
        self.company = bool(code & COMPANY)
        self.calendar = bool(code & CALENDAR)
        self.label = bool(code & LABEL)
        self.proper = bool(code & PROPER)
        self.suffix = bool(code & SUFFIX)
        self.named = bool(self.given or self.surname)
        self.usual = self.given >= 2 or self.surname >= 2
        self.other = bool(code & (STREET | TITLE | PARTICLE | COMPANY | CALENDAR))


@cache
def word_flags(code: int) -> WordFlags:
    """Return the properties that a gazetteer entry encodes."""
    return WordFlags(code)


@lru_cache(maxsize=4096)
def flag_class(flags: int) -> str:
    """Return a short name of a gazetteer entry: digits of frequency, a letter for each property."""
    given, surname, common, place_name = (
        flags >> shift & 3 for shift in (GIVEN, SURNAME, COMMON, PLACE)
    )
    digits = "".join(
        f"{letter}{value}"
        for letter, value in zip("flcg", (given, surname, common, place_name), strict=True)
        if value
    )
    return digits + "".join(letter for bit, letter in _LETTERS if flags & bit)


@lru_cache(maxsize=4096)
def coarse_class(flags: int) -> str:
    """Return a name as `flag_class`, with fewer distinctions: for features of several words."""
    given, surname, common, place_name = (
        flags >> shift & 3 for shift in (GIVEN, SURNAME, COMMON, PLACE)
    )
    letters = "".join(letter for bit, letter in _LETTERS if flags & bit and bit != PROPER)
    if letters:
        return letters + ("n" if given >= 2 or surname >= 2 else "")
    if given and given >= surname:
        name = "F" if given >= 2 else "f"
    elif surname:
        name = "L" if surname >= 2 else "l"
    else:
        name = ""
    return (
        name
        + ("C" if common == 3 else "c" if common else "")
        + ("g" if place_name else "")
        + ("u" if flags & PROPER and not name else "")
    )


def feature_code(name: str) -> int:
    """Return the code of a feature of a single token in the packed file."""
    return crc32(name.encode("utf-8", "surrogatepass"))


def own_features(token: str, outline: str, flags: int) -> tuple[str, str, list[str]]:
    """Return the coarse class of a token, its key, and the names of its own features.

    Each of them may have weights for the token's own label and for the labels of its neighbours.
    """
    key = word_key(token, outline)
    if not is_word(token) or outline[0] not in "xX":
        cls = outline if outline[0] in "dN0aAiT" else f"p{key}"
        return cls, key, [f"w:{key}", f"k:{cls}"]
    cls, features = class_features(outline, flags)
    return cls, key, [f"w:{key}", *features, *form_features(key, outline)]


@lru_cache(maxsize=4096)
def class_features(outline: str, flags: int) -> tuple[str, tuple[str, str]]:
    """Return the coarse class of a word, and the features that it shares with its class."""
    cls = outline + coarse_class(flags)
    return cls, (f"k:{cls}", f"g:{outline}{flag_class(flags)}")


def form_features(key: str, outline: str) -> list[str]:
    """Return the features of a word that its letters tell."""
    word = normalize(key)
    form = outline[0]
    features = [f"3:{form}{word[-3:]}"]
    if form == "X":
        features += [f"4:{word[-4:]}", f"2:{word[-2:]}", f"b:{word[:3]}", f"n:{min(len(word), 12)}"]
    if not word.isascii() and any(ord(c) > 0x24F for c in word):
        features.append("script")
    return features


@cache
def _noun_capitals() -> frozenset[str]:
    return lexicon_words("noun_capitals")


def setting(outlines: Sequence[str], keys: Sequence[str]) -> int:
    """Return 0 for ordinary writing, 1 where nothing is capitalised, 2 where every word is in
    capitals, 3 where nouns are capitalised, as in German.
    """
    if "Xx" in outlines:
        return 3 if len(_noun_capitals().intersection(keys)) > 1 else 0
    if not any(outline[0] == "X" for outline in outlines):
        return 1
    words = [outline for outline in outlines if outline[0] in "xX"]
    return 2 if len(words) > 2 and all(outline[0] == "X" for outline in words) else 0
