"""Identifiers of health care: patients, insured people, prescribers, drugs."""

from __future__ import annotations

import re

from dlpctl.detect.validators import validator
from dlpctl.detect.validators.checksums import (
    alphanumeric,
    compact,
    digits,
    luhn_checks,
    luhn_sum,
    varied,
    verhoeff_checks,
    weighted,
)
from dlpctl.detect.validators.dates import short_reversed

_MBI_LETTERS = "ACDEFGHJKMNPQRTUVWXY"
_MBI = re.compile(
    rf"[1-9][{_MBI_LETTERS}][0-9{_MBI_LETTERS}][0-9][{_MBI_LETTERS}][0-9{_MBI_LETTERS}][0-9][{_MBI_LETTERS}]{{2}}[0-9][0-9]"
)
_NHI_ALPHABET = {char: place for place, char in enumerate("ABCDEFGHJKLMNPQRSTUVWXYZ", start=1)}
_NHI = re.compile(r"[A-HJ-NP-Z]{3}(?:[0-9]{4}|[0-9]{2}[A-HJ-NP-Z]{2})")
_LOINC = re.compile(r"[0-9]{1,6}-[0-9]")


@validator("us_mbi")
def us_mbi(value: str) -> bool:
    """Medicare beneficiary: the places of digits and letters are fixed; S, L, O, I, B and Z are not
    used.
    """
    return bool(_MBI.fullmatch(compact(value)))


@validator("us_npi", proves=True)
def us_npi(value: str) -> bool:
    """Health care providers: Luhn over the number behind 80840."""
    bare = digits(value, 10)
    return bare[:1] in {"1", "2"} and varied(bare[1:]) and luhn_checks("80840" + bare)


@validator("dea_number", proves=True)
def dea_number(value: str) -> bool:
    """Prescribers of controlled substances: the sum of the odd digits and twice the even ones ends
    in the check digit.
    """
    bare = compact(value)
    number = digits(bare[2:], 7)
    if not number or not varied(number) or not bare[0].isalpha():
        return False
    odd, even = (sum(map(int, number[start:6:2])) for start in (0, 1))
    return (odd + 2 * even) % 10 == int(number[6])


@validator("gb_nhs", proves=True)
def gb_nhs(value: str) -> bool:
    bare = digits(value, 10)
    return bool(bare) and varied(bare) and weighted(bare, range(10, 0, -1)) % 11 == 0


@validator("gb_chi", proves=True)
def gb_chi(value: str) -> bool:
    """Scotland's community health index: a birthday, then as the NHS number."""
    bare = digits(value, 10)
    return bool(bare) and short_reversed(bare[:6]) and weighted(bare, range(10, 0, -1)) % 11 == 0


@validator("au_medicare", proves=True)
def au_medicare(value: str) -> bool:
    """Australia: eight digits, a check digit, an issue number and perhaps a reference within the
    family.
    """
    bare = digits(value, 10, 11)
    return bare[:1] in {"2", "3", "4", "5", "6"} and weighted(
        bare[:8], (1, 3, 7, 9, 1, 3, 7, 9)
    ) % 10 == int(bare[8])


@validator("au_ihi", proves=True)
def au_ihi(value: str) -> bool:
    bare = digits(value, 16)
    return bare.startswith("80036") and luhn_checks(bare)


@validator("ca_on_health", proves=True)
def ca_on_health(value: str) -> bool:
    """Ontario: ten digits by Luhn, perhaps with two version letters."""
    bare = compact(value)
    number, version = digits(bare[:10], 10), bare[10:]
    return (
        number[:1] not in {"", "0"}
        and varied(number)
        and luhn_checks(number)
        and (not version or version.isalpha())
    )


@validator("ca_bc_health", proves=True)
def ca_bc_health(value: str) -> bool:
    """British Columbia: ten digits that begin with 9, weights of powers of two modulo 11."""
    bare = digits(value, 10)
    if not bare.startswith("9"):
        return False
    return 11 - weighted(bare[1:9], (2, 4, 8, 5, 10, 9, 7, 3)) % 11 == int(bare[9])


