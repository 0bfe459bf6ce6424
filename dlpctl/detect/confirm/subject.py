"""The subject of a text: words further from a value than its context, two of which tell it, unless
two others tell another subject.
"""

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
    entry: str
    """The entry of the list: words of one entry do not differ."""
    start: int
    """The position of the character before the word."""


class _Pair(NamedTuple):
    other: _Word | None = None
    """The last word that differs from `last`."""
    last: _Word | None = None

    def then(self, word: _Word) -> _Pair:
        """Return the last two different words, of which this is the last."""
        differs = self.last and self.last.entry != word.entry
        return _Pair(self.last if differs else self.other, word)

    def since(self, first: int) -> tuple[str, ...]:
        """Return the words, if both are at or after a position."""
        if self.other and self.last and self.other.start >= first:
            return self.other.text, self.last.text
        return ()


class _Seen(NamedTuple):
    """The words found in a text, up to a position."""

    text: int
    """The hash of the text, which is not kept."""
    end: int
    words: _Pair = _Pair()
    against: _Pair = _Pair()


class Subject:
    """Finds two different words of a subject around each value of a text.

    Values come in the order of the text, so that each part of the text is searched once: a text
    that repeats a single word would cost each value a search of all repetitions.
    """

    __slots__ = ("_endings", "_entries", "_seen", "_suffixes", "search")

    def __init__(self, search: Search, entries: tuple[str, ...]) -> None:
        self.search = search
        """Finds words of the subject as group 1, words of other subjects as group 2."""
        words = {
            word.encode().translate(None, _JOINTS).decode(): entry
            for entry in reversed(entries)
            for word in entry.split("|")
        }
        self._entries = {word: entry for word, entry in words.items() if word[0] != "*"}
        self._endings = {word[1:]: entry for word, entry in words.items() if word[0] == "*"}
        self._suffixes = tuple(self._endings)
        self._seen = _Seen(0, -1)

    def words(self, data: bytes, start: int, end: int) -> tuple[str, ...]:
        """Return two different words around a value, or else none; none either next to two
        different words of other subjects.
        """
        first, stop = max(start - AROUND_BEFORE, 0), min(end + AROUND_AFTER, len(data))
        text, seen = hash(data), self._seen
        if seen.text != text or not first <= seen.end <= stop:
            seen = _Seen(text, first)
        _, position, words, against = seen
        while (found := self.search(data, position, stop))[0][0] >= 0:
            is_against = found[1][0] < 0
            at, position = found[2 if is_against else 1]
            found_word = data[at:position].translate(None, _JOINTS).decode().lower()
            word = _Word(found_word, self._entry(found_word), found[0][0])
            if is_against:
                against = against.then(word)
            else:
                words = words.then(word)
        self._seen = _Seen(text, max(position, stop - _LONGEST), words, against)
        return () if against.since(first) else words.since(first)

    def _entry(self, word: str) -> str:
        if word.endswith(self._suffixes):
            return next(self._endings[end] for end in self._suffixes if word.endswith(end))
        return self._entries.get(word, word)
