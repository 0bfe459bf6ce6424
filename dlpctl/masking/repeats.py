"""Find further places of values that were found, in what findings leave of a text."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.masking.leaks import (
    DIGITS,
    GROUPED,
    SHORTEST,
    SHORTEST_GROUPED,
    TOKEN,
    Value,
    ValueIndex,
    normal,
)
from dlpctl.regex import lazy
from dlpctl.words import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dlpctl.types import Finding

_APART = lazy(r"[\s\-./()]*")
_ESCAPE = lazy(r"\\[nrt](?=\w)")
_WINDOWS_APART = "\n\0\0\0\0\n"
_LONGEST = 64
"""Characters up to which a value's first or last word is looked up as a part of longer words."""
_SHORT, _MANY = 1 << 12, 1 << 18
"""Digits of what is open up to which numbers are looked for as they are, and by their length."""
_FEW_TEXTS = 8
"""Texts up to which values are told to be absent one by one, without an index of all of them."""


def find_repeats(text: str, findings: Sequence[Finding]) -> list[Finding]:
    """Return further places of found values, as findings like those that they repeat."""
    originals: dict[Value, Finding] = {}
    for finding in findings:
        value = Value(finding.type, finding.category, text[finding.start : finding.end])
        originals.setdefault(value, finding)
    return Repeats(originals).outside(text, findings)


class Repeats:
    """Values that were found somewhere, and all other places at which they are."""

    def __init__(self, originals: Mapping[Value, Finding] | None = None) -> None:
        self._originals: dict[Value, Finding] = {}
        self._values: list[Value] = []
        self._longest = 0
        self._texts = 0
        """The texts that were searched."""
        self._indexed = 0
        """The number of values in the index, which is made when it is needed."""
        self._index = _ByWord({}, {}, {}, {}, [], set())
        self.add(originals or {})

    def add(self, originals: Mapping[Value, Finding]) -> None:
        for value, finding in originals.items():
            if value not in self._originals:
                self._originals[value] = finding
                self._values.append(value)
                self._longest = max(self._longest, len(value.text))

    def outside(self, text: str, findings: Iterable[Finding], *more: Repeats) -> list[Finding]:
        """The places in a text of these values and of `more` that are not in `findings`, which are
        of this text.
        """
        groups = [each for each in (self, *more) if each._values]
        if not groups:
            return []
        spans = [(finding.start, finding.end) for finding in findings]
        longest = max(each._longest for each in groups)
        found = groups[0].within(OpenText(text, sorted(spans), longest), *groups[1:])
        if _ESCAPE.search(text):  # the letter of an escape is no part of the word after it
            spans += [(finding.start, finding.end) for finding in found]
            unescaped = OpenText(_ESCAPE.sub("  ", text), sorted(spans), longest)
            found += groups[0].within(unescaped, *groups[1:])
        return found

    def within(self, opened: OpenText, *more: Repeats) -> list[Finding]:
        """The places in what findings leave of a text."""
        originals: dict[Value, Finding] = {}
        for group in (self, *more):
            for value in group._touching(opened):
                originals.setdefault(value, group._originals[value])
        if not originals:
            return []
        index, text = ValueIndex(originals), opened.joined
        matches = [*index.words(text), *index.numbers(text)]
        matches += index.literals(text)
        matches += index.spelled(text)
        matches += index.glued(text)
        repeated = [
            originals[value]._replace(start=span[0], end=span[1])
            for start, end, value in matches
            if (span := opened.span_of(start, end))
        ]
        return opened.uncovered(repeated)

    def _touching(self, opened: OpenText) -> list[Value]:
        """Return the values that may take an open letter or digit, in their order."""
        if not opened.words:
            return []
        self._texts += 1
        if self._texts <= _FEW_TEXTS:
            return [value for value in self._originals if opened.may_hold(value.text)]
        by = self._by_word
        touching = set(by.others)
        for word in opened.words:
            touching.update(by.words.get(word, ()))
        touching |= by.ending(opened.words) & by.starting(opened.words)
        touching |= by.ending(opened.before_findings) | by.starting(opened.after_findings)
        for digits in opened.numbers.split():
            for length in by.lengths:
                for at in range(len(digits) - length + 1):
                    touching.update(by.numbers.get(digits[at : at + length], ()))
        return [self._values[number] for number in sorted(touching)]

    @property
    def _by_word(self) -> _ByWord:
        for number in range(self._indexed, len(self._values)):
            self._index.add(number, self._values[number].text)
        self._indexed = len(self._values)
        return self._index


