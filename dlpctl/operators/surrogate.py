"""Realistic surrogates: with one key, a value always becomes the same value that nobody can hold.

The shape stays (case, separators, length), so that forms still validate and prose still reads well.
Secrets, conditions, short numbers and dates without a full year have no safe surrogate; they are
redacted instead.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable

from dlpctl.operators import surrogate_vocabulary as vocabulary
from dlpctl.operators.kinds import ValueKind, kind_of
from dlpctl.regex import lazy
from dlpctl.types import Category
from dlpctl.values import canonical, derive_key

_WORD = lazy(r"[^\W\d_]+")
_ALNUM = lazy(r"[^\W_]", re.ASCII)
_MIXED = lazy(r"[^\W_]+")
_YEAR = lazy(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_NUMBERS = lazy(r"\d+")
_COORDINATES = lazy(r"[-+]?\d{1,3}\.(\d{2,8})(\s*[,;/ ]\s*)[-+]?\d{1,3}\.(\d{2,8})")
_URL = lazy(r"([a-zA-Z][a-zA-Z0-9+.\-]*)://(?:[^/@?#\s]*@)?[^/?#\s]*(.*)", re.DOTALL)
_SHORTEST_NUMBER = 8


class Surrogates:
    """Makes surrogates with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = derive_key(key, "surrogate")
        self._words: dict[str, str] = {}
        self._makers: dict[ValueKind, Callable[[str, int], str | None]] = {
            ValueKind.EMAIL: self._email,
            ValueKind.PHONE: _phone,
            ValueKind.CARD: _card,
            ValueKind.IBAN: _iban,
            ValueKind.SSN: _ssn,
            ValueKind.NAME: self._name,
            ValueKind.ADDRESS: self._address,
            ValueKind.IP: _ip,
            ValueKind.MAC: _mac,
            ValueKind.URL: self._url,
            ValueKind.DATE: _date,
            ValueKind.PLACE: _coordinates,
            ValueKind.USERNAME: lambda _, number: (
                f"{vocabulary.word(number).lower()}{vocabulary.spell(number >> 64, '99')}"
            ),
            ValueKind.NUMBER: _number,
            ValueKind.WORDS: _number,
        }

    def surrogate(self, type_name: str, category: Category, value: str) -> str | None:
        """Return the surrogate of a value; None if there is no safe one."""
        value_kind = kind_of(type_name, category)
        maker = self._makers.get(value_kind)
        if maker is None:
            return None
        made = maker(value, self._number_for(value_kind.name, canonical(value, category)))
        return None if made == value else made

    def _number_for(self, purpose: str, text: str) -> int:
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.digest(self._key, message, "sha256"), "big")

    def _word_for(self, original: str) -> str:
        """Return the surrogate of a word in a name, the same in full names and addresses."""
        folded = original.casefold()
        made = self._words.get(folded)
        if made is None:
            made = self._words[folded] = vocabulary.word(self._number_for("word", folded))
        if original.isupper() and len(original) > 1:
            return made.upper()
        return made.lower() if original.islower() else made

    def _name(self, value: str, number: int) -> str | None:
        def replace(match: re.Match[str]) -> str:
            word = match.group()
            if word.lower() in vocabulary.KEPT_IN_NAMES:
                return word
            if len(word) == 1:
                return vocabulary.spell(number, vocabulary.classes(word)) if word.isascii() else "X"
            return self._word_for(word)

        made = _WORD.sub(replace, value)
        return made if any(vocabulary.is_invented(word) for word in _WORD.findall(made)) else None

    def _email(self, value: str, number: int) -> str | None:
        local, _, domain = value.lower().rpartition("@")
        words = [word for word in _WORD.findall(local) if len(word) > 1]
        name = (
            ".".join(self._word_for(word) for word in words[:3]) or vocabulary.word(number).lower()
        )
        only_words = ".".join(words[:3]) == local
        digits = "" if only_words else vocabulary.spell(number >> 64, "999")
        return f"{name}{digits}@{self._host(domain)}"

    def _host(self, domain: str) -> str:
        return f"{vocabulary.word(self._number_for('domain', domain.casefold())).lower()}.example"

    def _url(self, value: str, number: int) -> str | None:
        match = _URL.fullmatch(value)
        if not match:
            return None
        path = f"/{vocabulary.word(number).lower()}" if len(match.group(2)) > 1 else match.group(2)
        return f"{match.group(1)}://{self._host(value)}{path}"

    def _address(self, value: str, number: int) -> str | None:
        draw = number

        def replace(match: re.Match[str]) -> str:
            nonlocal draw
            word = match.group()
            if word.isalpha():
                kept = len(word) < 3 or word.lower() in vocabulary.KEPT_IN_ADDRESSES
                return word if kept else self._word_for(word)
            draw //= 1_000
            if not word.isdigit():
                return "".join("Z" if each.isalpha() else str(draw % 10) for each in word)
            digits = vocabulary.spell(draw, "9" * len(word))
            return f"000{digits[3:]}" if len(word) >= 5 else digits.replace("0", "1")

        made = _MIXED.sub(replace, value)
        return made if any(vocabulary.is_invented(word) for word in _WORD.findall(made)) else None


def _fill(shape: str, characters: str) -> str:
    """Replace the letters and digits of `shape` by `characters`, and keep its separators."""
    left = iter(characters)
    return _ALNUM.sub(lambda _: next(left), shape)


