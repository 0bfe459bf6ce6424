"""The part of a text outside findings, and which values may still occur in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain
from string import ascii_letters, digits

from dlpctl.masking.leaks import GROUPED_DIGITS, normal
from dlpctl.regex import lazy
from dlpctl.texts.positions import positions
from dlpctl.texts.texthashes import TextHashes
from dlpctl.texts.words import TOKEN, distinct_words, folded, words_of_ascii
from dlpctl.types import Finding
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED

_APART = lazy(r"[\s\-./()]*")
_WINDOWS_APART = "\n\0\0\0\0\n"
_MOST_STARTS = 1 << 14
_STRETCH = 1 << 16
_MARKED = {ord(char): 0x16A0 + int(char, 36) for char in ascii_letters + digits}
"""The marks of covered letters and digits: runes, which are letters too and have no other forms."""
_PLAIN = {rune: chr(char).lower() for char, rune in _MARKED.items()}
_RUNES = "".join(map(chr, _PLAIN))
_DIGIT = rf"[\d{_RUNES[-10:]}]"
_NUMBER = lazy(GROUPED_DIGITS.replace(r"\d", _DIGIT))
_BETWEEN_DIGITS = lazy(rf"[^,{_DIGIT[1:-1]}]+")
LONGEST = 64
"""The longest first or last word of a value that is also searched for inside longer words."""


def words_of(value: str) -> list[str] | None:
    """Return the words of a value; None if it may be written without any of them."""
    words = words_of_ascii(value) if value.isascii() else TOKEN.findall(normal(value))
    size = sum(map(len, words))
    if size < SHORTEST_SEARCHED or (
        size >= LONGEST and max(len(words[0]), len(words[-1])) >= LONGEST
    ):
        return None
    return words if value.isascii() or words == TOKEN.findall(folded(value)) else None


class OpenText:
    """The part of a text outside findings, with as much context as a value may need."""

    def __init__(self, text: str, spans: Iterable[tuple[int, int]], longest: int) -> None:
        """`spans` are those of the findings, in order; `longest` is the length of the longest
        value.
        """
        self._text = text
        self._longest = longest
        self._step = 4 * longest + 16
        """The least number of characters around an open word that a value may need."""
        self._numbers: dict[int, TextHashes] = {}
        self._starts, self._ends = positions(len(text)), positions(len(text))
        for start, end in spans:
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        windows = list(self._windows())
        if sum(end - start for start, end in windows) * 2 > len(text):
            windows = [(0, len(text))]
        self._window_ends = [end for _, end in windows]
        self._windows_at = [start for start, _ in windows]
        self.joined: str = _WINDOWS_APART.join(text[start:end] for start, end in windows)
        lengths = (end - start + len(_WINDOWS_APART) for start, end in windows)
        self._joined_at = list(accumulate(lengths, initial=0))

    def _windows(self) -> Iterator[tuple[int, int]]:
        """Yield disjoint ranges that contain an open letter or digit."""
        text, before = self._text, 0
        words, before_findings, after_findings = set[str](), set[str](), set[str]()
        blank = {""}
        step, first, open_end = self._step, -1, -1
        at_end = [len(text)]
        spans = zip(chain(self._starts, at_end), chain(self._ends, at_end), strict=True)
        for start, end in spans:
            between = text[before:start]
            if between in blank:  # the most common case
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
                if first < 0:
                    first = self._reach_back(before)
                elif before - open_end > 2 * step:  # closer ones are in one window
                    last, reached = self._reach_on(open_end), self._reach_back(before)
                    if last < reached:
                        yield first, last
                        first = reached
                open_end = start
            before = end
        if first >= 0:
            yield first, self._reach_on(open_end)
        self.words: frozenset[str] = _normalized(words)
        """The words that contain an open letter or digit."""
        self.before_findings: frozenset[str] = _normalized(before_findings)
        self.after_findings: frozenset[str] = _normalized(after_findings)

    def _whole_words(self, start: int, end: int) -> tuple[int, int]:
        """Return a range extended to complete words at both ends."""
        text = self._text
        if start < end:
            if text[end - 1].isalnum():
                while end < len(text) and text[end].isalnum():
                    end += 1
            if text[start].isalnum():
                while start and text[start - 1].isalnum():
                    start -= 1
        return start, end

    def _reach_back(self, position: int) -> int:
        """Return the earliest start of a value that extends to a position."""
        text, longest, step = self._text, self._longest, self._step
        start = max(position - step, 0)
        while start and len(TOKEN.findall(text, start, position)) <= longest // 2 + 1:
            step *= 2
            start = max(position - step, 0)
        while start and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        return start

    def _reach_on(self, position: int) -> int:
        text, longest, step = self._text, self._longest, self._step
        end = min(position + step, len(text))
        while end < len(text) and len(TOKEN.findall(text, position, end)) <= longest // 2 + 1:
            step *= 2
            end = min(position + step, len(text))
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        return end

    def span_of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the position in the text of a range in the windows; None if it spans several
        windows.
        """
        window = bisect_right(self._joined_at, start) - 1
        if end > self._joined_at[window + 1] - len(_WINDOWS_APART):
            return None
        offset = self._windows_at[window] - self._joined_at[window]
        return start + offset, end + offset

    @cached_property
    def numbers(self) -> str:
        """The numbers with open digits, separated by blanks; their covered digits are marked."""
        found: list[str] = []
        for text in self._stretches():
            numbers = _BETWEEN_DIGITS.sub("", ",".join(_NUMBER.findall(text))).split(",")
            found += (
                each
                for each in numbers
                if len(each) >= FEWEST_DIGITS_SEARCHED and not each.isalpha()
            )
        return " ".join(found)

    def number_parts(self, length: int) -> Iterator[str]:
        """Yield the parts of numbers of this length that contain an open digit."""
        for number in self.numbers.split():
            for at in range(len(number) - length + 1):
                part = number[at : at + length]
                if not part.isalpha():
                    yield _plain(part)

    def _stretches(self) -> Iterator[str]:
        """Yield the windows in normal form, in parts that overlap by as much as a number may need;
        what findings cover is marked.
        """
        for start, end in zip(self._windows_at, self._window_ends, strict=True):
            for at in range(start, end, _STRETCH):
                first, last = max(at - self._step, start), min(at + _STRETCH + self._step, end)
                yield self._marked(*self._whole_words(first, last))

    def _marked(self, first: int, last: int) -> str:
        text, at = self._text, first
        pieces: list[str] = []
        covered = slice(bisect_right(self._ends, first), bisect_left(self._starts, last))
        for start, end in zip(self._starts[covered], self._ends[covered], strict=True):
            pieces += text[at:start], text[max(start, first) : min(end, last)].translate(_MARKED)
            at = end
        pieces.append(text[at:last])
        marked = "".join(pieces)
        return marked.lower() if text.isascii() else normal(marked)

    def holder(self, lists: Iterable[str] | None = None) -> Callable[[str], bool]:
        """Return a test of whether a value may contain an open letter or digit.

        It may be called only for values that `lists` contain; None means any value.
        """
        wanted = self.words
        if lists is not None:
            wanted = frozenset().union(*(wanted & distinct_words(each, TOKEN) for each in lists))
        return partial(self._may_hold, self._beside(wanted))

    def _may_hold(self, beside: tuple[_Beside, _Beside], value: str) -> bool:
        words = words_of(value)
        if words is None:
            return True
        joined = "".join(words)
        if joined in self.words or self._may_hold_words(words, *beside):
            return True
        if joined.isdecimal() and len(joined) >= FEWEST_DIGITS_SEARCHED:
            return joined in self._numbers_of(len(joined))
        if len(words) < 2:
            return False
        first, last = words[0][::-1], words[-1]
        ends, starts, ends_before, starts_after = self._affixes
        return ends_before[first] or starts_after[last] or (ends[first] and starts[last])

    def _may_hold_words(self, words: Sequence[str], before: _Beside, after: _Beside) -> bool:
        """Return whether one of the words is open and next to the words that adjoin it in the
        value.
        """
        last = len(words) - 1
        for at, word in enumerate(words) if not self.words.isdisjoint(words) else ():
            if (
                word in self.words
                and (at == 0 or before.has(word, words[at - 1], may_go_on=at == 1))
                and (at == last or after.has(word, words[at + 1], may_go_on=at + 1 == last))
            ):
                return True
        return False

    def _beside(self, wanted: frozenset[str]) -> tuple[_Beside, _Beside]:
        """Return the words before open words of `wanted`, backwards, and the words after them."""
        before, after = _Beside(backwards=True), _Beside(backwards=False)
        words: list[str] = []
        for text in self._stretches() if wanted else ():
            # The next word may be far away, in the next part.
            words = [*words[-1:], *TOKEN.findall(text)]
            opened = {word: plain for word in {*words} if (plain := _open_word(word)) in wanted}
            last = len(words) - 1
            for at, word in enumerate(words):
                if word not in opened:
                    continue
                if at:
                    before.add(opened[word], _plain(words[at - 1]))
                if at < last:
                    after.add(opened[word], _plain(words[at + 1]))
        return before, after

    def _numbers_of(self, length: int) -> TextHashes:
        """Return all numbers of a length that contain an open digit."""
        known = self._numbers.get(length)
        if known is None:
            known = self._numbers[length] = TextHashes(self.number_parts(length))
        return known

    @cached_property
    def _affixes(self) -> list[_Starts]:
        """The words that may contain a value as a part; backwards for a part at the end."""
        ends, ends_before = (
            [word[::-1] for word in each] for each in (self.words, self.before_findings)
        )
        return [_Starts(each) for each in (ends, self.words, ends_before, self.after_findings)]

    def uncovered(self, found: Iterable[Finding]) -> list[Finding]:
        """Return the longest of `found` at each position that findings do not cover completely."""
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
        # Nothing is between a card number and a phone number, although the last digit of one and
        # the other may look like a third.
        return all(
            _APART.fullmatch(self._text[before:after])
            for before, after in zip(ends, starts, strict=True)
        )


