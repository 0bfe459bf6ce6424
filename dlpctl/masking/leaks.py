"""Find values in a text, in any spelling: what masking has left of them, or their repetitions.

The cost is linear in the text, whatever the number of values. Values with fewer than five letters
and digits are searched for only as they are written, and those with fewer than five characters not
at all: `47` and `Li` occur in every text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from dlpctl.regex import lazy
from dlpctl.texts.encoded import forms
from dlpctl.texts.literals import GRAM, Literals, characters, lengths_with
from dlpctl.texts.words import TOKEN, SpelledWords, Words, folded
from dlpctl.types import Category, Finding
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED

GROUPED_DIGITS = r"\d+(?:[\s\-./()]{1,3}\d+)*"
_GROUPED = lazy(GROUPED_DIGITS)
_DIGITS = lazy(r"\d+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_SHORTEST_ANYWHERE = 9
"""A number with at least this many digits is also found inside a longer one."""
_SHORTEST_GLUED = GRAM


class Value(NamedTuple):
    type: str
    category: Category
    text: str

    @classmethod
    def of(cls, finding: Finding, text: str) -> Value:
        """Return the value of a finding in a text."""
        return cls(finding.type, finding.category, text[finding.start : finding.end])


class Leak(NamedTuple):
    """A value that is still in a text."""

    type: str
    form: str
    """The spelling in which it was found: `as it is`, `percent-encoded` ..."""


class LooseMatcher:
    """Finds values by their letters and digits, whatever separates them, in longer numbers too.

    It decides what else to mask in a text, where a false match costs a word. `StrictMatcher` of
    `formats` rejects copies of files, whose second reading joins cells and runs that do not belong
    together: there, loose matches across them would block clean files.
    """

    def __init__(self, values: Iterable[Value]) -> None:
        self._sequences: dict[tuple[str, ...], Value] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        """The word counts of the values that start with each word."""
        self._numbers: dict[str, Value] = {}
        self._literal: dict[str, Value] = {}
        self._spelled: dict[str, Value] = {}
        self._several: dict[bytes, Value] = {}
        for value in values:
            self._add(value)
        self._number_lengths = sorted({len(number) for number in self._numbers})

    def _add(self, value: Value) -> None:
        tokens = tuple(TOKEN.findall(normal(value.text)))
        joined = "".join(tokens)
        if len(joined) < SHORTEST_SEARCHED:
            if len(value.text) >= SHORTEST_SEARCHED and len(set(value.text)) > 1:
                self._literal[value.text] = value
            return
        if is_word(value):
            self._spelled[value.text] = value
            return
        self._add_sequence(tokens, value)
        if any(map(str.isdigit, joined)):
            self._add_sequence((joined,), value)
        if joined.isdecimal() and len(joined) >= FEWEST_DIGITS_SEARCHED:
            self._numbers[joined] = value
        elif len(tokens) > 1 and len(value.text) >= _SHORTEST_GLUED:
            self._several[folded(value.text).encode("utf-8", "replace")] = value

    def _add_sequence(self, tokens: tuple[str, ...], value: Value) -> None:
        self._sequences[tokens] = value
        self._lengths[tokens[0]] = lengths_with(self._lengths.get(tokens[0], ()), len(tokens))

    @property
    def searches(self) -> Sequence[Callable[[str], Iterator[tuple[int, int, Value]]]]:
        """The searches that together find all values."""
        return self.words, self.numbers, self.literals, self.spelled, self.glued

    def words(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Yield values by their words, whatever separates them, with their positions in a text."""
        for start, word in self._first_words.within(text):
            lengths = self._lengths[word]
            matches = list(islice(TOKEN.finditer(text, start), max(lengths)))
            tokens = tuple(normal(each[0]) for each in matches)
            for length in lengths:
                value = self._sequences.get(tokens[:length]) if length <= len(tokens) else None
                if value is not None:
                    yield start, matches[length - 1].end(), value

    @cached_property
    def _first_words(self) -> Words:
        return Words(self._lengths, TOKEN, normal)

    @cached_property
    def _spelled_words(self) -> SpelledWords:
        return SpelledWords(self._spelled)

    def numbers(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Yield values that consist of digits only, however they are grouped."""
        if not self._numbers:
            return
        numbers, shortest = self._numbers, self._number_lengths[0]
        for match in _GROUPED.finditer(text):
            digits = "".join(_DIGITS.findall(match[0]))
            if len(digits) < shortest:
                continue
            locations: list[int] = []
            for length in self._number_lengths:
                for first in range(len(digits) - length + 1):
                    if (number := digits[first : first + length]) not in numbers:
                        continue
                    # Most numbers in a table are not values.
                    locations = locations or [
                        index for index in range(*match.span()) if text[index].isdecimal()
                    ]
                    start, end = locations[first], locations[first + length - 1] + 1
                    full = (
                        not text[start - 1 : start].isdigit() and not text[end : end + 1].isdigit()
                    )
                    if full or length >= _SHORTEST_ANYWHERE:
                        yield start, end, numbers[number]

    def literals(self, text: str) -> Iterator[tuple[int, int, Value]]:
        if not self._literal:
            return
        longest_first = sorted(self._literal, key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, longest_first)), text):
            yield match.start(), match.end(), self._literal[match.group()]

    def spelled(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Yield words that match only as they are written, or in capitals."""
        for start, end, word in self._spelled_words.within(text):
            yield start, end, self._spelled[word]

    def glued(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Yield values of several words that adjoin other words: "by Maria Lopez3 min read"."""
        if not self._several:
            return
        data = folded(text).encode("utf-8", "replace")
        found = sorted(self._glued.within(data))
        starts = characters(data, [at for at, _ in found])
        for start, (_, written) in zip(starts, found, strict=True):
            value = self._several[written]
            end = start + len(value.text)
            within_number = (
                text[max(start - 1, 0) : start + 1].isdigit() or text[end - 1 : end + 1].isdigit()
            )
            if not within_number:
                yield start, end, value

    @cached_property
    def _glued(self) -> Literals:
        return Literals(self._several)

    def values_in(self, text: str) -> Iterator[Value]:
        plain = normal(text)
        yield from (value for _, _, value in self.words(plain))
        yield from (value for _, _, value in self.numbers(plain))
        yield from (value for _, _, value in self.literals(text))
        yield from (value for _, _, value in self.spelled(text))


class ForbiddenValues:
    """Values that no replacement may contain: `m***@lopez.example` still names Ms. Lopez."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._matcher = LooseMatcher(values)

    def is_in(self, written: str) -> bool:
        return next(self._matcher.values_in(written), None) is not None


def words_among(type_name: str, texts: Iterable[str]) -> set[str]:
    """Return the values of a type that match only as they are written, or in capitals.

    Many names are everyday words: Mr. Brown may well like brown dogs.
    """
    return {
        text
        for text in (texts if type_name == "PERSON_NAME" else ())
        if len(text) >= SHORTEST_SEARCHED
        and TOKEN.fullmatch(text) is not None
        and len(TOKEN.findall(normal(text))) == 1
    }


def is_word(value: Value) -> bool:
    """Return whether a value matches only as it is written, or in capitals."""
    return bool(words_among(value.type, [value.text]))


def find_leaks(masked: str, values: Iterable[Value]) -> list[Leak]:
    """Return the values that a masked text still contains, in the usual encodings too."""
    matcher = LooseMatcher(values)
    leaks: dict[Leak, None] = {}
    for form in forms(masked.encode("utf-8", "replace"), SHORTEST_SEARCHED):
        for value in matcher.values_in(form.data.decode("utf-8", "ignore")):
            leaks[Leak(value.type, form.name)] = None
    return list(leaks)


def normal(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    return text.casefold()
