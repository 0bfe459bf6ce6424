"""The subject of a text: words further from a value than its context, two of which tell it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dlpctl.detect.patterns.model import AROUND_AFTER, AROUND_BEFORE

_JOINTS = b"\t\n\f\r _.-"
_LONGEST = 64
"""Bytes that a word takes at most, with the characters around it."""

Search = Callable[[bytes, int, int], Any]


class _Word(NamedTuple):
    text: str
    start: int
    """The position of the character before the word."""


class _Seen(NamedTuple):
    """The words found in a text, up to a position."""

    text: int
    """The hash of the text, which is not kept."""
    end: int
    other: _Word | None = None
    """The last word that differs from `last`."""
    last: _Word | None = None


class Subject:
    """Finds two different words of a subject around each value of a text.

    Values come in the order of the text, so that each part of the text is searched once: a text
    that repeats a single word would cost each value a search of all repetitions.
    """

    __slots__ = ("_seen", "search")

    def __init__(self, search: Search) -> None:
        self.search = search
        self._seen = _Seen(0, -1)

    def words(self, data: bytes, start: int, end: int) -> tuple[str, ...]:
        """Return two different words around a value, or else none."""
        first, stop = max(start - AROUND_BEFORE, 0), min(end + AROUND_AFTER, len(data))
        text, seen = hash(data), self._seen
        if seen.text != text or not first <= seen.end <= stop:
            seen = _Seen(text, first)
        _, position, other, last = seen
        while (found := self.search(data, position, stop))[0][0] >= 0:
            at, position = found[1]
            word = _Word(data[at:position].translate(None, _JOINTS).decode().lower(), found[0][0])
            if last and last.text != word.text:
                other = last
            last = word
        self._seen = _Seen(text, max(position, stop - _LONGEST), other, last)
        if other and last and other.start >= first:
            return other.text, last.text
        return ()
