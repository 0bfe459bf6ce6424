"""National identifiers of Asia, Africa and Oceania."""

from __future__ import annotations

import re

from dlpctl.detect.validators import validator
from dlpctl.detect.validators.checksums import (
    alphanumeric,
    compact,
    digits,
    luhn_checks,
    mod_11_2_checks,
    varied,
    verhoeff_checks,
    weighted,
)
from dlpctl.detect.validators.dates import exists, short, short_reversed

_TW_LETTERS = {char: place + 10 for place, char in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO")}
_HKID = re.compile(r"([A-Z]{1,2})([0-9]{6})\(?([0-9A])\)?")
_CHINESE_PROVINCES_LISTED = "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83"
_CHINESE_PROVINCES = frozenset(_CHINESE_PROVINCES_LISTED.split())
_MALAYSIAN_PLACES = frozenset(range(1, 69)) - {17, 18, 19, 20} | {
    71,
    72,
    74,
    75,
    76,
    77,
    78,
    79,
    82,
    *range(83, 94),
    98,
    99,
}


@validator("cn_ric", proves=True)
def cn_ric(value: str) -> bool:
    """China: province, county, birthday, serial and a check character that may be X."""
    bare = compact(value)
    if (
        len(bare) != 18
        or not digits(bare[:17], 17)
        or bare[17] not in "0123456789X"
        or bare[:2] not in _CHINESE_PROVINCES
    ):
        return False
    return (
        1880 <= int(bare[6:10]) <= 2035
        and exists(int(bare[6:10]), int(bare[10:12]), int(bare[12:14]))
        and mod_11_2_checks(bare)
    )


@validator("hk_hkid", proves=True)
def hk_hkid(value: str) -> bool:
    """Hong Kong: one or two letters, six digits and a check digit in brackets."""
    found = _HKID.fullmatch(compact(value))
    if not found:
        return False
    letters, number, check = found.groups()
    total = 36 * 9 if len(letters) == 1 else (ord(letters[0]) - 55) * 9
    total += (ord(letters[-1]) - 55) * 8 + weighted(number, (7, 6, 5, 4, 3, 2)) + int(check, 16)
    return total % 11 == 0


@validator("tw_national_id", proves=True)
def tw_national_id(value: str) -> bool:
    """Taiwan, citizens and residents: a letter that counts two digits, then nine digits."""
    bare = compact(value)
    if (
        len(bare) != 10
        or bare[0] not in _TW_LETTERS
        or not digits(bare[1:], 9)
        or bare[1] not in "1289"
    ):
        return False
    first = _TW_LETTERS[bare[0]]
    return (
        first // 10 + first % 10 * 9 + weighted(bare[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1))
    ) % 10 == 0


@validator("jp_my_number", proves=True)
def jp_my_number(value: str) -> bool:
    bare = digits(value, 12)
    if not bare or not varied(bare):
        return False
    rest = weighted(bare[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest <= 1 else 11 - rest) == int(bare[11])


@validator("kr_rrn")
def kr_rrn(value: str) -> bool:
    """South Korea, citizens and foreigners: the seventh digit tells sex and century; numbers given
    since 2020 have no checksum.
    """
    bare = digits(value, 13)
    if not bare:
        return False
    century = {"9": 1800, "0": 1800, "1": 1900, "2": 1900, "5": 1900, "6": 1900}.get(bare[6], 2000)
    return exists(century + int(bare[:2]), int(bare[2:4]), int(bare[4:6]))


@validator("th_pin", proves=True)
def th_pin(value: str) -> bool:
    bare = digits(value, 13)
    return (
        bool(bare)
        and bare[0] not in "09"
        and varied(bare)
        and (11 - weighted(bare[:12], range(13, 1, -1)) % 11) % 10 == int(bare[12])
    )


@validator("sg_nric", proves=True)
def sg_nric(value: str) -> bool:
    """Singapore: S and T for citizens, F, G and M for foreigners; T and G add 4, M adds 3."""
    bare = compact(value)
    if len(bare) != 9 or bare[0] not in "STFGM" or not digits(bare[1:8], 7):
        return False
    total = weighted(bare[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(bare[0], 0)
    if bare[0] in "ST":
        return "JZIHGFEDCBA"[total % 11] == bare[8]
    return ("XWUTRQPNMLK" if bare[0] in "FG" else "XWUTRQPNJLK")[total % 11] == bare[8]


@validator("my_nric")
def my_nric(value: str) -> bool:
    """Malaysia: a birthday, a place of birth and a serial."""
    bare = digits(value, 12)
    return bool(bare) and short(bare[:6]) and int(bare[6:8]) in _MALAYSIAN_PLACES


@validator("id_nik")
def id_nik(value: str) -> bool:
    """Indonesia: province, regency, district, birthday (women add 40 to the day), serial."""
    bare = digits(value, 16)
    if not bare or not 11 <= int(bare[:2]) <= 96 or bare[2:4] == "00" or bare[12:] == "0000":
        return False
    return short_reversed(f"{int(bare[6:8]) % 40:02}{bare[8:12]}")


@validator("in_aadhaar", proves=True)
def in_aadhaar(value: str) -> bool:
    """India: no first digit of 0 or 1, no palindrome."""
    bare = digits(value, 12)
    return bool(bare) and bare[0] not in "01" and bare != bare[::-1] and verhoeff_checks(bare)


@validator("pk_cnic")
def pk_cnic(value: str) -> bool:
    bare = digits(value, 13)
    return bool(bare) and bare[0] in "1234567" and bare[12] != "0" and varied(bare)


@validator("lk_nic")
def lk_nic(value: str) -> bool:
    """Sri Lanka: the year and the day of the year (women add 500), before 2016 with a V or X at the
    end.
    """
    bare = compact(value)
    if len(bare) == 10 and bare[9] in "VX" and digits(bare[:9], 9):
        day = int(bare[2:5])
    elif digits(bare, 12) and 1900 <= int(bare[:4]) <= 2030:
        day = int(bare[4:7])
    else:
        return False
    return 1 <= day % 500 <= 366


@validator("kz_iin", proves=True)
def kz_iin(value: str) -> bool:
    """Kazakhstan: a birthday, a digit for sex and century, a serial, a check digit."""
    bare = digits(value, 12)
    if not bare or bare[6] not in "0123456" or not short(bare[:6], 1800, 1900, 2000):
        return False
    check = weighted(bare[:11], range(1, 12)) % 11
    if check == 10:
        check = weighted(bare[:11], (3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2)) % 11
    return check == int(bare[11])


@validator("uz_pinfl", proves=True)
def uz_pinfl(value: str) -> bool:
    bare = digits(value, 14)
    return (
        bare[:1] in {"1", "2", "3", "4", "5", "6"}
        and short_reversed(bare[1:7])
        and weighted(bare[:13], (7, 3, 1) * 5) % 10 == int(bare[13])
    )


@validator("ir_national_code", proves=True)
def ir_national_code(value: str) -> bool:
    bare = digits(value, 10)
    if not bare or not varied(bare):
        return False
    rest = weighted(bare[:9], range(10, 1, -1)) % 11
    return (rest if rest < 2 else 11 - rest) == int(bare[9])


@validator("il_id", proves=True)
def il_id(value: str) -> bool:
    bare = digits(value, 8, 9).zfill(9)
    return int(bare) > 0 and varied(bare) and luhn_checks(bare)


@validator("tr_tckn", proves=True)
def tr_tckn(value: str) -> bool:
    bare = digits(value, 11)
    if not bare or bare[0] == "0" or not varied(bare):
        return False
    tenth = (7 * sum(map(int, bare[0:9:2])) - sum(map(int, bare[1:8:2]))) % 10
    return tenth == int(bare[9]) and sum(map(int, bare[:10])) % 10 == int(bare[10])


@validator("ae_emirates_id", proves=True)
def ae_emirates_id(value: str) -> bool:
    """United Arab Emirates: 784, the year of birth, a serial, a Luhn digit."""
    bare = digits(value, 15)
    return bare.startswith("784") and 1900 <= int(bare[3:7]) <= 2035 and luhn_checks(bare)


@validator("sa_national_id", proves=True)
def sa_national_id(value: str) -> bool:
    """Saudi Arabia: 1 for citizens, 2 for residents, a Luhn digit."""
    bare = digits(value, 10)
    return bare[:1] in {"1", "2"} and varied(bare) and luhn_checks(bare)


@validator("kw_civil_id", proves=True)
def kw_civil_id(value: str) -> bool:
    bare = digits(value, 12)
    if not bare or bare[0] not in "123" or not short(bare[1:7], 1800, 1900, 2000):
        return False
    return 11 - weighted(bare[:11], (2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11 == int(bare[11])


@validator("eg_national_id")
def eg_national_id(value: str) -> bool:
    """Egypt: a century, a birthday, a governorate, a serial."""
    bare = digits(value, 14)
    if bare[:1] not in {"2", "3"}:
        return False
    if not exists((1700 + 100 * int(bare[0])) + int(bare[1:3]), int(bare[3:5]), int(bare[5:7])):
        return False
    return 1 <= int(bare[7:9]) <= 35 or bare[7:9] == "88"


@validator("za_id", proves=True)
def za_id(value: str) -> bool:
    """South Africa: a birthday, a serial, 0 for citizens to 2 for refugees, and a Luhn digit."""
    bare = digits(value, 13)
    return bool(bare) and short(bare[:6]) and bare[10] in "012" and luhn_checks(bare)


@validator("au_tfn", proves=True)
def au_tfn(value: str) -> bool:
    bare = digits(value, 8, 9)
    if not bare or not varied(bare):
        return False
    return (
        weighted(
            bare, (1, 4, 3, 7, 5, 8, 6, 9, 10) if len(bare) == 9 else (10, 7, 8, 4, 6, 3, 5, 1)
        )
        % 11
        == 0
    )


@validator("au_abn", proves=True)
def au_abn(value: str) -> bool:
    bare = digits(value, 11)
    return (
        bare[:1] not in {"", "0"}
        and weighted(f"{int(bare[0]) - 1}{bare[1:]}", (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)) % 89
        == 0
    )


@validator("au_acn", proves=True)
def au_acn(value: str) -> bool:
    bare = digits(value, 9)
    return bool(bare) and varied(bare) and -weighted(bare[:8], range(8, 0, -1)) % 10 == int(bare[8])


@validator("nz_ird", proves=True)
def nz_ird(value: str) -> bool:
    bare = digits(value, 8, 9).zfill(9)
    if not 10_000_000 < int(bare) < 150_000_000:
        return False
    check = -weighted(bare[:8], (3, 2, 7, 6, 5, 4, 3, 2)) % 11
    if check == 10:
        check = -weighted(bare[:8], (7, 4, 3, 2, 5, 2, 7, 6)) % 11
    return check == int(bare[8])


@validator("in_pan")
def in_pan(value: str) -> bool:
    """India's tax account: the fourth letter tells what the holder is."""
    bare = compact(value)
    return (
        len(bare) == 10
        and bare[3] in "ABCFGHJLPT"
        and alphanumeric(bare)
        and bare[:5].isalpha()
        and bare[9].isalpha()
        and bare[5:9].isdigit()
        and bare[5:9] != "0000"
    )
