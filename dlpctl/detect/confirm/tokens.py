"""Exact spans of values that are tokens: runs of letters, digits and a few signs after a label.

Matches of a trigger within one token are one. Data that is encoded in long runs, or in lines of
them, is left out before the regex sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dlpctl.detect.linear import compile_regex, finders
from dlpctl.detect.patterns.model import Pattern
from dlpctl.regex import lazy

_REST = lazy(rb"[0-9A-Za-z_+/.~%=-]*")
_SEPARATOR = lazy(rb"[^0-9A-Za-z_+/.~%-]")
_SHORTEST, _LONGEST = 16, 600
_LABEL = 256
"""Bytes before a token that its label and what assigns take at most."""
_LINE_ENDS = b"\r\n"


class TokenMatcher:
    """One pattern's regex, which is matched around tokens alone."""

    __slots__ = ("_search", "_value")

    def __init__(self, pattern: Pattern) -> None:
        regex = compile_regex(
            pattern.regex, f"{pattern.source}: pattern '{pattern.id}'", megabytes=32
        )
        self._search, _ = finders(regex)
        self._value: int = regex.groupindex["value"]

    def spans(self, data: bytes, ends: Iterable[int], resume: int = 0) -> Iterator[tuple[int, int]]:
        """Return the values, as byte offsets, of the matches around `ends`, which ascend."""
        for start, end in _tokens(data, ends):
            if start < resume:
                continue
            value = self._value_in(data, start, min(len(data), end + 1))
            if value is not None:
                yield value
                resume = value[1]

    def _value_in(self, data: bytes, start: int, stop: int) -> tuple[int, int] | None:
        """Return the value within a token, if a label is before it."""
        first = max(0, start - _LABEL)
        while first >= 0:
            groups = self._search(data, first, stop)
            value = groups[self._value]
            if value[0] >= start:
                return value
            # What matched before the token may be its label, if that is long.
            first = groups[0][0] + 1 or -1
        return None


def _tokens(data: bytes, ends: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Return the tokens around these ends that may be values."""
    after = 0
    rest, separator = _REST.match, _SEPARATOR.search
    for end in ends:
        if end <= after:
            continue
        found = rest(data, end)
        after = found.end() if found else end
        before = data[max(0, end - _LONGEST) : end]
        separated = separator(before[::-1])
        if separated is None:
            start = 0 if len(before) < _LONGEST else after - _LONGEST - 1
        else:
            start = end - separated.start()
            if separated[0] in _LINE_ENDS and not _goes_on(before[: -separated.end()].rstrip()):
                continue
        if _SHORTEST <= after - start <= _LONGEST:
            yield start, after


def _goes_on(before: bytes) -> bool:
    """Return whether what is in the lines before may be a label, rather than more of the same."""
    return before[-1:] in b":*>|=" or b" " in before[before.rfind(b"\n") + 1 :]
