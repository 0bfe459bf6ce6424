"""Machine-readable travel documents."""

from __future__ import annotations

from dlpctl.detect.validators import validator
from dlpctl.detect.validators.checksums import weighted


def _checks(field: str, digit: str) -> bool:
    """ICAO 9303: weights 7, 3, 1, with fillers as zeros."""
    return weighted(field.replace("<", "0"), (7, 3, 1) * (len(field) // 3 + 1)) % 10 == int(
        digit.replace("<", "0")
    )


@validator("mrz_td3", proves=True)
def mrz_td3(value: str) -> bool:
    """The second line of a passport: number, birthday, expiry, and all of them, each with a check
    digit.
    """
    text = value.strip()
    if (
        len(text) != 44
        or not text.isascii()
        or not text.replace("<", "0").isalnum()
        or not text.isupper()
    ):
        return False
    digits = text[9] + text[19] + text[27] + text[43]
    if not digits.replace("<", "0").isdigit():
        return False
    return (
        _checks(text[:9], text[9])
        and _checks(text[13:19], text[19])
        and _checks(text[21:27], text[27])
        and _checks(text[:10] + text[13:20] + text[21:43], text[43])
    )
