"""Payment cards and accounts: cards, IBAN, BIC."""

from __future__ import annotations

from functools import cache

from dlpctl.detect.validators.checksums import (
    alphanumeric,
    compact,
    digits,
    luhn_checks,
    mod_97_checks,
    varied,
)
from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_table, read_words
from dlpctl.regex import lazy

_NETWORKS = (
    # The first and last prefix of a range, and the valid lengths of its numbers.
    (34, 34, {15}),  # American Express
    (37, 37, {15}),
    (4, 4, {13, 16, 19}),  # Visa
    (51, 55, {16}),  # Mastercard
    (2221, 2720, {16}),
    (6011, 6011, {16, 19}),  # Discover
    (644, 649, {16, 19}),
    (65, 65, {16, 19}),
    (300, 305, {14, 16, 19}),  # Diners Club
    (3095, 3095, {14, 16, 19}),
    (36, 36, {14, 16, 19}),
    (38, 39, {14, 16, 19}),
    (3528, 3589, {16, 17, 18, 19}),  # JCB
    (35, 35, {16}),  # accepted by makers of test data
    (2131, 2131, {15}),  # old JCB numbers
    (1800, 1800, {15}),
    (62, 62, {16, 17, 18, 19}),  # UnionPay
    (81, 81, {16, 17, 18, 19}),
    (50, 50, {12, 13, 14, 15, 16, 17, 18, 19}),  # Maestro, Elo, Verve
    (56, 58, {12, 13, 14, 15, 16, 17, 18, 19}),
    (60, 61, {16}),  # RuPay, Hipercard
    (63, 63, {12, 13, 16, 18, 19}),  # InstaPayment, Elo, Solo, Maestro
    (67, 69, {12, 13, 15, 16, 18, 19}),  # Maestro
    (1, 1, {15}),  # UATP
    (2200, 2204, {16, 17, 18, 19}),  # Mir
    (2205, 2205, {16}),  # BORICA
    (9792, 9792, {16}),  # Troy
    (9860, 9860, {16}),  # Humo
    (8600, 8600, {16}),  # Uzcard
    (508, 508, {16}),
    (353, 353, {16}),
)
_RANGES = [(int(f"{first:0<4}"), int(f"{last:9<4}"), lengths) for first, last, lengths in _NETWORKS]
"""The ranges by their first four digits."""
_GROUPS = lazy(r"[0-9]+")
_SEPARATED = {
    (4, 4, 4, 4),
    (4, 6, 5),
    (4, 6, 4),
    (4, 4, 4, 4, 3),
    (4, 4, 4, 4, 2),
    (4, 4, 4, 4, 1),
    (6, 13),
    (4, 5, 6),
    (6, 10),
    (4, 4, 5),
    (4, 4, 4, 3),
    (8, 8),
    (4, 3, 3, 3),
}

_IBAN_LENGTHS = {country: int(length) for country, length in read_table("iban_lengths").items()}

_COUNTRIES = read_words("countries")
_WORDS_LIKE_BIC = read_words("bic_like")


@cache
def _lengths(prefix: str) -> frozenset[int]:
    """Return the valid lengths of numbers that start with four digits."""
    number = int(prefix)
    return frozenset().union(
        *(lengths for first, last, lengths in _RANGES if first <= number <= last)
    )


@validator("credit_card", proves=True)
def credit_card(value: str) -> bool:
    """A number within a network's range and lengths, with a Luhn digit, grouped like a card if at
    all.
    """
    bare = digits(value, 12, 13, 14, 15, 16, 17, 18, 19)
    if not bare or len(bare) not in _lengths(bare[:4]):
        return False
    if not varied(bare) or not luhn_checks(bare):
        return False
    if bare == value:
        return True
    groups = tuple(map(len, _GROUPS.findall(value)))
    return len(groups) == 1 or groups in _SEPARATED


@validator("iban", proves=True)
def iban(value: str) -> bool:
    """A number with the country's length and a checksum by ISO 7064 mod 97-10."""
    bare = compact(value)
    return iban_shape(value) and len(set(bare[4:])) > 1 and mod_97_checks(bare[4:] + bare[:4])


@validator("creditor_reference")
def creditor_reference(value: str) -> bool:
    """A reference of ISO 11649, with a checksum by ISO 7064 mod 97-10."""
    bare = compact(value)
    return alphanumeric(bare) and varied(bare[4:]) and mod_97_checks(bare[4:] + bare[:4])


@validator("iban_shape")
def iban_shape(value: str) -> bool:
    """A number with the country's length, whatever its check digits."""
    bare = compact(value)
    has_length = alphanumeric(bare) and _IBAN_LENGTHS.get(bare[:2]) == len(bare)
    return has_length and bool(digits(bare[2:4], 2))


@validator("bic")
def bic(value: str) -> bool:
    """Bank, country, place and perhaps branch; words of that form are excluded."""
    bare = compact(value)
    return len(bare) in {8, 11} and bare[4:6] in _COUNTRIES and bare not in _WORDS_LIKE_BIC


@validator("card_track", proves=True)
def card_track(value: str) -> bool:
    """A magnetic track: a card's number, then its expiry as year and month."""
    number = value.lstrip("%Bb").replace("=", "^").partition("^")[0]
    expiry = value.replace("=", "^").rpartition("^")[2][:4]
    return credit_card(number) and bool(digits(expiry, 4)) and 1 <= int(expiry[2:]) <= 12
