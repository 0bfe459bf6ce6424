"""What sort of value a detection type stands for, which decides its shape when it is masked."""

from __future__ import annotations

import re
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


# The first that fits counts; a type that none fits goes by its category.
_BY_NAME = (
    (re.compile(r"E_?MAIL"), Kind.EMAIL),
    (re.compile(r"PRIVATE_?KEY|PASSWORD|PASSPHRASE|SEED_PHRASE|MNEMONIC|\bPIN\b"), Kind.HIDDEN),
    (re.compile(r"(?:CREDIT|DEBIT|PAYMENT)_CARD$|^CARD_NUMBER|^PAN$"), Kind.CARD),
    (re.compile(r"PHONE|FAX|MOBILE"), Kind.PHONE),
    (re.compile(r"IBAN"), Kind.IBAN),
    (re.compile(r"^(?:US_)?(?:SSN|ITIN)$"), Kind.SSN),
    (re.compile(r"USER_?NAME|LOGIN"), Kind.USERNAME),
    (re.compile(r"NAME$"), Kind.NAME),
    (re.compile(r"^IP(?:V[46])?(?:_|$)"), Kind.IP),
    (re.compile(r"^MAC(?:_|$)"), Kind.MAC),
    (
        re.compile(r"(?:BITCOIN|BTC|ETH|CRYPTO|WALLET).*ADDRESS|ADDRESS.*(?:BITCOIN|BTC|ETH|CRYPTO)"),
        Kind.NUMBER,
    ),
    (re.compile(r"ADDRESS"), Kind.ADDRESS),
    (re.compile(r"UR[IL](?:_|$)"), Kind.URL),
    (re.compile(r"DATE|DOB|BIRTHDAY"), Kind.DATE),
    (re.compile(r"GPS|COORDINATE|LATITUDE|LONGITUDE"), Kind.PLACE),
)


@lru_cache(maxsize=4096)
def kind_of(type_name: str, category: Category) -> Kind:
    if category is Category.SECRETS:
        hidden = _BY_NAME[1][0].search(type_name)
        return Kind.HIDDEN if hidden else Kind.SECRET
    for pattern, kind in _BY_NAME:
        if pattern.search(type_name):
            return kind
    return Kind.WORDS if category is Category.PHI else Kind.NUMBER
