"""Tax identifiers of people and companies, and the European Union's VAT numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

from dlpctl.detect.validators import validator
from dlpctl.detect.validators.americas import br_cpf
from dlpctl.detect.validators.checksums import (
    ALPHABET,
    alphanumeric,
    compact,
    digits,
    luhn_checks,
    luhn_sum,
    mod_11_10_checks,
    numbers,
    varied,
    weighted,
)
from dlpctl.detect.validators.dates import short
from dlpctl.detect.validators.europe import es_dni, es_nie, ie_pps

_EIN_UNUSED_LISTED = "00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97"
_EIN_UNUSED = frozenset(_EIN_UNUSED_LISTED.split())
_RFC = re.compile(r"[A-ZÑ&]{3,4}([0-9]{6})[0-9A-Z]{2}[0-9A]")
_RFC_ALPHABET = {
    char: place for place, char in enumerate("0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ")
}
_GSTIN = re.compile(r"[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z][0-9A-Z][0-9A-Z]")


@validator("us_ein")
def us_ein(value: str) -> bool:
    """Employers in the United States: the first two digits name the campus that gave the number."""
    bare = digits(value, 9)
    return bool(bare) and bare[:2] not in _EIN_UNUSED and varied(bare[2:])


@validator("br_cnpj", proves=True)
def br_cnpj(value: str) -> bool:
    """Brazil's companies: digits, and since 2026 letters too, which count by their place in ASCII
    behind 0.
    """
    bare = compact(value)
    if len(bare) != 14 or not alphanumeric(bare) or not bare[12:].isdigit() or not varied(bare):
        return False
    counts = [ord(char) - 48 for char in bare]
    weights = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    first = sum(count * weight for count, weight in zip(counts[:12], weights[1:], strict=True)) % 11
    second = sum(count * weight for count, weight in zip(counts[:13], weights, strict=True)) % 11
    return [0 if rest < 2 else 11 - rest for rest in (first, second)] == counts[12:]


@validator("br_cpf_or_cnpj", proves=True)
def br_cpf_or_cnpj(value: str) -> bool:
    return br_cpf(value) or br_cnpj(value)


@validator("mx_rfc")
def mx_rfc(value: str) -> bool:
    """Mexico: initials, a date, and three characters; the last one checks, but numbers given before
    it did are in use.
    """
    bare = compact(value)
    found = _RFC.fullmatch(bare)
    return bool(found) and short(found[1] if found else "")


@validator("mx_rfc_checked", proves=True)
def mx_rfc_checked(value: str) -> bool:
    bare = compact(value)
    if not mx_rfc(bare):
        return False
    text = bare.rjust(13)
    rest = (
        sum(
            _RFC_ALPHABET[char] * weight
            for char, weight in zip(text[:12], range(13, 1, -1), strict=True)
        )
        % 11
    )
    return "0A987654321"[rest] == text[12]


@validator("in_gstin", proves=True)
def in_gstin(value: str) -> bool:
    """India: a state, a PAN, a count and a check character by Luhn over 36 characters."""
    bare = compact(value)
    if not _GSTIN.fullmatch(bare) or not (
        1 <= int(bare[:2]) <= 38 or bare[:2] in {"96", "97", "99"}
    ):
        return False
    total = 0
    for place, number in enumerate(numbers(bare[:14])):
        product = number * (1 + place % 2)
        total += product // 36 + product % 36
    return ALPHABET[-total % 36] == bare[14]


@validator("gb_utr", proves=True)
def gb_utr(value: str) -> bool:
    """United Kingdom: the first digit checks the others."""
    bare = digits(value.rstrip("Kk"), 10)
    return (
        bool(bare)
        and varied(bare)
        and "21987654321"[weighted(bare[1:], (6, 7, 8, 9, 10, 5, 4, 3, 2)) % 11] == bare[0]
    )


@validator("fr_spi", proves=True)
def fr_spi(value: str) -> bool:
    """France's tax number: the first ten digits modulo 511 are the last three."""
    bare = digits(value, 13)
    return (
        bare[:1] in {"0", "1", "2", "3"} and varied(bare) and int(bare[:10]) % 511 == int(bare[10:])
    )


@validator("fr_siren", proves=True)
def fr_siren(value: str) -> bool:
    """French companies (9 digits) and their places (14); La Poste's places add up to a multiple of
    five.
    """
    bare = digits(value, 9, 14)
    if not bare or not varied(bare):
        return False
    return luhn_checks(bare) or (bare.startswith("356000000") and sum(map(int, bare)) % 5 == 0)


@validator("it_partita_iva", proves=True)
def it_partita_iva(value: str) -> bool:
    bare = digits(value, 11)
    return (
        bool(bare)
        and bare[:7] != "0000000"
        and int(bare[7:10]) in {*range(1, 101), 120, 121, 888, 999}
        and luhn_checks(bare)
    )


@validator("pt_nif", proves=True)
def pt_nif(value: str) -> bool:
    bare = digits(value, 9)
    return (
        bare[:1] not in {"", "0"}
        and varied(bare)
        and -weighted(bare[:8], range(9, 1, -1)) % 11 % 10 == int(bare[8])
    )


