"""Values that must be gone, in every form in which they could still stand somewhere."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from dlpctl.regex import lazy
from dlpctl.words import Words, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Shorter values stand in any text by chance; finding them again is what detection is for.
_SHORTEST, _SHORTEST_RAW = 5, 8
_FEWEST_DIGITS = 7
_WORK = 2 << 30
_FORMS = 13
_ASCII = bytes(range(128)).ljust(256)
_WORD = lazy(r"\w+")
_BASE64 = lazy(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/][A-Za-z0-9+/=]))")
_PART = lazy(r"[^\W_]+")
_NOT_DIGITS = lazy(r"[^0-9]+")
_RUN = lazy(r"[0-9](?:[\s.\-/()\u00a0\u2010-\u2015]{0,2}+[0-9]|(?!)){6,}+")
_DIGITS = lazy(r"[0-9]+")


class _Worded(NamedTuple):
    """A value that is found by its first word."""

    value: str
    before: int
    """Characters before that word."""


class Needles:
    """Values to look for; one that is mostly digits is found however its digits are grouped.

    All of them are looked for in one pass over a text: a table may have a hundred thousand.
    """

    def __init__(self, values: Iterable[str], words: Iterable[str] = ()) -> None:
        """`words` are values that count only as they are written, or in capitals: names that are everyday words."""
        spelled = {folded(value): value for value in (" ".join(value.split()) for value in values)}
        self.values = sorted(value for value in spelled if len(value) >= _SHORTEST)
        self.words = sorted({word for word in words if len(word) >= _SHORTEST})
        self._spellings = {spelling for word in self.words for spelling in (word, word.upper())}
        self.too_short = len(spelled) - len(self.values)
        # Bytes are searched for the value as it was written: case changes what its base64 and its hexadecimal digits are.
        self._spelled = spelled
        self._words: dict[str, list[_Worded]] = {}
        self._numbers: dict[str, str] = {}
        self._others: list[str] = []
        for value in self.values:
            if _is_number(value):
                self._numbers[_NOT_DIGITS.sub("", value)] = value
            elif (found := _WORD.search(value)) is not None and " " not in value[: found.start()]:
                self._words.setdefault(found[0], []).append(_Worded(value, found.start()))
            else:
                self._others.append(value)
        self._first_words = Words(self._words, _WORD, folded)
        self._parts = Words(map(folded, self.words), _PART, folded)
        self._beginnings = {
            number[:length] for number in self._numbers for length in range(1, len(number) + 1)
        }

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a value stands in a text, whatever its case, its white space and the grouping of its digits."""
        for start, end, _ in self._found(text):
            yield start, end

    def in_text(self, text: str) -> bool:
        return next(self.spans(text), None) is not None

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        if self._words:
            yield from self._worded(text)
        if self._numbers:
            yield from self._grouped(text)
        for start, _ in self._parts.within(text) if self.words else ():
            found = _PART.match(text, start)
            if found is not None and found[0] in self._spellings:
                yield *found.span(), found[0]
        lowered = folded(text) if self._others else ""
        for value in self._others:
            yield from ((*found.span(), value) for found in _pattern(value).finditer(lowered))

    def _worded(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Values by their first word."""
        lowered = ""
        for at, word in self._first_words.within(text):
            # Most texts hold none.
            lowered = lowered or folded(text)
            for worded in self._words[word]:
                found = _pattern(worded.value).match(lowered, max(at - worded.before, 0))
                if found is not None:
                    yield *found.span(), worded.value

    def _grouped(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Numbers, from the start of one group of digits to the end of the same or a later one."""
        numbers, beginnings = self._numbers, self._beginnings
        for run in _RUN.finditer(text):
            if beginnings.isdisjoint(_DIGITS.findall(text, *run.span())):
                continue
            # Those that began before and may still go on: where, and their digits so far.
            begun: list[tuple[int, str]] = []
            for match in _DIGITS.finditer(text, *run.span()):
                digits = match[0]
                begun = [(at, joined) for at, before in begun if (joined := before + digits) in beginnings]
                if digits in beginnings:
                    begun.append((match.start(), digits))
                for at, joined in begun:
                    value = numbers.get(joined)
                    if value is not None:
                        yield at, match.end(), value

    def in_bytes(self, data: bytes) -> bool:
        """Whether a value stands in the bytes as UTF-8, UTF-16, hexadecimal, percent, JSON or XML escapes, or base64."""
        lowered = data.lower()
        long = [value for value in self.values if len(value) >= _SHORTEST_RAW]
        words = [word for word in self._spellings if len(word) >= _SHORTEST_RAW]
        # So many values in so much data would take minutes: there, only those that the text of the bytes shows.
        if len(long) + len(words) > _WORK // max(len(data) * _FORMS, 1):
            ascii_alone = all(map(str.isascii, [*long, *words]))
            text = (data.translate(_ASCII) if ascii_alone else data).decode("latin-1")
            shown = {value for *_, value in self._found(text)}
            long, words = sorted(shown.intersection(long)), sorted(shown.intersection(words))
        return any(
            _plain(value).search(lowered)
            or any(form.lower() in lowered for form in _wide(value))
            or any(form in lowered for form in _forms(value))
            or _stands_in_base64(value, data)
            for value in map(self._spelled.__getitem__, long)
        ) or any(
            _alone(word).search(data)
            or any(form in data for form in _wide(word))
            or any(form in lowered for form in _forms(word))
            or _stands_in_base64(word, data)
            for word in words
        )


def _is_number(value: str) -> bool:
    digits = sum("0" <= char <= "9" for char in value)
    return digits >= _FEWEST_DIGITS and digits * 2 > len(value) and not any(map(str.isalpha, value))


@lru_cache(maxsize=1 << 12)
def _pattern(value: str) -> re.Pattern[str]:
    spaced = r"\s+".join(re.escape(word) for word in value.split(" "))
    return re.compile(rf"(?<!\w){spaced}(?!\w)" if value[0].isalnum() and value[-1].isalnum() else spaced)


def _plain(value: str) -> re.Pattern[bytes]:
    """The value as it is; within a longer number it is another one."""
    before, after = (rb"(?<!\d)" if value[0].isdigit() else b""), (rb"(?!\d)" if value[-1].isdigit() else b"")
    return re.compile(before + re.escape(value.encode().lower()) + after)


def _alone(word: str) -> re.Pattern[bytes]:
    """The word as it is written, and no part of a longer one."""
    return re.compile(rb"(?<![0-9A-Za-z])" + re.escape(word.encode()) + rb"(?![0-9A-Za-z])")


def _wide(value: str) -> tuple[bytes, bytes]:
    return value.encode("utf-16-le"), value.encode("utf-16-be")


def _forms(value: str) -> Iterator[bytes]:
    """Its escapes, in lower case: in their digits case does not matter."""
    encoded = value.encode()
    yield encoded.hex().encode()
    if (percent := quote(value, safe="").lower().encode()) != encoded.lower():
        yield percent
    yield "".join(f"%{byte:02x}" for byte in encoded).encode()
    yield "".join(f"\\u{ord(char):04x}" for char in value).encode()
    yield "".join(f"\\x{byte:02x}" for byte in encoded).encode()
    yield "".join(f"&#{ord(char)};" for char in value).encode()
    yield "".join(f"&#x{ord(char):x};" for char in value).encode()


def _stands_in_base64(value: str, data: bytes) -> bool:
    """Whether base64 holds a value, wherever in it the value begins."""
    encoded = value.encode()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + encoded)
        # Its neighbours share the first and the last characters.
        start = (shift * 8 + 5) // 6
        own = whole[start : (shift + len(encoded)) * 8 // 6]
        at = data.find(own)
        while at >= 0:
            around = data[max(at - start, 0) : at - start + len(whole)]
            if not _BASE64.fullmatch(around) or encoded in base64.b64decode(around):
                return True
            at = data.find(own, at + 1)
    return False
