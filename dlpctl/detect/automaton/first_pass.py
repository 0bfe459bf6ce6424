"""The first pass over a text: Hyperscan reports which patterns may match, and the ends of hits."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from dlpctl.detect.automaton.anchors import Surroundings, character_start
from dlpctl.regex import lazy

if TYPE_CHECKING:
    import hyperscan

    from dlpctl.detect.automaton.compiled import Compiled, PatternSet

PART = 1 << 30
"""Bytes that Hyperscan is given at once; it ignores all after four gibibytes."""
_CLOSE = 16
"""Bytes after an anchor in which others are dropped: dumps of numbers have one at nearly every
byte.
"""
_NEEDS_END = lazy(r"[^|(:]\$|\\[zZ]")
_CLASS_OR_ESCAPE = lazy(r"\[\^?\]?(?:\\.|[^\]])*\]|\\[^zZ]")
_ELSEWHERE = lazy(r"\(\?[a-zA-Z]*m|(?:\(\?[a-zA-Z]+\))?(?:\^|\\A)")
"""The start of regexes that match before line ends, too, or only from the start of a text."""

Hits = dict[int, list[int]]
"""Pattern index to the ends of its hits, ascending."""


def reach_of(width: int) -> int:
    """Return the bytes on both sides of a range that tell what a pattern finds in it."""
    return 2 * width + 64


class FirstPass:
    """Sets of patterns that are looked for together. Patterns are numbered through all sets."""

    def __init__(self, sets: Sequence[PatternSet]) -> None:
        self.sets: tuple[PatternSet, ...] = tuple(sets)
        self._firsts = [0, *accumulate(len(each) for each in sets)]
        self._local = threading.local()
        self.widest: int = max((each.widest for each in sets), default=0)

    def of(self, index: int) -> tuple[PatternSet, int]:
        """Return the set of a pattern, and its number there."""
        at = next(at for at, following in enumerate(self._firsts[1:]) if index < following)
        return self.sets[at], index - self._firsts[at]

    def __len__(self) -> int:
        return self._firsts[-1]

    @cached_property
    def ending(self) -> list[int]:
        """The patterns that match at the end of a text alone, and before no line end."""
        patterns = (pattern for each in self.sets for pattern in each.patterns)
        sought = (pattern.trigger or pattern.regex for pattern in patterns)
        return [
            index
            for index, regex in enumerate(sought)
            if _NEEDS_END.search(_CLASS_OR_ESCAPE.sub("x", regex)) and not _ELSEWHERE.match(regex)
        ]

    def holding(self, selected: frozenset[int]) -> frozenset[int]:
        """Return the sets that hold some of the patterns."""
        return frozenset(
            at
            for at, (first, following) in enumerate(pairwise(self._firsts))
            if not selected.isdisjoint(range(first, following))
        )

    def on_demand(self, sets: Iterable[int]) -> list[PatternSet]:
        """Return those of the sets that are not compiled completely."""
        return [self.sets[at] for at in sets if not self.sets[at].is_complete]

    def compile(
        self,
        sets: Iterable[int],
        beside: Callable[[], object] | None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Compile sets completely in threads, since Hyperscan releases the lock of Python, and
        call `beside` meanwhile.

        `progress` is told how many patterns are compiled, and of how many.
        """
        waiting = self.on_demand(sets)
        if not waiting:
            return
        from concurrent.futures import ThreadPoolExecutor, as_completed

        # The largest first, so that none of them is left to the end alone; but the smallest before
        # there are threads: one that imports while Ctrl-C ends an import here may wait forever.
        waiting.sort(key=len, reverse=True)
        compiled, total = len(waiting[-1]), sum(map(len, waiting))
        waiting.pop().complete()
        threads = ThreadPoolExecutor()
        try:
            sizes = {threads.submit(each.complete): len(each) for each in waiting}
            if beside is not None:
                beside()
            for done in as_completed(sizes):
                done.result()
                compiled += sizes[done]
                if progress is not None:
                    progress(compiled, total)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
        threads.shutdown()

    def hits(self, data: bytes, sets: Iterable[int] | None = None) -> Hits:
        """Return the hits of all patterns, or of those in some sets, in valid UTF-8."""
        hits: Hits = defaultdict(list)
        sets = range(len(self.sets)) if sets is None else sets
        if len(data) <= PART:
            self._collect(data, 0, 0, hits, sets)
            return hits
        overlap = self.widest + 8
        for start in range(0, len(data), PART):
            first = character_start(data, max(0, start - overlap))
            last = character_start(data, min(len(data), start + PART + overlap))
            part: Hits = defaultdict(list)
            self._collect(data[first:last], first, start, part, sets)
            for index, ends in part.items():
                hits[index] += (end for end in ends if end <= start + PART)
        return hits

    def near(self, data: bytes, first: int, last: int) -> Hits:
        """Return what tells the findings that start in a range: a match depends on where the one
        before it ended.
        """
        nearby: Hits = defaultdict(list)
        for at, each in enumerate(self.sets):
            reach, overlap = reach_of(each.widest), each.widest + 8
            start = character_start(data, max(0, first - reach - overlap))
            end = character_start(data, min(len(data), last + reach + overlap))
            part: Hits = defaultdict(list)
            self._collect(data[start:end], start, max(0, first - reach), part, [at])
            for index, ends in part.items():
                nearby[index] = [end for end in ends if end <= last + reach]
        return nearby

    def _collect(
        self, data: bytes, offset: int, beyond: int, hits: Hits, sets: Iterable[int]
    ) -> None:
        """Add the hits in a part of the data, which starts at `offset`, that end after `beyond`."""
        for at in sets:
            for each in self.sets[at].parts(data):
                self._collect_set(each, self._firsts[at], data, offset, beyond, hits)

    def _collect_set(
        self, each: Compiled, first: int, data: bytes, offset: int, beyond: int, hits: Hits
    ) -> None:
        if each.database is None:
            return
        around = self._around_anchors(each, data) if each.anchors else None
        if around is not None and not around.data:
            return
        ends: defaultdict[int, list[int]] = defaultdict(list)

        def on_hit(pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            ends[pattern].append(end)

        self._scan(each.database, data if around is None else around.data, on_hit)
        for pattern, relative in ends.items():
            places = relative if around is None else map(around.place, relative)
            hits[first + each.numbers[pattern]] += (
                [end + offset for end in places if end + offset > beyond]
                if offset or beyond
                else places
            )

    def _around_anchors(self, each: Compiled, data: bytes) -> Surroundings:
        """Return the parts of the data in which a gated set is looked for."""
        anchors = [-_CLOSE]

        def on_anchor(_anchor: int, _start: int, end: int, _flags: int, _context: object) -> None:
            if not 0 <= end - anchors[-1] < _CLOSE:
                anchors.append(end)

        assert each.anchors is not None
        self._scan(each.anchors, data, on_anchor)
        return Surroundings(data, anchors[1:], each.before + _CLOSE, each.after + _CLOSE)

    def _scan(self, database: hyperscan.Database, data: bytes, on_hit: Callable[..., None]) -> None:
        database.scan(data, match_event_handler=on_hit, scratch=self._scratch(database))

    def _scratch(self, database: hyperscan.Database) -> Any:
        """Return the working memory for one database in this thread."""
        scratches = self._local.__dict__.setdefault("scratches", {})
        if database not in scratches:
            import hyperscan

            scratches[database] = hyperscan.Scratch(database)
        return scratches[database]
