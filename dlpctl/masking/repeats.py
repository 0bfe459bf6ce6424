"""Find repetitions of found values in the rest of a text."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from dlpctl.masking.leaks import LooseMatcher, Value
from dlpctl.masking.opentext import LONGEST, OpenText, words_of
from dlpctl.regex import lazy
from dlpctl.system.forked import in_order
from dlpctl.types import Finding
from dlpctl.values import FEWEST_DIGITS_SEARCHED

_ESCAPE = lazy(r"\\[nrt](?=\w)")
_FEW_TEXTS = 8
"""Up to this many texts, values are checked one by one, without an index of all of them."""


def find_repeats(text: str, findings: Sequence[Finding], *known: Repeats) -> list[Finding]:
    """Return repetitions of found and known values, as findings like those that they repeat."""
    originals: dict[Value, Finding] = {}
    for finding in findings:
        originals.setdefault(Value.of(finding, text), finding)
    return Repeats(originals).outside(text, findings, *known)


class Repeats:
    """Values that were found, and the search for their repetitions."""

    def __init__(self, originals: Mapping[Value, Finding] | None = None) -> None:
        self._originals: dict[Value, Finding] = {}
        self._values: list[Value] = []
        self._longest = 0
        self._texts = 0
        """The number of texts searched so far."""
        self._indexed = 0
        """The number of values in the index, which is built when needed."""
        self._index = _ByWord({}, {}, {}, {}, [], set())
        self.add(originals or {})

    def add(self, originals: Mapping[Value, Finding]) -> None:
        for value, finding in originals.items():
            if value not in self._originals:
                self._originals[value] = finding
                self._values.append(value)
                self._longest = max(self._longest, len(value.text))

    def outside(self, text: str, findings: Iterable[Finding], *more: Repeats) -> list[Finding]:
        """Return the repetitions of these values and of `more` in a text, outside its
        `findings`.
        """
        groups = [each for each in (self, *more) if each._values]
        if not groups:
            return []
        spans = [(finding.start, finding.end) for finding in findings]
        longest = max(each._longest for each in groups)
        found = groups[0].within(OpenText(text, sorted(spans), longest), *groups[1:])
        if _ESCAPE.search(text):  # the letter of an escape is not part of the word after it
            spans += [(finding.start, finding.end) for finding in found]
            unescaped = OpenText(_ESCAPE.sub("  ", text), sorted(spans), longest)
            found += groups[0].within(unescaped, *groups[1:])
        return found

    def within(self, opened: OpenText, *more: Repeats) -> list[Finding]:
        """Return the repetitions in the open part of a text."""
        originals: dict[Value, Finding] = {}
        for group in (self, *more):
            for value in group._touching(opened):
                originals.setdefault(value, group._originals[value])
        return places_of(originals, opened)

    def _touching(self, opened: OpenText) -> list[Value]:
        """Return the values that may contain an open letter or digit, in order."""
        if not opened.words:
            return []
        self._texts += 1
        if self._texts <= _FEW_TEXTS:
            may_hold = opened.holder(["\n".join(value.text for value in self._values)])
            return [value for value in self._values if may_hold(value.text)]
        by = self._by_word
        touching = set(by.others)
        for word in opened.words:
            touching.update(by.words.get(word, ()))
        touching |= by.ending(opened.words) & by.starting(opened.words)
        touching |= by.ending(opened.before_findings) | by.starting(opened.after_findings)
        for length in by.lengths:
            for part in opened.number_parts(length):
                touching.update(by.numbers.get(part, ()))
        return [self._values[number] for number in sorted(touching)]

    @property
    def _by_word(self) -> _ByWord:
        for number in range(self._indexed, len(self._values)):
            self._index.add(number, self._values[number].text)
        self._indexed = len(self._values)
        return self._index


def places_of(
    originals: Mapping[Value, Finding], opened: OpenText, processes: int = 1
) -> list[Finding]:
    """Return the places of values in what findings leave of a text, as findings like theirs; forked
    processes divide the work.
    """
    if not originals:
        return []
    searches, text = LooseMatcher(originals).searches, opened.joined
    values = list(originals)
    numbers = dict(zip(values, range(len(values)), strict=True))

    def search(task: bytes) -> bytes:
        matches = searches[int(task)](text)
        numbered = ((start, end, numbers[value]) for start, end, value in matches)
        return array("q", chain.from_iterable(numbered)).tobytes()

    repeated: list[Finding] = []
    for result in in_order(len(searches), b"%d".__mod__, search, processes):
        columns = memoryview(result).cast("q")
        for start, end, number in zip(columns[::3], columns[1::3], columns[2::3], strict=True):
            if span := opened.span_of(start, end):
                found = originals[values[number]]
                repeated.append(found._replace(start=span[0], end=span[1]))
    return opened.uncovered(repeated)


class _ByWord(NamedTuple):
    """The indices of values by their words."""

    words: dict[str, list[int]]
    firsts: dict[str, list[int]]
    """By first word, for values of several words."""
    lasts: dict[str, list[int]]
    numbers: dict[str, list[int]]
    """By digits, for values that consist of nothing else."""
    others: list[int]
    """Values that may be written without any of their words."""
    lengths: set[int]
    """The lengths of `numbers`."""

    def add(self, number: int, value: str) -> None:
        words = words_of(value)
        if words is None:
            self.others.append(number)
            return
        joined = "".join(words)
        for word in {*words, joined}:
            self.words.setdefault(word, []).append(number)
        if len(words) > 1:
            self.firsts.setdefault(words[0], []).append(number)
            self.lasts.setdefault(words[-1], []).append(number)
        if joined.isdecimal() and len(joined) >= FEWEST_DIGITS_SEARCHED:
            self.numbers.setdefault(joined, []).append(number)
            self.lengths.add(len(joined))

    def ending(self, words: Iterable[str]) -> set[int]:
        """Return the values whose first word is the end of one of the words."""
        parts = (word[-at:] for word in words for at in range(1, min(len(word), LONGEST)))
        return {number for part in parts for number in self.firsts.get(part, ())}

    def starting(self, words: Iterable[str]) -> set[int]:
        """Return the values whose last word is the start of one of the words."""
        parts = (word[:at] for word in words for at in range(1, min(len(word), LONGEST)))
        return {number for part in parts for number in self.lasts.get(part, ())}
