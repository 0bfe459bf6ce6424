"""Whether a value that was found is one of ours: masked already, or a stand-in that nobody can
hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dlpctl.masking import surrogate_vocabulary
from dlpctl.masking.kinds import Kind, kind_of
from dlpctl.regex import lazy
from dlpctl.types import Category

if TYPE_CHECKING:
    from collections.abc import Callable


_LABEL = lazy(r"\[[A-Z][A-Z0-9_]*(?:#[0-9a-f]{12})?\]|<[A-Z][A-Z0-9_]*_[1-9][0-9]*>")
_LABEL_BEGINS = ("[", "<")
_NOT_DIGITS = lazy(r"\D+")
_ALNUM = lazy(r"[^\W_]", re.ASCII)
_WORD = lazy(r"[^\W\d_]+")
_LONG_WORD = lazy(r"[^\W\d_]{3,}")
_MASKED_SECRET = lazy(r".{0,4}\*{8}")
_MASKED_EMAIL = lazy(r"[^@*]?\*{3}@[^@]+")
_EMAIL = lazy(r"([a-z]+(?:\.[a-z]+){0,2})[0-9]{0,3}@([a-z]+)\.example")
_URL_HOST = lazy(r"[a-z][a-z0-9+.\-]*://([a-z]+)\.example(?:/.*)?", re.IGNORECASE | re.DOTALL)
_USERNAME = lazy(r"([a-z]+)[0-9]{2}")
_PLACE = lazy(r"-48\.\d+\D+-123\.\d+")
_MOST_KEPT = 6
"""Letters and digits that `partial` leaves of an identifier, with the country code of a phone
number.
"""


def is_already_masked(type_name: str, category: Category, value: str) -> bool:
    """Such a value is no leak. One value in 10,000 is reserved by chance, a published test value
    never.
    """
    if value[:1] in _LABEL_BEGINS and _LABEL.fullmatch(value):
        return True
    kind = kind_of(type_name, category)
    if category is not Category.SECRETS and "*" in value and not any(map(str.isalnum, value)):
        return True
    return _IS_MASKED.get(kind, _mostly_stars)(value) or _IS_STAND_IN.get(kind, _never)(value)


def _never(_: str) -> bool:
    return False


def _mostly_stars(value: str) -> bool:
    if "*" not in value:
        return False
    kept = sum(map(str.isalnum, value))
    return kept <= _MOST_KEPT and value.count("*") >= max(2, kept)


def _is_initials(value: str) -> bool:
    if "." not in value and "*" not in value:
        return False
    words = [
        word for word in _WORD.findall(value) if word.lower() not in surrogate_vocabulary.TITLES
    ]
    return (
        bool(words)
        and all(len(word) == 1 for word in words)
        and len(re.findall(r"\w\.|\w\*", value)) >= len(words)
    )


def _is_masked_email(value: str) -> bool:
    return "***@" in value and _MASKED_EMAIL.fullmatch(value) is not None


def _is_masked_secret(value: str) -> bool:
    return _MASKED_SECRET.fullmatch(value) is not None


def _is_masked_url(value: str) -> bool:
    return value.endswith("/***")


def _is_masked_ip(value: str) -> bool:
    return "*" in value


def _email(value: str) -> bool:
    lowered = value.lower()
    match = _EMAIL.fullmatch(lowered) if lowered.endswith(".example") else None
    return match is not None and all(
        map(surrogate_vocabulary.is_invented, [*match.group(1).split("."), match.group(2)])
    )


def _phone(value: str) -> bool:
    digits = _NOT_DIGITS.sub("", value)
    if surrogate_vocabulary.FICTIONAL_US_PHONE.fullmatch(digits):
        return True
    plain = digits.startswith("00999") or ("+" in value and digits.startswith("999"))
    return plain and surrogate_vocabulary.NOWHERE_PHONE.fullmatch(digits) is not None


def _card(value: str) -> bool:
    digits = _NOT_DIGITS.sub("", value)
    if not 13 <= len(digits) <= 19 or digits[:6] not in surrogate_vocabulary.ALL_CARD_PREFIXES:
        return False
    body = digits[: -surrogate_vocabulary.MARK_LENGTH - 1]
    marked = body + surrogate_vocabulary.mark(body, "9" * surrogate_vocabulary.MARK_LENGTH)
    return digits == marked + surrogate_vocabulary.luhn_digit(marked)


def _iban(value: str) -> bool:
    compact = "".join(_ALNUM.findall(value)).upper()
    if len(compact) < 15 or not set(compact[4 : 4 + surrogate_vocabulary.IBAN_EMPTY_BANK]) <= {
        "0",
        "X",
    }:
        return False
    return compact[2:4] == surrogate_vocabulary.iban_check(compact[:2], compact[4:])


def _ssn(value: str) -> bool:
    digits = "".join(re.findall(r"\d", value))
    return len(digits) == 9 and digits.startswith(surrogate_vocabulary.UNISSUED_SSN_AREA)


def _name(value: str) -> bool:
    words = [
        word
        for word in _WORD.findall(value)
        if word.lower() not in surrogate_vocabulary.KEPT_IN_NAMES and len(word) > 1
    ]
    return bool(words) and all(map(surrogate_vocabulary.is_invented, words))


def _address(value: str) -> bool:
    words = [
        word
        for word in _LONG_WORD.findall(value)
        if word.lower() not in surrogate_vocabulary.KEPT_IN_ADDRESSES
    ]
    return any(map(surrogate_vocabulary.is_invented, words)) and all(
        surrogate_vocabulary.is_invented(word) or not word.strip("Z") for word in words
    )


def _ip(value: str) -> bool:
    first = re.split(r"[.:]", value, maxsplit=1)[0]
    if ":" in value:
        return first.lower() == surrogate_vocabulary.DOCUMENTATION_IPV6
    return first.isdecimal() and int(first) in surrogate_vocabulary.UNUSED_IPV4_FIRST


def _mac(value: str) -> bool:
    return "".join(_ALNUM.findall(value)).lower().startswith(surrogate_vocabulary.LOCAL_MAC_PREFIX)


def _url(value: str) -> bool:
    match = _URL_HOST.fullmatch(value)
    return match is not None and surrogate_vocabulary.is_invented(match.group(1))


def _date(value: str) -> bool:
    return re.search(rf"(?<!\d){surrogate_vocabulary.UNLIVED_CENTURY}\d(?!\d)", value) is not None


def _place(value: str) -> bool:
    return _PLACE.fullmatch(value) is not None


def _username(value: str) -> bool:
    match = _USERNAME.fullmatch(value)
    return match is not None and surrogate_vocabulary.is_invented(match.group(1))


def _number(value: str) -> bool:
    characters = "".join(_ALNUM.findall(value))
    if len(characters) < 8 or not value.isascii():
        return False
    body, end = (
        characters[: -surrogate_vocabulary.MARK_LENGTH],
        characters[-surrogate_vocabulary.MARK_LENGTH :],
    )
    zeros = 1 if len(characters) < 10 else 2
    if body[:zeros].isdigit() and body[:zeros] != "0" * zeros:
        return False
    return end == surrogate_vocabulary.mark(body, surrogate_vocabulary.classes(end))


_IS_MASKED: dict[Kind, Callable[[str], bool]] = {
    Kind.EMAIL: _is_masked_email,
    Kind.SECRET: _is_masked_secret,
    Kind.HIDDEN: _is_masked_secret,
    Kind.URL: _is_masked_url,
    Kind.IP: _is_masked_ip,
    Kind.MAC: _is_masked_ip,
    Kind.NAME: _is_initials,
}
_IS_STAND_IN: dict[Kind, Callable[[str], bool]] = {
    Kind.EMAIL: _email,
    Kind.PHONE: _phone,
    Kind.CARD: _card,
    Kind.IBAN: _iban,
    Kind.SSN: _ssn,
    Kind.NAME: _name,
    Kind.ADDRESS: _address,
    Kind.IP: _ip,
    Kind.MAC: _mac,
    Kind.URL: _url,
    Kind.DATE: _date,
    Kind.PLACE: _place,
    Kind.USERNAME: _username,
    Kind.NUMBER: _number,
    Kind.WORDS: _number,
}
