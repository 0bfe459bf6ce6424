"""Context: complete words near a value that raise or lower its score, and required keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from dlpctl.detect.confirm.subject import Subject
from dlpctl.detect.linear import compile_regex, finders
from dlpctl.detect.patterns.model import AFTER, AROUND_AFTER, AROUND_BEFORE, BEFORE, Pattern

# Letters and digits by their blocks: the exact classes would make an automaton that takes a
# millisecond to build.
_LETTER = r"0-9A-Za-z\x{C0}-\x{1FFF}\x{2C00}-\x{2DFF}\x{3040}-\x{FAFF}"
_NO_LETTER = f"[^{_LETTER}]"
# A word of negative context is not the name of an element: <section>, </section>.
_NO_TAG = f"(?:[^</{_LETTER}]|(?:^|[^<])/)"
# `patientTakes`: the word ends where another starts in camel case.
_NEXT_IN_CAMEL = r"(?-i:[A-Z][a-z])"
_GAP = r"[\s_.-]{0,2}"
_MOST_SCORES = 1024

Score = Callable[[bytes, int, int], float]
"""Takes a text, and start and end of a value; returns the value's score."""


class ContextScorer:
    """Scores the matches of one pattern by the words around them."""

    __slots__ = (
        "_after",
        "_before",
        "_context",
        "_has_against",
        "_has_keyword",
        "_next_word",
        "_not_after",
        "_not_in",
        "_rejects",
        "_score",
        "_subject",
        "plain_score",
    )

    def __init__(self, pattern: Pattern) -> None:
        context = pattern.context
        self._score = pattern.score
        self._context = context
        self._next_word: Any = (
            finders(_words_regex(context.words, context.against))[0]
            if context and (context.words or context.against)
            else None
        )
        self._not_after = (
            finders(_ending_regex(context.not_after))[0] if context and context.not_after else None
        )
        self._not_in = (
            finders(_ending_regex(context.not_in))[0] if context and context.not_in else None
        )
        self._subject = (
            Subject(
                finders(_words_regex(context.around, context.not_around))[0],
                context.around + context.not_around,
            )
            if context and context.around
            else None
        )
        self._rejects = self._not_after is not None or self._not_in is not None
        self._has_keyword = (
            finders(_keywords_regex(pattern.keywords))[0] if pattern.keywords else None
        )
        self._has_against = bool(context and context.against)
        self._before = context.before if context else BEFORE
        self._after = context.after if context else AFTER
        self.plain_score = None if context or pattern.keywords else pattern.score
        """The score of every match, if it does not depend on context."""

    def score(self, data: bytes, start: int, end: int) -> float:
        """Return the score of the value at `start` to `end`; 0.0 if a required
        keyword is missing.
        """
        first = start - self._before if start > self._before else 0
        last = min(len(data), end + self._after)
        if self._has_keyword is not None and self._has_keyword(data, first, last)[0][0] < 0:
            return 0.0
        if self._context is None:
            return self._score
        if self._rejects and self._is_rejected(data, first, start, end):
            return self._context.against_score
        word = self._nearest(data, first, start, end, last)
        if word is None:
            subject = self._subject and self._subject.words(data, start, end)
            return self._context.score if subject else self._score
        return self._context.score if word[1][0] >= 0 else self._context.against_score

    def needs_words(self, least: float) -> bool:
        """Return whether values score less than that without words of the context near them."""
        return self._context is not None and self._score < least

    def near_words(self, data: bytes, positions: Iterable[int], reach: int) -> Iterator[int]:
        """Yield the positions, which ascend, that are near a word of the context: at most `reach`
        bytes further away than a value.
        """
        before, after, size = self._before + reach, self._after + reach, len(data)
        searches = [self._next_word] if self._next_word else []
        if self._subject:
            searches.append(self._subject.search)
            before, after = max(before, AROUND_BEFORE + reach), max(after, AROUND_AFTER + reach)
        nearest = [-1] * len(searches)
        for at in positions:
            first = max(at - before, 0)
            for number, search in enumerate(searches):
                if nearest[number] < first:
                    start = search(data, first, size)[0][0]
                    nearest[number] = start if start >= 0 else size
                if nearest[number] <= at + after:
                    yield at
                    break

    def remembering(self) -> Score:
        """Return `score` with a memory for many short texts: all of a text that is no longer than
        the context decides, but for the value in it.
        """
        if self._has_keyword is not None or self._not_in is not None:
            return self.score
        known: dict[tuple[bytes, bytes], float] = {}
        before, after = self._before, self._after
        if self._subject is not None:
            before, after = max(before, AROUND_BEFORE), max(after, AROUND_AFTER)

        def score(data: bytes, start: int, end: int) -> float:
            if start > before or len(data) - end > after:
                return self.score(data, start, end)
            around = data[:start], data[end:]
            found = known.get(around)
            if found is None:
                if len(known) == _MOST_SCORES:
                    known.clear()
                found = known[around] = self.score(data, start, end)
            return found

        return score

    def _is_rejected(self, data: bytes, first: int, start: int, end: int) -> bool:
        """Return whether what the context rejects ends where the value starts, or with it."""
        for search, stop in ((self._not_after, start), (self._not_in, end)):
            if search is not None:
                text = data[first:stop]  # the end of a search is not the end of its text
                if search(text, 0, len(text))[0][0] >= 0:
                    return True
        return False

    def label_score(self, label: bytes) -> float | None:
        """Return the score of any value right after `label`; None if more context decides."""
        if self._not_after is not None:
            return None
        size = len(label)
        first = max(0, size - self._before)
        if self._has_keyword is not None and self._has_keyword(label, first, size)[0][0] < 0:
            return None
        if self._context is None:
            return self._score
        word = self._nearest(label, first, size, size, size)
        if word is None:
            return None
        return self._context.score if word[1][0] >= 0 else self._context.against_score

    def most_below(self, label: bytes) -> float:
        """Return the highest score of a value of which the label is the only context."""
        context = self._context
        if context is None:
            return self._score
        has_words = context.around or self._nearest(label, 0, 0, 0, len(label))
        return max(self._score, context.score) if has_words else self._score

    def _nearest(self, data: bytes, first: int, start: int, end: int, last: int) -> Any:
        """Return the groups of the deciding word: the last one before the value, or else the first
        one after it.
        """
        search = self._next_word
        if search is None:
            return None
        found = search(data, first, last)
        first_byte, stop = found[0]
        if first_byte < 0:
            return None
        if first_byte >= end or (stop <= start and not self._has_against):
            return found  # the first word is after the value, or any word will do
        if stop > start:
            found = search(data, first, start)  # the word extended into the value
        nearest = None
        while found[0][0] >= 0:
            nearest, found = found, search(data, max(found[1][1], found[2][1]), start)
        if nearest is None:
            nearest = search(data, end, last)
        return nearest if nearest[0][0] >= 0 else None

    def explain(self, data: bytes, start: int, end: int) -> tuple[float, list[str]]:
        """Return the score and the reasons for it."""
        score = self.score(data, start, end)
        steps = [f"the pattern alone scores {self._score:g}"]
        first, last = max(0, start - self._before), min(len(data), end + self._after)
        if self._has_keyword is not None:
            first_byte, stop = self._has_keyword(data, first, last)[0]
            near = (
                f"keyword '{data[first_byte:stop].decode(errors='replace')}' is near"
                if first_byte >= 0
                else ""
            )
            steps.append(near or "none of its keywords is near: 0")
        if self._is_rejected(data, first, start, end):
            steps.append(f"it follows, or is part of, what the context rejects: {score:g}")
        elif self._context is not None and score:
            word = self._nearest(data, first, start, end, last)
            if word is not None:
                first_byte, stop = word[1] if word[1][0] >= 0 else word[2]
                steps.append(
                    f"'{data[first_byte:stop].decode(errors='replace')}' is near: {score:g}"
                )
            elif subject := self._subject and self._subject.words(data, start, end):
                words = " and ".join(map(repr, sorted(subject)))
                steps.append(f"{words} are around it: {score:g}")
        return score, steps


