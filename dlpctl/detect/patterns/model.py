"""The model of a pattern for the rest of the package; `parse` reads it from a file."""

from __future__ import annotations

from typing import NamedTuple

from dlpctl.types import Category

BEFORE, AFTER = 60, 30
AROUND_BEFORE, AROUND_AFTER = 600, 250
"""The number of bytes before and after a value in which words count that tell its subject."""
JUDGED_AFTER = 220
"""The number of bytes after a label that the judge reads, into the next line."""
UNBOUNDED_WIDTH = 1024
WIDEST = 65_536
"""The maximum width of a pattern."""
"""The longest match in bytes of an unbounded pattern without `width`."""


class Context(NamedTuple):
    """Complete words near a value that change its score, and the maximum distance in
    UTF-8 bytes.
    """

    words: tuple[str, ...] = ()
    score: float = 0.0
    against: tuple[str, ...] = ()
    against_score: float = 0.0
    before: int = BEFORE
    after: int = AFTER
    not_after: tuple[str, ...] = ()
    """Regexes; a value right after a match of one has `against_score`."""
    not_in: tuple[str, ...] = ()
    """Regexes; a value at the end of a match of one has `against_score`."""
    around: tuple[str, ...] = ()
    """Words of a subject: two of them, further away, are as good as one of `words` nearby."""
    not_around: tuple[str, ...] = ()
    """Words of other subjects: two of them, and those of `around` are no evidence."""


class Possible(NamedTuple):
    """The score of a value that `validators` refuse, if it has its label and passes
    these checks.
    """

    score: float
    validators: tuple[str, ...] = ()


class PatternName(NamedTuple):
    """The names that select a pattern."""

    id: str
    type: str
    category: Category


class Pattern(NamedTuple):
    id: str
    type: str
    category: Category
    label: str
    regex: str
    score: float
    validators: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """The words that replace `{{labels}}` in the regex."""
    context: Context | None = None
    possible: Possible | None = None
    width: int | None = None
    trigger: str | None = None
    """A simpler regex for the first pass; every match contains a match of it."""
    gated: bool = False
    """True if every match contains one of the anchors, around which the pattern is searched."""
    token: bool = False
    """True if the trigger matches within the value, which is a token of 16 characters or more."""
    judged: bool = False
    """True if the matches are labels, near which a trained judge searches for values."""
    region: str | None = None
    references: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    source: str = ""

    @property
    def best_score(self) -> float:
        return max(self.score, self.context.score if self.context else 0.0)


def context_width(pattern: Pattern) -> int:
    """Return the number of bytes around a match that can change its findings."""
    if pattern.judged:
        return JUDGED_AFTER
    context = pattern.context
    if context is None:
        return max(BEFORE, AFTER) if pattern.keywords else 0
    return max(context.before, context.after, AROUND_BEFORE if context.around else 0)
