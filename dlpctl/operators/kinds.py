"""The shapes of values by detection type, which decide how they are masked."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

from dlpctl.types import Category


class ValueKind(Enum):
    __hash__ = object.__hash__  # that of enumerations is ten times slower

    EMAIL = auto()
    PHONE = auto()
    CARD = auto()
    IBAN = auto()
    SSN = auto()
    NAME = auto()
    ADDRESS = auto()
    IP = auto()
    MAC = auto()
    URL = auto()
    DATE = auto()
    PLACE = auto()
    USERNAME = auto()
    NUMBER = auto()
    """Any other identifier, amount or short datum."""
    WORDS = auto()
    """Health data, of which even the shape can reveal too much."""
    SECRET = auto()
    HIDDEN = auto()
    """Secrets and words of short lists, of which even a character or the length reveals much."""


_BY_WORDS = (
    (ValueKind.EMAIL, "EMAIL"),
    (
        ValueKind.HIDDEN,
        "PASSWORD, PASSPHRASE, PRIVATE KEY, SEED PHRASE, MNEMONIC, PIN, ONE TIME CODE",
    ),
    (ValueKind.HIDDEN, "ACCESS CODE"),
    (ValueKind.HIDDEN, "RELIGION, ETHNICITY, SEXUAL ORIENTATION, POLITICAL OPINION"),
    (ValueKind.CARD, "CREDIT CARD, DEBIT CARD, PAYMENT CARD, CARD NUMBER"),
    (ValueKind.PHONE, "PHONE, FAX, MOBILE"),
    (ValueKind.IBAN, "IBAN"),
    (ValueKind.SSN, "SSN, ITIN"),
    (ValueKind.USERNAME, "USERNAME, USER NAME, LOGIN"),
    (ValueKind.NAME, "NAME"),
    (ValueKind.IP, "IP, IPV4, IPV6"),
    (ValueKind.MAC, "MAC"),
    (ValueKind.NUMBER, "BITCOIN, BTC, ETHEREUM, ETH, CRYPTO, WALLET"),
    (ValueKind.ADDRESS, "ADDRESS"),
    (ValueKind.URL, "URL, URI"),
    (ValueKind.DATE, "DATE, DOB, BIRTHDAY"),
    (ValueKind.PLACE, "GPS, COORDINATES, LATITUDE, LONGITUDE"),
)
"""Words in type names, the most specific first; a name must contain all words of an entry."""


@lru_cache(maxsize=4096)
def kind_of(type_name: str, category: Category) -> ValueKind:
    words = set(type_name.split("_"))
    matches = (
        shape
        for shape, entries in _BY_WORDS
        for needed in entries.split(", ")
        if words.issuperset(needed.split())
    )
    named = next(matches, None)
    if category is Category.SECRETS:
        return ValueKind.HIDDEN if named is ValueKind.HIDDEN else ValueKind.SECRET
    return named or (ValueKind.WORDS if category is Category.PHI else ValueKind.NUMBER)
