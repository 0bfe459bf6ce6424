"""The candidates of a long text, range by range: the same as in a search of the complete text."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.detect.automaton.first_pass import TriggerEnds, reach_of
from dlpctl.detect.resolve import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dlpctl.detect.confirm.runner import Runner
    from dlpctl.detect.derived.columns import Columns
    from dlpctl.detect.search import PatternSearch

_RECORD = Struct("<qqd?i")
_CONTEXT = 1 << 10
"""The most bytes around a match that decide what it is."""
_new = tuple.__new__


class _Text(NamedTuple):
    """A text in which patterns are searched: the given one, or one derived from it."""

    data: bytes
    original_span: Callable[[int, int], tuple[int, int] | None] | None
    """Returns the span of a finding in the text itself; None for the text itself."""


class RangeSearch:
    """Searches a text for patterns. Forked child processes share it, and search its chunks and
    ranges.
    """

    def __init__(self, search: PatternSearch, data: bytes, min_score: float, chunk: int) -> None:
        """`chunk` is the number of bytes of a decoded text that are searched together."""
        self._search = search
        self._data = data
        self._min_score = min_score
        derived, self._cells = search.derived_in_ranges(data)
        self._texts = [_Text(data, None)]
        self._texts += [_Text(each.data, each.original_span) for each in derived]
        self._chunks = [
            (number, first, first + chunk)
            for number, text in enumerate(self._texts)
            for first in range(0, len(text.data) if text.original_span else 0, chunk)
        ]
        """The ranges of the decoded texts; columns are searched with the ranges that hold them."""
        self._derived: list[tuple[array[int], bytes]] = []
        """The candidates of each chunk, in order of their spans in the text itself: their starts,
        and the encoded candidates.
        """

    def warm(self, end: int) -> None:
        """Search the starts of all texts: the automata that the regexes build on the way are shared
        by the child processes.
        """
        for text in self._texts:
            self._confirmed(text.data, 0, end)

    @property
    def chunk_count(self) -> int:
        return len(self._chunks)

    def chunk(self, task: bytes) -> bytes:
        """Find what starts in a range of a derived text."""
        number, first, last = self._chunks[int(task)]
        original_span = self._texts[number].original_span
        assert original_span is not None
        found = [
            (*span, *candidate[2:])
            for candidate in self._confirmed(self._texts[number].data, first, last)
            if (span := original_span(candidate.start, candidate.end))
        ]
        return b"".join(_RECORD.pack(*candidate) for candidate in sorted(found))

    def keep(self, chunks: Iterable[bytes]) -> None:
        """Store the results of all chunks, in order; their texts are no longer needed."""
        self._derived = [
            (array("q", (candidate[0] for candidate in _RECORD.iter_unpack(chunk))), chunk)
            for chunk in chunks
        ]
        del self._texts[1:]

    def candidates(self, first: int, last: int) -> list[Candidate]:
        """Return the candidates in a range of the text and of its derived texts, in order."""
        if self._cells is None:
            return sorted(
                [*self._confirmed(self._data, first, last), *self._derived_in(first, last)]
            )
        widest = self._search.first_pass.widest
        columns = self._cells.columns(first, last, 2 * reach_of(widest) + _CONTEXT)
        low, high, start = columns.cells_in(first, last)
        possible = self._near(columns.data, low, high)
        end = last
        if low < high:
            # The first pass may report a match in a cell next to its own, unless that is settled.
            widths = (self._search.runner(index).width for index in possible)
            margin = reach_of(max(widths, default=0))
            before, after = columns.span(low - margin, high + margin)
            start, end = min(start, before), max(end, after)
        found = [*self._confirmed(self._data, start, end), *self._derived_in(start, end)]
        columns.settle(found, self._search.label_score)
        found += [
            _new(Candidate, (*span, *candidate[2:]))
            for candidate in self._confirmed(columns.data, low, high, possible, columns)
            if (span := columns.original_span(candidate.start, candidate.end))
        ]
        return sorted(candidate for candidate in found if first <= candidate.start < last)

    def _derived_in(self, first: int, last: int) -> Iterator[Candidate]:
        """Yield the candidates of derived texts that start in a range of the text itself."""
        for starts, records in self._derived:
            low, high = bisect_left(starts, first), bisect_left(starts, last)
            within = records[low * _RECORD.size : high * _RECORD.size]
            yield from map(Candidate._make, _RECORD.iter_unpack(within))

    def _confirmed(
        self,
        data: bytes,
        first: int,
        last: int,
        possible: TriggerEnds | None = None,
        columns: Columns | None = None,
    ) -> list[Candidate]:
        """Return the candidates that start in a range of a text, apart from settled ones."""
        found: list[Candidate] = []
        for index, ends in (possible or self._near(data, first, last)).items():
            runner = self._search.runner(index)
            reach = reach_of(runner.width)
            low, high = bisect_left(ends, first - reach), bisect_right(ends, last + reach)
            if low < high:
                resume = ends[low - 1] if low else 0
                near = ends[low:high]
                if columns is not None:
                    near = columns.open_ends(near, runner.best, runner.proven, index)
                found += self._run(runner, data, near, resume)
        return [candidate for candidate in found if first <= candidate.start < last]

    def _near(self, data: bytes, first: int, last: int) -> TriggerEnds:
        return self._search.first_pass.near(data, first, last) if first < last else {}

    def _run(self, runner: Runner, data: bytes, ends: list[int], resume: int) -> list[Candidate]:
        if runner.best < self._min_score:
            return []
        promising = runner.promising(data, ends, self._min_score)
        return runner.run(data, promising, self._min_score, [resume])
