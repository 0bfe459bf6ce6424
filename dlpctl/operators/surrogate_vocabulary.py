"""Data that makes and recognizes surrogates: invented words, unassigned ranges, a public mark.

Published test values (`4242 4242 4242 4242`, `john@example.com`) are deliberately not used: people
try a scanner with them, and it must find them. All surrogates are distinguishable from them.
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase, ascii_uppercase

from dlpctl.regex import lazy

# Two parts make a word that reads like a name; to our knowledge, none is a given name, surname or
# word.
_FIRST_PARTS = """
Alb Ard Aum Bel Brev Calv Cress Dav Delm Drav Elm Esk Fal Farn Gal Glev Halk Harv Ild Jarv Jess Kel
Krest Lan Lorv Mald Merv Nald Nev Orb Osk Pell Pres Quen Quil Rav Resk Salv Selm Tamb Tarv Ulv Ust
Vald Vesk Wend Wilm Yald Zarn Zelm
"""
_SECOND_PARTS = """
aby adric ambry andry arrow astor avel ebry edrin elby eldon embry endry ennick erby estor ethan
evar ibray idrey ilby imbrel indry isk isto ivar obry odrin olby ombry ondry orrin ostel oven ubry
udrin uldon umbry undry uvar
"""
_FIRST, _SECOND = _FIRST_PARTS.split(), _SECOND_PARTS.split()
COUNT = len(_FIRST) * len(_SECOND)

_TITLES = "dr mr mrs ms miss mx prof sir rev herr frau mme mlle sr sra dott"
_PARTICLES = """
al and bin da de del della den der di do dos du e el ibn ii iii iv jr la le ten ter und van von y zu
zum zur
"""
_PARTS_OF_ADDRESSES = """
alley apartment apt avenida ave avenue blvd boulevard box building calle chemin circle close court
crescent ct drive east floor gasse hwy highway lane north parkway pkwy place platz plaza plz po quay
rd road room route rue south sq square st ste straat strasse straße street suite ter terrace trail
unit via viale way weg west
"""
TITLES = frozenset(_TITLES.split())
KEPT_IN_NAMES = TITLES | frozenset(_PARTICLES.split())
KEPT_IN_ADDRESSES = frozenset(_PARTS_OF_ADDRESSES.split())

CARD_PREFIXES = {"3": "353011", "4": "424242", "5": "555555", "6": "601111", "2": "555555"}
"""The first six digits of published test cards, by the first digit."""
AMEX_PREFIX, DINERS_PREFIX, UNIONPAY_PREFIX = "378282", "305693", "620000"
ALL_CARD_PREFIXES = frozenset(
    {*CARD_PREFIXES.values(), AMEX_PREFIX, DINERS_PREFIX, UNIONPAY_PREFIX}
)

# Area codes with a 9 in the middle are reserved for a longer numbering plan, 555-01XX for
# fiction.
FICTIONAL_US_PHONE = lazy(r"1?[2-9]9\d55501\d\d")
# 999 is not a country code.
NOWHERE_PHONE = lazy(r"(?:00)?999\d+")
UNISSUED_SSN_AREA = "666"
UNUSED_IPV4_FIRST = range(240, 255)
DOCUMENTATION_IPV6 = "3fff"
LOCAL_MAC_PREFIX = "02005e"
UNLIVED_CENTURY = "189"
IBAN_EMPTY_BANK = 6
MARK_LENGTH = 4


def word(number: int) -> str:
    """Return the invented word with a number, capitalized."""
    first, second = divmod(number % COUNT, len(_SECOND))
    return _FIRST[first] + _SECOND[second]


@cache
def _words() -> frozenset[str]:
    return frozenset(word(number).lower() for number in range(COUNT))


def is_invented(text: str) -> bool:
    return text.lower() in _words()


def classes(characters: str) -> str:
    """Return `9`, `A` or `a` for each character."""
    return "".join("9" if each.isdigit() else "A" if each.isupper() else "a" for each in characters)


def spell(number: int, shape: str) -> str:
    """Return a number written in letters and digits of the given classes."""
    if shape == "9" * len(shape):
        return f"{number % 10 ** len(shape):0{len(shape)}d}" if shape else ""
    written = []
    for each in shape:
        alphabet = {"9": "0123456789", "A": ascii_uppercase, "a": ascii_lowercase}[each]
        number, position = divmod(number, len(alphabet))
        written.append(alphabet[position])
    return "".join(written)


def mark(body: str, shape: str) -> str:
    """Return the last characters that mark a surrogate; one real number in 10,000 has them by
    chance.
    """
    import hashlib

    digest = hashlib.sha256(b"dlpctl stand-in\0" + body.encode()).digest()
    return spell(int.from_bytes(digest[:8], "big"), shape)


def luhn_digit(digits: str) -> str:
    """Return the digit that completes `digits` by Luhn's check."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def iban_check(country: str, bban: str) -> str:
    number = "".join(str(int(each, 36)) for each in f"{bban}{country}00")
    return f"{98 - int(number) % 97:02d}"
