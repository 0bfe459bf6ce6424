"""National identifiers of the Americas."""

from __future__ import annotations

import re

from dlpctl.detect.validators import validator
from dlpctl.detect.validators.checksums import compact, digits, luhn_checks, varied, weighted
from dlpctl.detect.validators.dates import exists

_CURP = re.compile(
    r"[A-Z][AEIOUX][A-Z]{2}([0-9]{2})([0-9]{2})([0-9]{2})[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z][0-9]"
)
_CURP_ALPHABET = {char: place for place, char in enumerate("0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ")}
_CURP_STATES_LISTED = "AS BC BS CC CL CM CS CH DF DG GT GR HG JC MC MN MS NT NL OC PL QT QR SP SL SR TC TS TL VZ YN ZS NE"
_CURP_STATES = frozenset(_CURP_STATES_LISTED.split())


@validator("us_ssn")
def us_ssn(value: str) -> bool:
    """United States: areas 000, 666 and from 900 on, group 00 and serial 0000 are never given out."""
    bare = digits(value, 9)
    return (
        bool(bare)
        and varied(bare)
        and bare[0] != "9"
        and bare[:3] not in {"000", "666"}
        and bare[3:5] != "00"
        and bare[5:] != "0000"
    )


@validator("us_itin")
def us_itin(value: str) -> bool:
    """United States, taxpayers without a social security number: 9xx with a group of 50 to 65, 70
    to 88, 90 to 92 or 94 to 99.
    """
    bare = digits(value, 9)
    if not bare.startswith("9"):
        return False
    group = int(bare[3:5])
    return 50 <= group <= 65 or 70 <= group <= 88 or 90 <= group <= 92 or group >= 94


@validator("ca_sin", proves=True)
def ca_sin(value: str) -> bool:
    bare = digits(value, 9)
    return bool(bare) and bare[0] != "8" and varied(bare) and luhn_checks(bare)


@validator("mx_curp", proves=True)
def mx_curp(value: str) -> bool:
    bare = compact(value)
    found = _CURP.fullmatch(bare)
    if not found or bare[11:13] not in _CURP_STATES:
        return False
    century = 1900 if bare[16].isdigit() else 2000
    if not exists(century + int(found[1]), int(found[2]), int(found[3])):
        return False
    total = sum(_CURP_ALPHABET[char] * (18 - place) for place, char in enumerate(bare[:17]))
    return -total % 10 == int(bare[17])


@validator("br_cpf", proves=True)
def br_cpf(value: str) -> bool:
    bare = digits(value, 11)
    if not bare or not varied(bare):
        return False
    first = weighted(bare[:9], range(10, 1, -1)) * 10 % 11 % 10
    second = weighted(bare[:10], range(11, 1, -1)) * 10 % 11 % 10
    return f"{first}{second}" == bare[9:]


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


@validator("br_pis", proves=True)
def br_pis(value: str) -> bool:
    """Brazil's PIS, PASEP and NIS."""
    bare = digits(value, 11)
    return (
        bool(bare)
        and varied(bare)
        and -weighted(bare[:10], (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11 % 10 == int(bare[10])
    )


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


@validator("ar_cuit", proves=True)
def ar_cuit(value: str) -> bool:
    """Argentina's CUIT and CUIL, which hold the number of the identity document."""
    bare = digits(value, 11)
    if bare[:2] not in {"20", "23", "24", "25", "26", "27", "30", "33", "34", "50", "51", "55"}:
        return False
    check = -weighted(bare[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return min(check, 9) == int(bare[10])


@validator("cl_rut", proves=True)
def cl_rut(value: str) -> bool:
    """Chile: the last character is a digit or K."""
    bare = compact(value)
    number = digits(bare[:-1], 7, 8)
    if not number or int(number) < 1_000_000 or not varied(number):
        return False
    check = -weighted(number[::-1], (2, 3, 4, 5, 6, 7, 2, 3)) % 11
    return "0123456789K"[check] == bare[-1]


@validator("co_nit", proves=True)
def co_nit(value: str) -> bool:
    bare = digits(value, 9, 10, 11)
    if not bare or not varied(bare):
        return False
    rest = weighted(bare[-2::-1], (3, 7, 13, 17, 19, 23, 29, 37, 41, 43)) % 11
    return "01987654321"[rest] == bare[-1]


@validator("pe_ruc", proves=True)
def pe_ruc(value: str) -> bool:
    bare = digits(value, 11)
    if bare[:2] not in {"10", "15", "16", "17", "20"}:
        return False
    return (11 - weighted(bare[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 10 == int(bare[10])


@validator("ec_cedula", proves=True)
def ec_cedula(value: str) -> bool:
    """Ecuador: a province of 01 to 24 or 30, a third digit up to 6, and a Luhn digit; a RUC of
    people adds 001.
    """
    bare = digits(value, 10, 13)
    if not bare or bare[10:] not in {"", "001"} or bare[2] > "6":
        return False
    province = int(bare[:2])
    return (1 <= province <= 24 or province == 30) and luhn_checks(bare[:10])


@validator("uy_ci", proves=True)
def uy_ci(value: str) -> bool:
    bare = digits(value, 7, 8).zfill(8)
    return (
        varied(bare)
        and int(bare) > 99_999
        and -weighted(bare[:7], (2, 9, 8, 7, 6, 3, 4)) % 10 == int(bare[7])
    )


@validator("ve_rif", proves=True)
def ve_rif(value: str) -> bool:
    bare = compact(value)
    kind = {"V": 4, "E": 8, "J": 12, "P": 16, "G": 20, "C": 12}.get(bare[:1])
    number = digits(bare[1:], 9)
    if kind is None or not number:
        return False
    return "00987654321"[(kind + weighted(number[:8], (3, 2, 7, 6, 5, 4, 3, 2))) % 11] == number[8]


@validator("do_cedula", proves=True)
def do_cedula(value: str) -> bool:
    bare = digits(value, 11)
    return bool(bare) and varied(bare) and luhn_checks(bare)


@validator("gt_cui", proves=True)
def gt_cui(value: str) -> bool:
    """Guatemala: eight digits, a check digit, department and municipality."""
    bare = digits(value, 13)
    if not bare or not 1 <= int(bare[9:11]) <= 22 or not 1 <= int(bare[11:]) <= 40:
        return False
    return weighted(bare[:8], range(2, 10)) % 11 == int(bare[8])


@validator("sv_dui", proves=True)
def sv_dui(value: str) -> bool:
    bare = digits(value, 9)
    return bool(bare) and varied(bare) and -weighted(bare[:8], range(9, 1, -1)) % 10 == int(bare[8])


@validator("py_ruc", proves=True)
def py_ruc(value: str) -> bool:
    bare = digits(value, 6, 7, 8, 9)
    if not bare or not varied(bare):
        return False
    return -weighted(bare[-2::-1], range(2, 11)) % 11 % 10 == int(bare[-1])


@validator("cu_ni")
def cu_ni(value: str) -> bool:
    """Cuba: a birthday, a digit for the century and a serial."""
    bare = digits(value, 11)
    if not bare:
        return False
    century = 1800 if bare[6] == "9" else 1900 if bare[6] < "6" else 2000
    return exists(century + int(bare[:2]), int(bare[2:4]), int(bare[4:6]))