def _digits(value: str) -> str:
    return "".join(_NUMBERS.findall(value)) if value.isascii() else ""


def _phone(value: str, number: int) -> str | None:
    digits = _digits(value)
    if not 7 <= len(digits) <= 15 or re.search(r"[a-zA-Z]", value):
        return None
    is_american = (len(digits) == 11 and digits[0] == "1") or (
        len(digits) == 10 and "+" not in value and digits[0] > "1"
    )
    if is_american:
        area = f"{2 + number % 8}9{number // 8 % 10}"
        line = f"{number // 80 % 100:02d}"
        return _fill(value, f"{digits[:-10]}{area}55501{line}")
    prefix = "999" if "+" in value else "00999"
    return _fill(value, prefix + vocabulary.spell(number, "9" * (len(digits) - len(prefix))))


def _card(value: str, number: int) -> str | None:
    digits = _digits(value)
    if not 13 <= len(digits) <= 19:
        return None
    if digits[:2] in {"34", "37"}:
        prefix = vocabulary.AMEX_PREFIX
    elif digits[:2] in {"30", "36", "38", "39"}:
        prefix = vocabulary.DINERS_PREFIX
    elif digits[:2] == "62":
        prefix = vocabulary.UNIONPAY_PREFIX
    else:
        prefix = vocabulary.CARD_PREFIXES.get(digits[0], vocabulary.CARD_PREFIXES["4"])
    body = prefix + vocabulary.spell(
        number, "9" * (len(digits) - len(prefix) - vocabulary.MARK_LENGTH - 1)
    )
    body += vocabulary.mark(body, "9" * vocabulary.MARK_LENGTH)
    return _fill(value, body + vocabulary.luhn_digit(body))


def _iban(value: str, number: int) -> str | None:
    compact = "".join(_ALNUM.findall(value)).upper()
    if len(compact) < 15 or not compact[:2].isalpha():
        return None
    bban = compact[4:]
    empty = "".join("0" if each.isdigit() else "X" for each in bban[: vocabulary.IBAN_EMPTY_BANK])
    bban = empty + vocabulary.spell(number, vocabulary.classes(bban[vocabulary.IBAN_EMPTY_BANK :]))
    made = compact[:2] + vocabulary.iban_check(compact[:2], bban) + bban
    return _fill(value, made.lower() if value.islower() else made)


def _ssn(value: str, number: int) -> str | None:
    if len(_digits(value)) != 9:
        return None
    group, serial = 1 + number % 99, 1 + number // 99 % 9999
    return _fill(value, f"{vocabulary.UNISSUED_SSN_AREA}{group:02d}{serial:04d}")


def _ip(value: str, number: int) -> str | None:
    if ":" not in value:
        octets = [vocabulary.UNUSED_IPV4_FIRST[number % len(vocabulary.UNUSED_IPV4_FIRST)]]
        for _ in range(3):
            number //= 256
            octets.append(number % 256)
        return ".".join(map(str, octets))
    groups = [vocabulary.DOCUMENTATION_IPV6, f"{number % 0x1000:x}"]
    for _ in range(6):
        number >>= 16
        groups.append(f"{number % 0x10000:x}")
    return ":".join(groups)


def _mac(value: str, number: int) -> str | None:
    if len(_ALNUM.findall(value)) != 12:
        return None
    made = f"{vocabulary.LOCAL_MAC_PREFIX}{number % 0x1000000:06x}"
    return _fill(value, made.upper() if any(map(str.isupper, value)) else made)


def _date(value: str, number: int) -> str | None:
    """Return a date in a year in which nobody alive was born, with a day up to 12."""
    year = _YEAR.search(value)
    words = _WORD.findall(value)
    if not year or len(words) > 2:
        return None
    draw = number

    def replace(match: re.Match[str]) -> str:
        nonlocal draw
        if match.start() == year.start():
            return f"{vocabulary.UNLIVED_CENTURY}{number % 10}"
        draw //= 97
        made = 1 + draw % 12 if len(match.group()) < 3 else 0
        return f"{made:0{len(match.group())}d}"

    return _NUMBERS.sub(replace, value)


def _coordinates(value: str, number: int) -> str | None:
    match = _COORDINATES.fullmatch(value)
    if not match:
        return None
    latitude = vocabulary.spell(number, "9" * len(match.group(1)))
    longitude = vocabulary.spell(number >> 64, "9" * len(match.group(3)))
    return f"-48.{latitude}{match.group(2)}-123.{longitude}"


def _number(value: str, number: int) -> str | None:
    characters = "".join(_ALNUM.findall(value))
    if (
        len(characters) < _SHORTEST_NUMBER
        or not value.isascii()
        or sum(map(str.isdigit, characters)) < 4
    ):
        return None
    shape = vocabulary.classes(characters)
    body_shape, mark_shape = (shape[: -vocabulary.MARK_LENGTH], shape[-vocabulary.MARK_LENGTH :])
    body = vocabulary.spell(number, body_shape)
    zeros = 1 if len(characters) < 10 else 2
    if body_shape.startswith("9" * zeros):
        body = "0" * zeros + body[zeros:]
    return _fill(value, body + vocabulary.mark(body, mark_shape))
