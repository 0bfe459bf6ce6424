"""Values that must be gone, in every form in which they could still stand somewhere."""

from __future__ import annotations

import base64
import re
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Set

# Shorter values stand in any text by chance; finding them again is what detection is for.
_SHORTEST, _SHORTEST_RAW = 5, 8
_DIGITS_APART = r"[\s.\-/()\u00a0\u2010-\u2015]{0,2}"
_FEWEST_DIGITS = 7
_DIGITS = re.compile(r"[0-9]+")
_WORK = 2 << 30
_FORMS = 13
_WORD = re.compile(r"\w+")
_NOT_DIGITS = re.compile(r"[^0-9]+")
_BITE, _LONGEST_WORD = 1 << 22, 200


class Needles:
    """Values to look for; one that is mostly digits is found however its digits are grouped."""

    def __init__(self, values: Iterable[str]) -> None:
        spelled = {_folded(value): value for value in (" ".join(value.split()) for value in values)}
        self.values = sorted(value for value in spelled if len(value) >= _SHORTEST)
        self.too_short = len(spelled) - len(self.values)
        # Bytes are searched for the value as it was written: case changes what its base64 and its hexadecimal digits are.
        self._spelled = spelled
        self._words: dict[str, list[str]] = {}
        self._numbers: dict[str, str] = {}
        for value in self.values:
            if _is_number(value):
                self._numbers[value] = _NOT_DIGITS.sub("", value)
            else:
                self._words.setdefault(_first_word(value), []).append(value)
        self._by_number = set(self._numbers.values())
        self._heads = {number[:_FEWEST_DIGITS] for number in self._by_number}

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a value stands in a text, whatever its case, its white space and the grouping of its digits."""
        folded = _folded(text)
        for value in self._candidates(folded):
            yield from (found.span() for found in _pattern(value).finditer(folded))

    def in_text(self, text: str) -> bool:
        return next(self.spans(text), None) is not None

    def in_bytes(self, data: bytes) -> bool:
        """Whether a value stands in the bytes as UTF-8, UTF-16, hexadecimal, percent, JSON or XML escapes, or base64."""
        lowered = data.lower()
        long = [value for value in self.values if len(value) >= _SHORTEST_RAW]
        # So many values in so much data would take minutes: there, only those that the text of the bytes has.
        if len(long) > _WORK // max(len(data) * _FORMS, 1):
            long = list(self._candidates(_folded(data.decode("latin-1"))))
        return any(
            _plain(value).search(lowered)
            or any(form in lowered for form in _forms(value))
            or any(form in data for form in _base64(value))
            for value in map(self._spelled.__getitem__, long)
        )

    def _candidates(self, folded: str) -> Iterator[str]:
        """The values that may stand in the text: those whose first word, or all of whose digits, it has."""
        if self._numbers:
            found = _numbers_in(folded, self._heads, self._by_number)
            yield from (value for value, number in self._numbers.items() if found and number in found)
        if self._words:
            for word in _words_in(folded, self._words):
                yield from self._words[word]


def _folded(text: str) -> str:
    """The text in lower case, each character where it was: a few become two characters, and stay as they are."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _is_number(value: str) -> bool:
    digits = sum("0" <= char <= "9" for char in value)
    return digits >= _FEWEST_DIGITS and digits * 2 > len(value) and not any(map(str.isalpha, value))


def _words_in(folded: str, wanted: Container[str]) -> set[str]:
    """The wanted words of a text, which is taken in bites: a list of all words of a long one would not fit."""
    found: set[str] = set()
    for start in range(0, len(folded), _BITE):
        words = _WORD.findall(folded, max(start - _LONGEST_WORD, 0), start + _BITE)
        found.update(word for word in set(words) if word in wanted)
    return found


def _numbers_in(folded: str, heads: Container[str], wanted: Set[str]) -> set[str]:
    """The wanted numbers that groups of digits of a text make up, whatever stands between these.

    One pass, however many are wanted: a masked table of a million cells has had hundreds of thousands.
    """
    groups = _DIGITS.findall(folded)
    digits = "".join(groups)
    longest = max(map(len, wanted))
    found: set[str] = set()
    ends = list(accumulate(map(len, groups)))
    for number, start in enumerate((0, *ends[:-1])):
        if digits[start : start + _FEWEST_DIGITS] in heads:
            found.update(
                one for end in ends[number : number + longest] if (one := digits[start:end]) in wanted
            )
    return found


def _first_word(value: str) -> str:
    found = _WORD.search(value)
    return found[0] if found else ""


def _pattern(value: str) -> re.Pattern[str]:
    if _is_number(value):
        digits = _NOT_DIGITS.sub("", value)
        return re.compile(r"(?<!\d)" + _DIGITS_APART.join(digits) + r"(?!\d)")
    spaced = r"\s+".join(re.escape(word) for word in value.split(" "))
    return re.compile(rf"(?<!\w){spaced}(?!\w)" if value[0].isalnum() and value[-1].isalnum() else spaced)


def _plain(value: str) -> re.Pattern[bytes]:
    """The value as it is; within a longer number it is another one."""
    before, after = (rb"(?<!\d)" if value[0].isdigit() else b""), (rb"(?!\d)" if value[-1].isdigit() else b"")
    return re.compile(before + re.escape(value.encode().lower()) + after)


def _forms(value: str) -> Iterator[bytes]:
    """The spellings of a value in which case does not matter, in lower case."""
    encoded = value.encode()
    yield value.encode("utf-16-le").lower()
    yield value.encode("utf-16-be").lower()
    yield encoded.hex().encode()
    if (percent := quote(value, safe="").lower().encode()) != encoded.lower():
        yield percent
    yield "".join(f"%{byte:02x}" for byte in encoded).encode()
    yield "".join(f"\\u{ord(char):04x}" for char in value).encode()
    yield "".join(f"\\x{byte:02x}" for byte in encoded).encode()
    yield "".join(f"&#{ord(char)};" for char in value).encode()
    yield "".join(f"&#x{ord(char):x};" for char in value).encode()


def _base64(value: str) -> Iterator[bytes]:
    """What base64 makes of a value wherever it begins, without the characters that its neighbours share."""
    encoded = value.encode()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + encoded)
        start = (shift * 8 + 5) // 6
        end = (shift + len(encoded)) * 8 // 6
        yield whole[start:end]
