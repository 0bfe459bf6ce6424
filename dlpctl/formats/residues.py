"""Find values that must be gone, in every form in which they may still occur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from dlpctl.regex import lazy
from dlpctl.texts.encoded import forms
from dlpctl.texts.literals import GRAM, Literals
from dlpctl.texts.words import SpelledWords, Words, folded
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED

_TOLD_BY = 4
"""The number of digits that distinguish most numbers of a text from the searched values."""
WORD = lazy(r"\w+")
_UNSPACED, _SPACES = lazy(r"\S+"), lazy(r"\s+")
_CHUNK = 1 << 12
_NOT_DIGITS = lazy(r"[^0-9]+")
_OTHER_BYTES = bytes(range(128)).translate(None, b"0123456789")
# White space except the tab, which ends a cell, and punctuation.
_BETWEEN_DIGITS = (
    r"[ \n-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    r".\-/()\u2010-\u2015]"
)
_RUN = lazy(rf"[0-9](?:{_BETWEEN_DIGITS}{{0,2}}+[0-9]|(?!)){{6,}}+")
_DIGITS = lazy(r"[0-9]+")
CELL_END = "\t"
"""Ends a cell: a number does not continue in the next cell."""


class StrictMatcher:
    """Finds values that differ only in case, white space or the grouping of digits, in bytes too.

    It decides whether the copy of a file may be returned; `LooseMatcher` of `masking` finds more.
    """

    def __init__(self, values: Iterable[str], words: Iterable[str] = ()) -> None:
        """`words` are names that match only as they are written, or in capitals."""
        spelled = dict(map(as_searched, values))
        self.values = sorted(value for value in spelled if len(value) >= SHORTEST_SEARCHED)
        self.words = sorted({word for word in words if len(word) >= SHORTEST_SEARCHED})
        self._spelled_words = SpelledWords(self.words)
        self.too_short = len(spelled) - len(self.values)
        # Bytes are searched for the value as written: case changes its base64 and hexadecimal
        # digits.
        self._spelled = spelled
        self._shapes: dict[str, tuple[_Shape, ...]] = {}
        """The shapes of values without white space, by their rarest words."""
        self._words: dict[str, dict[tuple[int, bool], _Phrases]] = {}
        """Values by their first word, the number of characters before it, and whether they are
        words.
        """
        self._numbers: dict[str, str] = {}
        self._others: list[str] = []
        solid: list[str] = []
        for value in self.values:
            if number := digits_of_number(value):
                self._numbers[number] = value
            elif " " not in value and WORD.search(value):
                solid.append(value)
            elif (found := WORD.search(value)) is not None and " " not in value[: found.start()]:
                by_place = self._words.setdefault(found[0], {})
                by_place.setdefault((found.start(), _is_alone(value)), _Phrases()).add(
                    value.split(" ")
                )
            else:
                self._others.append(value)
        self._solid = frozenset(solid)
        """Values without white space that are not numbers."""
        counts: Counter[str] = Counter()
        for at in range(0, len(solid), _CHUNK):
            counts.update(WORD.findall("\n".join(solid[at : at + _CHUNK])))
        for value in solid:
            word, shape = _anchor(value, counts)
            self._shapes[word] = _shared(*self._shapes.get(word, ()), shape)
        self._first_words = Words([*self._words, *self._shapes], WORD, folded)
        self._longest_number = max(map(len, self._numbers), default=0)
        longest = {number[:_TOLD_BY] for number in self._numbers}
        self._beginnings = {told[:length] for told in longest for length in range(1, _TOLD_BY + 1)}

    def in_text(self, text: str) -> bool:
        return next(self.spans(text), None) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of values, regardless of case, white space and grouping of digits."""
        if self._words or self._shapes:
            yield from self._worded(text)
        if self._numbers:
            yield from self._grouped(text)
        for start, end, _ in self._spelled_words.within(text):
            yield start, end
        lowered = folded(text) if self._others else ""
        for value in self._others:
            yield from (found.span() for found in _spaced(value).finditer(lowered))

    def _worded(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of values that are found by their first word."""
        lowered = ""
        for at, word in self._first_words.within(text):
            # Most texts contain none.
            lowered = lowered or folded(text)
            for before, length, alone in self._shapes.get(word, ()):
                start, end = at - before, at - before + length
                if start < 0 or lowered[start:end] not in self._solid:
                    continue
                word_start = _is_word_part(text[start]) and start
                if word_start and _is_word_part(text[start - 1]):
                    continue
                if not (alone and end < len(text) and _is_word_part(text[end])):
                    yield start, end
            for (before, alone), phrases in self._words.get(word, {}).items():
                start = max(at - before, 0)
                if alone and start and _is_word_part(text[start - 1]):
                    continue
                for end in phrases.ends(lowered, start):
                    if not (alone and end < len(text) and _is_word_part(text[end])):
                        yield start, end

    def _grouped(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of numbers, each from the start of one group of digits to the end of a
        group.
        """
        numbers, beginnings, longest = self._numbers, self._beginnings, self._longest_number
        for run in _RUN.finditer(text):
            # Open numbers, which may still continue: their start, and their digits so far.
            begun: list[tuple[int, str]] = []
            for match in _DIGITS.finditer(text, *run.span()):
                digits = match[0]
                begun = [
                    (at, joined)
                    for at, joined in [
                        *((at, before + digits) for at, before in begun),
                        (match.start(), digits),
                    ]
                    if len(joined) <= longest and joined[:_TOLD_BY] in beginnings
                ]
                for at, joined in begun:
                    if joined in numbers:
                        yield at, match.end()

    def in_bytes(self, data: bytes) -> bool:
        """Return whether bytes contain a value, in any of the usual encodings too."""
        if b"\0" in data and (_holds(self._wide, data.lower()) or _holds(self._wide_words, data)):
            return True
        return any(self._is_in(form.data) for form in forms(data, GRAM))

    def prepare(self, *, is_wide: bool) -> None:
        """Prepare the data of `in_bytes` for processes forked from here, and drop all
        other data.
        """
        _ = self._plain, self._plain_words
        _ = (self._wide, self._wide_words) if is_wide else None
        self._spelled.clear()

    def _is_in(self, data: bytes) -> bool:
        lowered = data.lower()
        return any(
            _is_whole_number(lowered, at, at + len(found))
            for at, found in self._plain.within(lowered)
        ) or any(
            _is_whole_word(data, at, at + len(found))
            for at, found in self._plain_words.within(data)
        )

    @cached_property
    def _plain(self) -> Literals:
        return Literals(value.encode("utf-8", "replace").lower() for value in self._long)

    @cached_property
    def _plain_words(self) -> Literals:
        return Literals(word.encode("utf-8", "replace") for word in self._long_words)

    @cached_property
    def _wide(self) -> Literals:
        return Literals(each.lower() for each in _in_utf_16(self._long))

    @cached_property
    def _wide_words(self) -> Literals:
        return Literals(_in_utf_16(self._long_words))

    @property
    def _long_words(self) -> Iterator[str]:
        return (word for word in self._spelled_words.words if len(word) >= GRAM)

    @property
    def _long(self) -> Iterator[str]:
        """Yield values as written, since the case of letters beyond ASCII matters in bytes."""
        return (
            value for value in map(self._spelled.__getitem__, self.values) if len(value) >= GRAM
        )


def as_searched(value: str) -> tuple[str, str]:
    """Return a value in lower case and as written, both with single blanks. Most values are
    unchanged and take no memory.
    """
    spaced = " ".join(value.split())
    value = value if spaced == value else spaced
    low = folded(value)
    return (value if low == value else low), value


def all_as_searched(values: Collection[str]) -> list[tuple[str, str]]:
    """Return the same for many values, in half of the time."""
    spaced = [" ".join(value.split()) for value in values]
    return list(zip(folded("\n".join(spaced)).split("\n"), spaced, strict=True)) if spaced else []


class _Shape(NamedTuple):
    """The shape of a value around one of its words."""

    before: int
    """The number of characters before the word."""
    length: int
    is_alone: bool
    """True if the value starts and ends at word boundaries."""


def _anchor(value: str, counts: Mapping[str, int]) -> tuple[str, _Shape]:
    """Return the rarest word of a value, with the shape of the value around it."""
    words: list[str] = WORD.findall(value)
    alone = _is_alone(value)
    eligible = _complete(words, value)
    rarest, least = eligible[0], counts[eligible[0]]
    for word in eligible[1:]:
        count = counts[word]
        if count < least or (count == least and len(word) > len(rarest)):
            rarest, least = word, count
    at = 0
    for word in words:
        at = value.index(word, at)
        if word == rarest:
            break
        at += len(word)
    return rarest, _Shape(at, len(value), alone)


def _complete(words: Sequence[str], value: str) -> Sequence[str]:
    """Return the words of a value that are complete words of each text that contains it: if it need
    not end at a word boundary, its last word may continue.
    """
    return words if len(words) == 1 or _is_alone(value) else words[:-1]


def _is_alone(value: str) -> bool:
    """Return whether a value starts and ends at word boundaries."""
    return value[0].isalnum() and value[-1].isalnum()


def needed_words(value: str) -> Sequence[str] | None:
    """Return the words without which no text contains a value; None if it may be without any."""
    words = WORD.findall(value)
    return (
        _complete(words, value) if words and value.find(" ", 0, value.index(words[0])) < 0 else None
    )


def number_starts(text: str) -> Iterator[str]:
    """Yield the first digits of all numbers that a text may contain, in any grouping."""
    for run in _RUN.finditer(text):
        digits = _NOT_DIGITS.sub("", run[0])
        at = 0
        for group in _DIGITS.findall(run[0]):
            if at + FEWEST_DIGITS_SEARCHED <= len(digits):
                yield digits[at : at + FEWEST_DIGITS_SEARCHED]
            at += len(group)


@cache
def _shared(*shapes: _Shape) -> tuple[_Shape, ...]:
    return tuple(dict.fromkeys(shapes))


def digits_of_number(value: str) -> str:
    """Return the digits of a value that is mostly digits; empty for any other value."""
    if value.lower() != value.upper():
        return ""
    if value.isascii():
        digits = value.encode().translate(None, _OTHER_BYTES).decode()
    elif any(map(str.isalpha, value)):
        return ""
    else:
        digits = _NOT_DIGITS.sub("", value)
    return digits if len(digits) >= FEWEST_DIGITS_SEARCHED and len(digits) * 2 > len(value) else ""


def _in_utf_16(values: Iterable[str]) -> Iterator[bytes]:
    return (
        value.encode(encoding, "replace")
        for value in values
        for encoding in ("utf-16-le", "utf-16-be")
    )


def _holds(literals: Literals, data: bytes) -> bool:
    return next(literals.within(data), None) is not None


def _is_word_part(char: str) -> bool:
    return char.isalnum() or char == "_"


def _spaced(value: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(re.escape(word) for word in value.split(" ")))


def _is_whole_number(data: bytes, start: int, end: int) -> bool:
    """Return whether no digit continues the value, which would be another number."""
    return not (data[max(start - 1, 0) : start + 1].isdigit() and start) and not (
        data[end - 1 : end + 1].isdigit() and end < len(data)
    )


def _is_whole_word(data: bytes, start: int, end: int) -> bool:
    """Return whether a word is not part of a longer one."""
    return not data[max(start - 1, 0) : start].isalnum() and not data[end : end + 1].isalnum()


class _Phrases:
    """Values that start with the same word, as a tree of words."""

    __slots__ = ("_following", "_last", "_longest")

    def __init__(self) -> None:
        self._following: dict[str, _Phrases] = {}
        self._longest = 0
        """The length of the longest word that others follow."""
        self._last: dict[int, set[str]] = {}
        """Last words, by length."""

    def add(self, words: Sequence[str]) -> None:
        node = self
        for word in words[:-1]:
            node._longest = max(node._longest, len(word))
            node = node._following.setdefault(word, _Phrases())
        node._last.setdefault(len(words[-1]), set()).add(words[-1])

    def ends(self, text: str, start: int) -> Iterator[int]:
        """Yield the ends of values that start here, whatever their white space."""
        node: _Phrases | None = self
        while node is not None:
            for length, words in node._last.items():
                if text[start : start + length] in words:
                    yield start + length
            word = (
                _UNSPACED.match(text, start, start + node._longest + 1) if node._following else None
            )
            node = node._following.get(word[0]) if word else None
            if node is not None and word is not None:
                spaced = _SPACES.match(text, word.end())
                if spaced is None:
                    return
                start = spaced.end()


def with_rows_apart(text: str) -> str:
    """Return the text of a table with cell ends instead of line ends, of the same length."""
    return text.replace("\n", CELL_END).replace("\r", CELL_END)
