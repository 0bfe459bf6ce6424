"""Whether a pattern does what it says: its examples, how broad it is, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from random import Random
from typing import NamedTuple

from dlpctl.detect.database import max_width
from dlpctl.detect.engine import THRESHOLD, Detector
from dlpctl.detect.pattern import Pattern
from dlpctl.detect.placeholders import expand
from dlpctl.detect.prose import PROSE
from dlpctl.errors import PatternError

_BROAD = 1 / 10_000
"""Findings by words of prose from which on a pattern is called too broad."""
_COSTLY_WIDTH = 4_096
_COSTLY_SECONDS = 0.3
_EXAMPLE_MAKERS = "dlpctl.detect.validators.secrets_examples"


class Problem(NamedTuple):
    """Something to say of a pattern; an error is a broken promise, a warning a reason to look again."""

    message: str
    is_error: bool


def examples(pattern: Pattern, kind: str) -> list[str]:
    """The `match` or `skip` examples with their placeholders replaced."""
    texts: Sequence[str] = getattr(pattern, kind)
    return [expand(text, f"{pattern.id}/{kind}/{index}", makers) for index, text in enumerate(texts)]


@cache
def makers() -> Mapping[str, Callable[[Random], str]]:
    """The functions behind `{{make:NAME}}`, which give values that pass a checksum."""
    generators: Mapping[str, Callable[[Random], str]] = import_module(_EXAMPLE_MAKERS).GENERATORS
    return generators


def check_patterns(patterns: Sequence[Pattern]) -> Iterator[Problem]:
    """All problems of the patterns, each with file, pattern and key."""
    for pattern in patterns:
        where = f"{pattern.source}: pattern '{pattern.id}'"
        try:
            yield from _check(pattern, where)
        except PatternError as problem:
            message = problem.message
            yield Problem(message if message.startswith(where) else f"{where}: {message}", is_error=True)


def _check(pattern: Pattern, where: str) -> Iterator[Problem]:
    width, bounded = max_width(pattern)
    began = time.process_time()
    detector = Detector([pattern])
    seconds = time.process_time() - began
    for index, text in enumerate(examples(pattern, "match")):
        if not detector.scan(text, THRESHOLD):
            best = max((finding.score for finding in detector.scan(text, 0.0)), default=None)
            why = "is not found" if best is None else f"is found with {best:g}, below {THRESHOLD:g}"
            yield Problem(f"{where}: examples.match[{index}] {why}", is_error=True)
    for index, text in enumerate(examples(pattern, "skip")):
        if detector.scan(text, THRESHOLD):
            yield Problem(f"{where}: examples.skip[{index}] is found", is_error=True)
    for kind in ("match", "skip"):
        if not getattr(pattern, kind):
            yield Problem(
                f"{where}: examples.{kind} is missing: give what it should {'find' if kind == 'match' else 'leave alone'}",
                is_error=False,
            )
    words = len(PROSE.split())
    found = len(detector.scan(PROSE, THRESHOLD))
    if found > words * _BROAD:
        yield Problem(
            f"{where}: regex is broad: it finds {found} places in {words:,} words of plain prose",
            is_error=False,
        )
    if not bounded:
        yield Problem(
            f"{where}: regex has no bound of its own; matches are limited to {width:,} bytes", is_error=False
        )
    if width > _COSTLY_WIDTH or seconds > _COSTLY_SECONDS:
        yield Problem(
            f"{where}: regex is costly: matches of {width:,} bytes, {seconds:.1f} s to compile",
            is_error=False,
        )
