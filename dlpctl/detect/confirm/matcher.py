"""Exact spans of a pattern's matches, from the ends of the trigger matches that Hyperscan reported.

A window around a trigger match gives the same result as a search of the complete text: from left to
right, each match starts as early as possible, takes what the regex prefers, is no longer than the
pattern's width, and the next one starts after the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlpctl.detect.linear import NOTHING, compile_regex, finders
from dlpctl.detect.patterns.model import Pattern

Spans = Sequence[tuple[int, int]]
MOST_MISSES = 63
"""The maximum number of trigger matches that one search decides."""


class Matcher:
    """One pattern's regex in RE2, which cannot backtrack."""

    __slots__ = ("_ahead", "_match", "_search", "_value", "width")

    def __init__(self, pattern: Pattern, width: int, ahead: int) -> None:
        """Take a regex whose trigger matches end at most `ahead` bytes after the start of the
        match.
        """
        regex = compile_regex(pattern.regex, f"{pattern.source}: pattern '{pattern.id}'")
        self._search, self._match = finders(regex)
        self._value: int = regex.groupindex.get("value", 0)
        self._ahead = ahead
        self.width = width

    def next_value(self, data: bytes, first: int, last: int) -> int:
        """Return where the value of the first match in a part of the text starts, or -1."""
        return self._search(data, first, last)[self._value][0]

    def spans(self, data: bytes, ends: Sequence[int], resume: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the values, as byte offsets, of the matches at the trigger matches `ends`, which
        ascend.
        """
        size = len(data)
        width, ahead, group = self.width, self._ahead, self._value
        search = self._search
        misses, last_end = 0, len(ends) - 1
        for at, end in enumerate(ends):
            while end > resume:
                until = end
                if misses:
                    # Trigger matches without a match come in runs: one search decides several of
                    # them.
                    until = ends[min(at + misses, last_end)]
                    if until - end > misses * width:
                        until = end
                # Without `min` and `max`, each of which costs a tenth of the search.
                first = end - ahead if end - ahead > resume else resume  # noqa: FURB136
                last = until + width if until + width < size else size  # noqa: FURB136
                groups = search(data, first, last)
                start, stop = groups[0]
                if stop - start > width:
                    groups = self._not_too_long(data, groups, until)
                    start, stop = groups[0]
                if start < 0 or start > until:
                    # Nothing starts up to this point: do not search the same range again.
                    resume = until + 1
                    misses = min(2 * misses + 1, MOST_MISSES)
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
                    break  # this trigger match belongs to the current match, not to one before it

    def _not_too_long(self, data: bytes, groups: Spans, end: int) -> Spans:
        """Return the first match from `groups` on that is not too wide and starts by `end`."""
        size, width = len(data), self.width
        last = min(size, end + width)
        start, stop = groups[0]
        while 0 <= start <= end and stop - start > width:
            shorter = self._match(data, start, min(size, start + width))
            if shorter[0] != NOTHING:
                return shorter
            groups = self._search(data, start + 1, last)
            start, stop = groups[0]
        return groups
