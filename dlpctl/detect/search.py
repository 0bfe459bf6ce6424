"""The search for patterns in a text and in the texts derived from it: first pass, then matches.

The search ignores names and addresses, and does not resolve overlaps.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from dlpctl.detect.automaton.first_pass import FirstPass, TriggerEnds
from dlpctl.detect.automaton.gates import Gates, MayMatch
from dlpctl.detect.confirm.runner import EndsInText, Runner, Trace
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.texts import GATES, derived_texts, texts_and_cells
from dlpctl.detect.resolve import CERTAIN, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.automaton.compiled import PatternSet
    from dlpctl.detect.derived.columns import ColumnCells
    from dlpctl.detect.derived.interface import DerivedText
    from dlpctl.detect.derived.tables import OpenTable

Progress = dict[int, list[int]]
"""For each pattern, a list that starts with the position to resume from and gets the end of each
match: what a scan in pieces needs to continue as a single scan would.
"""
_OF_NUMBERS = b"0123456789 -./()+"
_new = tuple.__new__


class PatternSearch:
    """Finds matches of patterns. Threads may share it."""

    def __init__(
        self,
        sets: Sequence[PatternSet],
        headers: Sequence[PatternSet],
        cache: Cache | None = None,
    ) -> None:
        """The labels of patterns in `headers`, which are not in the library, name columns of
        tables. The gates of derived texts are kept in the cache.
        """
        self.gates: Gates = Gates(GATES, cache)
        self.first_pass: FirstPass = FirstPass(sets)
        self.selected: frozenset[int] | None = None
        """The numbers of the selected patterns, including tagged types; None for all patterns."""
        self.runners: dict[int, Runner] = {}
        self.joins_lines: bool = True
        self._of_selected = self._of_others = frozenset[int]()
        self._use_as_headers(headers)

    def _use_as_headers(self, sets: Sequence[PatternSet]) -> None:
        self.headers: tuple[PatternSet, ...] = tuple(sets)
        self.header_words = HeaderWords(
            lambda: [pattern for each in sets for pattern in each.patterns]
        )

    def narrowed(self, selected: frozenset[int], *, joins_lines: bool) -> PatternSearch:
        """Return a search for some patterns; others matter only where they may win."""
        narrowed = copy(self)
        narrowed.joins_lines = joins_lines
        narrowed._select(selected)
        return narrowed

    def extended(self, further: PatternSet) -> PatternSearch:
        """Return a search for further patterns as well."""
        wider = copy(self)
        wider.first_pass = FirstPass([*self.first_pass.sets, further])
        wider._use_as_headers([*self.headers, further])
        wider.runners = self.runners.copy()  # another extension has other patterns as these numbers
        wider.joins_lines = True
        if self.selected is not None:
            wider._select(self.selected | set(range(len(self.first_pass), len(wider.first_pass))))
        return wider

    def _select(self, selected: frozenset[int]) -> None:
        self.selected = selected
        self._of_selected = self.first_pass.holding(selected)
        self._of_others = frozenset(range(len(self.first_pass.sets))) - self._of_selected

    @property
    def wanted_sets(self) -> Iterable[int]:
        return range(len(self.first_pass.sets)) if self.selected is None else self._of_selected

    def wants(self, index: int) -> bool:
        """Return whether the findings of a pattern were selected."""
        return self.selected is None or index in self.selected

    def runner(self, index: int) -> Runner:
        runner = self.runners.get(index)
        if runner is None:
            patterns, at = self.first_pass.of(index)
            runner = self.runners[index] = Runner(patterns.record(at), index)
        return runner

    def candidates(
        self,
        data: bytes,
        min_score: float,
        progress: Progress | None = None,
        tagged: Sequence[Candidate] = (),
        table: OpenTable | None = None,
    ) -> list[Candidate]:
        """Return all that patterns find in valid UTF-8 and in what is derived from it, overlaps
        included.

        What was `tagged` is no part of the answer, but what else is found there is, whether asked
        for or not. `table` is that whose rows the text starts with.
        """
        found = self._in_text(data, min_score, progress, tagged)
        for text in self.derived(data, table):
            text.settle(found, self.label_score)
            held = () if self.selected is None else list(text.holders())
            for candidate in self._in_text(text.data, min_score, None, held, text):
                if span := text.original_span(candidate.start, candidate.end):
                    found.append(_new(Candidate, (*span, *candidate[2:])))
        return found

    def derived(
        self, data: bytes, table: OpenTable | None = None, may_match: MayMatch | None = None
    ) -> list[DerivedText]:
        """Return the texts that are derived from a text, and searched as well. `may_match` answers
        for their gates.
        """
        return derived_texts(
            data,
            table,
            self.header_words,
            joins_lines=self.joins_lines,
            may_match=may_match or self.gates.may_match,
        )

    def derived_in_ranges(self, data: bytes) -> tuple[list[DerivedText], ColumnCells | None]:
        """Return the same for a search range by range, to which the cells of columns are enough."""
        return texts_and_cells(
            data,
            self.header_words,
            joins_lines=self.joins_lines,
            may_match=self.gates.may_match,
        )

    def confirmed(
        self, possible: TriggerEnds, data: bytes, min_score: float, progress: Progress | None = None
    ) -> list[Candidate]:
        """Return what possible matches are, with their scores."""
        found: list[Candidate] = []
        runners = self.runners
        for index, ends in possible.items():
            runner = runners.get(index) or self.runner(index)
            if runner.best >= min_score:
                resumes = None if progress is None else progress.setdefault(index, [0])
                found += runner.run(data, ends, min_score, resumes)
        return found

    def confirmed_each(
        self,
        possible: Iterable[tuple[int, Iterable[EndsInText]]],
        texts: Mapping[int, bytes],
        min_score: float,
        label: bytes,
    ) -> dict[int, list[Candidate]]:
        """Return what the possible matches of each pattern in many short texts are, by the numbers
        of the texts: values after a label. The best patterns come first, and no other
        is confirmed where it cannot change anything, since a match takes all of a value.
        """
        by_text: dict[int, list[Candidate]] = {}
        held: dict[int, Candidate] = {}
        before = len(label)
        runners = [(self.runner(index), ends) for index, ends in possible]
        promising = [each for each in runners if each[0].best >= min_score]
        for runner, in_texts in sorted(promising, key=lambda each: each[0].rank):
            waiting = _unsettled(runner, in_texts, held, texts, label) if held else in_texts
            for number, found in runner.run_each(texts, waiting, min_score):
                first = found[0]
                if (
                    first.end == len(texts[number])
                    and first.start <= before
                    and first.score >= CERTAIN
                ):
                    held.setdefault(number, first)
                if number in by_text:
                    by_text[number] += found
                else:
                    by_text[number] = found
        return by_text

    def label_score(self, index: int, label: bytes) -> float | None:
        """Return the score of any value right after `label`; None where more context decides."""
        return self.runner(index).label_score(label)

    def traces(self, data: bytes) -> Iterator[Trace]:
        """Return every match in a text with the reasons for its score."""
        for index, ends in self.first_pass.trigger_ends(data).items():
            if self.wants(index):
                yield from self.runner(index).traces(data, ends)

    def _in_text(
        self,
        data: bytes,
        min_score: float,
        progress: Progress | None,
        tagged: Sequence[Candidate],
        derived: DerivedText | None = None,
    ) -> list[Candidate]:
        """Return all that patterns find in a text, without what is settled in a `derived` one."""
        selected = self.selected
        if selected is None or progress is not None:
            # In pieces, rivals too must know where to resume.
            return self.confirmed(self._possible(data, None, derived), data, min_score, progress)
        wanted: TriggerEnds = {}
        waiting: TriggerEnds = {}
        for index, ends in self._possible(data, self._of_selected, derived).items():
            (wanted if index in selected else waiting)[index] = ends
        found = self.confirmed(wanted, data, min_score)
        if (found or tagged) and self._of_others:
            waiting.update(self._possible(data, self._of_others, derived))
        return found + self._rivals([*found, *tagged], waiting, data, min_score)

    def _possible(
        self, data: bytes, sets: Iterable[int] | None, derived: DerivedText | None
    ) -> TriggerEnds:
        possible = self.first_pass.trigger_ends(data, sets)
        if derived is None:
            return possible
        still_open: TriggerEnds = {}
        for index, ends in possible.items():
            runner = self.runner(index)
            if kept := derived.open_ends(ends, runner.best, runner.proven, index):
                still_open[index] = kept
        return still_open

    def _rivals(
        self, found: Sequence[Candidate], waiting: TriggerEnds, data: bytes, min_score: float
    ) -> list[Candidate]:
        """Return what patterns that were not asked for find in the same spans, since it may win
        there, and what others find in those of rivals.
        """
        rivals: list[Candidate] = []
        while found and waiting:
            spans = sorted((candidate.start, candidate.end) for candidate in found)
            near = [
                index for index, ends in waiting.items() if self.runner(index).meets(ends, spans)
            ]
            found = self.confirmed({each: waiting.pop(each) for each in near}, data, min_score)
            rivals += found
        return rivals


def _unsettled(
    runner: Runner,
    possible: Iterable[EndsInText],
    held: Mapping[int, Candidate],
    texts: Mapping[int, bytes],
    label: bytes,
) -> Iterator[EndsInText]:
    """Yield the texts, values after a label, without those in which a candidate that takes all of a
    value is sure to be kept.
    """
    known: dict[tuple[float, bool, int], tuple[bool, bool]] = {}
    for each in possible:
        other = held.get(each[0])
        if other is not None:
            rank = other[2:]
            settled = known.get(rank)
            if settled is None:
                settled = known[rank] = runner.cannot_beat(other), runner.cannot_beat(other, label)
            if settled[0] or (
                # A number has no words that could be context, as its label may have.
                settled[1] and not texts[each[0]][len(label) :].translate(None, _OF_NUMBERS)
            ):
                continue
        yield each