class _ByWord(NamedTuple):
    """The numbers of values by their words."""

    words: dict[str, list[int]]
    firsts: dict[str, list[int]]
    """By their first words, where there are several."""
    lasts: dict[str, list[int]]
    numbers: dict[str, list[int]]
    """By their digits, where they are nothing else."""
    others: list[int]
    """Values that may be written without any of their words."""
    lengths: set[int]
    """The lengths of `numbers`."""

    def add(self, number: int, value: str) -> None:
        words = _words_of(value)
        if words is None:
            self.others.append(number)
            return
        joined = "".join(words)
        for word in {*words, joined}:
            self.words.setdefault(word, []).append(number)
        if len(words) > 1:
            self.firsts.setdefault(words[0], []).append(number)
            self.lasts.setdefault(words[-1], []).append(number)
        if joined.isdecimal() and len(joined) >= SHORTEST_GROUPED:
            self.numbers.setdefault(joined, []).append(number)
            self.lengths.add(len(joined))

    def ending(self, words: Iterable[str]) -> set[int]:
        """Return the values whose first word is the end of one of the words."""
        parts = (word[-at:] for word in words for at in range(1, min(len(word), _LONGEST)))
        return {number for part in parts for number in self.firsts.get(part, ())}

    def starting(self, words: Iterable[str]) -> set[int]:
        """Return the values whose last word is the start of one of the words."""
        parts = (word[:at] for word in words for at in range(1, min(len(word), _LONGEST)))
        return {number for part in parts for number in self.lasts.get(part, ())}


def _words_of(value: str) -> list[str] | None:
    """Return the words of a value; None where it may be written without any of them."""
    words: list[str] = TOKEN.findall(normal(value))
    size = sum(map(len, words))
    if size < SHORTEST or (size >= _LONGEST and max(len(words[0]), len(words[-1])) >= _LONGEST):
        return None
    return words if value.isascii() or words == TOKEN.findall(folded(value)) else None


