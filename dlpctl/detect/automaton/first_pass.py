"""The first pass over a text: Hyperscan reports the patterns that may match, and the ends of their
trigger matches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from dlpctl.detect.automaton.alike import AlikeLines
from dlpctl.detect.automaton.anchors import Surroundings, character_start
from dlpctl.detect.automaton.bytewise import FoldedText
from dlpctl.detect.automaton.scratches import Scratches
from dlpctl.regex import lazy

if TYPE_CHECKING:
    import hyperscan

    from dlpctl.detect.automaton.compiled import Compiled, PatternSet

PART = 1 << 30
"""The size of the parts that Hyperscan scans; it ignores everything after four gibibytes."""
_CLOSE = 16
"""The number of bytes after an anchor in which other anchors are dropped: dumps of numbers have one
at nearly every byte.
"""
_DENSE = 64
"""The number of bytes for an anchor, at least, if it pays to search around anchors alone."""
_SAMPLE = 8
"""The share of these anchors, one in eight, after which a text that has twice as many up to there
is searched everywhere.
"""
_NEEDS_END = lazy(r"[^|(:]\$|\\[zZ]")
_CLASS_OR_ESCAPE = lazy(r"\[\^?\]?(?:\\.|[^\]])*\]|\\[^zZ]")
_ELSEWHERE = lazy(r"\(\?[a-zA-Z]*m|(?:\(\?[a-zA-Z]+\))?(?:\^|\\A)")
"""The start of regexes that also match before line ends, or only from the start of a text."""

TriggerEnds = dict[int, list[int]]
"""The ends of each pattern's trigger matches, ascending, by the index of the pattern."""


def reach_of(width: int) -> int:
    """Return the number of bytes on both sides of a range that the matches in the
    range depend on.
    """
    return 2 * width + 64


