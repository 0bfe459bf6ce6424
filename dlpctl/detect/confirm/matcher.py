"""Where exactly a pattern matches, given the ends that Hyperscan reported.

The search is defined so that a window around a hit gives what a search of the whole text would:
from left to right, each match begins as early as possible, takes what the regex prefers, is no
longer than the pattern's width, and the next one begins behind the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from dlpctl.detect.pattern import Pattern
from dlpctl.errors import PatternError
from dlpctl.regex import lazy

_NOTHING = (-1, -1)
_MOST_MISSES = 63
"""Hits that one search decides on at most."""
_FLAGS = lazy(r"\(\?[a-zA-Z]+\)")


class Matcher:
    """One pattern's regex in RE2, which cannot backtrack."""

    __slots__ = ("_ahead", "_anchored", "_bounded", "_match", "_unanchored", "_value", "width")

    def __init__(self, pattern: Pattern, width: int, bounded: bool, ahead: int) -> None:
        """`ahead` bytes at most lie between where a match begins and where its hit ends."""
        regex = compile_regex(pattern.regex, f"{pattern.source}: pattern '{pattern.id}'")
        self._match, self._unanchored, self._anchored = direct(regex)
        self._value: int = regex.groupindex.get("value", 0)
        self._bounded = bounded
        self._ahead = ahead
        self.width = width

    def spans(self, data: bytes, ends: Sequence[int], resume: int = 0) -> Iterator[tuple[int, int]]:
        """The values, as byte offsets, of the matches that the hits `ends` (ascending) stand for."""
        size = len(data)
        width, ahead, bounded, group = self.width, self._ahead, self._bounded, self._value
        match, unanchored = self._match, self._unanchored
        misses, last_hit = 0, len(ends) - 1
        for at, end in enumerate(ends):
            while end > resume:
                until = end
                if misses and bounded:
                    # Hits that match nothing come in runs: one search decides on several of them.
                    until = ends[min(at + misses, last_hit)]
                    if until - end > misses * width:
                        until = end
                first = end - ahead
                first = max(first, resume)
                last = until + width
                groups = match(unanchored, data, first, min(size, last))
                if not bounded:
                    groups = self._not_too_long(data, groups, end)
                start, stop = groups[0]
                if start < 0 or start > until:
                    # Nothing begins up to there, so that no hit searches again what others have.
                    resume = until + 1
                    misses = min(2 * misses + 1, _MOST_MISSES)
                    break
                misses = 0
                if group:
                    start, value_end = groups[group]
                    if start >= value_end:
                        resume = max(stop, resume + 1)
                        continue
                    yield start, value_end
                    resume = value_end
                else:
                    yield start, stop
                    resume = stop
                if stop >= end:
                    break  # the hit belongs to this match, and not to one before it

    def _not_too_long(self, data: bytes, groups: Any, end: int) -> Any:
        """The first match from `groups` on that keeps to the width and begins no later than `end`."""
        size, width = len(data), self.width
        last = min(size, end + width)
        start, stop = groups[0]
        while 0 <= start <= end and stop - start > width:
            shorter = self._match(self._anchored, data, start, min(size, start + width))
            if shorter[0] != _NOTHING:
                return shorter
            groups = self._match(self._unanchored, data, start + 1, last)
            start, stop = groups[0]
        return groups


class Glance:
    """What a pattern has from its value on: a look at that much turns most hits away.

    The whole regex has ten times the states, all of which a process would have to make for itself.
    """

    __slots__ = ("_ahead", "_anchored", "_match", "_taken", "_unanchored", "_value", "_width")

    def __init__(self, regex: str, known: int, width: int, ahead: int, taken: int) -> None:
        """`known` characters of the regex stand before its value, of which `taken` bytes lie before
        the end of a hit; -1 where a hit does not tell where it begins, `ahead` bytes before its end
        at most.
        """
        flags = _FLAGS.match(regex)
        self._match, self._unanchored, self._anchored, self._value = _shape(
            (flags[0] if flags else "") + regex[known:]
        )
        self._width = width
        self._ahead = ahead
        self._taken = taken

    def values(self, data: bytes, ends: Iterable[int]) -> Iterator[tuple[int, int, bool]]:
        """The values at these hits, and whether that is for the whole regex to say."""
        size, width, taken, group = len(data), self._width, self._taken, self._value
        match = self._match
        for end in ends:
            last = end + width
            if taken < 0:
                groups = match(self._unanchored, data, max(0, end - self._ahead), min(size, last))
            else:
                groups = match(self._anchored, data, end - taken, min(size, last))
            if groups[0] != _NOTHING:
                yield (*groups[group], taken < 0 or groups[0][1] >= last)


@cache
def _shape(regex: str) -> tuple[Any, Any, Any, int]:
    """Ready to match, and the number of its value: keys of many kinds have the same shape."""
    compiled = compile_regex(regex, "a value")
    return (*direct(compiled), compiled.groupindex["value"])


def compile_regex(regex: str, where: str, *, megabytes: int = 0) -> Any:
    """`megabytes` is for what reads whole texts: where the automaton of a large regex does not fit,
    RE2 makes it anew all the time.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    if megabytes:
        options.max_mem = megabytes << 20
    try:
        return re2.compile(regex, options)
    except re2.error as problem:
        reason = problem.args[0] if problem.args else "unknown"
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise PatternError(f"{where}: regex: {plainly(reason)}") from None


_LOOKAROUND = (
    "lookaround is not supported; delimit with \\b or with characters around a group 'value'"
)
_BACK = "a reference back to a group is not supported; write out what may be repeated"
_POSSESSIVE = "atomic groups and possessive repetitions are not supported; leave them out, since nothing here backtracks"
EMPTY = "matches the empty text; make something in it required"
_REASONS = {
    r"operator: \(\?<?[=!]|Zero-width": _LOOKAROUND,
    r"sequence: \\[1-9k]|operator: \(\?P|Back-reference": _BACK,
    r"operator: (\(\?>|[+*?}].*\+$|\{.*\}\+$)": _POSSESSIVE,
    r"empty buffer": EMPTY,
    r"\\C": "\\C is not supported; it would match a part of a character",
}


def plainly(problem: str) -> str:
    """What an engine says of a regex that it refuses, in the words of this project where it has
    some.
    """
    return next(
        (said for sign, said in _REASONS.items() if re.search(sign, problem)),
        f"is not valid: {problem}",
    )


def direct(regex: Any) -> tuple[Any, Any, Any]:
    """The regex's native match function, and its two kinds of anchor.

    It takes (anchor, bytes, from, to) and gives the spans of the groups. The public methods around
    it build a generator and a match object for each call, which costs more than most matches; the
    dependency's upper bound is there because of this function.
    """
    from re2 import _re2

    return regex._regexp.Match, _re2.RE2.Anchor.UNANCHORED, _re2.RE2.Anchor.ANCHOR_START


def matches_nothing(regex: Any) -> bool:
    """Whether an empty match is possible, between any two kinds of character or at an end of the
    text.
    """
    match, _, anchored = direct(regex)
    sides = (b"", b"a", b" ", b"\n")
    return any(
        match(anchored, before + after, len(before), len(before))[0] != _NOTHING
        for before in sides
        for after in sides
    )
