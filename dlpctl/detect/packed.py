"""Findings as columns of numbers: two hundred thousand take two megabytes, not forty."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

from dlpctl.texts.positions import positions
from dlpctl.types import Finding

if TYPE_CHECKING:
    from dlpctl.types import Category

_FEW = 1 << 8
_FURTHER = -1_000
"""The numbers of patterns that are unknown to the detector start here and descend."""
_new = tuple.__new__
_Rival = tuple[int, int, int, bool]
"""The start, the end and the sort of a finding, and whether it was known before others."""


class Sort(NamedTuple):
    """Everything about findings but their positions, which many have in common."""

    type: str
    category: Category
    score: float
    pattern_id: str
    pattern: int
    """The number of the pattern."""


class PackedFindings(Sequence[Finding]):
    """Findings in order of position; the objects are created on access."""

    __slots__ = (
        "_numbers",
        "_patterns",
        "_sample_of",
        "_size",
        "ends",
        "listed",
        "sorts",
        "starts",
    )

    def __init__(self, sample_of: Callable[[int], Finding], size: int) -> None:
        """`sample_of` returns a finding of a pattern, at any position; `size` is that of the
        text.
        """
        self.starts, self.ends = positions(size), positions(size)
        self.sorts: array[int] = array("B")
        """The number of each finding's sort, of which there are few."""
        self.listed: list[Sort] = []
        """The sorts by their numbers."""
        self._numbers: dict[tuple[int, float], int] = {}
        """The numbers of sorts, by pattern and score."""
        self._sample_of = sample_of
        self._patterns: dict[tuple[str, Category, str], int] = {}
        """The numbers of patterns that are known by a sort."""
        self._size = size

    @classmethod
    def of(cls, findings: Iterable[Finding], size: int) -> PackedFindings:
        """Pack the findings in a text of this size."""
        packed = cls(_unknown, size)
        for finding in findings:
            packed._append(finding.start, finding.end, packed._sort_of(finding))
        return packed

    def _empty(self) -> PackedFindings:
        """Return no findings, with the sorts of these."""
        empty = PackedFindings(self._sample_of, self._size)
        empty.listed, empty._numbers, empty._patterns = self.listed, self._numbers, self._patterns
        empty.sorts = array(self.sorts.typecode)
        return empty

    def _number(self, pattern: int, score: float) -> int:
        """Return the number of a sort; a new one gets a new number."""
        number = self._numbers.get((pattern, score))
        if number is None:
            found = self._sample_of(pattern)
            sort = Sort(found.type, found.category, score, found.pattern_id, pattern)
            number = self._add(sort)
        return number

    def _add(self, sort: Sort) -> int:
        number = self._numbers[sort.pattern, sort.score] = len(self.listed)
        if number == _FEW and self.sorts.typecode == "B":
            self.sorts = array("I", self.sorts)
        self._patterns.setdefault((sort.type, sort.category, sort.pattern_id), sort.pattern)
        self.listed.append(sort)
        return number

    def _sort_of(self, finding: Finding) -> int:
        """Return the number of a finding's sort; an unknown pattern gets a new number."""
        name, category, _, _, score, pattern_id, _ = finding
        pattern = self._patterns.get((name, category, pattern_id))
        if pattern is None:
            pattern = _FURTHER - len(self._patterns)
        number = self._numbers.get((pattern, score))
        if number is None:
            number = self._add(Sort(name, category, score, pattern_id, pattern))
        return number

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Finding]:
        return self.between(0, len(self))

    def between(self, first: int, last: int, offset: int = 0) -> Iterator[Finding]:
        """Return the findings `first` to `last`, relative to the offset."""
        some, listed = slice(first, last), self.listed
        columns = self.starts[some], self.ends[some], self.sorts[some]
        for start, end, number in zip(*columns, strict=True):
            name, category, score, pattern_id, _ = listed[number]
            where = start - offset, end - offset
            yield _new(Finding, (name, category, *where, score, pattern_id, None))

    @overload
    def __getitem__(self, at: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice) -> list[Finding]: ...
    def __getitem__(self, at: int | slice) -> Finding | list[Finding]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        name, category, score, pattern_id, _ = self.listed[self.sorts[at]]
        return Finding(name, category, self.starts[at], self.ends[at], score, pattern_id)

    def clear(self) -> None:
        for column in (self.starts, self.ends, self.sorts):
            del column[:]

    def append(self, start: int, end: int, score: float, pattern: int) -> None:
        self._append(start, end, self._number(pattern, score))

    def _append(self, start: int, end: int, sort: int) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.sorts.append(sort)

    def extend(self, others: PackedFindings, offset: int) -> None:
        """Add findings that follow these, with an offset to their positions."""
        numbers = [
            self._sort_of(_new(Finding, (*sort[:2], 0, 0, *sort[2:4], None)))
            for sort in others.listed
        ]
        self.starts.extend(map(offset.__add__, others.starts))
        self.ends.extend(map(offset.__add__, others.ends))
        self.sorts.extend(map(numbers.__getitem__, others.sorts))

    def move(self, first: int, offset: int) -> None:
        """Add an offset to the positions of the findings from the `first` on."""
        self.starts[first:] = positions(self._size, map(offset.__add__, self.starts[first:]))
        self.ends[first:] = positions(self._size, map(offset.__add__, self.ends[first:]))

    def replace(self, first: int, last: int, others: PackedFindings) -> None:
        """Replace the findings from `first` to before `last` by others of the same patterns."""
        numbers = [self._number(sort.pattern, sort.score) for sort in others.listed]
        self.starts[first:last] = others.starts
        self.ends[first:last] = others.ends
        self.sorts[first:last] = array(self.sorts.typecode, map(numbers.__getitem__, others.sorts))

    def with_others(self, others: Iterable[Finding]) -> tuple[PackedFindings, list[Finding]] | None:
        """Return these findings and others, and those that are replaced by several in them.

        Of findings that overlap, the surest, then the longest, then the first is kept. None if they
        overlap in a chain that none of them spans, unless those that are kept cover it.
        """
        rivals = [(each.start, each.end, self._sort_of(each), False) for each in others]
        met: set[int] = set()
        for start, end, _, _ in rivals:
            low = bisect_right(self.ends, start)
            met.update(range(low, bisect_left(self.starts, end, low)))
        rivals += ((self.starts[at], self.ends[at], self.sorts[at], True) for at in met)
        rivals.sort(key=_start_of)
        together, before = self._empty(), 0
        replaced: list[Finding] = []
        for some in _clusters(rivals):
            first = bisect_left(self.starts, some[0][0], before)
            together._take(self, before, first)
            before = first + sum(is_own for *_, is_own in some)
            kept = self._best(some)
            if uncovered := [each for each in some if not _covers(kept, each)]:
                widest = max(uncovered, key=lambda each: each[1] - each[0])
                start, end, sort, _ = widest
                if start > some[0][0] or any(each[1] > end for each in some):
                    return None
                name, category, score, pattern_id, _ = self.listed[sort]
                replaced.append(Finding(name, category, start, end, score, pattern_id))
            for start, end, sort, _ in kept:
                together._append(start, end, sort)
        together._take(self, before, len(self))
        return together, replaced

    def _take(self, others: PackedFindings, first: int, last: int) -> None:
        """Add a range of findings of the same sorts."""
        self.starts.extend(others.starts[first:last])
        self.ends.extend(others.ends[first:last])
        self.sorts.extend(others.sorts[first:last])

    def _best(self, rivals: list[_Rival]) -> list[_Rival]:
        """Return the best of overlapping findings, in order."""
        if len(rivals) == 1:
            return rivals
        listed = self.listed
        kept: list[_Rival] = []
        for each in sorted(
            rivals, key=lambda each: (-listed[each[2]].score, each[0] - each[1], not each[3])
        ):
            start, end, _, _ = each
            at = bisect_left(kept, start, key=_start_of)
            is_free = at == 0 or kept[at - 1][1] <= start
            if is_free and (at == len(kept) or kept[at][0] >= end):
                kept.insert(at, each)
        return kept

    def to_bytes(self) -> bytes:
        sorts = json.dumps([(sort.pattern, sort.score) for sort in self.listed])
        columns = self.starts, self.ends, array("I", self.sorts)
        return b"".join([sorts.encode(), b"\n", *(column.tobytes() for column in columns)])

    def add_bytes(self, data: bytes) -> None:
        """Add the findings that `to_bytes` wrote, of the same patterns."""
        plain, _, columns = data.partition(b"\n")
        numbers = [self._number(pattern, score) for pattern, score in json.loads(plain)]
        sorts: array[int] = array("I")
        width = self.starts.itemsize
        size = len(columns) // (2 * width + sorts.itemsize) * width
        self.starts.frombytes(columns[:size])
        self.ends.frombytes(columns[size : 2 * size])
        sorts.frombytes(columns[2 * size :])
        self.sorts.extend(map(numbers.__getitem__, sorts))


def _unknown(pattern: int) -> Finding:
    raise KeyError(pattern)


def _start_of(rival: _Rival) -> int:
    return rival[0]


def _covers(kept: list[_Rival], each: _Rival) -> bool:
    """Return whether a finding is within one of those that are kept, which are in order."""
    start, end, _, _ = each
    at = bisect_right(kept, start, key=_start_of)
    return at > 0 and kept[at - 1][1] >= end


def _clusters(rivals: Iterable[_Rival]) -> Iterator[list[_Rival]]:
    """Yield the findings that overlap in a chain together, of all in order."""
    cluster: list[_Rival] = []
    reach = 0
    for each in rivals:
        if each[0] >= reach and cluster:
            yield cluster
            cluster = []
        cluster.append(each)
        reach = max(reach, each[1])
    if cluster:
        yield cluster
