"""National numbers with rules of their own; all others are tables in `dlpctl_patterns/numbers`."""

from __future__ import annotations

from dlpctl.detect.validators.checksums import (
    alphanumeric,
    compact,
    digits,
    luhn_checks,
    mod_11_10_checks,
    mod_97_checks,
    numbers,
    varied,
    verhoeff_checks,
    weighted,
)
from dlpctl.detect.validators.dates import exists, short_reversed
from dlpctl.detect.validators.registry import validator
from dlpctl.regex import lazy

_HETU_LETTERS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_HETU_CENTURIES = {"+": 1800, **dict.fromkeys("-YXWVU", 1900), **dict.fromkeys("ABCDEF", 2000)}
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CUPS = lazy(r"ES([0-9]{16})([A-Z]{2})(?:[0-9][CFPRXYZ])?")
_PPS_LETTERS = "WABCDEFGHIJKLMNOPQRSTUV"
_ITALIAN_MONTHS = "ABCDEHLMPRST"
_ITALIAN_DIGITS = str.maketrans("LMNPQRSTUV", "0123456789")
_ITALIAN_ODD = [ord(letter) - ord("A") for letter in "BAFHJNPRTVCESULDGIMOQKWZYX"]
"""The weights of characters at odd positions, by value; digits have the values of A to J."""
_ITALIAN_CODE = lazy(r"[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]")
_CORSICA = {"2A": "19", "2B": "18"}
_LOINC = lazy(r"[0-9]{1,6}-[0-9]")


@validator("br_cnh", proves=True)
def br_cnh(value: str) -> bool:
    """Brazil's driver licence."""
    bare = digits(value, 11)
    if not bare or not varied(bare):
        return False
    first, second = weighted(bare[:9], range(9, 0, -1)) % 11, weighted(bare[:9], range(1, 10)) % 11
    if first == 10:
        first, second = 0, second - 2
    return f"{first}{0 if second == 10 else second % 11}" == bare[9:]


@validator("br_titulo", proves=True)
def br_titulo(value: str) -> bool:
    """Brazil's voter title: serial, state, two check digits."""
    bare = digits(value, 12)
    if not bare or not 1 <= int(bare[8:10]) <= 28:
        return False
    few = bare[8:10] in {"01", "02"}
    first = _titulo_digit(weighted(bare[:8], range(2, 10)) % 11, few)
    second = _titulo_digit(weighted(bare[8:10] + str(first), (7, 8, 9)) % 11, few)
    return f"{first}{second}" == bare[10:]


def _titulo_digit(rest: int, few: bool) -> int:
    return 1 if rest == 0 and few else rest % 10


@validator("in_aadhaar", proves=True)
def in_aadhaar(value: str) -> bool:
    """India: no first digit of 0 or 1, no palindrome."""
    bare = digits(value, 12)
    return bool(bare) and bare[0] not in "01" and bare != bare[::-1] and verhoeff_checks(bare)


@validator("it_codice_fiscale", proves=True)
def it_codice_fiscale(value: str) -> bool:
    bare = compact(value)
    if not _ITALIAN_CODE.fullmatch(bare):
        return False
    birth = (bare[6:8] + bare[9:11]).translate(_ITALIAN_DIGITS)
    month, day = _ITALIAN_MONTHS.index(bare[8]) + 1, int(birth[2:]) % 40
    if not any(exists(century + int(birth[:2]), month, day) for century in (1900, 2000)):
        return False
    values = [number if number < 10 else number - 10 for number in numbers(bare[:15])]
    total = sum(_ITALIAN_ODD[value] for value in values[::2]) + sum(values[1::2])
    return chr(ord("A") + total % 26) == bare[15]


@validator("pt_cartao_cidadao", proves=True)
def pt_cartao_cidadao(value: str) -> bool:
    """Portugal's citizen card: a Luhn digit over digits and two letters."""
    bare = compact(value)
    if len(bare) != 12 or not alphanumeric(bare) or not (bare[:9] + bare[11]).isdigit():
        return False
    values = numbers(bare)
    doubled = (value * 2 - 9 if value > 4 else value * 2 for value in values[::2])
    return (sum(doubled) + sum(values[1::2])) % 10 == 0


@validator("de_steuer_id", proves=True)
def de_steuer_id(value: str) -> bool:
    """Germany's tax number: of the first ten digits exactly one occurs twice or three times."""
    bare = digits(value, 11)
    if not bare or bare[0] == "0" or not mod_11_10_checks(bare):
        return False
    repeated = [bare[:10].count(char) for char in set(bare[:10]) if bare[:10].count(char) > 1]
    return repeated in ([2], [3])


@validator("es_cups", proves=True)
def es_cups(value: str) -> bool:
    """Spain's supply points: two letters are the number modulo 529, in base 23."""
    match = _CUPS.fullmatch(compact(value))
    if not match or not varied(match[1]):
        return False
    first, second = divmod(int(match[1]) % 529, 23)
    letters: str = match[2]
    return _DNI_LETTERS[first] + _DNI_LETTERS[second] == letters


