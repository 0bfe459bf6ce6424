"""The algorithms that identifiers share, over characters without separators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlpctl.detect.validators.registry import validator
from dlpctl.regex import lazy

_ASCII_SEPARATORS = b" -./\t"
_SEPARATORS = str.maketrans("", "", " -./\u00a0\u2009\u202f\u2010\u2011\u2012\u2013\t")
_LONGEST = 64
"""No identifier is longer, so that a megabyte of one character costs nothing."""

_ROW = lazy("[0-9]{2} [0-9] [0-9](?: |$)")
"""Small numbers beside each other in a row of a table."""

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DOUBLED = bytes((digit * 2 - 9 if digit > 4 else digit * 2) for digit in range(10)).join(
    (bytes(48), bytes(198))
)

_VERHOEFF_PRODUCT = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 2, 3, 4, 0, 6, 7, 8, 9, 5),
    (2, 3, 4, 0, 1, 7, 8, 9, 5, 6),
    (3, 4, 0, 1, 2, 8, 9, 5, 6, 7),
    (4, 0, 1, 2, 3, 9, 5, 6, 7, 8),
    (5, 9, 8, 7, 6, 0, 4, 3, 2, 1),
    (6, 5, 9, 8, 7, 1, 0, 4, 3, 2),
    (7, 6, 5, 9, 8, 2, 1, 0, 4, 3),
    (8, 7, 6, 5, 9, 3, 2, 1, 0, 4),
    (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
)
_VERHOEFF_PERMUTATION = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 5, 7, 6, 2, 8, 3, 0, 9, 4),
    (5, 8, 0, 3, 7, 9, 6, 1, 4, 2),
    (8, 9, 1, 6, 0, 4, 3, 5, 2, 7),
    (9, 4, 5, 3, 1, 2, 6, 8, 7, 0),
    (4, 2, 8, 6, 5, 7, 3, 9, 0, 1),
    (2, 7, 9, 3, 8, 0, 6, 4, 1, 5),
    (7, 0, 4, 6, 9, 1, 3, 2, 5, 8),
)


def compact(value: str) -> str:
    """Return an identifier in upper case without separators, or an empty text if it is too long or
    a row of numbers.
    """
    if len(value) > _LONGEST:
        return ""
    if value.isascii():
        if value.isdigit():  # the most common case
            return value
        if " " in value and _ROW.search(value):
            return ""
        return value.encode().translate(None, _ASCII_SEPARATORS).upper().decode()
    return value.translate(_SEPARATORS).upper()


def digits(value: str, *lengths: int) -> str:
    """Return the digits of an identifier, or an empty text if it has other characters or another
    length.
    """
    bare = compact(value)
    if not (bare.isascii() and bare.isdigit()) or (lengths and len(bare) not in lengths):
        return ""
    return bare


def numbers(text: str) -> list[int]:
    """Return the value of each character: digits as themselves, A as 10 to Z as 35."""
    return [int(char, 36) for char in text]


def alphanumeric(text: str) -> bool:
    return text.isascii() and text.isalnum()


def varied(bare: str) -> bool:
    """Return whether characters differ: invented numbers of one digit pass most checksums."""
    return bare != bare[:1] * len(bare)


def weighted(text: str, weights: Sequence[int]) -> int:
    """Return the sum of the characters' values times the weights."""
    return sum(number * weight for number, weight in zip(numbers(text), weights, strict=False))


def luhn_sum(bare: str) -> int:
    encoded = bare.encode()
    odd = encoded[-1::-2]
    return sum(odd) - 48 * len(odd) + sum(encoded[-2::-2].translate(_DOUBLED))


def luhn_checks(bare: str) -> bool:
    return luhn_sum(bare) % 10 == 0


def verhoeff_checks(bare: str) -> bool:
    state = 0
    for position, char in enumerate(reversed(bare)):
        state = _VERHOEFF_PRODUCT[state][_VERHOEFF_PERMUTATION[position % 8][int(char)]]
    return state == 0


def mod_97_checks(text: str) -> bool:
    """ISO 7064 mod 97-10 over digits and letters."""
    return int("".join(map(str, numbers(text)))) % 97 == 1


def mod_11_10_checks(bare: str) -> bool:
    """ISO 7064 mod 11,10 over digits."""
    return _hybrid(map(int, bare), 10)


def mod_37_36_checks(text: str) -> bool:
    """ISO 7064 mod 37,36 over digits and letters."""
    return _hybrid(numbers(text), 36)


def _hybrid(values: Iterable[int], modulus: int) -> bool:
    state = modulus
    last = 0
    for number in values:
        last = (state + number) % modulus
        state = (last or modulus) * 2 % (modulus + 1)
    return last == 1


def mod_11_2_checks(text: str) -> bool:
    """ISO 7064 mod 11-2: digits, the last of which may be X."""
    state = 0
    for char in text[:-1]:
        state = (state + int(char)) * 2 % 11
    last = 10 if text[-1] == "X" else int(text[-1])
    return (state + last) % 11 == 1


def ean_checks(bare: str) -> bool:
    """The check digit of article numbers: weights 1 and 3 from the right."""
    return (sum(map(int, bare[-1::-2])) + 3 * sum(map(int, bare[-2::-2]))) % 10 == 0


@validator("luhn", proves=True)
def luhn(value: str) -> bool:
    bare = digits(value)
    return len(bare) > 1 and varied(bare) and luhn_checks(bare)


@validator("verhoeff", proves=True)
def verhoeff(value: str) -> bool:
    bare = digits(value)
    return len(bare) > 1 and varied(bare) and verhoeff_checks(bare)


@validator("mod_97", proves=True)
def mod_97(value: str) -> bool:
    bare = compact(value)
    return len(bare) > 2 and alphanumeric(bare) and varied(bare) and mod_97_checks(bare)