@validator("gr_afm", proves=True)
def gr_afm(value: str) -> bool:
    bare = digits(value, 9)
    return (
        bool(bare)
        and varied(bare)
        and weighted(bare[:8], (256, 128, 64, 32, 16, 8, 4, 2)) % 11 % 10 == int(bare[8])
    )


@validator("pl_nip", proves=True)
def pl_nip(value: str) -> bool:
    bare = digits(value, 10)
    return (
        bool(bare)
        and varied(bare)
        and weighted(bare[:9], (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == int(bare[9])
    )


@validator("pl_regon", proves=True)
def pl_regon(value: str) -> bool:
    bare = digits(value, 9, 14)
    if (
        not bare
        or not varied(bare)
        or weighted(bare[:8], (8, 9, 2, 3, 4, 5, 6, 7)) % 11 % 10 != int(bare[8])
    ):
        return False
    return len(bare) == 9 or weighted(
        bare[:13], (2, 4, 8, 5, 0, 9, 7, 3, 6, 1, 2, 4, 8)
    ) % 11 % 10 == int(bare[13])


@validator("es_cif", proves=True)
def es_cif(value: str) -> bool:
    """Spanish companies: a letter for the form, seven digits, a check digit or letter."""
    bare = compact(value)
    number = digits(bare[1:8], 7)
    if len(bare) != 9 or bare[0] not in "ABCDEFGHJNPQRSUVW" or not number:
        return False
    check = -luhn_sum(number + "0") % 10
    return bare[8] in {str(check), "JABCDEFGHI"[check]}


@validator("tr_vkn", proves=True)
def tr_vkn(value: str) -> bool:
    bare = digits(value, 10)
    if not bare or not varied(bare):
        return False
    total = 0
    for place, char in enumerate(bare[:9]):
        shifted = (int(char) + 9 - place) % 10
        total += (shifted * 2 ** (9 - place) % 9 or 9) if shifted else 0
    return -total % 10 == int(bare[9])


@validator("no_orgnr", proves=True)
def no_orgnr(value: str) -> bool:
    bare = digits(value, 9)
    return (
        bool(bare)
        and varied(bare)
        and -weighted(bare[:8], (3, 2, 7, 6, 5, 4, 3, 2)) % 11 == int(bare[8])
    )


@validator("ch_uid", proves=True)
def ch_uid(value: str) -> bool:
    bare = compact(value).removeprefix("CHE")
    for suffix in ("MWST", "TVA", "IVA", "HR"):
        bare = bare.removesuffix(suffix)
    number = digits(bare, 9)
    return (
        bool(number)
        and varied(number)
        and -weighted(number[:8], (5, 4, 3, 2, 7, 6, 5, 4)) % 11 == int(number[8])
    )


@validator("kr_brn", proves=True)
def kr_brn(value: str) -> bool:
    bare = digits(value, 10)
    if not bare or not varied(bare):
        return False
    total = weighted(bare[:9], (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(bare[8]) * 5 // 10
    return -total % 10 == int(bare[9])


@validator("tw_ubn", proves=True)
def tw_ubn(value: str) -> bool:
    """Taiwan's companies: digits of the products add up to a multiple of five; a seventh digit of 7
    counts as 0 or 1.
    """
    bare = digits(value, 8)
    if not bare or not varied(bare):
        return False
    products = [
        int(char) * weight for char, weight in zip(bare, (1, 2, 1, 2, 1, 2, 4, 1), strict=True)
    ]
    total = sum(product // 10 + product % 10 for product in products)
    return total % 5 == 0 or (bare[6] == "7" and (total + 1) % 5 == 0)


def _at(text: str) -> bool:
    if not text.startswith("U") or not digits(text[1:], 8):
        return False
    return (6 - luhn_sum(text[1:8])) % 10 == int(text[8])


def _be(text: str) -> bool:
    bare = digits(text, 9, 10).zfill(10)
    return bare[0] in "01" and varied(bare) and 97 - int(bare[:8]) % 97 == int(bare[8:])


def _bg(text: str) -> bool:
    bare = digits(text, 9, 10)
    if len(bare) != 9:
        return bool(bare)
    check = weighted(bare[:8], range(1, 9)) % 11
    if check == 10:
        check = weighted(bare[:8], range(3, 11)) % 11 % 10
    return check == int(bare[8])


def _cy(text: str) -> bool:
    bare = digits(text[:8], 8)
    if not bare or len(text) != 9 or bare[:2] == "12":
        return False
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)
    return (
        chr(65 + (sum(odd[int(char)] for char in bare[::2]) + sum(map(int, bare[1::2]))) % 26)
        == text[8]
    )


def _cz(text: str) -> bool:
    bare = digits(text, 8, 9, 10)
    if len(bare) != 8:
        return bool(bare)
    return (11 - weighted(bare[:7], range(8, 1, -1)) % 11) % 10 == int(bare[7])


def _dk(text: str) -> bool:
    bare = digits(text, 8)
    return bool(bare) and bare[0] != "0" and weighted(bare, (2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _ee(text: str) -> bool:
    bare = digits(text, 9)
    return bool(bare) and weighted(bare, (3, 7, 1, 3, 7, 1, 3, 7, 1)) % 10 == 0


def _fi(text: str) -> bool:
    bare = digits(text, 8)
    return bool(bare) and weighted(bare, (7, 9, 10, 5, 8, 4, 2, 1)) % 11 == 0


def _fr(text: str) -> bool:
    """Two characters and a SIREN; the two are digits computed from it, or letters of the newer
    form.
    """
    siren = text[2:]
    if (
        len(text) != 11
        or not alphanumeric(text[:2])
        or not digits(siren, 9)
        or not luhn_checks(siren)
    ):
        return False
    return not text[:2].isdigit() or int(siren + "12") % 97 == int(text[:2])


def _hu(text: str) -> bool:
    bare = digits(text, 8)
    return bool(bare) and weighted(bare, (9, 7, 3, 1, 9, 7, 3, 1)) % 10 == 0


def _ie(text: str) -> bool:
    if len(text) == 8 and alphanumeric(text) and not text[1].isdigit():
        return digits(text[2:7], 5) != "" and ie_pps(f"0{text[2:7]}{text[0]}{text[7]}")
    return ie_pps(text)


def _lt(text: str) -> bool:
    bare = digits(text, 9, 12)
    if not bare or bare[-2] != "1":
        return False
    body = bare[:-1]
    check = weighted(body, [1 + place % 9 for place in range(len(body))]) % 11
    if check == 10:
        check = weighted(body, [1 + (place + 2) % 9 for place in range(len(body))]) % 11 % 10
    return check == int(bare[-1])


def _lu(text: str) -> bool:
    bare = digits(text, 8)
    return bool(bare) and int(bare[:6]) % 89 == int(bare[6:])


def _lv(text: str) -> bool:
    bare = digits(text, 11)
    return bare[:1] > "3" and weighted(bare, (9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1)) % 11 == 3


def _mt(text: str) -> bool:
    bare = digits(text, 8)
    return (
        bool(bare) and int(bare) > 100_000 and weighted(bare, (3, 4, 6, 7, 8, 9, 10, 1)) % 37 == 0
    )


def _nl(text: str) -> bool:
    """Nine digits, B and two digits: the old form checks as a citizen number, the one since 2020
    modulo 97.
    """
    bare = digits(text[:9], 9)
    if not bare or text[9:10] != "B" or not digits(text[10:], 2):
        return False
    by_97 = int("".join(map(str, numbers("NL" + text)))) % 97 == 1
    return by_97 or weighted(bare, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _ro(text: str) -> bool:
    bare = digits(text, *range(4, 11)).zfill(10)
    return int(bare) > 999 and weighted(
        bare[:9], (7, 5, 3, 2, 1, 7, 5, 3, 2)
    ) * 10 % 11 % 10 == int(bare[9])


def _se(text: str) -> bool:
    bare = digits(text, 12)
    return bare.endswith("01") and luhn_checks(bare[:10])


def _si(text: str) -> bool:
    bare = digits(text, 8)
    return bare[:1] not in {"", "0"} and -weighted(bare[:7], range(8, 1, -1)) % 11 % 10 == int(
        bare[7]
    )


def _sk(text: str) -> bool:
    bare = digits(text, 10)
    return bool(bare) and bare[0] != "0" and bare[2] in "234789" and int(bare) % 11 == 0


def _gb(text: str) -> bool:
    bare = digits(text, 9, 12)
    if not bare or not varied(bare):
        return False
    return weighted(bare[:9], (8, 7, 6, 5, 4, 3, 2, 10, 1)) % 97 in {0, 42}


def _es(text: str) -> bool:
    return es_dni(text) or es_nie(text) or es_cif(text)


def _de(text: str) -> bool:
    bare = digits(text, 9)
    return bare[:1] not in {"", "0"} and mod_11_10_checks(bare)


def _hr(text: str) -> bool:
    bare = digits(text, 11)
    return bool(bare) and mod_11_10_checks(bare)


_VAT: dict[str, Callable[[str], bool]] = {
    "AT": _at, "BE": _be, "BG": _bg, "CY": _cy, "CZ": _cz, "DE": _de, "DK": _dk, "EE": _ee, "EL": gr_afm, "GR": gr_afm, "ES": _es,
    "FI": _fi, "FR": _fr, "GB": _gb, "HR": _hr, "HU": _hu, "IE": _ie, "IT": it_partita_iva, "LT": _lt, "LU": _lu, "LV": _lv, "MT": _mt,
    "NL": _nl, "PL": pl_nip, "PT": pt_nif, "RO": _ro, "SE": _se, "SI": _si, "SK": _sk, "XI": _gb,
}  # fmt: skip


@validator("eu_vat", proves=True)
def eu_vat(value: str) -> bool:
    """A VAT number with its country's two letters, by that country's checksum."""
    bare = compact(value)
    check = _VAT.get(bare[:2])
    return check is not None and alphanumeric(bare) and check(bare[2:])
