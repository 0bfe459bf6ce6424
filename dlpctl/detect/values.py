"""Many short values under one label, such as the cells of a column: the findings of `Detector.scan`
in each `label: value`, at a fraction of the cost.

One pass over all values finds those that may contain anything. Only these are judged, each by
itself, so that no value is evidence for or against another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from operator import sub
from typing import TYPE_CHECKING, Any

from dlpctl.detect.confirm.code_density import SHORT
from dlpctl.detect.derived import compound, followed, groups
from dlpctl.detect.derived.decoded import hiding_text
from dlpctl.detect.derived.texts import READING_GATES, openings
from dlpctl.detect.engine import Detector, encode
from dlpctl.detect.entities.taggers import SENTENCE
from dlpctl.detect.entities.truecase import is_lower_case
from dlpctl.detect.linear import compile_regex
from dlpctl.detect.resolve import Candidate
from dlpctl.regex import lazy
from dlpctl.types import Finding

if TYPE_CHECKING:
    from dlpctl.detect.automaton.gates import MayMatch
    from dlpctl.detect.confirm.runner import EndsInText

_TOGETHER = 1 << 16
"""The number of characters of values that are searched together: with more, fewer fit into the
caches.
"""
_LONGEST_LABEL = 80
_UNNAMED = "value"
_ESCAPES = lazy(rb"[\\&]")
_LINE_END = b"\n"
_BLANK = b" "
_new = tuple.__new__

NumberedFindings = Iterator[tuple[int, Sequence[Finding]]]
"""The numbers of values, and the findings in each."""


def label_before(detector: Detector, header: str) -> str:
    """Return the text before each value below a header."""
    label = encode(f"{' '.join(header.split())[:_LONGEST_LABEL] or _UNNAMED}: ")
    return compound.in_plain_words(label, detector.search.header_words).decode()


def scan_value(detector: Detector, header: str, value: str, min_score: float) -> Sequence[Finding]:
    """Return the findings in a value below a header, as positions in the value."""
    label = label_before(detector, header)
    return _within(detector.scan(label + value, min_score), len(label))


def scan_values(
    detector: Detector, header: str, values: Sequence[str], min_score: float
) -> NumberedFindings:
    """Yield what `scan_value` returns for each of the values in which it finds something, with
    their numbers, in order.
    """
    scanner = _ValueScanner(detector, label_before(detector, header), min_score)
    sizes = map(len, values)
    reach = list(accumulate(map(len(scanner.label).__add__, sizes), initial=0))
    first = 0
    while first < len(values):
        last = min(bisect_left(reach, reach[first] + _TOGETHER, first + 1), len(values))
        yield from scanner.scan(values[first:last], first)
        first = last


class _ValueScanner:
    """The scan of values below one label."""

    def __init__(self, detector: Detector, label: str, min_score: float) -> None:
        self.label = label
        self._detector = detector
        self._min_score = min_score
        self._before = encode(label)
        self._findings_of: dict[Candidate, Sequence[Finding]] = {}
        """The findings of candidates that were alone in a text of ASCII."""

    def scan(self, values: Sequence[str], first: int) -> NumberedFindings:
        """Yield the findings in values that are searched together, with their numbers from the
        first one on.
        """
        detector, label = self._detector, self.label
        data = encode("".join((label, f"\n{label}".join(values), "\n")))
        lengths = map(len, values if data.isascii() else map(encode, values))
        ends = list(accumulate(map((len(self._before) + 1).__add__, lengths), initial=0))
        texts = _Texts(data, ends)
        in_line = detector.search.gates.in_lines_of(data)
        sentences = self._sentences(data, values)
        triggered, likely = (_of_values(each, ends) for each in detector.triggers(data))
        opened = self._opened(data, ends, values)
        opened.update(self._read(data, texts, sentences | triggered))
        tagged = triggered & (likely | opened)
        tagged.update(number for number in sentences if is_lower_case(texts[number]))
        candidates: dict[int, list[Candidate]] = {}
        if detector.search.selected is None:
            alone = {number for number in opened if self._is_special(texts[number], in_line)}
            possible = self._possible(data, ends, alone)
            candidates = detector.search.confirmed_each(
                possible, texts, self._min_score, self._before
            )
        else:
            alone = opened | tagged
            alone.update(n for _, each in self._possible(data, ends, ()) for n, _ in each)
        for number in sorted(candidates.keys() | tagged | alone):
            if number in alone:
                full = label + values[number]
                findings = _within(detector.scan(full, self._min_score), len(label))
            else:
                own = candidates.get(number, [])
                if number in tagged:
                    text = texts[number]
                    names = detector.tagged(text, self._min_score, may_match=in_line(text))
                    own = detector.resolved(text, own, names)
                elif len(own) > 1:
                    own = detector.resolved(texts[number], own, ())
                findings = self._findings(own, texts[number])
            if findings:
                yield first + number, findings

    def _findings(self, candidates: Sequence[Candidate], data: bytes) -> Sequence[Finding]:
        """Return the parts of candidates that are within a value, in characters."""
        if len(candidates) != 1 or not data.isascii():
            return self._within_value(candidates, data)
        (candidate,) = candidates
        known = self._findings_of.get(candidate)
        if known is None:
            known = self._findings_of[candidate] = self._within_value(candidates, data)
        return known

    def _within_value(self, candidates: Iterable[Candidate], data: bytes) -> Sequence[Finding]:
        start = len(self._before)
        within = [
            each._replace(start=max(each.start, start) - start, end=each.end - start)
            for each in candidates
            if each.end > start
        ]
        return self._detector.findings(within, data[start:])

    def _possible(
        self, data: bytes, ends: Sequence[int], alone: Collection[int]
    ) -> Iterator[tuple[int, Iterator[EndsInText]]]:
        """Yield the patterns with the values in which each may match, but those that are alone."""
        search = self._detector.search
        matches = search.first_pass.trigger_ends_in_lines(data)
        for index in search.first_pass.ending:
            matches[index] = sorted([*matches.get(index, ()), *(end - 1 for end in ends[1:])])
        for index, found in matches.items():
            if search.wants(index):
                yield index, _by_value(found, ends, alone)

    def _opened(self, data: bytes, ends: Sequence[int], values: Sequence[str]) -> set[int]:
        """Return the values from which a text may be derived, or that are long."""
        opened: set[int] = set()
        may_match = self._detector.search.gates.may_match
        runs, headers = openings(data, may_match)
        complete: list[tuple[int, int]] = []
        for start, end in chain(runs, headers):
            first, after = bisect_left(ends, start + 1) - 1, bisect_left(ends, end)
            is_complete = start == ends[first] + len(self._before) and end == ends[first + 1] - 1
            if is_complete and data[start:end].isalnum():
                complete.append((start, end))
            else:
                opened.update(range(first, after))
        for start in hiding_text(data, complete):
            opened.add(bisect_left(ends, start + 1) - 1)
        for mark in _ESCAPES.finditer(data) if b"\\" in data or b"&" in data else ():
            opened.add(bisect_left(ends, mark.end()) - 1)
        if may_match(followed.GATE, data):
            for value in _followed_by_label().finditer(data):
                opened.add(bisect_left(ends, value.start() + 1) - 1)
        if may_match(groups.GATE, data):
            for start, end in groups.openings(data):
                opened.update(range(bisect_left(ends, start + 1) - 1, bisect_left(ends, end)))
        if may_match(compound.GATE, data):
            starts = [end + len(self._before) for end in ends[:-1]]
            for start in compound.openings(data, starts):
                opened.add(bisect_left(ends, start + 1) - 1)
        sizes = list(map(sub, ends[1:], ends))
        if max(sizes) > SHORT:
            opened.update(number for number, size in enumerate(sizes) if size > SHORT)
        if data.count(_LINE_END) > len(values):  # one is after each value
            opened.update(number for number, value in enumerate(values) if "\n" in value)
        return opened

    def _sentences(self, data: bytes, values: Sequence[str]) -> set[int]:
        """Return the values that are sentences, in which names may be in lower case."""
        if data.count(_BLANK) <= len(values):
            return set()
        blanks = SENTENCE - self.label.count(" ")
        return {number for number, value in enumerate(values) if value.count(" ") >= blanks}

    def _read(
        self, data: bytes, texts: Mapping[int, bytes], numbers: Iterable[int]
    ) -> Iterator[int]:
        """Yield the sentences, and values with triggers, that may have a derived text though they
        have nothing to open.
        """
        may_match = self._detector.search.gates.may_match
        gates = [gate for gate in READING_GATES if may_match(gate, data)]
        for number in numbers if gates else ():
            if any(may_match(gate, texts[number]) for gate in gates):
                yield number

    def _is_special(self, data: bytes, in_line: Callable[[bytes], MayMatch]) -> bool:
        """Return whether more than the text itself is searched, or the text is not
        searched alone.
        """
        if len(data) >= SHORT or _LINE_END in data:
            return True
        return bool(self._detector.search.derived(data, may_match=in_line(data)))


class _Texts(dict[int, bytes]):
    """The values with their labels, by their numbers."""

    def __init__(self, data: bytes, ends: Sequence[int]) -> None:
        super().__init__()
        self._data = data
        self._ends = ends

    def __missing__(self, number: int) -> bytes:
        ends = self._ends
        text = self[number] = self._data[ends[number] : ends[number + 1] - 1]
        return text


def _of_values(found: Iterable[int], ends: Sequence[int]) -> set[int]:
    """Return the values that contain the ends of matches."""
    return {bisect_left(ends, end) - 1 for end in found}


def _by_value(
    found: Iterable[int], ends: Sequence[int], alone: Collection[int]
) -> Iterator[EndsInText]:
    """Yield the values that contain trigger matches, with the ends of these in their texts."""
    number = start = limit = -1
    own: list[int] = []
    for position in found:
        if position > limit:
            if own and number not in alone:
                yield number, own
            number = bisect_left(ends, position, number + 1) - 1
            start, limit = ends[number], ends[number + 1]
            own = []
        # The automaton may also report the line end, which is not part of the value.
        own.append(position - start - (position == limit))
    if own and number not in alone:
        yield number, own


@cache
def _followed_by_label() -> Any:
    return compile_regex(followed.GATE, "labels after their values")


def _within(findings: Iterable[Finding], start: int) -> Sequence[Finding]:
    """Return the parts of findings that are in a value, which starts after its label."""
    return [
        _new(Finding, (name, category, max(first - start, 0), last - start, *others))
        for name, category, first, last, *others in findings
        if last > start
    ]
