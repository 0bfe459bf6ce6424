"""Where values stand in a text, in any spelling: what masking has left of them, or where else they
are.

Linear in the text, whatever the number of values. Values of fewer than five letters and digits are
looked for only as they are written, those of fewer than five characters not at all: `47` and `Li`
stand in every text.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.literals import GRAM, Literals, characters, lengths_with
from dlpctl.regex import lazy
from dlpctl.words import Words, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dlpctl.types import Category, Finding

_TOKEN = lazy(r"[^\W_]+")
_GROUPED = lazy(r"\d+(?:[\s\-./()]{1,3}\d+)*")
_DIGITS = lazy(r"\d+")
_APART = lazy(r"[\s\-./()]*")
_BASE64 = lazy(r"[A-Za-z0-9+/_\-]{7,}")
_HEX = lazy(r"[0-9a-fA-F]{10,}")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_SHORTEST = 5
_SHORTEST_GROUPED = 7
_FEW = 32
"""So many first words are looked for one by one before a text is taken apart into all of its words.
"""
_SHORTEST_ANYWHERE = 9
"""A number of so many digits is found inside a longer one too."""
_SHORTEST_GLUED = GRAM
_WINDOWS_APART = "\n\0\0\0\0\n"
_LONGEST = 64
"""Characters up to which a value's first or last word is looked up as a part of longer words."""
_SHORT = 1 << 12
"""Digits of what is open up to which most numbers are told to be absent one by one."""


class Value(NamedTuple):
    type: str
    category: Category
    text: str


class Leak(NamedTuple):
    """A value that still stands in a text."""

    type: str
    form: str
    """How it is written there: `as it is`, `percent-encoded` ..."""


