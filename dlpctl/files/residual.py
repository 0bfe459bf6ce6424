"""Search a long copy for residual values, block by block.

Most values cannot remain, since the copy lacks one of their pieces. Only the others are indexed and
searched for. Forked processes share the objects of this module.
"""

from __future__ import annotations

import json
from array import array
from itertools import compress, pairwise
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.encoded import forms
from dlpctl.forked import in_order
from dlpctl.formats.residues import (
    WORD,
    StrictMatcher,
    as_searched,
    digits_of_number,
    needed_words,
    number_starts,
)
from dlpctl.formats.verify import searched_text
from dlpctl.literals import GRAM
from dlpctl.regex import lazy
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED
from dlpctl.words import TOKEN, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.files.sections import Sections

_CLEAN = b"clean"
"""The result of a block without values."""
_CHUNK = 1 << 12
_SIZE = 4
"""The number of bytes in a gram: texts have few different ones."""
_MARKS = 16_777_213
"""A prime, so that all bytes of a gram count."""
_MOST = 1 << 20
"""The number of words and numbers from which on a copy is taken to have all."""
_NUL = b"\0"
_SPACE = lazy(r"\s")
_NUMBER = lazy(rb"[0-9]{%d,}" % GRAM)
_MAY_REMAIN, _IS_OTHER = 1, 2


class Pieces(NamedTuple):
    """The pieces of a copy; a value that remains in it has no other ones."""

    words: set[str]
    number_starts: set[str]
    """The first digits of the numbers in texts."""
    numbers: set[str]
    """The digits of long numbers in bytes."""
    grams: bytearray
    """Marks for all bytes in lower case that follow each other, by the remainder of their number:
    packed data have too many different ones for a set.
    """

    @classmethod
    def none(cls) -> Pieces:
        return cls(set(), set(), set(), bytearray(_MARKS))

    def add(self, data: bytes) -> None:
        """Add the pieces that `pieces_of_text` or `pieces_of_bytes` found."""
        texts, _, grams = data.partition(b"\n")
        for mine, more in zip(self[:3], json.loads(texts), strict=True):
            mine.update(more)
        marks = self.grams
        for number in memoryview(grams).cast("I"):
            marks[number] = 1

    @property
    def total(self) -> int:
        return sum(len(pieces) for pieces in self[:3])

    def may_show(self, value: str) -> bool:
        """Return whether a text may contain a value, which is in the form of searches."""
        if number := digits_of_number(value):
            return number[:FEWEST_DIGITS_SEARCHED] in self.number_starts
        words = needed_words(value)
        return words is None or self.words.issuperset(words)

    def may_hold(self, value: str, encodings: Iterable[str]) -> bool:
        """Return whether bytes may contain a value in one of the encodings."""
        return any(
            all(map(self.grams.__getitem__, _grams(value.encode(encoding, "replace").lower())))
            for encoding in encodings
            # A number is not searched for within longer ones.
            if encoding != "utf-8"
            or not (value.isascii() and value.isdigit())
            or value in self.numbers
        )


def pieces_of_text(text: str) -> bytes:
    words = set(WORD.findall(text))
    words.update(*(TOKEN.findall(word) for word in words if "_" in word))
    spelled = folded("\n".join(words)).split("\n")
    return _packed(spelled, number_starts(text), (), ())


def pieces_of_bytes(data: bytes) -> bytes:
    numbers: set[str] = set()
    grams: set[int] = set()
    for form in forms(data, GRAM):
        lowered = form.data.lower()
        numbers.update(map(bytes.decode, _NUMBER.findall(lowered)))
        for shift in range(_SIZE):
            grams.update(_numbered(lowered[shift:]))
    return _packed((), (), numbers, set(map(_MARKS.__rmod__, grams)))


def _packed(
    words: Iterable[str],
    starts: Iterable[str],
    numbers: Iterable[str],
    grams: Iterable[int],
) -> bytes:
    texts = json.dumps([list(words), list(set(starts)), list(numbers)])
    return texts.encode() + b"\n" + array("I", grams).tobytes()


def _grams(data: bytes) -> Iterator[int]:
    """Return the places of the marks for bytes."""
    return map(_MARKS.__rmod__, _numbered(data))


