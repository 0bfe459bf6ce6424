"""Confirm the trigger matches of one pattern: match, validate, score."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.detect import validators
from dlpctl.detect.automaton.alike import shape, treats_letters_alike
from dlpctl.detect.automaton.first_pass import reach_of
from dlpctl.detect.confirm.context import ContextScorer, Score
from dlpctl.detect.confirm.matcher import Matcher
from dlpctl.detect.confirm.prefilter import ValuePrefilter
from dlpctl.detect.confirm.tokens import TokenMatcher
from dlpctl.detect.patterns.model import JUDGED_AFTER, context_width
from dlpctl.detect.resolve import Candidate, best_rank, cannot_beat
from dlpctl.regex import lazy
from dlpctl.types import Finding

if TYPE_CHECKING:
    from dlpctl.detect.automaton.compiled import Record
    from dlpctl.detect.confirm.judge import Judge

EndsInText = tuple[int, list[int]]
"""The number of a text, and the ends of a pattern's trigger matches in it."""
_new = tuple.__new__
_BACKSLASH = b"\\"
_OF_ESCAPE = lazy(rb"u[0-9A-Fa-f]{4}|[nrt][0-9A-Z]")
"""The rest of an escaped character, in which no value starts: `u00df` in `gro\\u00df`."""
_MANY = 64
"""The number of trigger matches from which on verdicts on their values are remembered."""
_MOST_VERDICTS = 1024
_MOST_SHAPES = 1024


class Trace(NamedTuple):
    """One match of one pattern, with the reasons for its score, whether it counts or not."""

    finding: Finding
    label: str
    best: float
    """The best score of the pattern."""
    refused_by: str
    """The validator that refused the match, or the judge, or an empty text."""
    steps: list[str]


class Verdicts(dict[bytes, bool]):
    """The verdicts of validators on the values of one text: a repeated value costs nothing."""

    def __init__(self, accepts: Sequence[Callable[[str], bool]]) -> None:
        super().__init__()
        self._accepts = accepts

    def __missing__(self, value: bytes) -> bool:
        if len(self) == _MOST_VERDICTS:
            self.clear()
        verdict = self[value] = _accepts(self._accepts, value)
        return verdict


