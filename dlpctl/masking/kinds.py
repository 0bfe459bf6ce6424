"""The shapes of values by detection type, which decide how they are masked."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

from dlpctl.types import Category


class Kind(Enum):
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
    """Health data: even its shape can tell too much."""
    SECRET = auto()
    HIDDEN = auto()
    """Secrets of which even the first characters tell too much."""


# The words of a type's name, most telling first; the first entry whose words are all among them
# counts.
_BY_WORDS = (
    ("EMAIL", Kind.EMAIL),
    ("PASSWORD", Kind.HIDDEN),
    ("PASSPHRASE", Kind.HIDDEN),
    ("PRIVATE KEY", Kind.HIDDEN),
    ("SEED PHRASE", Kind.HIDDEN),
    ("MNEMONIC", Kind.HIDDEN),
    ("PIN", Kind.HIDDEN),
    ("ONE TIME CODE", Kind.HIDDEN),
    ("ACCESS CODE", Kind.HIDDEN),
    ("CREDIT CARD", Kind.CARD),
    ("DEBIT CARD", Kind.CARD),
    ("PAYMENT CARD", Kind.CARD),
    ("CARD NUMBER", Kind.CARD),
    ("PHONE", Kind.PHONE),
    ("FAX", Kind.PHONE),
    ("MOBILE", Kind.PHONE),
    ("IBAN", Kind.IBAN),
    ("SSN", Kind.SSN),
    ("ITIN", Kind.SSN),
    ("USERNAME", Kind.USERNAME),
    ("USER NAME", Kind.USERNAME),
    ("LOGIN", Kind.USERNAME),
    ("NAME", Kind.NAME),
    ("IP", Kind.IP),
    ("IPV4", Kind.IP),
    ("IPV6", Kind.IP),
    ("MAC", Kind.MAC),
    ("BITCOIN", Kind.NUMBER),
    ("BTC", Kind.NUMBER),
    ("ETHEREUM", Kind.NUMBER),
    ("ETH", Kind.NUMBER),
    ("CRYPTO", Kind.NUMBER),
    ("WALLET", Kind.NUMBER),
    ("ADDRESS", Kind.ADDRESS),
    ("URL", Kind.URL),
    ("URI", Kind.URL),
    ("DATE", Kind.DATE),
    ("DOB", Kind.DATE),
    ("BIRTHDAY", Kind.DATE),
    ("GPS", Kind.PLACE),
    ("COORDINATES", Kind.PLACE),
    ("LATITUDE", Kind.PLACE),
    ("LONGITUDE", Kind.PLACE),
)


@lru_cache(maxsize=4096)
def kind_of(type_name: str, category: Category) -> Kind:
    words = set(type_name.split("_"))
    named = next((kind for needed, kind in _BY_WORDS if words.issuperset(needed.split())), None)
    if category is Category.SECRETS:
        return Kind.HIDDEN if named is Kind.HIDDEN else Kind.SECRET
    return named or (Kind.WORDS if category is Category.PHI else Kind.NUMBER)