def _alternatives(words: tuple[str, ...]) -> str:
    """Return a regex of the words in all spellings of prose, identifiers and file names: `card
    number`, `card_number`, `cardNumber`. An asterisk at the start is any letters: `*itis`.
    """
    return (
        "|".join(
            f"[{_LETTER}]*" * word.startswith("*")
            + _GAP.join(re.escape(part) for part in word.removeprefix("*").split())
            for word in "|".join(words).split("|")
        )
        or r"[^\s\S]"
    )


@cache
def _words_regex(words: tuple[str, ...], against: tuple[str, ...]) -> Any:
    regex = (
        rf"(?i)(?:(?:^|{_NO_LETTER})({_alternatives(words)})"
        rf"|(?:^|{_NO_TAG})({_alternatives(against)}))(?:{_NO_LETTER}|{_NEXT_IN_CAMEL}|$)"
    )
    return compile_regex(regex, "context", longest_match=True)  # `key id` is not `key`


def label_regex(words: tuple[str, ...]) -> Any:
    """Return the regex of labels that contain one of the words."""
    return _words_regex(words, ())


@cache
def _ending_regex(regexes: tuple[str, ...]) -> Any:
    return compile_regex(rf"(?:{'|'.join(regexes)})\z", "context")


@cache
def _keywords_regex(keywords: tuple[str, ...]) -> Any:
    return compile_regex("(?i)" + "|".join(re.escape(word) for word in keywords), "keywords")
