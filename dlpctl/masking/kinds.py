"""What sort of value a detection type stands for, which decides its shape when it is masked."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

from dlpctl.regex import lazy
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
    (lazy(r"E_?MAIL"), Kind.EMAIL),
    (lazy(r"PRIVATE_?KEY|PASSWORD|PASSPHRASE|SEED_PHRASE|MNEMONIC|\bPIN\b"), Kind.HIDDEN),
    (lazy(r"(?:CREDIT|DEBIT|PAYMENT)_CARD$|^CARD_NUMBER|^PAN$"), Kind.CARD),
    (lazy(r"PHONE|FAX|MOBILE"), Kind.PHONE),
    (lazy(r"IBAN"), Kind.IBAN),
    (lazy(r"^(?:US_)?(?:SSN|ITIN)$"), Kind.SSN),
    (lazy(r"USER_?NAME|LOGIN"), Kind.USERNAME),
    (lazy(r"NAME$"), Kind.NAME),
    (lazy(r"^IP(?:V[46])?(?:_|$)"), Kind.IP),
    (lazy(r"^MAC(?:_|$)"), Kind.MAC),
    (
        lazy(r"(?:BITCOIN|BTC|ETH|CRYPTO|WALLET).*ADDRESS|ADDRESS.*(?:BITCOIN|BTC|ETH|CRYPTO)"),
        Kind.NUMBER,
    ),
    (lazy(r"ADDRESS"), Kind.ADDRESS),
    (lazy(r"UR[IL](?:_|$)"), Kind.URL),
    (lazy(r"DATE|DOB|BIRTHDAY"), Kind.DATE),
    (lazy(r"GPS|COORDINATE|LATITUDE|LONGITUDE"), Kind.PLACE),
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
