"""Many short values under one label, such as the cells of a column: what `Detector.scan` finds in
each, `label: value`, for a fraction of the time.

One pass over all of them tells which values may hold anything. Only these are judged, each by
itself, so that no value is ever evidence for or against its neighbour.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from dlpctl.detect.confirm.code_density import SHORT
from dlpctl.detect.derived.texts import openings
from dlpctl.detect.engine import encode
from dlpctl.types import Finding

if TYPE_CHECKING:
    from dlpctl.detect.automaton.first_pass import Hits
    from dlpctl.detect.engine import Detector

_TOGETHER = 1 << 18
"""Bytes of values that are passed over at once."""
_LONGEST_LABEL = 80
_UNNAMED = "value"
_NOTHING: Sequence[Finding] = ()
_new = tuple.__new__


def label_before(header: str) -> str:
    """Return what is read before each value below a header."""
    return f"{' '.join(header.split())[:_LONGEST_LABEL] or _UNNAMED}: "


def scan_value(detector: Detector, header: str, value: str, min_score: float) -> Sequence[Finding]:
    """Return the findings in a value below a header, as positions in the value."""
    label = label_before(header)
    return _within(detector.scan(label + value, min_score), len(label))


def scan_values(
    detector: Detector, header: str, values: Sequence[str], min_score: float
) -> Iterator[Sequence[Finding]]:
    """Yield what `scan_value` does for each of the values, in their order."""
    scanner = _ValueScanner(detector, label_before(header), min_score)
    first, size = 0, 0
    for number, value in enumerate(values, start=1):
        size += len(value) + len(scanner.label)
        if size >= _TOGETHER or number == len(values):
            yield from scanner.scan(values[first:number])
            first, size = number, 0


class _ValueScanner:
    """The scan of values below one label."""

    def __init__(self, detector: Detector, label: str, min_score: float) -> None:
        self.label = label
        self._detector = detector
        self._min_score = min_score
        self._size = len(label)

    def scan(self, values: Sequence[str]) -> Iterator[Sequence[Finding]]:
        """Yield the findings in values that are passed over together."""
        detector = self._detector
        texts = [self.label + value for value in values]
        data = encode("\n".join([*texts, ""]))
        lengths = map(len, texts if data.isascii() else map(encode, texts))
        ends = list(accumulate(map((1).__add__, lengths)))
        matching = self._matching(data, ends)
        tagged = set(_numbers(ends, detector.triggers(data)))
        opened = self._opened(data, ends, texts)
        found: dict[int, Sequence[Finding]] = {}
        for number in {*matching, *tagged, *opened}:
            text = texts[number]
            if self._is_plain(text, opened=number in opened):
                patterns = matching.get(number, {})
                findings = self._judged(text, patterns, is_tagged=number in tagged)
            else:
                findings = detector.scan(text, self._min_score)
            if findings:
                found[number] = _within(findings, self._size)
        for number in range(len(values)):
            yield found.get(number, _NOTHING)

    def _is_plain(self, text: str, *, opened: bool) -> bool:
        """Return whether nothing is derived from a value, and all types are looked for."""
        detector = self._detector
        if detector.search.selected is not None or len(text) >= SHORT or "\n" in text:
            return False
        return not opened or not detector.search.derived(encode(text))

    def _judged(self, text: str, patterns: Hits, *, is_tagged: bool) -> Sequence[Finding]:
        """Return the findings of patterns that may match, and the names and addresses."""
        detector, min_score = self._detector, self._min_score
        data = encode(text)
        candidates = detector.search.confirmed(patterns, data, min_score)
        tagged = detector.tagged(data, min_score) if is_tagged else ()
        if not candidates and not tagged:
            return _NOTHING
        if tagged or len(candidates) > 1:
            candidates = detector.resolved(data, candidates, tagged)
        return detector.findings(candidates, data if len(data) != len(text) else None)

    def _matching(self, data: bytes, ends: Sequence[int]) -> dict[int, Hits]:
        """Return the patterns that may match in each value, with the ends in its text."""
        by_value: dict[int, Hits] = {}
        starts = [0, *ends]
        search = self._detector.search
        for index, found in search.first_pass.hits(data).items():
            if search.wants(index):
                for position in found:
                    number = bisect_left(ends, position)
                    end = min(position, ends[number] - 1) - starts[number]
                    by_value.setdefault(number, {}).setdefault(index, []).append(end)
        for index in search.first_pass.ending:
            if search.wants(index):
                for number, end in enumerate(ends):
                    of_value = by_value.setdefault(number, {}).setdefault(index, [])
                    of_value.append(end - 1 - starts[number])
        return by_value

    def _opened(self, data: bytes, ends: Sequence[int], texts: Sequence[str]) -> set[int]:
        """Return the values from which something may be derived, or that are long."""
        opened: set[int] = set()
        for start, end in chain.from_iterable(openings(data)):
            opened.update(range(bisect_left(ends, start + 1), bisect_left(ends, end) + 1))
        opened.update(
            number
            for number, text in enumerate(texts)
            if len(text) >= SHORT or "\n" in text or "\\" in text or "&" in text
        )
        return opened


def _numbers(ends: Sequence[int], positions: Iterable[int]) -> Iterator[int]:
    """Return the numbers of the values that positions are in."""
    for position in positions:
        yield bisect_left(ends, position)


def _within(findings: Iterable[Finding], start: int) -> Sequence[Finding]:
    """Return the parts of findings that are in a value which starts after its label."""
    return [
        _new(Finding, (name, category, max(first - start, 0), last - start, *others))
        for name, category, first, last, *others in findings
        if last > start
    ]