def _numbered(data: bytes) -> memoryview:
    return memoryview(data)[: len(data) // _SIZE * _SIZE].cast("I")


class ResidualSearch:
    """Searches a copy for values: both readings of its text, and its bytes."""

    def __init__(
        self,
        values: Sequence[str],
        words: Sequence[str],
        sections: Sections,
        again: Iterable[str],
        size: int,
    ) -> None:
        """Take distinct values; `words` are those that match only as they are written, or in
        capitals.
        """
        self._values, self._words = values, words
        shown = (searched_text(each.node.document, each.view) for each in sections.all)
        texts = _without_short([*shown, *again], size)
        data = [node.data for node in sections.node.walk()]
        is_wide = any(_NUL in each for each in data)
        self._encodings = ("utf-8", "utf-16-le", "utf-16-be") if is_wide else ("utf-8",)
        longest = max(map(len, [*values, *words]), default=0)
        self._tasks: list[tuple[str | bytes, int, int]] = [
            (each, first, min(last + 4 * longest, len(each)))
            for each in texts
            for first, last in pairwise(_text_cuts(each, size))
        ]
        self._tasks += [
            (each, first, last + 8 * longest)
            for each in data
            for first, last in pairwise(_byte_cuts(each, size))
        ]

    def run(self, processes: int) -> int | None:
        """Return the number of distinct values; None if one of them remains."""
        pieces = self._pieces(processes)
        flags = self._flags(pieces, processes)
        others = list(compress(self._values, map(_IS_OTHER.__and__, flags)))
        forms = {as_searched(value)[0] for value in others}
        count = len(self._values) - len(others) + len(forms.difference(self._values))
        matcher = StrictMatcher(
            compress(self._values, map(_MAY_REMAIN.__and__, flags)),
            [word for word in self._words if self._may_remain(pieces, folded(word), word)],
        )
        if not (matcher.values or matcher.words):
            return count + len(self._words)
        matcher.prepare(is_wide=len(self._encodings) > 1)

        def search(task: bytes) -> bytes:
            text, first, last = self._tasks[int(task)]
            holds = (
                matcher.in_bytes(text[first:last])
                if isinstance(text, bytes)
                else matcher.in_text(text[first:last])
            )
            return b"" if holds else _CLEAN

        results = in_order(len(self._tasks), b"%d".__mod__, search, processes)
        return count + len(self._words) if all(each == _CLEAN for each in results) else None

    def _pieces(self, processes: int) -> Pieces | None:
        """Return the pieces of the copy; None if it has too many different ones."""

        def pieces_of(task: bytes) -> bytes:
            text, first, last = self._tasks[int(task)]
            part = text[first:last]
            return pieces_of_bytes(part) if isinstance(part, bytes) else pieces_of_text(part)

        pieces = Pieces.none()
        for found in in_order(len(self._tasks), b"%d".__mod__, pieces_of, processes):
            pieces.add(found)
            if pieces.total > _MOST:
                return None
        return pieces

    def _flags(self, pieces: Pieces | None, processes: int) -> bytes:
        """Return for each value whether it may remain, and is written in another form than it is
        searched for.
        """
        values = self._values

        def flags_of(task: bytes) -> bytes:
            some = values[int(task) * _CHUNK : int(task) * _CHUNK + _CHUNK]
            return bytes(
                _IS_OTHER * (form != value) | _MAY_REMAIN * self._may_remain(pieces, form, spaced)
                for value, (form, spaced) in zip(some, map(as_searched, some), strict=True)
            )

        count = -(-len(values) // _CHUNK)
        return b"".join(in_order(count, b"%d".__mod__, flags_of, processes))

    def _may_remain(self, pieces: Pieces | None, form: str, spaced: str) -> bool:
        """Return whether a value may remain, which is searched for in this form, or in bytes as it
        is written.
        """
        if len(form) < SHORTEST_SEARCHED:
            return False
        return (
            pieces is None
            or pieces.may_show(form)
            or (len(spaced) >= GRAM and pieces.may_hold(spaced, self._encodings))
        )


def _without_short(texts: Sequence[str], size: int) -> Iterable[str]:
    """Return the distinct texts; short ones are joined, since each text costs a task."""
    short = "\n".join(text for text in texts if len(text) < size)
    return dict.fromkeys([*(text for text in texts if len(text) >= size), short])


def _text_cuts(text: str, size: int) -> list[int]:
    cuts = [0]
    while found := _SPACE.search(text, cuts[-1] + size):
        cuts.append(found.end())
    return cuts if cuts[-1] == len(text) else [*cuts, len(text)]


def _byte_cuts(data: bytes, size: int) -> list[int]:
    cuts = [0]
    while (cut := data.find(b"\n", cuts[-1] + size) + 1) > 0:
        cuts.append(cut)
    return cuts if cuts[-1] == len(data) else [*cuts, len(data)]
