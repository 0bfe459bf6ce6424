"""A prefilter by the value alone, which rejects most trigger matches of a pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from dlpctl.detect.confirm.matcher import MOST_MISSES
from dlpctl.detect.linear import NOTHING, Find, compile_regex, finders
from dlpctl.detect.patterns.syntax import flags_of


class ValuePrefilter:
    """The part of a pattern's regex from its value on.

    The complete regex has ten times the states, all of which each process would have to build.
    """

    __slots__ = ("_ahead", "_match", "_search", "_taken", "_value", "_width")

    def __init__(self, regex: str, known: int, width: int, ahead: int, taken: int) -> None:
        """Take a regex with `known` characters before its value, and the number of bytes of the
        value (`taken`) before the end of a trigger match. If `taken` is -1, that number is not
        fixed, and the value starts at most `ahead` bytes before that end.
        """
        self._search, self._match, self._value = _shape(flags_of(regex) + regex[known:])
        self._width = width
        self._ahead = ahead
        self._taken = taken

    def values(self, data: bytes, ends: Sequence[int]) -> Iterator[tuple[int, int, int, bool]]:
        """Yield these trigger matches, which ascend, with their values, and whether only the
        complete regex can decide.
        """
        if self._taken < 0:
            yield from self._found(data, ends)
            return
        size, width, taken, group = len(data), self._width, self._taken, self._value
        match = self._match
        for end in ends:
            last = end + width
            groups = match(data, end - taken, min(size, last))
            if groups[0] != NOTHING:
                yield (end, *groups[group], groups[0][1] >= last)

    def _found(self, data: bytes, ends: Sequence[int]) -> Iterator[tuple[int, int, int, bool]]:
        """Yield what `values` does for values that start anywhere before a trigger match."""
        size, width, ahead, group = len(data), self._width, self._ahead, self._value
        search = self._search
        misses, decided, last_end = 0, -1, len(ends) - 1
        for at, end in enumerate(ends):
            if end <= decided:
                continue
            first = max(0, end - ahead)
            if misses:
                # Trigger matches without a value come in runs: one search decides several of them.
                until = min(ends[min(at + misses, last_end)], end + misses * width)
                if search(data, first, min(size, until + width))[0] == NOTHING:
                    decided, misses = until, min(2 * misses + 1, MOST_MISSES)
                    continue
            groups = search(data, first, min(size, end + width))
            misses = int(groups[0] == NOTHING)
            if not misses:
                yield (end, *groups[group], True)


@cache
def _shape(regex: str) -> tuple[Find, Find, int]:
    """Return the finders of a shape and the group of its value; many types of keys
    share a shape.
    """
    compiled = compile_regex(regex, "a value")
    return (*finders(compiled), compiled.groupindex["value"])
