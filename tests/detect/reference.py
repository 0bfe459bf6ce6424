"""The engine's definition once more, as slow and as plain as it can be said: what the engine is
tested against.

Each pattern searches the whole text by itself. Nothing is shared with the engine but the reading of
pattern files, the validators, the trained judge and a pattern's width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import re2

from dlpctl.detect import validators
from dlpctl.detect.automaton.database import max_width
from dlpctl.detect.confirm import judge
from dlpctl.detect.confirm.candidates import NextLabel
from dlpctl.detect.patterns.model import AFTER, AROUND_AFTER, AROUND_BEFORE, BEFORE, Pattern
from dlpctl.types import Finding

_NEXT_IN_CAMEL = re.compile("[A-Z][a-z]")
_LIKELY = 0.6


class Match(NamedTuple):
    start: int
    end: int
    score: float
    proven: bool
    pattern: int


class Reference:
    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = list(patterns)
        self._regexes = [re2.compile(pattern.regex) for pattern in patterns]
        self._widths = [max_width(pattern)[0] for pattern in patterns]

    def scan(
        self, text: str, min_score: float = 0.5, only: Iterable[str] | None = None
    ) -> list[Finding]:
        """Findings in characters; `only` keeps those of these types."""
        data = "".join("\ufffd" if is_surrogate(char) else char for char in text).encode()
        return [
            finding._replace(
                start=len(data[: finding.start].decode()), end=len(data[: finding.end].decode())
            )
            for finding in self._scan(data, min_score)
            if only is None or finding.type in only
        ]

    def scan_bytes(self, data: bytes, min_score: float = 0.5) -> list[Finding]:
        """Findings in bytes; one that is no UTF-8 is a control character to the patterns."""
        text = data.decode("utf-8", "surrogateescape")
        return self._scan(
            "".join("\x1a" if is_surrogate(char) else char for char in text).encode(), min_score
        )

    def _scan(self, data: bytes, min_score: float) -> list[Finding]:
        matches = [
            match
            for index in range(len(self._patterns))
            for match in self._matches(index, data)
            if match.score >= min_score
        ]
        return [
            Finding(pattern.type, pattern.category, match.start, match.end, match.score, pattern.id)
            for match in kept(matches)
            for pattern in [self._patterns[match.pattern]]
        ]

    def _matches(self, index: int, data: bytes) -> Iterator[Match]:
        pattern = self._patterns[index]
        if pattern.judged:
            for start, end in self._values(index, data):
                for found in judge.Judge(self._next_label(index)).judged(data, start, end):
                    yield Match(*found, proven=False, pattern=index)
            return
        checks = [validators.find(name) for name in pattern.validators]
        for start, end in self._values(index, data):
            worth = score(pattern, data, start, end)
            if all(check.accepts(data[start:end].decode()) for check in checks):
                proven = any(check.proves for check in checks)
                yield Match(start, end, worth, proven, index)
            elif (possible := pattern.possible) and worth >= _with_label(pattern):
                others = [validators.find(name) for name in possible.validators]
                if all(check.accepts(data[start:end].decode()) for check in others):
                    yield Match(start, end, possible.score, False, index)

    def _next_label(self, index: int) -> NextLabel:
        def find(data: bytes, first: int, last: int) -> int:
            found = self._regexes[index].search(data, first, last)
            return found.start() if found else -1

        return find

    def _values(self, index: int, data: bytes) -> Iterator[tuple[int, int]]:
        """From left to right: the earliest match no wider than the pattern; then continue after its
        value.
        """
        regex, width = self._regexes[index], self._widths[index]
        group = regex.groupindex.get("value", 0)
        position = 0
        while (found := regex.search(data, position)) is not None:
            match = regex.match(data, found.start(), min(len(data), found.start() + width))
            if match is None:
                position = found.start() + 1
                continue
            start, end = match.span(group)
            position = match.end() if start == end else end
            if start < end:
                yield start, end


def is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def score(pattern: Pattern, data: bytes, start: int, end: int) -> float:
    """Return the score by context: the last word before the value, or else the first
    one after it.
    """
    context = pattern.context
    before, after = (context.before, context.after) if context else (BEFORE, AFTER)
    first, last = max(0, start - before), min(len(data), end + after)
    if pattern.keywords:
        near = folded(data[first:last].decode(errors="ignore"))
        if not any(folded(word) in near for word in pattern.keywords):
            return 0.0
    if context is None:
        return pattern.score
    if any(re2.search(rf"(?:{regex})\z", data[first:start]) for regex in context.not_after):
        return context.against_score
    if any(re2.search(rf"(?:{regex})\z", data[first:end]) for regex in context.not_in):
        return context.against_score
    words = [(word, context.score, True) for word in dict.fromkeys(context.words)]
    against = [(word, context.against_score, False) for word in dict.fromkeys(context.against)]
    ordered = [*words, *against]
    ahead = list(whole_words(data, first, start, ordered))
    if ahead:
        return ahead[-1]
    behind = list(whole_words(data, end, last, ordered))
    if behind:
        return behind[0]
    first, last = max(0, start - AROUND_BEFORE), min(len(data), end + AROUND_AFTER)
    size = len(context.around)
    numbered = [
        (word, number, number < size)
        for number, entry in enumerate(context.around + context.not_around)
        for word in entry.split("|")
    ]
    numbered.sort(key=lambda each: not each[0].startswith("*"))
    found = set(whole_words(data, first, last, numbered))
    of_others = {number for number in found if number >= size}
    tell_subject = len(found - of_others) > 1 and len(of_others) < 2
    return context.score if tell_subject else pattern.score


_LETTERS = "[0-9A-Za-z\u00c0-\u1fff\u2c00-\u2dff\u3040-\ufaff]*"


def whole_words(
    data: bytes, first: int, last: int, words: Sequence[tuple[str, float, bool]]
) -> Iterator[float]:
    """Return the score of each complete word in a part of the text, from left to right; of words
    that start at the same place the longest counts, and some words do not count as the name of an
    element.
    """
    raw = data[first:last].decode(errors="ignore")
    text = folded(raw)
    forms = [
        (
            re.compile(
                r"[\t\n\f\r _.-]{0,2}".join(
                    re.escape(part) for part in folded(word).split()
                ).replace(r"\*", _LETTERS, 1 if word.startswith("*") else 0)
            ),
            worth,
            as_element,
        )
        for word, worth, as_element in words
    ]
    position = 0
    while position <= len(text):
        for begin in _beginnings(text, position, at_start=first == 0):
            in_tag = _is_in_tag(text, position, begin, at_start=first == 0)
            ends = [
                (stop, worth)
                for form, worth, as_element in forms
                if as_element or not in_tag
                for stop in [_whole(form, text, raw, begin, last == len(data))]
                if stop is not None
            ]
            if ends:
                break
        else:
            return
        position, worth = max(ends, key=lambda end: end[0])
        yield worth


def _beginnings(text: str, position: int, *, at_start: bool) -> Iterator[int]:
    """Return where a word may start: at the start of the complete text, and after other characters
    than letters.
    """
    if at_start and position == 0:
        yield 0
    for place in range(position, len(text)):
        if not is_letter(text[place]):
            yield place + 1


def _is_in_tag(text: str, position: int, begin: int, *, at_start: bool) -> bool:
    """Return whether a word is the name of an element, or may be one that starts before the
    position.
    """
    if begin and text[begin - 1] == "/":
        if begin - 2 < position:
            return not (at_start and begin == 1)
        return text[begin - 2] == "<"
    return begin > 0 and text[begin - 1] == "<"


def _whole(form: re.Pattern[str], text: str, raw: str, begin: int, at_end: bool) -> int | None:
    """Return the end of the word that starts at a position, if the text ends there, or a character
    other than a letter or another word in camel case follows.
    """
    for stop in range(len(text), begin, -1):
        followed = (
            not is_letter(text[stop]) or bool(_NEXT_IN_CAMEL.match(raw, stop))
            if stop < len(text)
            else at_end
        )
        if followed and form.fullmatch(text, begin, stop):
            return stop
    return None


def is_letter(char: str) -> bool:
    return (
        (char.isascii() and char.isalnum())
        or "\u00c0" <= char <= "\u1fff"
        or "\u2c00" <= char <= "\u2dff"
        or "\u3040" <= char <= "\ufaff"
    )


def folded(text: str) -> str:
    """Case ignored, character by character; the long s and the Kelvin sign are an s and a k."""
    return "".join(_fold(char) for char in text)


def _fold(char: str) -> str:
    lower = {"\u017f": "s"}.get(char, char.lower())
    return lower if len(lower) == 1 else char


def kept(matches: Sequence[Match]) -> list[Match]:
    """Return the findings, by rank, that no other finding beats and that overlap none already kept,
    then those inside another one that are still free.
    """
    outermost = [
        match for match in matches if not any(_swallows(other, match) for other in matches)
    ]
    taken: list[Match] = []
    contained = [match for match in matches if match not in outermost]
    for match in sorted(outermost, key=_rank) + sorted(contained, key=_rank):
        if not any(match.start < other.end and other.start < match.end for other in taken):
            taken.append(match)
    return sorted(taken)


def _swallows(outer: Match, inner: Match) -> bool:
    contains = outer.start <= inner.start and inner.end <= outer.end
    longer = outer.end - outer.start > inner.end - inner.start
    return contains and longer and outer.score >= min(inner.score, 0.75)


def _rank(match: Match) -> tuple[bool, float, int, int, int]:
    """Proven and likely first, then by score, by length, and by place."""
    proven = match.proven and match.score >= _LIKELY
    return not proven, -match.score, match.start - match.end, match.start, match.pattern


def _with_label(pattern: Pattern) -> float:
    """The score of a value that has its label, which a refused one needs to be possible."""
    has_words = pattern.context is not None and pattern.context.words
    return pattern.best_score if has_words else pattern.score