class Runner:
    """One pattern's regex, validators and context, loaded when a match of its trigger is confirmed:
    of a rival, mostly only the width is asked for.
    """

    __slots__ = (
        "_accepts",
        "_beyond",
        "_checks",
        "_has_shapes",
        "_index",
        "_is_judged",
        "_known_matcher",
        "_may_be",
        "_possible",
        "_prefilter",
        "_proven",
        "_record",
        "_scorer",
        "_with_label",
        "best",
        "category",
        "id",
        "label",
        "label_score",
        "type",
        "width",
    )

    def __init__(self, record: Record, index: int) -> None:
        pattern = record.pattern
        self._index = index
        self._record = record
        self._prefilter: ValuePrefilter | None = None
        self._known_matcher: Matcher | TokenMatcher | None = None
        self._checks = pattern.validators
        self._has_shapes = False
        """True if spans are the same in all texts of a shape."""
        # A trigger may end before the match does, and a label before its value.
        self._beyond = JUDGED_AFTER if pattern.judged else record.width if pattern.trigger else 0
        self._is_judged = pattern.judged
        self._accepts: list[Callable[[str], bool]] | None = None
        self._may_be: list[Callable[[str], bool]] = []
        self._proven = False
        self._possible = pattern.possible.score if pattern.possible else -1.0
        has_words = pattern.context is not None and pattern.context.words
        self._with_label = pattern.best_score if has_words else pattern.score
        """The score of a value that has its label."""
        self._scorer = ContextScorer(pattern)
        self.label_score = _unknown if pattern.judged else self._scorer.label_score
        self.best = pattern.best_score
        self.category = pattern.category
        self.id = pattern.id
        self.label = pattern.label
        self.type = pattern.type
        self.width = record.width + context_width(pattern) if pattern.judged else record.width

    @property
    def proven(self) -> bool:
        """True if a validator proves the values."""
        self._validators()
        return self._proven

    @property
    def rank(self) -> tuple[bool, float, int]:
        """The rank of the best match: those of lower ranks come first."""
        return best_rank(self.best, self.proven, self._index)

    def cannot_beat(self, held: Candidate, label: bytes | None = None) -> bool:
        """Return whether no match within another can change what is kept there; with a label, which
        is then all of the context.
        """
        best = self._scorer.most_below(label) if label and not self._is_judged else self.best
        return cannot_beat(best, self.proven, self._index, held)

    def _validators(self) -> list[Callable[[str], bool]]:
        """Return what the values must satisfy, loaded with the prefilter if necessary."""
        if self._accepts is None:
            record, pattern = self._record, self._record.pattern
            checks = [validators.find(name) for name in pattern.validators]
            self._proven = any(check.proves for check in checks)
            if pattern.possible:
                names = pattern.possible.validators
                self._may_be = [validators.find(name).accepts for name in names]
            if record.known and not pattern.token and not pattern.judged:
                self._prefilter = ValuePrefilter(
                    pattern.regex, record.known, record.width, record.ahead, record.told
                )
            # Last, since other threads take it as a sign that everything is loaded.
            self._accepts = [check.accepts for check in checks]
        return self._accepts

    def run(
        self, data: bytes, ends: list[int], min_score: float, progress: list[int] | None
    ) -> list[Candidate]:
        """Return the candidates at the trigger matches; `progress` contains the position to resume
        from and gets the end of each match.
        """
        is_accepted = self._verdicts(ends)
        if progress is None:
            ends = self.promising(data, ends, min_score, is_accepted)
        if not ends:
            return []
        spans = self._matcher.spans(data, ends, progress[-1] if progress else 0)
        if progress is not None and not self._is_judged:
            spans = _noted(spans, progress)
        return self._judged(data, spans, min_score, is_accepted, self._scorer.score)

    def run_each(
        self, texts: Mapping[int, bytes], possible: Iterable[EndsInText], min_score: float
    ) -> Iterator[tuple[int, list[Candidate]]]:
        """Yield what `run` returns for the trigger matches in each of many short texts, by the
        numbers of the texts.
        """
        accepts = self._validators()
        has_prefilter = self._prefilter is not None
        # What the prefilter asks for is asked for again.
        is_accepted = Verdicts(accepts).__getitem__ if has_prefilter else _acceptance(accepts)
        score_of = self._scorer.remembering()
        spans_in: Callable[[bytes, list[int]], Iterable[tuple[int, int]]] | None = None
        for number, ends in possible:
            data = texts[number]
            if has_prefilter and not self.promising(data, ends, min_score, is_accepted):
                continue
            spans_in = spans_in or self._spans_in()
            spans = spans_in(data, ends)
            if found := self._judged(data, spans, min_score, is_accepted, score_of):
                yield number, found

    def _spans_in(self) -> Callable[[bytes, list[int]], Iterable[tuple[int, int]]]:
        """Return a function that returns the spans in one of many short texts, found once in all of
        a shape.
        """
        matcher = self._matcher
        if not self._has_shapes:
            return matcher.spans
        known: dict[bytes, list[tuple[int, int]]] = {}

        def spans_in(data: bytes, ends: list[int]) -> list[tuple[int, int]]:
            of_shape = shape(data)
            spans = known.get(of_shape)
            if spans is None:
                if len(known) == _MOST_SHAPES:
                    known.clear()
                spans = known[of_shape] = [*matcher.spans(data, ends)]
            return spans

        return spans_in

    def _judged(
        self,
        data: bytes,
        spans: Iterable[tuple[int, int]],
        min_score: float,
        is_accepted: Callable[[bytes], bool],
        score_of: Score,
    ) -> list[Candidate]:
        """Return the matches that count, as candidates."""
        if self._is_judged:
            return self._near_labels(data, spans, min_score)
        score = plain_score = self._scorer.plain_score
        found: list[Candidate] = []
        for start, end in spans:
            if self._checks and not is_accepted(data[start:end]):
                if self._possible >= min_score and self._is_possible(data, start, end):
                    found.append(_new(Candidate, (start, end, self._possible, False, self._index)))
                continue
            if plain_score is None:
                score = score_of(data, start, end)
                if score < min_score:
                    continue
            if data[start - 1 : start] != _BACKSLASH or not _OF_ESCAPE.match(data, start):
                found.append(_new(Candidate, (start, end, score, self._proven, self._index)))
        return found

    def _near_labels(
        self, data: bytes, labels: Iterable[tuple[int, int]], min_score: float
    ) -> list[Candidate]:
        """Return what the trained judge finds near the labels, as candidates."""
        judged = self._judge().judged
        return [
            _new(Candidate, (*found, False, self._index))
            for start, end in labels
            for found in judged(data, start, end)
            if found.score >= min_score
            and (
                data[found.start - 1 : found.start] != _BACKSLASH
                or not _OF_ESCAPE.match(data, found.start)
            )
        ]

    def _judge(self) -> Judge:
        from dlpctl.detect.confirm.judge import Judge

        matcher = self._matcher
        assert isinstance(matcher, Matcher)
        return Judge(matcher.next_value)

    def _is_possible(self, data: bytes, start: int, end: int) -> bool:
        """Return whether a refused value has its label, and passes the remaining validators."""
        return self._scorer.score(data, start, end) >= self._with_label and _accepts(
            self._may_be, data[start:end]
        )

    def _verdicts(self, ends: list[int]) -> Callable[[bytes], bool]:
        """Return a function that judges the values at these trigger matches."""
        accepts = self._validators()
        return _acceptance(accepts) if len(ends) < _MANY else Verdicts(accepts).__getitem__

    def promising(
        self,
        data: bytes,
        ends: list[int],
        min_score: float,
        is_accepted: Callable[[bytes], bool] | None = None,
    ) -> list[int]:
        """Return the trigger matches whose values may count, with those near them: a match depends
        on the end of the one before it.
        """
        is_accepted = is_accepted or self._verdicts(ends)
        if self._possible >= min_score:
            return ends
        if len(ends) > _MANY and self._scorer.needs_words(min_score):
            ends = list(self._scorer.near_words(data, ends, reach_of(self.width)))
        if self._prefilter is None:
            return ends
        wanted: list[int] = []
        for number, (at, start, end, cut) in enumerate(self._prefilter.values(data, ends)):
            if cut or is_accepted(data[start:end]):
                wanted.append(at)
                if len(ends) < _MANY or _MANY < number < 2 * len(wanted):
                    return ends  # too many are accepted for it to pay to leave out the others
        kept: list[int] = []
        reach, following = reach_of(self.width), 0
        for at in wanted:
            first = max(bisect_left(ends, at - reach), following)
            following = max(bisect_right(ends, at + reach), following)
            kept += ends[first:following]
        return kept

    @property
    def _matcher(self) -> Matcher | TokenMatcher:
        if self._known_matcher is None:
            record, pattern = self._record, self._record.pattern
            regexes = pattern.regex, pattern.trigger or pattern.regex
            self._has_shapes = not pattern.token and all(map(treats_letters_alike, regexes))
            self._known_matcher = (
                TokenMatcher(pattern)
                if pattern.token
                else Matcher(pattern, record.width, record.ahead)
            )
        return self._known_matcher

    def traces(self, data: bytes, ends: list[int]) -> Iterator[Trace]:
        """Yield the matches at the trigger matches, with the reasons for their scores."""
        if self._is_judged:
            yield from self._judged_traces(data, self._matcher.spans(data, ends))
            return
        for start, end in self._matcher.spans(data, ends):
            value = data[start:end].decode()
            refused = next(
                (
                    f"validator '{name}'"
                    for name, accept in zip(self._checks, self._validators(), strict=True)
                    if not accept(value)
                ),
                "",
            )
            score, steps = self._scorer.explain(data, start, end)
            passed = (
                [f"validator '{name}' accepts it" for name in self._checks] if not refused else []
            )
            finding = self._finding(data, start, end, score)
            yield Trace(finding, self.label, self.best, refused, [*passed, *steps])

    def _judged_traces(self, data: bytes, labels: Iterable[tuple[int, int]]) -> Iterator[Trace]:
        labels = list(labels)
        for start, end, score, _, _ in self._near_labels(data, labels, 0.0):
            finding = self._finding(data, start, end, score)
            yield Trace(finding, self.label, self.best, "", [f"the judge scores it {score:g}"])
        refused = self._judge().refused
        for start, end in filter(None, (refused(data, *label) for label in labels)):
            finding = self._finding(data, start, end, self.best)
            yield Trace(finding, self.label, self.best, "the judge", [])

    def _finding(self, data: bytes, start: int, end: int, score: float) -> Finding:
        """Return a finding, whose positions are characters."""
        first = len(data[:start].decode())
        last = first + len(data[start:end].decode())
        return Finding(self.type, self.category, first, last, score, self.id)

    def meets(self, ends: list[int], spans: list[tuple[int, int]]) -> bool:
        """Return whether a match at one of these trigger matches can overlap one of the spans."""
        at = 0
        for end in ends:
            while at < len(spans) and spans[at][1] <= end - self.width:
                at += 1
            if at == len(spans):
                return False
            if spans[at][0] < end + self._beyond:
                return True
        return False


def _acceptance(accepts: Sequence[Callable[[str], bool]]) -> Callable[[bytes], bool]:
    """Return a function that judges values by all of some validators, mostly by one."""
    if len(accepts) != 1:
        return partial(_accepts, accepts)
    (accept,) = accepts
    return lambda value: accept(value.decode())


def _accepts(accepts: Iterable[Callable[[str], bool]], value: bytes) -> bool:
    text = value.decode()
    for accept in accepts:  # a loop, since all() with a generator costs as much as a validator
        if not accept(text):
            return False
    return True


def _noted(spans: Iterable[tuple[int, int]], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield spans and add their ends to a list."""
    for span in spans:
        ends.append(span[1])
        yield span


def _unknown(label: bytes) -> None:
    """Return no score: the judge's depends on the value."""
