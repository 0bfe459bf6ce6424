"""A prefilter by the value alone, which rejects most trigger matches of a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

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

    def values(self, data: bytes, ends: Iterable[int]) -> Iterator[tuple[int, int, int, bool]]:
        """Yield these trigger matches with their values, and whether only the complete regex can
        decide.
        """
        size, width, taken, group = len(data), self._width, self._taken, self._value
        search, match = self._search, self._match
        for end in ends:
            last = end + width
            if taken < 0:
                groups = search(data, max(0, end - self._ahead), min(size, last))
            else:
                groups = match(data, end - taken, min(size, last))
            if groups[0] != NOTHING:
                yield (end, *groups[group], taken < 0 or groups[0][1] >= last)


@cache
def _shape(regex: str) -> tuple[Find, Find, int]:
    """Return the finders of a shape and the group of its value; many types of keys
    share a shape.
    """
    compiled = compile_regex(regex, "a value")
    return (*finders(compiled), compiled.groupindex["value"])