def _normalized(words: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, normal("\n".join(words)).split("\n")))


def _open_word(word: str) -> str:
    """Return a word without marks; nothing for one that is covered completely."""
    return _plain(word) if word.strip(_RUNES) else ""


def _plain(word: str) -> str:
    return word if word.isascii() else word.translate(_PLAIN)


class _Beside:
    """The words on one side of open words."""

    def __init__(self, *, backwards: bool) -> None:
        self._step = -1 if backwards else 1
        self._pairs: set[str] = set()
        """Each open word with a word beside it, as one text: sets would take three times the
        memory.
        """
        self._starts: _Starts | None = None

    def add(self, word: str, other: str) -> None:
        self._pairs.add(f"{word}\n{other[:: self._step]}")

    def has(self, word: str, other: str, *, may_go_on: bool) -> bool:
        """Return whether `other` is next to a word; it may continue at its far end."""
        pair = f"{word}\n{other[:: self._step]}"
        if not may_go_on:
            return pair in self._pairs
        if self._starts is None:
            self._starts = _Starts(self._pairs)
        return self._starts[pair]


class _Starts(dict[str, bool]):
    """Tells whether any of the words starts with a text."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(words)

    def __missing__(self, start: str) -> bool:
        if len(self) == _MOST_STARTS:
            self.clear()
        at = bisect_left(self._words, start)
        found = self[start] = at < len(self._words) and self._words[at].startswith(start)
        return found
