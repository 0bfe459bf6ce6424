"""Telephone numbers: which numbers a country's plan can hold."""

from __future__ import annotations

import re

from dlpctl.detect.validators.registry import validator

_LENGTHS = {
    code: tuple(map(int, lengths.split("-")))
    for lengths, codes in {
        "4-5": "290", "5-7": "683 690 676 677 678 688 247", "6-6": "298 299 672 687", "6-7": "597 500 682", "6-8": "47 386 686",
        "6-9": "40 252 355 376 421 508 681 689", "7-7": "238 239 246 248 269 291 297 592 673 674 680 691 692",
        "7-8": "241 599 670 675 853 961 965 975", "7-9": "220 231 245 265 354 385 423 967 968 64 685",
        "7-10": "44 48 84 230 243 254 263 267 353 372 960 46 53 95 880 98", "7-11": "501 503 507 679 886 974 31 852 375 595 352",
        "7-12": "86 882 972 39 61 359 381 358 971", "7-13": "90 43 63 598", "7-14": "49", "7-15": "62", "8-8":
        "45 216 222 223 226 227 228 232 235 236 253 257 266 350 356 357 370 371 373 374 389 505 509 800 808 973 993",
        "8-9": "32 36 51 213 224 233 237 250 258 264 268 377 382 387 591 962 963 27", "8-10": "20 60 378 506 850 855 856 964 970 976 81",
        "8-11": "55 57 65 502 504 593 977 82", "8-12": "92 383 883", "8-13": "66", "9-9":
        "33 34 41 93 94 211 212 218 221 240 242 244 249 251 255 256 260 261 262 351 420 590 594 596 979 992 994 995 998",
        "9-10": "380 881 966 996", "9-11": "56", "9-12": "870", "10-10": "1 7 52 58 225 229 91", "10-11": "54 234", "10-12": "30",
        "11-11": "888", "12-12": "878",
    }.items()
    for code in codes.split()
}  # fmt: skip
"""The least and most digits behind each country's code, without the shortest service numbers."""
_NOT_DIGITS = str.maketrans("", "", " -./()\u00a0\u2009\u202f\u2010\u2011\u2012\u2013\t")
_LONGEST = 48
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)[0-9]{2}"
)
_COORDINATES = re.compile(r"\+[0-9]{4}(?:[0-9]{2})?-[01][0-9]{4}(?:[0-9]{2})?")
"""Latitude and longitude by ISO 6709, as in the table of time zones."""


def _bare(value: str) -> str:
    """The digits of a number with its plus sign, without an extension; "" where something else is
    in it.
    """
    if len(value) > _LONGEST:
        return ""
    text = value.lower()
    for mark in ("ext", "x", "#", ";"):
        text = text.partition(mark)[0]
    text = text.replace("(0)", "").translate(_NOT_DIGITS)
    return text if text.removeprefix("+").isdecimal() and text.isascii() else ""


def _plausible(number: str) -> bool:
    return len(set(number)) > 2 and number not in "012345678901234567890"


@validator("phone_international")
def phone_international(value: str) -> bool:
    """A country's code behind a plus sign or 00 (011 in North America), and as many digits as its
    plan has.
    """
    if _COORDINATES.fullmatch(value):
        return False
    text = _bare(value)
    number = (
        text[1:]
        if text.startswith("+")
        else text[3:]
        if text.startswith("011")
        else text[2:]
        if text.startswith("00")
        else ""
    )
    for size in (1, 2, 3):
        if bounds := _LENGTHS.get(number[:size]):
            rest = number[size:]
            if number[0] == "1":
                return len(rest) == 10 and rest[0] in "23456789" and len(set(rest)) > 2
            return bounds[0] <= len(rest.lstrip("0")) <= bounds[1] and len(set(rest)) > 2
    return False


@validator("phone_nanp")
def phone_nanp(value: str) -> bool:
    """North America: an area code that begins with 2 to 9, seven more digits, perhaps a 1 before."""
    text = _bare(value).removeprefix("+").removeprefix("001")
    text = text[1:] if len(text) == 11 and text[0] == "1" else text
    return len(text) == 10 and text[0] in "23456789" and text[1:3] != "11" and len(set(text)) > 2


@validator("phone_national")
def phone_national(value: str) -> bool:
    """Seven to thirteen digits that are not one over and over, nor counted up."""
    text = _bare(value).removeprefix("+")
    return 7 <= len(text) <= 13 and _plausible(text)


@validator("phone_trunk")
def phone_trunk(value: str) -> bool:
    """Nine to twelve digits, of which the first is the 0 that is dialled within the country."""
    text = _bare(value)
    return 9 <= len(text) <= 12 and text[0] == "0" and _plausible(text)


@validator("phone_labelled")
def phone_labelled(value: str) -> bool:
    """What may stand behind the word for telephone: a number of any plan, not a date."""
    text = _bare(value)
    if text.startswith(("+", "00")):
        return phone_international(value)
    return not _DATE.search(value[:_LONGEST]) and 7 <= len(text) <= 13 and _plausible(text)
