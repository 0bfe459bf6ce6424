"""Exact spans of values that are tokens: runs of letters, digits and a few signs after a label.

A trigger ends with a token. Data encoded in long runs, or in lines of them, are skipped before the
regex is applied, and so are tokens without a label right before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.patterns.syntax import VALUE, flags_of, loosened, prefix_of
from dlpctl.regex import lazy

_REST = lazy(rb"[0-9A-Za-z_+/.~%=-]*")
_BACKWARD = lazy(rb"[^0-9A-Za-z_+/.~%-]{0,4}([0-9A-Za-z_+/.~%-]*)")
"""A token from its end on, after the bytes of one character that separates it from others."""
_LONGEST_SEPARATOR = 4
_SHORTEST, _LONGEST = 16, 600
_LABEL = 256
"""The maximum number of bytes of a label and its assignment before a token."""
_LABELS = 4
"""The number of labels before a token that are checked separately; with more, the complete regex
decides.
"""
_HEADING = 32
"""The maximum length of a line that may be the label of the next one, rather than data in lines."""
_LINE_ENDS = b"\r\n"


class TokenMatcher:
    """One pattern's regex, which is only matched around tokens."""

    __slots__ = ("_compile", "_complete", "_known_parts", "_label", "_match", "_prefix", "_regex")

    def __init__(self, pattern: Pattern) -> None:
        where = f"{pattern.source}: pattern '{pattern.id}'"
        self._compile = partial(compile_regex, where=where, megabytes=32)
        self._regex = pattern.regex
        self._complete: tuple[Find, int] | None = None
        self._match: Find | None = None
        self._prefix = prefix = prefix_of(pattern.regex)
        # At the end of a text, RE2 goes backward from there, and stops where no label can follow.
        self._label, _ = finders(self._compile(rf"(?:{loosened(prefix)})\z"))
        self._known_parts: tuple[Find, Find, int] | None = None

    def spans(self, data: bytes, ends: Iterable[int], resume: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the values, as byte offsets, of the matches around `ends`, which ascend."""
        for start, end in _tokens(data, ends):
            if start < resume:
                continue
            before = data[max(0, start - _LABEL) : start]
            label = self._label(before, 0, len(before))[0][0]
            if label < 0:
                continue
            first = start - len(before) + label
            value = self._value_in(data, first, start, _after_character(data, end))
            if value is not None:
                yield value
                resume = value[1]

    def _value_in(self, data: bytes, first: int, start: int, stop: int) -> tuple[int, int] | None:
        """Return the value within a token, if a label precedes it, from `first` on."""
        # If no label ends within the token, and no value starts before it, the parts of the regex
        # match like the complete one, in a sixth of the time.
        prefix, tail, tail_value = self._known_parts or self._parts()
        groups = tail(data, first, stop)
        is_first = groups[0][0] == start
        if not is_first and 0 <= groups[0][0] < start:
            groups = tail(data, start, stop)
        after = first
        for _ in range(_LABELS if groups[0][0] == start else 0):
            label, end = prefix(data, after, stop)[0]
            if label < 0:
                return None
            if end == start:
                # A value before the token cannot end where the token does.
                if is_first or self._end(data, label, stop) == groups[0][1]:
                    return groups[tail_value]
                break
            if end > start:
                break
            after = label + 1
        search, value_group = self._complete or self._compiled()
        while first >= 0:
            groups = search(data, first, stop)
            value = groups[value_group]
            if value[0] >= start:
                return value
            # The text matched before the token may be its label, if that is long.
            first = groups[0][0] + 1 or -1
        return None

    def _parts(self) -> tuple[Find, Find, int]:
        """Return finders for the part up to the value and for the rest, and the group of the value
        in the rest: of most texts, no label is found.
        """
        prefix, _ = finders(self._compile(self._prefix, longest_match=True))
        tail = self._compile(flags_of(self._regex) + self._regex[len(self._prefix) :])
        self._known_parts = prefix, finders(tail)[0], tail.groupindex["value"]
        return self._known_parts

    def _end(self, data: bytes, start: int, stop: int) -> int:
        """Return the end of the match at a label, or -1; a search for it, or for its value, takes
        ten times as long.
        """
        if self._match is None:
            _, self._match = finders(self._compile(VALUE.sub("(?:", self._regex)))
        return self._match(data, start, stop)[0][1]

    def _compiled(self) -> tuple[Find, int]:
        """Return a finder for the complete regex, and the group of the value."""
        regex = self._compile(self._regex)
        self._complete = finders(regex)[0], regex.groupindex["value"]
        return self._complete


def _tokens(data: bytes, ends: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the tokens before these ends that may be values."""
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


def _after_character(data: bytes, start: int) -> int:
    """Return where the character at `start` ends: a half one would be no separator."""
    end = start + 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return min(end, len(data))


def _goes_on(data: bytes, start: int) -> bool:
    """Return whether the preceding lines may be a label, rather than more of the same data."""
    before = data[max(0, start - _LABEL) : start].rstrip()
    line = before[before.rfind(b"\n") + 1 :]
    if before[-1:] in b":*>|=?" or b" " in line:
        return True
    return line != b"" and not line[_HEADING - 1 :]
