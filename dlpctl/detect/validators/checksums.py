"""Checksums that many kinds of number share."""

from __future__ import annotations

import re

from dlpctl.detect.validators import Validator

_DOUBLED = bytes((digit * 2 - 9 if digit > 4 else digit * 2) for digit in range(10)).join(
    (bytes(48), bytes(198))
)
_SEPARATORS = b" -./\t"


def luhn(value: str) -> bool:
    if not value.isascii():
        return False
    digits = value.encode().translate(None, _SEPARATORS)
    if not digits.isdigit() or len(digits) < 2:
        return False
    odd, even = digits[-1::-2], digits[-2::-2]
    total = sum(odd) - 48 * len(odd) + sum(even.translate(_DOUBLED))
    return total % 10 == 0 and total > 0


_LETTERS_AS_NUMBERS = {ord(letter): str(int(letter, 36)) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_WITHOUT_SEPARATORS = dict.fromkeys(map(ord, " -\t\u00a0"))


def iban(value: str) -> bool:
    compact = value.translate(_WITHOUT_SEPARATORS).upper()
    if not 15 <= len(compact) <= 34 or not compact.isascii() or not compact.isalnum():
        return False
    moved = (compact[4:] + compact[:4]).translate(_LETTERS_AS_NUMBERS)
    return int(moved) % 97 == 1


def us_ssn(value: str) -> bool:
    """Areas 000, 666 and 900 up, group 00 and serial 0000 were never issued."""
    digits = re.sub(r"[^0-9]", "", value)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return (
        len(digits) == 9
        and area not in ("000", "666")
        and area < "900"
        and group != "00"
        and serial != "0000"
    )


VALIDATORS = {
    "luhn": Validator("luhn", luhn, proves=True),
    "iban": Validator("iban", iban, proves=True),
    "us_ssn": Validator("us_ssn", us_ssn, proves=False),
}
