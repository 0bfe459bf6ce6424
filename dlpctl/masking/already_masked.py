"""Recognize values that are already masked, and surrogates that nobody can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from dlpctl.operators import surrogate_vocabulary as vocabulary
from dlpctl.operators.escapes import unescaped
from dlpctl.operators.kinds import ValueKind, kind_of
from dlpctl.regex import lazy
from dlpctl.types import Category

_LABEL = lazy(r"\[[A-Z][A-Z0-9_]*(?:#[0-9a-f]{12})?\]|<[A-Z][A-Z0-9_]*_[1-9][0-9]*>")
_LABEL_BEGINS = ("[", "<")
_NOT_DIGITS = lazy(r"\D+")
_NOT_ASCII_DIGITS = bytes(range(128)).translate(None, b"0123456789")
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
"""The letters and digits that `partial` keeps of an identifier, including its country code."""


def is_already_masked(type_name: str, category: Category, value: str) -> bool:
    """Return whether a value is no leak; one real value in 10,000 passes by chance."""
    return masked_test(type_name, category)(value)


@cache
def masked_test(type_name: str, category: Category) -> Callable[[str], bool]:
    """Return the test of whether a value of a type is already masked."""
    value_kind = kind_of(type_name, category)
    is_masked = _IS_MASKED.get(value_kind, _mostly_stars)
    is_surrogate = _IS_SURROGATE.get(value_kind)
    may_be_stars = category is not Category.SECRETS

    def is_one(value: str) -> bool:
        if value[:1] in _LABEL_BEGINS and _LABEL.fullmatch(value):
            return True
        if may_be_stars and "*" in value and not any(map(str.isalnum, value)):
            return True
        return is_masked(value) or (is_surrogate is not None and is_surrogate(value))

    return is_one


def _mostly_stars(value: str) -> bool:
    if "*" not in value:
        return False
    kept = sum(map(str.isalnum, value))
    return kept <= _MOST_KEPT and value.count("*") >= max(2, kept)


def _is_initials(value: str) -> bool:
    if "." not in value and "*" not in value:
        return False
    value, _ = unescaped(value)
    words = [word for word in _WORD.findall(value) if word.lower() not in vocabulary.TITLES]
    return (
        bool(words)
        and all(len(word) == 1 for word in words)
        and len(re.findall(r"\w\.|\w\*", value)) >= len(words)
    )


def _email(value: str) -> bool:
    lowered = value.lower()
    match = _EMAIL.fullmatch(lowered) if lowered.endswith(".example") else None
    return match is not None and all(
        map(vocabulary.is_invented, [*match.group(1).split("."), match.group(2)])
    )


def _digits(value: str) -> str:
    if value.isdecimal():
        return value
    if value.isascii():
        return value.encode().translate(None, _NOT_ASCII_DIGITS).decode()
    return _NOT_DIGITS.sub("", value)


def _phone(value: str) -> bool:
    digits = _digits(value)
    if vocabulary.FICTIONAL_US_PHONE.fullmatch(digits):
        return True
    plain = digits.startswith("00999") or ("+" in value and digits.startswith("999"))
    return plain and vocabulary.NOWHERE_PHONE.fullmatch(digits) is not None


def _card(value: str) -> bool:
    digits = _digits(value)
    if not 13 <= len(digits) <= 19 or digits[:6] not in vocabulary.ALL_CARD_PREFIXES:
        return False
    body = digits[: -vocabulary.MARK_LENGTH - 1]
    marked = body + vocabulary.mark(body, "9" * vocabulary.MARK_LENGTH)
    return digits == marked + vocabulary.luhn_digit(marked)


def _iban(value: str) -> bool:
    compact = "".join(_ALNUM.findall(value)).upper()
    bank = compact[4 : 4 + vocabulary.IBAN_EMPTY_BANK]
    if len(compact) < 15 or bank.strip("0X"):
        return False
    return compact[2:4] == vocabulary.iban_check(compact[:2], compact[4:])


def _ssn(value: str) -> bool:
    digits = _digits(value)
    return len(digits) == 9 and digits.startswith(vocabulary.UNISSUED_SSN_AREA)


def _name(value: str) -> bool:
    words = 0
    for word in _WORD.findall(value):
        if len(word) > 1 and word.lower() not in vocabulary.KEPT_IN_NAMES:
            if not vocabulary.is_invented(word):
                return False
            words += 1
    return words > 0


def _address(value: str) -> bool:
    words = [
        word
        for word in _LONG_WORD.findall(value)
        if word.lower() not in vocabulary.KEPT_IN_ADDRESSES
    ]
    return any(map(vocabulary.is_invented, words)) and all(
        vocabulary.is_invented(word) or not word.strip("Z") for word in words
    )


def _ip(value: str) -> bool:
    first = re.split(r"[.:]", value, maxsplit=1)[0]
    if ":" in value:
        return first.lower() == vocabulary.DOCUMENTATION_IPV6
    return first.isdecimal() and int(first) in vocabulary.UNUSED_IPV4_FIRST


def _url(value: str) -> bool:
    match = _URL_HOST.fullmatch(value)
    return match is not None and vocabulary.is_invented(match.group(1))


def _username(value: str) -> bool:
    match = _USERNAME.fullmatch(value)
    return match is not None and vocabulary.is_invented(match.group(1))


def _number(value: str) -> bool:
    characters = "".join(_ALNUM.findall(value))
    if len(characters) < 8 or not value.isascii():
        return False
    body, end = characters[: -vocabulary.MARK_LENGTH], characters[-vocabulary.MARK_LENGTH :]
    zeros = 1 if len(characters) < 10 else 2
    if body[:zeros].isdigit() and body[:zeros] != "0" * zeros:
        return False
    return end == vocabulary.mark(body, vocabulary.classes(end))


_IS_MASKED: dict[ValueKind, Callable[[str], bool]] = {
    ValueKind.EMAIL: lambda value: "***@" in value and _MASKED_EMAIL.fullmatch(value) is not None,
    ValueKind.SECRET: lambda value: _MASKED_SECRET.fullmatch(value) is not None,
    ValueKind.HIDDEN: lambda value: _MASKED_SECRET.fullmatch(value) is not None,
    ValueKind.URL: lambda value: value.endswith("/***"),
    ValueKind.IP: lambda value: "*" in value,
    ValueKind.MAC: lambda value: "*" in value,
    ValueKind.NAME: _is_initials,
}
_IS_SURROGATE: dict[ValueKind, Callable[[str], bool]] = {
    ValueKind.EMAIL: _email,
    ValueKind.PHONE: _phone,
    ValueKind.CARD: _card,
    ValueKind.IBAN: _iban,
    ValueKind.SSN: _ssn,
    ValueKind.NAME: _name,
    ValueKind.ADDRESS: _address,
    ValueKind.IP: _ip,
    ValueKind.MAC: lambda value: (
        "".join(_ALNUM.findall(value)).lower().startswith(vocabulary.LOCAL_MAC_PREFIX)
    ),
    ValueKind.URL: _url,
    ValueKind.DATE: lambda value: (
        re.search(rf"(?<!\d){vocabulary.UNLIVED_CENTURY}\d(?!\d)", value) is not None
    ),
    ValueKind.PLACE: lambda value: _PLACE.fullmatch(value) is not None,
    ValueKind.USERNAME: _username,
    ValueKind.NUMBER: _number,
    ValueKind.WORDS: _number,
}
