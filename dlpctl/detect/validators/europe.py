"""National identifiers of the countries of Europe."""

from __future__ import annotations

import re

from dlpctl.detect.validators import validator
from dlpctl.detect.validators.checksums import (
    alphanumeric,
    compact,
    digits,
    ean_checks,
    luhn_checks,
    mod_11_10_checks,
    numbers,
    varied,
    verhoeff_checks,
    weighted,
)
from dlpctl.detect.validators.dates import exists, short, short_reversed

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU_LETTERS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_HETU_CENTURIES = {"+": 1800, **dict.fromkeys("-YXWVU", 1900), **dict.fromkeys("ABCDEF", 2000)}
_PPS_LETTERS = "WABCDEFGHIJKLMNOPQRSTUV"
_ITALIAN_MONTHS = "ABCDEHLMPRST"
_ITALIAN_DIGITS = str.maketrans("LMNPQRSTUV", "0123456789")
_ITALIAN_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            2,
            4,
            18,
            20,
            11,
            3,
            6,
            8,
            12,
            14,
            16,
            10,
            22,
            25,
            24,
            23,
        ),
        strict=True,
    )
)
_ITALIAN_CODE = re.compile(
    r"[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]"
)


@validator("es_dni", proves=True)
def es_dni(value: str) -> bool:
    """Spain: the letter behind the number is the number modulo 23."""
    bare = compact(value)
    number, letter = digits(bare[:-1], 8), bare[-1:]
    return bool(number) and varied(number) and letter == _DNI_LETTERS[int(number) % 23]


@validator("es_nie", proves=True)
def es_nie(value: str) -> bool:
    """Spain, foreigners: X, Y and Z count as a first digit of 0, 1 and 2."""
    bare = compact(value)
    first = "XYZ".find(bare[:1]) if bare else -1
    number = digits(bare[1:-1], 7)
    return first >= 0 and bool(number) and bare[-1] == _DNI_LETTERS[int(f"{first}{number}") % 23]


@validator("it_codice_fiscale", proves=True)
def it_codice_fiscale(value: str) -> bool:
    bare = compact(value)
    if not _ITALIAN_CODE.fullmatch(bare):
        return False
    birth = (bare[6:8] + bare[9:11]).translate(_ITALIAN_DIGITS)
    month, day = _ITALIAN_MONTHS.index(bare[8]) + 1, int(birth[2:]) % 40
    if not any(exists(century + int(birth[:2]), month, day) for century in (1900, 2000)):
        return False
    even = sum(number if number < 10 else number - 10 for number in numbers(bare[1:15:2]))
    return (
        chr(ord("A") + (sum(_ITALIAN_ODD[char] for char in bare[0:15:2]) + even) % 26) == bare[15]
    )


@validator("pt_cartao_cidadao", proves=True)
def pt_cartao_cidadao(value: str) -> bool:
    """Portugal's citizen card: eight digits, a check digit, two letters and a check digit, by Luhn
    over 36 characters.
    """
    bare = compact(value)
    if (
        len(bare) != 12
        or not alphanumeric(bare)
        or not (bare[:9] + bare[11]).isdigit()
        or not bare[9:11].isalnum()
    ):
        return False
    total = 0
    for place, number in enumerate(numbers(bare)):
        doubled = number * 2 if place % 2 == 0 else number
        total += doubled - 9 if place % 2 == 0 and doubled > 9 else doubled
    return total % 10 == 0


@validator("de_steuer_id", proves=True)
def de_steuer_id(value: str) -> bool:
    """Germany's tax number for life: of the first ten digits exactly one stands twice or three
    times.
    """
    bare = digits(value, 11)
    if not bare or bare[0] == "0" or not mod_11_10_checks(bare):
        return False
    repeated = [bare[:10].count(char) for char in set(bare[:10]) if bare[:10].count(char) > 1]
    return repeated in ([2], [3])


@validator("de_id_card", proves=True)
def de_id_card(value: str) -> bool:
    """German identity cards and passports: nine characters and a check digit by the weights 7, 3,
    1.
    """
    bare = compact(value)
    return (
        len(bare) == 10
        and alphanumeric(bare)
        and bare[9].isdigit()
        and not bare.isalpha()
        and weighted(bare[:9], (7, 3, 1) * 3) % 10 == int(bare[9])
    )


