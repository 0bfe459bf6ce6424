"""Numbers dictated digit by digit, in words."""

from __future__ import annotations

from functools import cache

from dlpctl.detect.validators.cards import credit_card
from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_table
from dlpctl.regex import lazy

_WORD = lazy(r"[^\W\d_]+|\d")
_TIMES = {"double": 2, "triple": 3}
_LEAST, _MOST = 4, 13


@cache
def _digits() -> dict[str, str]:
    return read_table("number_words")


def _dictated(value: str) -> str:
    """Return the digits of the words in a value."""
    number, times = "", 1
    for word in _WORD.findall(value.lower()):
        digit = _digits().get(word, word if word.isdigit() else "")
        number += digit * times
        times = _TIMES.get(word, 1)
    return number


@validator("spoken_card", proves=True)
def spoken_card(value: str) -> bool:
    """The number of a payment card in words."""
    return credit_card(_dictated(value))


@validator("spoken_number")
def spoken_number(value: str) -> bool:
    """Four to thirteen digits in words that neither count nor repeat."""
    number = _dictated(value)
    counted = number in "0123456789012345678900" or number in "9876543210"
    return _LEAST <= len(number) <= _MOST and len(set(number)) > 2 and not counted
