"""Exact spans of values that are tokens: runs of letters, digits and a few signs after a label.

A trigger ends with a token. Data that is encoded in long runs, or in lines of them, is left out
before a regex sees it, and so are tokens without a label right before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dlpctl.detect.linear import compile_regex, finders
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.patterns.syntax import loosened, prefix_of
from dlpctl.regex import lazy

_REST = lazy(rb"[0-9A-Za-z_+/.~%=-]*")
_BACKWARD = lazy(rb"[^0-9A-Za-z_+/.~%-]{0,4}([0-9A-Za-z_+/.~%-]*)")
"""A token from its end on, after the bytes of one character that separates it from others."""
_LONGEST_SEPARATOR = 4
_SHORTEST, _LONGEST = 16, 600
_LABEL = 256
"""Bytes before a token that its label and what assigns take at most."""
_LINE_ENDS = b"\r\n"


class TokenMatcher:
    """One pattern's regex, which is matched around tokens alone."""

    __slots__ = ("_label", "_search", "_value")

    def __init__(self, pattern: Pattern) -> None:
        where = f"{pattern.source}: pattern '{pattern.id}'"
        regex = compile_regex(pattern.regex, where, megabytes=32)
        self._search, _ = finders(regex)
        self._value: int = regex.groupindex["value"]
        # At the end of a text, RE2 goes backward from there, and stops where no label can follow.
        label = compile_regex(rf"(?:{loosened(prefix_of(pattern.regex))})\z", where, megabytes=32)
        self._label, _ = finders(label)

    def spans(self, data: bytes, ends: Iterable[int], resume: int = 0) -> Iterator[tuple[int, int]]:
        """Return the values, as byte offsets, of the matches around `ends`, which ascend."""
        for start, end in _tokens(data, ends):
            if start < resume:
                continue
            before = data[max(0, start - _LABEL) : start]
            label = self._label(before, 0, len(before))[0][0]
            if label < 0:
                continue
            first = start - len(before) + label
            value = self._value_in(data, first, start, min(len(data), end + 1))
            if value is not None:
                yield value
                resume = value[1]

    def _value_in(self, data: bytes, first: int, start: int, stop: int) -> tuple[int, int] | None:
        """Return the value within a token, if a label is before it, from `first` on."""
        while first >= 0:
            groups = self._search(data, first, stop)
            value = groups[self._value]
            if value[0] >= start:
                return value
            # What matched before the token may be its label, if that is long.
            first = groups[0][0] + 1 or -1
        return None


def _tokens(data: bytes, ends: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Return the tokens before these ends that may be values."""
    after = 0
    backward, rest = _BACKWARD.match, _REST.match
    for end in ends:
        if end <= after:
            continue
        longest = end - _LONGEST_SEPARATOR - _LONGEST - 1
        token = backward(data[max(after, longest) : end][::-1])
        assert token is not None
        from_end, length = token.span(1)
        start = end - length
        after = end - from_end
        if after - start > _LONGEST:
            continue
        if data[after : after + 1] == b"=" and (found := rest(data, after)):
            after = found.end()
        if _SHORTEST <= after - start <= _LONGEST and (
            not start or data[start - 1] not in _LINE_ENDS or _goes_on(data, start)
        ):
            yield start, after


def _goes_on(data: bytes, start: int) -> bool:
    """Return whether what is in the lines before may be a label, rather than more of the same."""
    before = data[max(0, start - _LABEL) : start].rstrip()
    return before[-1:] in b":*>|=" or b" " in before[before.rfind(b"\n") + 1 :]
