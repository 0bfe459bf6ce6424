"""Numbers dictated in words, by digits or in pairs of them."""

from __future__ import annotations

from functools import cache

from dlpctl.detect.validators.cards import credit_card
from dlpctl.detect.validators.registry import validator
from dlpctl.detect.validators.wordlists import read_table
from dlpctl.regex import lazy

_WORD = lazy(r"[^\W\d_]+|\d")
_TIMES = {"double": 2, "triple": 3}
_LEAST, _MOST = 4, 13
_LONGEST = 24
"""The most letters of a number below a hundred."""
_TENS = range(20, 100, 10)
_SCORES = ("60", "80")
"""The tens that French adds other numbers than digits to: `soixante-douze`."""


@cache
def _numbers() -> dict[str, str]:
    return read_table("number_words")


@cache
def _tens() -> dict[str, int]:
    """Return the tens by their words in compounds, without the last vowel: `trentuno`."""
    tens = {word: int(number) for word, number in _numbers().items() if int(number) in _TENS}
    return tens | {word[:-1]: number for word, number in tens.items()}


def _dictated(value: str) -> str:
    """Return the digits of the words in a value."""
    numbers: list[str] = []
    times = 1
    for word in _WORD.findall(value.lower()):
        number = _number_of(word)
        last = numbers[-1] if numbers else ""
        if last == "4" and word.startswith("vingt"):
            numbers[-1] = "80"
        elif number and _adds_to(last, number):
            numbers[-1] = str(int(last) + int(number))
        elif number:
            numbers.append(number * times)
        times = _TIMES.get(word, 1)
    return "".join(numbers)


def _adds_to(tens: str, number: str) -> bool:
    """Return whether a number is the rest of the one before it: `forty`, `one`."""
    if len(tens) != 2 or int(tens) not in _TENS:
        return False
    return number in "123456789" if len(number) == 1 else tens in _SCORES and number < "20"


def _number_of(word: str) -> str:
    """Return the digits of a word; none if it is no number."""
    if word.isdigit() or word in _numbers():
        return _numbers().get(word, word)
    if len(word) > _LONGEST:
        return ""
    unit, _, tens = word.partition("und")
    if tens in _tens() and unit in _numbers():
        return str(_tens()[tens] + int(_numbers()[unit]))
    for at in range(4, len(word) - 2):
        if word[:at] in _tens() and word[at:] in _numbers():
            return str(_tens()[word[:at]] + int(_numbers()[word[at:]]))
    return ""


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
