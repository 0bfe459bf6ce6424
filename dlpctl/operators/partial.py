"""Masking that keeps a value's shape and the few characters by which people recognize it."""

from __future__ import annotations

import re
from collections.abc import Callable
from string import ascii_letters, digits

from dlpctl.operators.escapes import unescaped
from dlpctl.operators.kinds import ValueKind, kind_of
from dlpctl.operators.surrogate_vocabulary import TITLES
from dlpctl.regex import lazy
from dlpctl.types import Category

_HIDDEN = "********"
_SAMPLE_LENGTH = 64
_LETTER_OR_DIGIT = lazy(r"[^\W_]")
_HIDDEN_BYTES = (ascii_letters + digits).encode()
_ASCII_STARS = bytes.maketrans(_HIDDEN_BYTES, b"*" * len(_HIDDEN_BYTES))
_NOT_DIGITS = bytes(range(128)).translate(None, digits.encode())
_WORD = lazy(r"[^\W_]+")
_DIGIT = lazy(r"\d")
_BLANK = lazy(r"\s")
_MOST_INITIALS = 3
"""The words of one letter in a name: more of them spell it."""
_CARD_TAIL = 4
_SHORTEST_SECRET_WITH_PREFIX = 20
# Country codes of one and two digits; all others have three.
_SHORT_CODES = frozenset(
    {
        "1",
        "7",
        "20",
        "27",
        *map(str, (30, 31, 32, 33, 34, 36, 39, 40, 41, *range(43, 50), *range(51, 59))),
    }
    | {*map(str, (*range(60, 67), 81, 82, 84, 86, *range(90, 96), 98))}
)
_YEAR = lazy(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_URL_HOST = lazy(r"([a-zA-Z][a-zA-Z0-9+.\-]*://)?(?:[^/@?#\s]*@)?([^/?#\s]*)(.*)", re.DOTALL)


def partial(type_name: str, category: Category, value: str) -> str:
    masked = _SHAPES[kind_of(type_name, category)](value)
    if masked == value and _LETTER_OR_DIGIT.search(value):
        return _stars(value)
    return masked


def sample(type_name: str, category: Category, value: str) -> str | None:
    """Return a value as reports show it; None if even a part of it reveals too much."""
    value_kind = kind_of(type_name, category)
    if category is Category.PHI or value_kind is ValueKind.HIDDEN:
        return None
    shown = " ".join(partial(type_name, category, value).split())
    return shown if len(shown) <= _SAMPLE_LENGTH else f"{shown[: _SAMPLE_LENGTH - 3]}..."


def _stars(value: str) -> str:
    if value.isascii():  # bytes are translated several times as fast as text
        return value.encode().translate(_ASCII_STARS).decode()
    return _LETTER_OR_DIGIT.sub("*", value)


def _digits(value: str) -> int:
    if value.isascii():
        return len(value.encode().translate(None, _NOT_DIGITS))
    return sum(map(str.isdecimal, value))


def _keep_last(value: str, count: int) -> str:
    """Replace all letters and digits but the last few by stars."""
    cut, left = len(value), count
    if value[-count:].isalnum() and cut >= count:  # as in most values
        cut, left = cut - count, 0
    while left and cut:
        cut -= 1
        left -= value[cut].isalnum()
    head = _stars(value[:cut])
    return _stars(value) if head == value[:cut] or left else head + value[cut:]


def _email(value: str) -> str:
    local, at, domain = value.rpartition("@")
    if not at or _BLANK.search(domain):  # the cells beside an address that lines divide
        return _stars(value)
    return f"{local[:1] if len(local) > 1 else ''}***@{domain}"


def _phone(value: str) -> str:
    if _digits(value) < 7:
        return _stars(value)
    kept = _country_code(value)
    return kept + _keep_last(value[len(kept) :], 2)


def _country_code(value: str) -> str:
    """Return the start of a number with a plus sign, up to the end of its country code."""
    code = re.match(r"\+\s?(\d{1,3})", value)
    if not code:
        return ""
    shorter = next((end for end in (1, 2) if code.group(1)[:end] in _SHORT_CODES), 3)
    return value[: code.start(1) + shorter]


def _name(value: str) -> str:
    def initial(match: re.Match[str]) -> str:
        word = match.group()
        if is_spelled or _DIGIT.search(word):
            return _stars(word)
        if word.lower() in TITLES:
            return word
        if word.lower() != word.upper():
            return f"{word[0]}."
        return word[0] + "*" * (len(word) - 1) if len(word) > 1 else "*"

    # Escapes of letters belong to a word, and all others stay, so that readers of the text
    # still understand it.
    plain, written = unescaped(value)
    # Letters one by one, and codes of letters in a list or in hexadecimal, would tell the name.
    words = _WORD.findall(plain)
    is_spelled = sum(len(word) == 1 for word in words) > max(_MOST_INITIALS, len(words) // 2)
    parts: list[str] = []
    end = 0
    for word in _WORD.finditer(plain):
        masked = initial(word)
        if masked != word.group():
            start = word.start()
            first = written[start] if masked[0] == plain[start] else masked[0]
            parts += *written[end:start], first, masked[1:]
            end = word.end()
    return "".join([*parts, *written[end:]]).replace("..", ".")


def _ip(value: str) -> str:
    separator = "." if "." in value and ":" not in value else ":"
    groups = value.split(separator)
    kept = groups[:2] if len(groups) > 2 else groups[:1]
    return separator.join([*kept, *(_stars(group) for group in groups[len(kept) :])])


def _mac(value: str) -> str:
    octets = [match.start() for match in re.finditer(r"[0-9a-fA-F]", value)]
    cut = octets[6] if len(octets) >= 12 else 0
    return value[:cut] + _stars(value[cut:])


def _date(value: str) -> str:
    year = _YEAR.search(value)
    if not year:
        return _stars(value)
    return _stars(value[: year.start()]) + year.group() + _stars(value[year.end() :])


def _url(value: str) -> str:
    match = _URL_HOST.match(value)
    if not match or not match.group(1):
        return _stars(value)
    scheme, host, _path = match.groups()
    is_all = len(scheme) + len(host) == len(value.rstrip("/"))
    return f"{scheme}***" if is_all else f"{scheme}{host}/***"


def _coordinates(value: str) -> str:
    return re.sub(
        r"([.,]\d)(\d+)", lambda match: match.group(1)[0] + "*" * (len(match.group(2)) + 1), value
    )


def _secret(value: str) -> str:
    """Keep the first characters, with which providers mark their keys, and hide the length."""
    prefix = value[:4] if len(value) >= _SHORTEST_SECRET_WITH_PREFIX else ""
    return (prefix if prefix.isascii() and prefix.isprintable() else "") + _HIDDEN


_SHAPES: dict[ValueKind, Callable[[str], str]] = {
    ValueKind.EMAIL: _email,
    ValueKind.PHONE: _phone,
    ValueKind.CARD: lambda value: _keep_last(value, _CARD_TAIL if _digits(value) >= 12 else 0),
    ValueKind.IBAN: lambda value: value[:2] + _keep_last(value[2:], 2),
    ValueKind.SSN: lambda value: _keep_last(value, 4 if _digits(value) >= 9 else 0),
    ValueKind.NAME: _name,
    ValueKind.ADDRESS: _stars,
    ValueKind.IP: _ip,
    ValueKind.MAC: _mac,
    ValueKind.URL: _url,
    ValueKind.DATE: _date,
    ValueKind.PLACE: _coordinates,
    ValueKind.USERNAME: lambda value: f"{value[:1]}***" if len(value) > 2 else "***",
    ValueKind.NUMBER: lambda value: _keep_last(
        value, min(4, len(_LETTER_OR_DIGIT.findall(value)) // 4)
    ),
    ValueKind.WORDS: _stars,
    ValueKind.SECRET: _secret,
    ValueKind.HIDDEN: lambda _: _HIDDEN,
}