@validator("de_rvnr", proves=True)
def de_rvnr(value: str) -> bool:
    """German social insurance: area, birthday, initial, serial, check digit."""
    bare = compact(value)
    if (
        len(bare) != 12
        or not alphanumeric(bare)
        or not (bare[:8] + bare[9:]).isdigit()
        or not bare[8].isalpha()
    ):
        return False
    if not (
        short_reversed(bare[2:8])
        or (int(bare[2:4]) > 50 and short_reversed(f"{int(bare[2:4]) - 50:02}{bare[4:8]}"))
    ):
        return False
    expanded = bare[:8] + f"{ord(bare[8]) - 64:02}" + bare[9:11]
    products = (
        int(char) * weight
        for char, weight in zip(expanded, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True)
    )
    return sum(product // 10 + product % 10 for product in products) % 10 == int(bare[11])


@validator("at_svnr", proves=True)
def at_svnr(value: str) -> bool:
    """Austrian social insurance: the fourth digit checks the others."""
    bare = digits(value, 10)
    if not bare or bare[0] == "0" or not (short_reversed(bare[4:]) or 12 < int(bare[6:8]) <= 15):
        return False
    return weighted(bare[:3] + bare[4:], (3, 7, 9, 5, 8, 4, 2, 1, 6)) % 11 == int(bare[3])


@validator("be_rijksregister", proves=True)
def be_rijksregister(value: str) -> bool:
    """Belgium: 97 minus the number modulo 97, with a 2 before it for those born from 2000 on."""
    bare = digits(value, 11)
    if not bare or not varied(bare) or int(bare[2:4]) % 20 > 12 or int(bare[4:6]) > 31:
        return False
    return any(97 - int(century + bare[:9]) % 97 == int(bare[9:]) for century in ("", "2"))


@validator("nl_bsn", proves=True)
def nl_bsn(value: str) -> bool:
    bare = digits(value, 8, 9).zfill(9)
    return varied(bare) and weighted(bare, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


@validator("lu_matricule", proves=True)
def lu_matricule(value: str) -> bool:
    """Luxembourg: a birthday, a serial, a Luhn digit and a Verhoeff digit."""
    bare = digits(value, 13)
    return (
        bool(bare)
        and exists(int(bare[:4]), int(bare[4:6]), int(bare[6:8]))
        and luhn_checks(bare[:12])
        and verhoeff_checks(bare[:11] + bare[12])
    )


@validator("ch_ahv", proves=True)
def ch_ahv(value: str) -> bool:
    """Switzerland and Liechtenstein: an article number that begins with 756."""
    bare = digits(value, 13)
    return bare.startswith("756") and ean_checks(bare)


@validator("gb_nino")
def gb_nino(value: str) -> bool:
    """United Kingdom: prefixes that are not given out do not count."""
    bare = compact(value)
    return (
        8 <= len(bare) <= 9
        and bare[:2] not in {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}
        and bare[:1] not in set("DFIQUV")
        and bare[1:2] not in set("DFIQUVO")
        and bool(digits(bare[2:8], 6))
        and bare[8:] in {"", "A", "B", "C", "D"}
    )


@validator("gb_driver")
def gb_driver(value: str) -> bool:
    """Great Britain: five letters of the surname, then decade, month (plus 50 for women), day and
    year of birth.
    """
    bare = compact(value)
    if len(bare) < 16 or not alphanumeric(bare) or not digits(bare[5:11], 6):
        return False
    month, day = int(bare[6:8]) % 50, int(bare[8:10])
    return 1 <= month <= 12 and 1 <= day <= 31 and int(bare[6:8]) <= 62


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


@validator("dk_cpr")
def dk_cpr(value: str) -> bool:
    """Denmark: a birthday and a serial; the checksum ended in 2007."""
    bare = digits(value, 10)
    return bool(bare) and short_reversed(bare[:6], 1800, 1900, 2000) and bare[6:] != "0000"


@validator("se_personnummer", proves=True)
def se_personnummer(value: str) -> bool:
    """Sweden: a birthday, to whose day coordination numbers add 60, and a Luhn digit."""
    bare = digits(value.replace("+", "-"), 10, 12)[-10:]
    if not bare:
        return False
    day = int(bare[4:6])
    return short(f"{bare[:4]}{day - 60 if day > 60 else day:02}") and luhn_checks(bare)


@validator("se_orgnr", proves=True)
def se_orgnr(value: str) -> bool:
    bare = digits(value, 10)
    return bool(bare) and int(bare[2]) >= 2 and luhn_checks(bare)


@validator("no_fodselsnummer", proves=True)
def no_fodselsnummer(value: str) -> bool:
    """Norway: a birthday (D-numbers add 40 to the day), and two check digits."""
    bare = digits(value, 11)
    if not bare:
        return False
    day, month = int(bare[:2]) % 40, int(bare[2:4]) % 40
    if not any(exists(century + int(bare[4:6]), month, day) for century in (1900, 2000)):
        return False
    first = -weighted(bare[:9], (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -weighted(bare[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return f"{first}{second}" == bare[9:]


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


@validator("is_kennitala", proves=True)
def is_kennitala(value: str) -> bool:
    bare = digits(value, 10)
    if not bare or not (
        short_reversed(bare[:6])
        or short_reversed(f"{int(bare[:2]) - 40:02}{bare[2:6]}" if bare[0] in "4567" else "000000")
    ):
        return False
    return bare[9] in "890" and weighted(bare[:9], (3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _baltic(bare: str) -> bool:
    """The check digit of Estonia and Lithuania: a second row of weights where the first gives ten."""
    check = weighted(bare[:10], (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if check == 10:
        check = weighted(bare[:10], (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return check == int(bare[10])


@validator("baltic_personal_code", proves=True)
def baltic_personal_code(value: str) -> bool:
    """Estonia and Lithuania: the first digit says century and sex."""
    bare = digits(value, 11)
    return (
        bool(bare)
        and bare[0] in "123456"
        and short(bare[1:7], 1800 + (int(bare[0]) - 1) // 2 * 100)
        and _baltic(bare)
    )


@validator("lv_personas_kods", proves=True)
def lv_personas_kods(value: str) -> bool:
    """Latvia: a birthday or, since 2017, a number that begins with 32; the checksum is of the old
    ones.
    """
    bare = digits(value, 11)
    if bare.startswith("32"):
        return True
    if not bare or not short_reversed(bare[:6], 1800, 1900, 2000):
        return False
    return (1101 - weighted(bare[:10], (1, 6, 3, 7, 9, 10, 5, 8, 4, 2))) % 11 % 10 == int(bare[10])


@validator("pl_pesel", proves=True)
def pl_pesel(value: str) -> bool:
    """Poland: a birthday whose month tells the century by twenties."""
    bare = digits(value, 11)
    if not bare:
        return False
    month = int(bare[2:4])
    century = (1900, 2000, 2100, 2200, 1800)[month // 20]
    if not exists(century + int(bare[:2]), month % 20, int(bare[4:6])):
        return False
    return weighted(bare, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


@validator("pl_id_card", proves=True)
def pl_id_card(value: str) -> bool:
    bare = compact(value)
    if len(bare) != 9 or not alphanumeric(bare) or not bare[:3].isalpha() or not bare[3:].isdigit():
        return False
    return weighted(bare[:3] + bare[4:], (7, 3, 1, 7, 3, 1, 7, 3)) % 10 == int(bare[3])


@validator("pl_passport", proves=True)
def pl_passport(value: str) -> bool:
    bare = compact(value)
    if len(bare) != 9 or not alphanumeric(bare) or not bare[:2].isalpha() or not bare[2:].isdigit():
        return False
    return weighted(bare[:2] + bare[3:], (7, 3, 1, 7, 3, 1, 7, 3)) % 10 == int(bare[2])


@validator("cz_rodne_cislo", proves=True)
def cz_rodne_cislo(value: str) -> bool:
    """Czechia and Slovakia: a birthday (women add 50 to the month, late serials 20), the whole
    divisible by 11.
    """
    bare = digits(value, 10)
    if not bare:
        return False
    month = int(bare[2:4]) % 50
    if not short(f"{bare[:2]}{month - 20 if month > 20 else month:02}{bare[4:6]}"):
        return False
    return int(bare) % 11 == 0 or (int(bare[:9]) % 11 == 10 and bare[9] == "0")


@validator("hu_personal_number", proves=True)
def hu_personal_number(value: str) -> bool:
    bare = digits(value, 11)
    if not bare or bare[0] not in "12345678" or not short(bare[1:7]):
        return False
    upwards = weighted(bare[:10], range(1, 11)) % 11
    downwards = weighted(bare[:10], range(10, 0, -1)) % 11
    return int(bare[10]) in {upwards, downwards}


@validator("hu_tax_id", proves=True)
def hu_tax_id(value: str) -> bool:
    bare = digits(value, 10)
    return bare.startswith("8") and weighted(bare[:9], range(1, 10)) % 11 == int(bare[9])


def _romanian_county(number: int) -> bool:
    return 1 <= number <= 52 or number == 70 or 80 <= number <= 83


@validator("ro_cnp", proves=True)
def ro_cnp(value: str) -> bool:
    bare = digits(value, 13)
    if (
        not bare
        or bare[0] == "0"
        or not short(bare[1:7], 1800, 1900, 2000)
        or not _romanian_county(int(bare[7:9]))
    ):
        return False
    check = weighted(bare[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return (1 if check == 10 else check) == int(bare[12])


@validator("bg_egn", proves=True)
def bg_egn(value: str) -> bool:
    """Bulgaria: the month tells the century, plus 20 before 1900 and plus 40 from 2000 on."""
    bare = digits(value, 10)
    if not bare:
        return False
    month = int(bare[2:4])
    century = {0: 1900, 1: 1800, 2: 2000}.get(month // 20, 0)
    if not century or not exists(century + int(bare[:2]), month % 20, int(bare[4:6])):
        return False
    return weighted(bare[:9], (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == int(bare[9])


@validator("hr_oib", proves=True)
def hr_oib(value: str) -> bool:
    bare = digits(value, 11)
    return bool(bare) and varied(bare) and mod_11_10_checks(bare)


@validator("jmbg", proves=True)
def jmbg(value: str) -> bool:
    """Serbia, Bosnia, Croatia before 2009, Montenegro, North Macedonia and Slovenia (there called
    EMŠO).
    """
    bare = digits(value, 13)
    if not bare:
        return False
    year = int(bare[4:7])
    if not exists(year + (1000 if year >= 800 else 2000), int(bare[2:4]), int(bare[:2])):
        return False
    return weighted(bare, (7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


@validator("gr_amka", proves=True)
def gr_amka(value: str) -> bool:
    bare = digits(value, 11)
    return bool(bare) and short_reversed(bare[:6]) and luhn_checks(bare)


@validator("al_nid")
def al_nid(value: str) -> bool:
    """Albania: a letter for the decade, year, month (women add 50), day, serial, letter."""
    bare = compact(value)
    if (
        len(bare) != 10
        or not alphanumeric(bare)
        or not bare[1:9].isdigit()
        or not (bare[0] + bare[9]).isalpha()
    ):
        return False
    month, day = int(bare[2:4]) % 50, int(bare[4:6])
    return 1 <= month <= 12 and 1 <= day <= 31


@validator("ru_inn", proves=True)
def ru_inn(value: str) -> bool:
    """Russia's tax number: twelve digits for people, ten for companies."""
    bare = digits(value, 10, 12)
    if not bare or not varied(bare):
        return False
    if len(bare) == 10:
        return weighted(bare[:9], (2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10 == int(bare[9])
    first = weighted(bare[:10], (7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10
    second = weighted(bare[:11], (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10
    return f"{first}{second}" == bare[10:]


@validator("ru_snils", proves=True)
def ru_snils(value: str) -> bool:
    bare = digits(value, 11)
    return (
        bool(bare)
        and varied(bare)
        and weighted(bare[:9], range(9, 0, -1)) % 101 % 100 == int(bare[9:])
    )


@validator("ua_rnokpp", proves=True)
def ua_rnokpp(value: str) -> bool:
    """Ukraine: days since the end of 1899, a serial, a check digit."""
    bare = digits(value, 10)
    return (
        bool(bare)
        and 0 < int(bare[:5]) < 50_000
        and weighted(bare[:9], (-1, 5, 7, 9, 4, 6, 10, 5, 7)) % 11 % 10 == int(bare[9])
    )


@validator("md_idnp", proves=True)
def md_idnp(value: str) -> bool:
    bare = digits(value, 13)
    return (
        bare[:1] in {"0", "1", "2", "3"}
        and varied(bare)
        and weighted(bare[:12], (7, 3, 1) * 4) % 10 == int(bare[12])
    )