class OpenText:
    """The rest of a text without findings, with as much around as a value may take."""

    def __init__(self, text: str, spans: Iterable[tuple[int, int]], longest: int) -> None:
        """`spans` are those of the findings, ascending; `longest` is that of the values."""
        self._text = text
        self._numbers: dict[int, frozenset[str]] = {}
        self._starts, self._ends = array("q"), array("q")
        for start, end in spans:
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        windows = list(self._windows(longest))
        if sum(end - start for start, end in windows) * 2 > len(text):
            windows = [(0, len(text))]
        self._windows_at = [start for start, _ in windows]
        self.joined = _WINDOWS_APART.join(text[start:end] for start, end in windows)
        lengths = (end - start + len(_WINDOWS_APART) for start, end in windows)
        self._joined_at = list(accumulate(lengths, initial=0))

    def _windows(self, longest: int) -> Iterator[tuple[int, int]]:
        """Stretches with an open letter or digit, apart from each other."""
        text, before = self._text, 0
        words, before_findings, after_findings = set[str](), set[str](), set[str]()
        blank = {""}
        first = last = -1
        for start, end in zip([*self._starts, len(text)], [*self._ends, len(text)], strict=True):
            between = text[before:start]
            if between in blank:  # as most are
                before = end
                continue
            found = TOKEN.findall(text, *self._whole_words(before, start))
            if not found:
                blank.add(between)
            if found:
                words.update(found)
                if before:
                    after_findings.add(found[0])
                if end > start:
                    before_findings.add(found[-1])
                reached = self._reach_back(before, longest)
                if last >= reached:
                    last = self._reach_on(start, longest)
                else:
                    if last >= 0:
                        yield first, last
                    first, last = reached, self._reach_on(start, longest)
            before = end
        if last >= 0:
            yield first, last
        self.words = _normalized(words)
        """The words that hold an open letter or digit."""
        self.before_findings = _normalized(before_findings)
        self.after_findings = _normalized(after_findings)

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        """Return a stretch with the rest of the words that it starts and ends in."""
        text = self._text
        if start < end:
            if text[end - 1].isalnum():
                while end < len(text) and text[end].isalnum():
                    end += 1
            if text[start].isalnum():
                while start and text[start - 1].isalnum():
                    start -= 1
        return start, end

    def _reach_back(self, position: int, longest: int) -> int:
        """Return the start of what a value can take before a position."""
        text, step = self._text, 4 * longest + 16
        start = max(position - step, 0)
        while start and len(TOKEN.findall(text, start, position)) <= longest // 2 + 1:
            start = max(start - step, 0)
        while start and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        return start

    def _reach_on(self, position: int, longest: int) -> int:
        text, step = self._text, 4 * longest + 16
        end = min(position + step, len(text))
        while end < len(text) and len(TOKEN.findall(text, position, end)) <= longest // 2 + 1:
            end = min(end + step, len(text))
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        return end

    def span_of(self, start: int, end: int) -> tuple[int, int] | None:
        """The place in the text of a stretch of the windows; None for one of several windows."""
        window = bisect_right(self._joined_at, start) - 1
        if end > self._joined_at[window + 1] - len(_WINDOWS_APART):
            return None
        offset = self._windows_at[window] - self._joined_at[window]
        return start + offset, end + offset

    @cached_property
    def numbers(self) -> str:
        """The numbers with open digits, apart from each other."""
        found: list[str] = []
        for run in GROUPED.finditer(self.joined):
            digits = "".join(DIGITS.findall(run[0]))
            if len(digits) >= SHORTEST_GROUPED:
                span = self.span_of(*run.span())
                if span is None or not self._covers(*span):
                    found.append(digits)
        return " ".join(found)

    def may_hold(self, value: str) -> bool:
        """Tell whether a value may take an open letter or digit."""
        words = _words_of(value)
        if words is None:
            return True
        joined = "".join(words)
        if not self.words.isdisjoint(words) or joined in self.words:
            return True
        if joined.isdecimal() and self._may_hold_number(joined):
            return True
        if len(words) < 2:
            return False
        first, last = words[0][::-1], words[-1]
        ends, starts, ends_before, starts_after = self._affixes
        return ends_before[first] or starts_after[last] or (ends[first] and starts[last])

    def _may_hold_number(self, digits: str) -> bool:
        if len(self.numbers) <= _SHORT:
            return digits in self.numbers
        of_length = self._numbers.get(len(digits))
        if of_length is None:
            of_length = self._numbers[len(digits)] = self._numbers_of(len(digits))
        return not of_length or digits in of_length

    def _numbers_of(self, length: int) -> frozenset[str]:
        """Return all numbers of a length within those with open digits; none if they are too many,
        and a blank for them if there are none.
        """
        long = [number for number in self.numbers.split() if len(number) >= length]
        if sum(map(len, long)) > _MANY:
            return frozenset()
        return frozenset(
            [
                " ",
                *(
                    number[at : at + length]
                    for number in long
                    for at in range(len(number) - length + 1)
                ),
            ]
        )

    @cached_property
    def _affixes(self) -> list[_Starts]:
        """The words for which values may be a part; backwards where it is the end."""
        ends, ends_before = (
            [word[::-1] for word in each] for each in (self.words, self.before_findings)
        )
        return [_Starts(each) for each in (ends, self.words, ends_before, self.after_findings)]

    def uncovered(self, found: Iterable[Finding]) -> list[Finding]:
        """Return the longest of `found` at each place that findings do not cover together."""
        kept: list[Finding] = []
        for each in sorted(found, key=lambda finding: (finding.start, -finding.end, finding.type)):
            if not (kept and kept[-1].end >= each.end) and not self._covers(each.start, each.end):
                kept.append(each)
        return kept

    def _covers(self, start: int, end: int) -> bool:
        first = max(bisect_right(self._starts, start) - 1, 0)
        if first < len(self._ends) and self._ends[first] <= start:
            first += 1
        last = bisect_left(self._starts, end)
        if first >= last:
            return False
        ends = [start, *self._ends[first:last]]
        starts = [*self._starts[first:last], end]
        # Between a card number and a phone number is nothing, though the last digit of one and the
        # other may be a third.
        return all(
            _APART.fullmatch(self._text[before:after])
            for before, after in zip(ends, starts, strict=True)
        )


def _normalized(words: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, normal("\n".join(words)).split("\n")))


class _Starts(dict[str, bool]):
    """Tells of a text whether one of the words starts so."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(words)

    def __missing__(self, start: str) -> bool:
        at = bisect_left(self._words, start)
        found = self[start] = at < len(self._words) and self._words[at].startswith(start)
        return found
