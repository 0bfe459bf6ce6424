"""Checks of a pattern: its examples, its breadth and its cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from random import Random
from typing import NamedTuple

from dlpctl.detect.automaton.database import (
    OTHER_TEXT,
    compile_database,
    compile_triggers,
    finds_only_at_start,
    max_width,
)
from dlpctl.detect.confirm.runner import Trace
from dlpctl.detect.engine import THRESHOLD, Detector
from dlpctl.detect.linear import compile_regex, finders
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.patterns.placeholders import expand
from dlpctl.detect.patterns.prose import plain_prose
from dlpctl.errors import PatternError

_BROAD = 1 / 10_000
"""The findings per word of prose from which on a pattern counts as too broad."""
_COSTLY_SECONDS = 0.3
_TIMED = 50
"""The maximum number of patterns that are compiled separately to measure their cost."""
_EXAMPLE_MAKERS = "dlpctl.detect.validators.secrets_examples"


class Problem(NamedTuple):
    """A problem of a pattern: an error for a broken example, a warning for anything to review."""

    message: str
    is_error: bool


def examples(pattern: Pattern, key: str) -> list[str]:
    """Return the `match` or `skip` examples with their placeholders replaced."""
    texts: Sequence[str] = getattr(pattern, key)
    return [expand(text, f"{pattern.id}/{key}/{index}", makers) for index, text in enumerate(texts)]


@cache
def makers() -> Mapping[str, Callable[[Random], str]]:
    """Return the functions for `{{make:NAME}}`, whose values pass a checksum."""
    generators: Mapping[str, Callable[[Random], str]] = import_module(_EXAMPLE_MAKERS).GENERATORS
    return generators


def check_patterns(
    patterns: Sequence[Pattern], detector: Detector | None = None
) -> Iterator[Problem]:
    """Yield all problems of the patterns, each with file, pattern and key.

    The patterns are compiled unless a `detector` that has them is given.
    """
    # One detector for all: compiling them together costs less than separately.
    detector = detector or Detector(patterns)
    in_prose = Counter(
        trace.finding.pattern_id for trace in detector.traces(plain_prose()) if _counts(trace)
    )
    for pattern in patterns:
        width, bounded = max_width(pattern)
        try:
            yield from _broken_examples(pattern, detector)
        except PatternError as problem:
            yield Problem(f"{_where(pattern)}: examples: {problem.message}", is_error=True)
        seconds = _seconds_to_compile(pattern) if len(patterns) <= _TIMED else 0.0
        yield from _warnings(pattern, width, bounded, in_prose[pattern.id], seconds)


def _where(pattern: Pattern) -> str:
    return f"{pattern.source}: pattern '{pattern.id}'"


def _counts(trace: Trace) -> bool:
    return not trace.refused_by and trace.finding.score >= THRESHOLD


def _broken_examples(pattern: Pattern, detector: Detector) -> Iterator[Problem]:
    automaton = compile_triggers([pattern])
    for index, text in enumerate(examples(pattern, "match")):
        traces = [
            trace for trace in detector.traces(text) if trace.finding.pattern_id == pattern.id
        ]
        if not any(map(_counts, traces)):
            yield Problem(
                f"{_where(pattern)}: examples.match[{index}] is not found{_nearly(traces)}",
                is_error=True,
            )
        elif finds_only_at_start(automaton, text.encode()) and _matches_later(pattern, text):
            yield Problem(
                f"{_where(pattern)}: examples.match[{index}] is not found after other text: start"
                f" the {'trigger' if pattern.trigger else 'regex'} with (?s:^|.)",
                is_error=True,
            )
    for index, text in enumerate(examples(pattern, "skip")):
        if any(
            trace.finding.pattern_id == pattern.id and _counts(trace)
            for trace in detector.traces(text)
        ):
            yield Problem(f"{_where(pattern)}: examples.skip[{index}] is found", is_error=True)


def _matches_later(pattern: Pattern, text: str) -> bool:
    """Return whether the regex matches in the text after other text, too."""
    search, _ = finders(compile_regex(pattern.regex, _where(pattern)))
    data = OTHER_TEXT + text.encode()
    return search(data, len(OTHER_TEXT) - 1, len(data))[0][0] >= 0


def _nearly(traces: Sequence[Trace]) -> str:
    """Return the reason why a match of the regex is not a finding."""
    for trace in traces:
        if trace.refused_by:
            return f": {trace.refused_by} refuses it"
        return f": it scores {trace.finding.score:g}, below {THRESHOLD:g}"
    return ""


def _warnings(
    pattern: Pattern, width: int, bounded: bool, in_prose: int, seconds: float
) -> Iterator[Problem]:
    for key, what in (("match", "what it should find"), ("skip", "what it should leave alone")):
        if not getattr(pattern, key):
            yield Problem(
                f"{_where(pattern)}: examples.{key} is missing; give {what}", is_error=False
            )
    words = len(plain_prose().split())
    warnings = []
    if in_prose > words * _BROAD:
        warnings.append(f"is broad: it finds {in_prose} places in {words:,} words of plain prose")
    if not bounded and not pattern.width:
        warnings.append(
            f"has no bound of its own; matches are limited to {width:,} bytes, or to "
            "what 'width' says"
        )
    if seconds > _COSTLY_SECONDS:
        warnings.append(f"is costly: {seconds:.1f} s to compile")
    yield from (Problem(f"{_where(pattern)}: regex {each}", is_error=False) for each in warnings)


def _seconds_to_compile(pattern: Pattern) -> float:
    began = time.process_time()
    compile_database([pattern])
    return time.process_time() - began