@validator("ie_pps", proves=True)
def ie_pps(value: str) -> bool:
    """Ireland: the letter is the weighted sum modulo 23; a second letter counts nine times."""
    bare = compact(value)
    number, letters = digits(bare[:7], 7), bare[7:]
    if (
        not number
        or not letters.isalpha()
        or not letters.isascii()
        or len(letters) > 2
        or letters[1:] not in {"", *"ABCDEFGHIW", "T", "X"}
    ):
        return False
    second = 0 if letters[1:] in {"", "W", "T", "X"} else ord(letters[1]) - 64
    return _PPS_LETTERS[(weighted(number, (8, 7, 6, 5, 4, 3, 2)) + 9 * second) % 23] == letters[0]


@validator("fi_hetu", proves=True)
def fi_hetu(value: str) -> bool:
    """Finland: a birthday, a sign for the century, a serial and a check character modulo 31."""
    text = value.strip().upper()
    if (
        len(text) != 11
        or not (text.isascii() and (text[:6] + text[7:10]).isdigit())
        or text[6] not in _HETU_CENTURIES
    ):
        return False
    century = _HETU_CENTURIES[text[6]]
    return (
        short_reversed(text[:6], century)
        and int(text[7:10]) > 1
        and _HETU_LETTERS[int(text[:6] + text[7:10]) % 31] == text[10]
    )


@validator("tr_vkn", proves=True)
def tr_vkn(value: str) -> bool:
    bare = digits(value, 10)
    if not bare or not varied(bare):
        return False
    total = 0
    for power, char in zip(range(9, 0, -1), bare, strict=False):
        shifted = (int(char) + power) % 10
        total += (shifted * 2**power % 9 or 9) if shifted else 0
    return -total % 10 == int(bare[9])


@validator("vat_cy", proves=True)
def vat_cy(text: str) -> bool:
    bare = digits(text[:8], 8)
    if not bare or len(text) != 9 or bare[:2] == "12":
        return False
    total = sum(_ITALIAN_ODD[int(char)] for char in bare[::2]) + sum(map(int, bare[1::2]))
    return chr(ord("A") + total % 26) == text[8]


@validator("vat_fr", proves=True)
def vat_fr(text: str) -> bool:
    """Two characters and a SIREN; digits are computed from it, letters are the newer form."""
    siren = text[2:]
    if len(text) != 11 or not alphanumeric(text) or not digits(siren, 9) or not luhn_checks(siren):
        return False
    return not text[:2].isdigit() or int(siren + "12") % 97 == int(text[:2])


@validator("vat_nl", proves=True)
def vat_nl(text: str) -> bool:
    """Nine digits, B and two digits: by weights in the old form, modulo 97 since 2020."""
    bare = digits(text[:9], 9)
    if not bare or text[9:10] != "B" or not digits(text[10:], 2):
        return False
    return mod_97_checks("NL" + text) or weighted(bare, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


@validator("vat_ie", proves=True)
def vat_ie(text: str) -> bool:
    if len(text) == 8 and alphanumeric(text) and not text[1].isdigit():
        return digits(text[2:7], 5) != "" and ie_pps(f"0{text[2:7]}{text[0]}{text[7]}")
    return ie_pps(text)


@validator("fr_nir", proves=True)
def fr_nir(value: str) -> bool:
    """France's social security number: modulo 97, where Corsica's 2A and 2B count as 19 and 18."""
    bare = compact(value)
    number = digits(bare[:5] + _CORSICA.get(bare[5:7], bare[5:7]) + bare[7:], 15)
    if not number or number[0] not in "123478":
        return False
    month = int(number[3:5])
    known = 1 <= month <= 12 or 20 <= month <= 42 or month >= 50
    return known and 97 - int(number[:13]) % 97 == int(number[13:])


@validator("loinc", proves=True)
def loinc(value: str) -> bool:
    """Laboratory codes: Luhn over the digits before the hyphen."""
    return bool(_LOINC.fullmatch(value)) and luhn_checks(value.replace("-", ""))


def _checks(field: str, digit: str) -> bool:
    """ICAO 9303: weights 7, 3, 1, with fillers as zeros."""
    return weighted(field.replace("<", "0"), (7, 3, 1) * (len(field) // 3 + 1)) % 10 == int(
        digit.replace("<", "0")
    )


@validator("mrz_td3", proves=True)
def mrz_td3(value: str) -> bool:
    """The second line of a passport: number, birthday, expiry, all of them, with check digits."""
    text = value.strip()
    if (
        len(text) != 44
        or not text.isascii()
        or not text.replace("<", "0").isalnum()
        or not text.isupper()
    ):
        return False
    checks = text[9] + text[19] + text[27] + text[43]
    if not checks.replace("<", "0").isdigit():
        return False
    return (
        _checks(text[:9], text[9])
        and _checks(text[13:19], text[19])
        and _checks(text[21:27], text[27])
        and _checks(text[:10] + text[13:20] + text[21:43], text[43])
    )
