"""The first pass over a text: Hyperscan says which patterns may match, and where such a match would
end.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from dlpctl.detect.automaton.anchors import Surroundings, character_start

if TYPE_CHECKING:
    import hyperscan

    from dlpctl.detect.automaton.compiled import Compiled

PART = 1 << 30
"""Bytes that Hyperscan is given at once; it would take no notice of what lies behind four
gibibytes.
"""
_CLOSE = 16
"""Bytes behind a mark in which others need not be remembered: dumps of numbers have one at nearly
every byte.
"""

Hits = dict[int, list[int]]
"""Pattern index to the ends of its hits, ascending."""


class FirstPass:
    """Sets of patterns that are looked for together. Patterns are numbered through all sets."""

    def __init__(self, sets: Sequence[Compiled]) -> None:
        self.sets = tuple(sets)
        self._firsts = [0, *accumulate(len(each) for each in sets)]
        self._local = threading.local()
        self.widest = max((each.widest for each in sets), default=0)

    def of(self, index: int) -> tuple[Compiled, int]:
        """The set of a pattern, and its number there."""
        at = next(at for at, behind in enumerate(self._firsts[1:]) if index < behind)
        return self.sets[at], index - self._firsts[at]

    def __len__(self) -> int:
        return self._firsts[-1]

    def holding(self, selected: frozenset[int]) -> frozenset[int]:
        """The sets that some of the patterns are in."""
        return frozenset(
            at
            for at, (first, behind) in enumerate(pairwise(self._firsts))
            if not selected.isdisjoint(range(first, behind))
        )

    def hits(self, data: bytes, sets: Iterable[int] | None = None) -> Hits:
        """The hits of all patterns, or of those in some sets, in valid UTF-8."""
        hits: Hits = defaultdict(list)
        sets = range(len(self.sets)) if sets is None else sets
        if len(data) <= PART:
            self._collect(data, 0, 0, hits, sets)
            return hits
        overlap = self.widest + 8
        for begin in range(0, len(data), PART):
            first = character_start(data, max(0, begin - overlap))
            last = character_start(data, min(len(data), begin + PART + overlap))
            part: Hits = defaultdict(list)
            self._collect(data[first:last], first, begin, part, sets)
            for index, ends in part.items():
                hits[index] += (end for end in ends if end <= begin + PART)
        return hits

    def _collect(
        self, data: bytes, offset: int, beyond: int, hits: Hits, sets: Iterable[int]
    ) -> None:
        """The hits in a part of the data that begins at `offset`, as far as they end `beyond` a
        place.
        """
        for at in sets:
            each = self.sets[at]
            if each.database is None:
                continue
            around = self._around_marks(at, data) if each.marks else None
            if around is not None and not around.data:
                continue

            ends: defaultdict[int, list[int]] = defaultdict(list)

            def on_hit(
                pattern: int,
                _start: int,
                end: int,
                _flags: int,
                _context: object,
                ends: defaultdict[int, list[int]] = ends,
            ) -> None:
                ends[pattern].append(end)

            self._scan(at, each.database, data if around is None else around.data, on_hit)
            for pattern, relative in ends.items():
                places = relative if around is None else map(around.place, relative)
                hits[self._firsts[at] + pattern] += (
                    [end + offset for end in places if end + offset > beyond]
                    if offset or beyond
                    else places
                )

    def _around_marks(self, at: int, data: bytes) -> Surroundings:
        """What a set that is gated is given of the data."""
        each = self.sets[at]
        marks = [-_CLOSE]

        def on_mark(_mark: int, _start: int, end: int, _flags: int, _context: object) -> None:
            if not 0 <= end - marks[-1] < _CLOSE:
                marks.append(end)

        assert each.marks is not None
        self._scan(~at, each.marks, data, on_mark)
        return Surroundings(data, marks[1:], each.reach + _CLOSE)

    def _scan(
        self, number: int, database: hyperscan.Database, data: bytes, on_hit: Callable[..., None]
    ) -> None:
        database.scan(data, match_event_handler=on_hit, scratch=self._scratch(number, database))

    def _scratch(self, number: int, database: hyperscan.Database) -> Any:
        """Working memory for one database in one thread."""
        scratches = self._local.__dict__.setdefault("scratches", {})
        if number not in scratches:
            import hyperscan

            scratches[number] = hyperscan.Scratch(database)
        return scratches[number]