class _Index:
    """The values by their letters and digits."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._sequences: dict[tuple[str, ...], Value] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        """The numbers of words of the values that start with a word."""
        self._numbers: dict[str, Value] = {}
        self._literal: dict[str, Value] = {}
        self._spelled: dict[str, Value] = {}
        self._several: dict[bytes, Value] = {}
        for value in values:
            self._add(value)
        self._number_lengths = sorted({len(number) for number in self._numbers})

    def _add(self, value: Value) -> None:
        tokens = tuple(_TOKEN.findall(_normal(value.text)))
        joined = "".join(tokens)
        if len(joined) < _SHORTEST:
            if len(value.text) >= _SHORTEST and len(set(value.text)) > 1:
                self._literal[value.text] = value
            return
        if is_word(value):
            self._spelled[value.text] = self._spelled[value.text.upper()] = value
            return
        self._add_sequence(tokens, value)
        if any(map(str.isdigit, joined)):
            self._add_sequence((joined,), value)
        if joined.isdecimal() and len(joined) >= _SHORTEST_GROUPED:
            self._numbers[joined] = value
        elif len(tokens) > 1 and len(value.text) >= _SHORTEST_GLUED:
            self._several[folded(value.text).encode("utf-8", "replace")] = value

    def _add_sequence(self, tokens: tuple[str, ...], value: Value) -> None:
        self._sequences[tokens] = value
        self._lengths[tokens[0]] = lengths_with(self._lengths.get(tokens[0], ()), len(tokens))

    def sequences(self, tokens: Sequence[str]) -> Iterator[tuple[int, int, Value]]:
        """Values that stand in a text's words: first word, word behind the last, value."""
        for place, token in enumerate(tokens):
            lengths = self._lengths.get(token)
            if lengths is None:
                continue
            for length in lengths:
                value = self._sequences.get(tuple(tokens[place : place + length]))
                if value is not None:
                    yield place, place + length, value

    def words(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """The same with places in the text."""
        for start, word in self._first_words.within(text):
            lengths = self._lengths[word]
            matches = list(islice(_TOKEN.finditer(text, start), max(lengths)))
            tokens = tuple(_normal(each[0]) for each in matches)
            for length in lengths:
                value = self._sequences.get(tokens[:length]) if length <= len(tokens) else None
                if value is not None:
                    yield start, matches[length - 1].end(), value

    @cached_property
    def _first_words(self) -> Words:
        return Words(self._lengths, _TOKEN, _normal)

    @cached_property
    def _spelled_words(self) -> Words:
        return Words(map(_normal, self._spelled), _TOKEN, _normal)

    def numbers(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Values of digits alone, however they are grouped."""
        if not self._numbers:
            return
        numbers, shortest = self._numbers, self._number_lengths[0]
        for match in _GROUPED.finditer(text):
            digits = "".join(_DIGITS.findall(match[0]))
            if len(digits) < shortest:
                continue
            places: list[int] = []
            for length in self._number_lengths:
                for first in range(len(digits) - length + 1):
                    if (number := digits[first : first + length]) not in numbers:
                        continue
                    # Most numbers of a table are none of the values.
                    places = places or [
                        place for place in range(*match.span()) if text[place].isdecimal()
                    ]
                    start, end = places[first], places[first + length - 1] + 1
                    whole = (
                        not text[start - 1 : start].isdigit() and not text[end : end + 1].isdigit()
                    )
                    if whole or length >= _SHORTEST_ANYWHERE:
                        yield start, end, numbers[number]

    def literals(self, text: str) -> Iterator[tuple[int, int, Value]]:
        if not self._literal:
            return
        longest_first = sorted(self._literal, key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, longest_first)), text):
            yield match.start(), match.end(), self._literal[match.group()]

    def spelled(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Words that count only as they are written, or in capitals."""
        for start, _ in self._spelled_words.within(text) if self._spelled else ():
            match = _TOKEN.match(text, start)
            value = self._spelled.get(match[0]) if match else None
            if match and value is not None:
                yield start, match.end(), value

    def glued(self, text: str) -> Iterator[tuple[int, int, Value]]:
        """Values of several words that a text joins to their neighbours: "by Maria Lopez3 min
        read".
        """
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
        normal = _normal(text)
        few = len(self._lengths) <= _FEW
        if not few or any(first in normal for first in self._lengths):
            yield from (value for _, _, value in self.sequences(_TOKEN.findall(normal)))
        yield from (value for _, _, value in self.numbers(normal))
        yield from (value for _, _, value in self.literals(text))
        yield from (value for _, _, value in self.spelled(text))


class ForbiddenValues:
    """Values of which none may stand in what masking writes: `m***@lopez.example` still names Ms.
    Lopez.
    """

    def __init__(self, values: Iterable[Value]) -> None:
        self._index = _Index(values)

    def is_in(self, written: str) -> bool:
        return next(self._index.values_in(written), None) is not None


def is_word(value: Value) -> bool:
    """Whether a value counts only as it is written, or in capitals.

    Many names are everyday words: Mr. Brown may well like brown dogs.
    """
    return (
        value.type == "PERSON_NAME"
        and len(value.text) >= _SHORTEST
        and _TOKEN.fullmatch(value.text) is not None
        and len(_TOKEN.findall(_normal(value.text))) == 1
    )


def find_leaks(masked: str, values: Iterable[Value]) -> list[Leak]:
    """Which of the values can still be read in a masked text, also behind the usual encodings."""
    index = _Index(values)
    leaks: dict[Leak, None] = {}
    for form, text in _readings(masked):
        for value in index.values_in(text):
            leaks[Leak(value.type, form)] = None
    return list(leaks)


def find_repeats(text: str, findings: Sequence[Finding]) -> list[Finding]:
    """Further places of values that were found: a name that is repeated, a number written in
    another way.

    They are masked like the finding that they repeat; each has its type, score and pattern.
    """
    originals: dict[Value, Finding] = {}
    for finding in findings:
        value = Value(finding.type, finding.category, text[finding.start : finding.end])
        originals.setdefault(value, finding)
    return Repeats(originals).outside(text, findings)


class Repeats:
    """Values that were found somewhere, and all other places at which they are."""

    def __init__(self, originals: Mapping[Value, Finding]) -> None:
        self._originals = originals
        self._longest = max((len(value.text) for value in originals), default=0)

    def outside(self, text: str, findings: Iterable[Finding]) -> list[Finding]:
        """The places in a text that are not in `findings`, which are of this text."""
        if not self._originals:
            return []
        spans = sorted((finding.start, finding.end) for finding in findings)
        return self.within(OpenText(text, spans, self._longest))

    def within(self, opened: OpenText) -> list[Finding]:
        """The places in what findings leave of a text."""
        values = self._touching(opened)
        if not values:
            return []
        index, text = _Index(values), opened.joined
        places = [*index.words(text), *index.numbers(text)]
        places += index.literals(text)
        places += index.spelled(text)
        places += index.glued(text)
        repeated = [
            self._originals[value]._replace(start=place[0], end=place[1])
            for start, end, value in places
            if (place := opened.place(start, end))
        ]
        return opened.uncovered(repeated)

    def _touching(self, opened: OpenText) -> list[Value]:
        """Return the values that may take an open letter or digit, in their order."""
        if not opened.words:
            return []
        by = self._by_word
        touching = set(by.others)
        for word in opened.words:
            touching.update(by.words.get(word, ()))
        touching |= by.ending(opened.words) & by.starting(opened.words)
        touching |= by.ending(opened.before_findings) | by.starting(opened.after_findings)
        lengths = {len(number) for number in by.numbers}
        for digits in opened.numbers.split():
            for length in lengths:
                for at in range(len(digits) - length + 1):
                    touching.update(by.numbers.get(digits[at : at + length], ()))
        values = list(self._originals)
        return [values[number] for number in sorted(touching)]

    @cached_property
    def _by_word(self) -> _ByWord:
        found = _ByWord({}, {}, {}, {}, [])
        for number, value in enumerate(self._originals):
            words = _words_of(value.text)
            if words is None:
                found.others.append(number)
                continue
            joined = "".join(words)
            for word in {*words, joined}:
                found.words.setdefault(word, []).append(number)
            if len(words) > 1:
                found.firsts.setdefault(words[0], []).append(number)
                found.lasts.setdefault(words[-1], []).append(number)
            if joined.isdecimal() and len(joined) >= _SHORTEST_GROUPED:
                found.numbers.setdefault(joined, []).append(number)
        return found


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
    words: list[str] = _TOKEN.findall(_normal(value))
    if sum(map(len, words)) < _SHORTEST or max(len(words[0]), len(words[-1])) >= _LONGEST:
        return None
    return words if value.isascii() or words == _TOKEN.findall(folded(value)) else None


class OpenText:
    """What findings leave of a text: the letters and digits outside of them, with as much around as
    a value may take.
    """

    def __init__(self, text: str, spans: Iterable[tuple[int, int]], longest: int) -> None:
        """`spans` are those of the findings, ascending; `longest` is the length of the longest
        value.
        """
        self._text = text
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
        first = last = -1
        for start, end in zip([*self._starts, len(text)], [*self._ends, len(text)], strict=True):
            found = _TOKEN.findall(text, *self._whole_words(before, start))
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

    def _reach_back(self, place: int, longest: int) -> int:
        """The start of what a value can take before a place: so many words, or digits in groups."""
        text, step = self._text, 4 * longest + 16
        start = max(place - step, 0)
        while start and len(_TOKEN.findall(text, start, place)) <= longest // 2 + 1:
            start = max(start - step, 0)
        while start and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        return start

    def _reach_on(self, place: int, longest: int) -> int:
        text, step = self._text, 4 * longest + 16
        end = min(place + step, len(text))
        while end < len(text) and len(_TOKEN.findall(text, place, end)) <= longest // 2 + 1:
            end = min(end + step, len(text))
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        return end

    def place(self, start: int, end: int) -> tuple[int, int] | None:
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
        for run in _GROUPED.finditer(self.joined):
            digits = "".join(_DIGITS.findall(run[0]))
            if len(digits) >= _SHORTEST_GROUPED:
                place = self.place(*run.span())
                if place is None or not self._covers(*place):
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
        if joined.isdecimal() and (len(self.numbers) > _SHORT or joined in self.numbers):
            return True
        first, last = words[0][::-1], words[-1]
        ends, starts, ends_before, starts_after = self._affixes
        return len(words) > 1 and (
            _starts_one(first, ends_before)
            or _starts_one(last, starts_after)
            or (_starts_one(first, ends) and _starts_one(last, starts))
        )

    @cached_property
    def _affixes(self) -> list[list[str]]:
        """The words for which values may be a part, in order; backwards where it is the end."""
        ends, ends_before = (
            [word[::-1] for word in each] for each in (self.words, self.before_findings)
        )
        return [sorted(each) for each in (ends, self.words, ends_before, self.after_findings)]

    def uncovered(self, found: Iterable[Finding]) -> list[Finding]:
        """What of `found` no finding covers, alone or with others beside it; the longest at each
        place.
        """
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
    return frozenset(filter(None, _normal("\n".join(words)).split("\n")))


def _starts_one(start: str, words: list[str]) -> bool:
    """Tell whether one of the words, which ascend, starts so."""
    at = bisect_left(words, start)
    return at < len(words) and words[at].startswith(start)


def _normal(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    return text.casefold()


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """The text, and what stands in it behind an encoding."""
    yield "as it is", text
    if "%" in text:
        from urllib.parse import unquote

        yield "percent-encoded", unquote(text)
    if "&" in text:
        import html

        yield "as HTML entities", html.unescape(text)
    if hexadecimal := [bytes.fromhex(run[: len(run) & ~1]) for run in _HEX.findall(text)]:
        yield "in hexadecimal", b"\n".join(hexadecimal).decode("utf-8", "ignore")
    if decoded := b"\n".join(filter(None, map(_from_base64, _BASE64.findall(text)))):
        yield "in base64", decoded.decode("utf-8", "ignore")


def _from_base64(run: str) -> bytes:
    """What a run encodes; nothing for what is a word by the look of it."""
    if run.islower() or run.isupper() or run.istitle() or run.isdigit():
        return b""
    import binascii

    padded = run[: len(run) - (len(run) % 4 == 1)].replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(padded + "=" * (-len(padded) % 4))
    except binascii.Error:
        return b""
