"""Findings as columns of numbers: two hundred thousand take six megabytes, not forty."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from dlpctl.types import Finding

if TYPE_CHECKING:
    from dlpctl.types import Category

_ROW = 28
_FURTHER = -1_000
"""The numbers of patterns that are unknown to the detector start here and descend."""
_new = tuple.__new__
_T = TypeVar("_T", int, float)


class PackedFindings(Sequence[Finding]):
    """Findings in order of position; the objects are created on access."""

    __slots__ = ("_numbers", "_sample_of", "_sorts", "ends", "patterns", "scores", "starts")

    def __init__(self, sample_of: Callable[[int], Finding]) -> None:
        """`sample_of` returns a finding of a pattern, at any position."""
        self.starts, self.ends = array("q"), array("q")
        self.scores, self.patterns = array("d"), array("i")
        self._sample_of = sample_of
        self._sorts: dict[int, tuple[str, Category, str]] = {}
        self._numbers: dict[tuple[str, Category, str], int] = {}

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> PackedFindings:
        """Pack findings."""
        packed = cls(_unknown)
        for finding in findings:
            packed.append(finding.start, finding.end, finding.score, packed.pattern_of(finding))
        return packed

    def sort_of(self, pattern: int) -> tuple[str, Category, str]:
        """Return the type, category and id of a pattern."""
        sort = self._sorts.get(pattern)
        if sort is None:
            found = self._sample_of(pattern)
            sort = self._sorts[pattern] = found.type, found.category, found.pattern_id
        return sort

    def pattern_of(self, finding: Finding) -> int:
        """Return the number of a finding's pattern; an unknown pattern gets a new number."""
        for pattern in set(self.patterns) if not self._numbers else ():
            self._numbers[self.sort_of(pattern)] = pattern
        return self._number_of((finding.type, finding.category, finding.pattern_id))

    def _number_of(self, sort: tuple[str, Category, str]) -> int:
        number = self._numbers.get(sort)
        if number is None:
            number = self._numbers[sort] = _FURTHER - len(self._numbers)
            self._sorts[number] = sort
        return number

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Finding]:
        return self.between(0, len(self))

    def between(self, first: int, last: int, offset: int = 0) -> Iterator[Finding]:
        """Return the findings `first` to `last`, relative to the offset."""
        some = slice(first, last)
        columns = self.starts[some], self.ends[some], self.scores[some], self.patterns[some]
        sort_of = self.sort_of
        for start, end, score, pattern in zip(*columns, strict=True):
            name, category, pattern_id = sort_of(pattern)
            where = start - offset, end - offset
            yield _new(Finding, (name, category, *where, score, pattern_id, None))

    @overload
    def __getitem__(self, at: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice) -> list[Finding]: ...
    def __getitem__(self, at: int | slice) -> Finding | list[Finding]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        name, category, pattern_id = self.sort_of(self.patterns[at])
        start, end = self.starts[at], self.ends[at]
        return Finding(name, category, start, end, self.scores[at], pattern_id)

    def append(self, start: int, end: int, score: float, pattern: int) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.scores.append(score)
        self.patterns.append(pattern)

    def extend(self, others: PackedFindings, offset: int) -> None:
        """Add findings that follow these, with an offset to their positions."""
        sorts = {pattern: others.sort_of(pattern) for pattern in set(others.patterns)}
        numbers = {pattern: self._number_of(sort) for pattern, sort in sorts.items()}
        self.starts.extend(map(offset.__add__, others.starts))
        self.ends.extend(map(offset.__add__, others.ends))
        self.scores.extend(others.scores)
        self.patterns.extend(map(numbers.__getitem__, others.patterns))

    def move(self, first: int, offset: int) -> None:
        """Add an offset to the positions of the findings from the `first` on."""
        self.starts[first:] = array("q", map(offset.__add__, self.starts[first:]))
        self.ends[first:] = array("q", map(offset.__add__, self.ends[first:]))

    def replace(self, first: int, last: int, others: PackedFindings) -> None:
        """Replace the findings from `first` to before `last` by others."""
        self.starts[first:last] = others.starts
        self.ends[first:last] = others.ends
        self.scores[first:last] = others.scores
        self.patterns[first:last] = others.patterns

    def with_others(self, others: Sequence[Finding]) -> PackedFindings | None:
        """Return these findings and others, in order; None if different ones overlap."""
        added = PackedFindings(self._sample_of)
        added._sorts, added._numbers = self._sorts, self._numbers
        indexes: list[int] = []
        raised: dict[int, float] = {}
        for finding in others:
            start, end, score = finding.start, finding.end, finding.score
            pattern = self.pattern_of(finding)
            known = start, end, pattern
            if added and added.ends[-1] > start:
                if known != (added.starts[-1], added.ends[-1], added.patterns[-1]):
                    return None
                continue  # the first has the best score
            at = bisect_left(self.starts, start)
            if at < len(self) and known == (self.starts[at], self.ends[at], self.patterns[at]):
                raised[at] = max(score, raised.get(at, self.scores[at]))
                continue
            if (at and self.ends[at - 1] > start) or (at < len(self) and self.starts[at] < end):
                return None
            added.append(start, end, score, pattern)
            indexes.append(at)
        together = PackedFindings(self._sample_of)
        together._sorts, together._numbers = self._sorts, self._numbers
        for mine, more, all_of in (
            (self.starts, added.starts, together.starts),
            (self.ends, added.ends, together.ends),
            (self.patterns, added.patterns, together.patterns),
        ):
            _merge(mine, more, indexes, all_of)
        scores = self.scores[:]
        for at, score in raised.items():
            scores[at] = score
        _merge(scores, added.scores, indexes, together.scores)
        return together

    def to_bytes(self) -> bytes:
        return b"".join(
            (
                self.starts.tobytes(),
                self.ends.tobytes(),
                self.scores.tobytes(),
                self.patterns.tobytes(),
            )
        )

    def add_bytes(self, data: bytes) -> None:
        """Add the findings that `to_bytes` wrote."""
        count = len(data) // _ROW
        self.starts.frombytes(data[: 8 * count])
        self.ends.frombytes(data[8 * count : 16 * count])
        self.scores.frombytes(data[16 * count : 24 * count])
        self.patterns.frombytes(data[24 * count :])


def _unknown(pattern: int) -> Finding:
    raise KeyError(pattern)


def _merge(these: array[_T], others: array[_T], indexes: Sequence[int], into: array[_T]) -> None:
    """Insert each of the others before the index in `these` that `places` has for it."""
    before = 0
    for index, other in zip(indexes, others, strict=True):
        into.extend(these[before:index])
        into.append(other)
        before = index
    into.extend(these[before:])
