"""Values that must be gone, in every form in which they could still stand somewhere."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Shorter values stand in any text by chance; finding them again is what detection is for.
_SHORTEST, _SHORTEST_RAW = 5, 8
_DIGITS_APART = r"[\s.\-/()\u00a0\u2010-\u2015]{0,2}"
_FEWEST_DIGITS = 7
_WORK = 2 << 30
_WORD = re.compile(r"\w+")


class Needles:
    """Values to look for; one that is mostly digits is found however its digits are grouped."""

    def __init__(self, values: Iterable[str]) -> None:
        distinct = {" ".join(value.split()).casefold() for value in values}
        self.values = sorted(value for value in distinct if len(value) >= _SHORTEST)
        self.too_short = len(distinct) - len(self.values)
        self._first_words = {value: _first_word(value) for value in self.values}
        self._digits: dict[str, re.Pattern[str]] = {}

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a value stands in a text, whatever its case, its white space and the grouping of its digits."""
        if not self.values:
            return
        folded = text.lower()
        for value in self._candidates(folded):
            yield from (found.span() for found in _pattern(value).finditer(folded))

    def in_text(self, text: str) -> bool:
        return next(self.spans(text), None) is not None

    def in_bytes(self, data: bytes) -> bool:
        """Whether a value stands in the bytes as UTF-8, UTF-16, hexadecimal, percent, JSON or XML escapes, or base64."""
        lowered = data.lower()
        long = [value for value in self.values if len(value) >= _SHORTEST_RAW]
        affordable = _WORK // max(len(data) * 12, 1)
        for value in long if len(long) <= affordable else self._candidates(data.decode("latin-1").lower()):
            if (
                _plain(value).search(lowered)
                or any(form in lowered for form in _forms(value))
                or any(form in data for form in _base64(value))
            ):
                return True
        return False

    def _candidates(self, folded: str) -> Iterable[str]:
        """With many values and much text, only those whose first word the text has."""
        if len(folded) * len(self.values) <= _WORK // 16:
            return self.values
        words = set(_WORD.findall(folded))
        digits = re.sub(r"\D", "", folded)
        return [
            value
            for value in self.values
            if self._first_words[value] in words
            or (value[0].isdigit() and re.sub(r"\D", "", value) in digits)
        ]


def _first_word(value: str) -> str:
    found = _WORD.search(value)
    return found[0] if found else ""


def _pattern(value: str) -> re.Pattern[str]:
    digits = [char for char in value if char.isdigit()]
    if len(digits) >= _FEWEST_DIGITS and len(digits) * 2 > len(value) and not any(map(str.isalpha, value)):
        return re.compile(r"(?<!\d)" + _DIGITS_APART.join(digits) + r"(?!\d)")
    spaced = r"\s+".join(re.escape(word) for word in value.split(" "))
    return re.compile(rf"(?<!\w){spaced}(?!\w)" if value[0].isalnum() and value[-1].isalnum() else spaced)


def _plain(value: str) -> re.Pattern[bytes]:
    """The value as it is; within a longer number it is another one."""
    before, after = (rb"(?<!\d)" if value[0].isdigit() else b""), (rb"(?!\d)" if value[-1].isdigit() else b"")
    return re.compile(before + re.escape(value.encode()) + after)


def _forms(value: str) -> Iterator[bytes]:
    """The spellings of a value in which case does not matter, in lower case."""
    encoded = value.encode()
    yield value.encode("utf-16-le")
    yield value.encode("utf-16-be")
    yield encoded.hex().encode()
    if (percent := quote(value, safe="").lower().encode()) != encoded:
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