class FirstPass:
    """Sets of patterns that are searched together. Patterns are numbered through all sets."""

    def __init__(self, sets: Sequence[PatternSet]) -> None:
        self.sets: tuple[PatternSet, ...] = tuple(sets)
        self._firsts = [0, *accumulate(len(each) for each in sets)]
        self._scratches = Scratches()
        self.widest: int = max((each.widest for each in sets), default=0)

    def of(self, index: int) -> tuple[PatternSet, int]:
        """Return the set of a pattern, and its number in the set."""
        at = next(at for at, following in enumerate(self._firsts[1:]) if index < following)
        return self.sets[at], index - self._firsts[at]

    def __len__(self) -> int:
        return self._firsts[-1]

    @cached_property
    def ending(self) -> list[int]:
        """Return the patterns that match only at the end of a text, not before line ends."""
        patterns = (pattern for each in self.sets for pattern in each.patterns)
        sought = (pattern.trigger or pattern.regex for pattern in patterns)
        return [
            index
            for index, regex in enumerate(sought)
            if _NEEDS_END.search(_CLASS_OR_ESCAPE.sub("x", regex)) and not _ELSEWHERE.match(regex)
        ]

    def holding(self, selected: frozenset[int]) -> frozenset[int]:
        """Return the sets that contain some of the patterns."""
        return frozenset(
            at
            for at, (first, following) in enumerate(pairwise(self._firsts))
            if not selected.isdisjoint(range(first, following))
        )

    def on_demand(self, sets: Iterable[int]) -> list[PatternSet]:
        """Return the sets that are not compiled completely."""
        return [self.sets[at] for at in sets if not self.sets[at].is_complete]

    def compile(
        self,
        sets: Iterable[int],
        beside: Callable[[], object] | None,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Compile sets completely in threads, since Hyperscan releases Python's lock, and call
        `beside` meanwhile.

        `progress` is called with the number of compiled patterns and their total.
        """
        waiting = self.on_demand(sets)
        if not waiting:
            return
        from concurrent.futures import ThreadPoolExecutor, as_completed

        # The largest sets first, so that none remains alone at the end; but the smallest one before
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

    def trigger_ends(self, data: bytes, sets: Iterable[int] | None = None) -> TriggerEnds:
        """Return the trigger matches of all patterns, or of those in some sets, in valid UTF-8."""
        trigger_ends: TriggerEnds = defaultdict(list)
        sets = range(len(self.sets)) if sets is None else sets
        if len(data) <= PART:
            self._collect(data, 0, 0, trigger_ends, sets)
            return trigger_ends
        overlap = self.widest + 8
        for start in range(0, len(data), PART):
            first = character_start(data, max(0, start - overlap))
            last = character_start(data, min(len(data), start + PART + overlap))
            part: TriggerEnds = defaultdict(list)
            self._collect(data[first:last], first, start, part, sets)
            for index, ends in part.items():
                trigger_ends[index] += (end for end in ends if end <= start + PART)
        return trigger_ends

    def trigger_ends_in_lines(self, data: bytes) -> TriggerEnds:
        """Return the trigger matches within lines, which have nothing to do with each other; those
        across lines may be missing.
        """
        alike = [at for at, each in enumerate(self.sets) if each.treats_digits_alike]
        trigger_ends = self.trigger_ends(data, set(range(len(self.sets))).difference(alike))
        if alike:
            lines = AlikeLines(data)
            trigger_ends.update(lines.ends_in_text(self.trigger_ends(lines.data, alike)))
        return trigger_ends

    def near(self, data: bytes, first: int, last: int) -> TriggerEnds:
        """Return the trigger matches that decide the findings in a range: a match depends on the
        end of the one before it.
        """
        nearby: TriggerEnds = defaultdict(list)
        for at, each in enumerate(self.sets):
            reach, overlap = reach_of(each.widest), each.widest + 8
            start = character_start(data, max(0, first - reach - overlap))
            end = character_start(data, min(len(data), last + reach + overlap))
            part: TriggerEnds = defaultdict(list)
            self._collect(data[start:end], start, max(0, first - reach), part, [at])
            for index, ends in part.items():
                nearby[index] = [end for end in ends if end <= last + reach]
        return nearby

    def _collect(
        self, data: bytes, offset: int, beyond: int, trigger_ends: TriggerEnds, sets: Iterable[int]
    ) -> None:
        """Add the trigger matches in a part of the data, at `offset`, that end after `beyond`."""
        folded = FoldedText.of(data)
        for at in sets:
            for each in self.sets[at].parts(data):
                found = self._ends(each, data)
                if folded is not None:
                    for pattern, ends in self._ends(each, folded.data).items():
                        known = found.get(pattern, ())
                        found[pattern] = sorted({*known, *folded.original_positions(ends)})
                for pattern, ends in found.items():
                    trigger_ends[self._firsts[at] + pattern] += (
                        [end + offset for end in ends if end + offset > beyond]
                        if offset or beyond
                        else ends
                    )

    def _ends(self, each: Compiled, data: bytes) -> dict[int, list[int]]:
        """Return the ends of the trigger matches of a set by the number of the pattern."""
        if each.database is None:
            return {}
        around = self._around_anchors(each, data) if each.anchors else None
        if around is not None and not around.data:
            return {}
        ends: defaultdict[int, list[int]] = defaultdict(list)

        def on_match(pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            ends[pattern].append(end)

        self._scan(each.database, data if around is None else around.data, on_match)
        return {
            each.numbers[pattern]: relative
            if around is None
            else list(around.positions_in_text(relative))
            for pattern, relative in ends.items()
        }

    def _around_anchors(self, each: Compiled, data: bytes) -> Surroundings | None:
        """Return the parts of the data in which a gated set is searched; None for all of it."""
        import hyperscan

        anchors = [-_CLOSE]
        most = len(data) // _DENSE + _CLOSE
        enough, count = most // _SAMPLE, 0

        def on_anchor(_anchor: int, _start: int, end: int, _flags: int, _context: object) -> bool:
            nonlocal count
            count += 1
            if not 0 <= end - anchors[-1] < _CLOSE:
                anchors.append(end)
            return count > enough and (count > most or count * _DENSE > 2 * end)

        assert each.anchors is not None
        try:
            self._scan(each.anchors, data, on_anchor)
        except hyperscan.ScanTerminated:
            return None  # so many anchors leave out nothing
        return Surroundings(data, anchors[1:], each.before + _CLOSE, each.after + _CLOSE)

    def _scan(
        self, database: hyperscan.Database, data: bytes, on_match: Callable[..., bool | None]
    ) -> None:
        database.scan(data, match_event_handler=on_match, scratch=self._scratches.of(database))