@validator("ca_qc_health")
def ca_qc_health(value: str) -> bool:
    """Quebec: four letters of the name, year, month (women add 50) and day of birth, a serial."""
    bare = compact(value)
    if (
        len(bare) != 12
        or not alphanumeric(bare)
        or not bare[:4].isalpha()
        or not bare[4:].isdigit()
    ):
        return False
    return 1 <= int(bare[6:8]) % 50 <= 12 and int(bare[6:8]) <= 62 and 1 <= int(bare[8:10]) <= 31


@validator("de_kvnr", proves=True)
def de_kvnr(value: str) -> bool:
    """Germany's insured people: a letter and nine digits, Luhn with the letter as two digits."""
    bare = compact(value)
    if len(bare) != 10 or not bare[0].isalpha() or not bare.isascii() or not bare[1:].isdigit():
        return False
    counted = f"{ord(bare[0]) - 64:02}{bare[1:9]}"
    doubled = (int(char) * (1 + place % 2) for place, char in enumerate(counted))
    return sum(product // 10 + product % 10 for product in doubled) % 10 == int(bare[9])


@validator("fr_nir", proves=True)
def fr_nir(value: str) -> bool:
    """France's insured people: 97 minus the number modulo 97; Corsica's 2A and 2B count as 19 and
    18.
    """
    bare = compact(value)
    if len(bare) != 15 or not alphanumeric(bare):
        return False
    number = bare.replace("2A", "19", 1) if bare[5:7] == "2A" else bare
    number = number.replace("2B", "18", 1) if bare[5:7] == "2B" else number
    if not number.isdigit() or number[0] not in "123478":
        return False
    month = int(number[3:5])
    return (1 <= month <= 12 or 20 <= month <= 42 or month >= 50) and 97 - int(
        number[:13]
    ) % 97 == int(number[13:])


@validator("ie_ihi", proves=True)
def ie_ihi(value: str) -> bool:
    """Ireland's individual health identifier: ten digits by Luhn behind 936000 in the long form."""
    bare = digits(value, 10, 18)
    return (
        bool(bare)
        and varied(bare)
        and (len(bare) == 10 or bare.startswith("936000"))
        and luhn_sum(bare) % 10 == 0
    )


@validator("hu_taj", proves=True)
def hu_taj(value: str) -> bool:
    bare = digits(value, 9)
    return bool(bare) and varied(bare) and weighted(bare[:8], (3, 7) * 4) % 10 == int(bare[8])


@validator("br_cns", proves=True)
def br_cns(value: str) -> bool:
    """Brazil's health card: fifteen digits, weights 15 to 1, divisible by 11."""
    bare = digits(value, 15)
    return bare[:1] in {"1", "2", "7", "8", "9"} and weighted(bare, range(15, 0, -1)) % 11 == 0


@validator("nz_nhi", proves=True)
def nz_nhi(value: str) -> bool:
    """New Zealand: modulo 11 in the old form, modulo 23 in the new one, whose last character is a
    letter.
    """
    bare = compact(value)
    if not _NHI.fullmatch(bare):
        return False
    total = sum(
        (_NHI_ALPHABET.get(char) or int(char)) * weight
        for char, weight in zip(bare[:6], range(7, 1, -1), strict=True)
    )
    if bare[6].isdigit():
        return total % 11 != 0 and (11 - total % 11) % 10 == int(bare[6])
    return 23 - total % 23 == _NHI_ALPHABET[bare[6]]


@validator("in_abha", proves=True)
def in_abha(value: str) -> bool:
    """India's health account."""
    bare = digits(value, 14)
    return bool(bare) and varied(bare) and verhoeff_checks(bare)


@validator("de_lanr", proves=True)
def de_lanr(value: str) -> bool:
    """German physicians: the seventh digit checks the first six."""
    bare = digits(value, 9)
    if not bare or not varied(bare):
        return False
    return -weighted(bare[:6], (4, 9, 4, 9, 4, 9)) % 10 == int(bare[6])


@validator("loinc", proves=True)
def loinc(value: str) -> bool:
    """Laboratory codes: Luhn over the digits before the hyphen."""
    return bool(_LOINC.fullmatch(value)) and luhn_checks(value.replace("-", ""))
