"""Marks for the pieces of a copy, by which most values are known to be absent from it."""

from __future__ import annotations

from itertools import compress
from mmap import mmap
from operator import not_, or_
from struct import Struct
from typing import TYPE_CHECKING

from dlpctl.encoded import forms
from dlpctl.formats.residues import WORD, digits_of_number, needed_words, number_starts
from dlpctl.literals import GRAM
from dlpctl.regex import lazy
from dlpctl.texthashes import NewTexts
from dlpctl.values import FEWEST_DIGITS_SEARCHED, SHORTEST_SEARCHED
from dlpctl.words import TOKEN, folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SIZE = 4
"""The number of bytes in a gram: texts have few different ones."""
_FIRST = Struct("=I")
_MARKS = 16_777_213
"""A prime, so that all bytes of a gram count."""
_SHIFTS = 0, 20, 40
"""The bits of a hash from which on it makes the number of a mark."""
_NUMBER = lazy(rb"[0-9]{%d,}" % GRAM)
_WORD_OR_END = lazy(r"\w+|\n")
_NOT_DIGITS = lazy(r"[^0-9\n]+")
_END_OF_VALUE = 2
"""The mark of the end of a value, among zeros for words that the copy lacks."""
_END_OF_VALUES = bytes((_END_OF_VALUE,))


class Pieces:
    """Marks for the pieces of a copy; a value that remains in it has no other ones.

    Pieces are words, the first digits of numbers in texts, long numbers in bytes, and all bytes in
    lower case that follow each other. A copy may have millions, so that several share a mark; each
    has three, except bytes. Forked processes share the marks too.
    """

    def __init__(self) -> None:
        self._marks = mmap(-1, _MARKS)
        self._new = NewTexts()

    def add_text(self, text: str) -> None:
        words = self._new.among(set(WORD.findall(text)))
        words.update(*(TOKEN.findall(word) for word in words if "_" in word))
        spelled = folded("\n".join(words)).split("\n")
        self._add({*spelled, *number_starts(text)})

    def add_bytes(self, data: bytes) -> None:
        for form in forms(data, GRAM):
            lowered = form.data.lower()
            self._add(set(map(bytes.decode, _NUMBER.findall(lowered))))
            for shift in range(_SIZE):
                self._mark(set(_numbered(lowered[shift:])))

    def _add(self, pieces: Iterable[str]) -> None:
        hashes = list(map(hash, pieces))
        for bits in _SHIFTS:
            self._mark(map(bits.__rrshift__, hashes))

    def _mark(self, numbers: Iterable[int]) -> None:
        marks = self._marks
        for mark in map(_MARKS.__rmod__, numbers):
            marks[mark] = 1

    def _has(self, piece: str) -> bool:
        number, marks = hash(piece), self._marks
        return all(marks[(number >> bits) % _MARKS] for bits in _SHIFTS)

    def possible(self, searched: Sequence[tuple[str, str]], encodings: Sequence[str]) -> list[bool]:
        """Return for each value, in the form of searches and as it is written, whether the copy may
        contain it. Bytes are searched for the value as it is written, in one of the encodings.
        """
        if not searched:
            return []
        forms, written = zip(*searched, strict=True)
        # Most values are absent, which is told for all of them together in less time.
        shown, held = self._some_shown(forms), self._some_held(written, encodings)
        return [
            may_be and self._may_remain(*value, encodings)
            for may_be, value in zip(map(or_, shown, held), searched, strict=True)
        ]

    def _may_remain(self, form: str, spaced: str, encodings: Sequence[str]) -> bool:
        if len(form) < SHORTEST_SEARCHED:
            return False
        return self.may_show(form) or (len(spaced) >= GRAM and self.may_hold(spaced, encodings))

    def _some_shown(self, values: Sequence[str]) -> Iterator[bool]:
        """Yield whether a text may contain each value, as `may_show` does or less strictly."""
        joined = "\n".join([*values, ""])
        words = _WORD_OR_END.findall(joined)
        starts = [
            number[:FEWEST_DIGITS_SEARCHED] if number else ""
            for number in map(_number_in, values, _NOT_DIGITS.sub("", joined).split("\n"))
        ]
        present = self._present({*words, *starts})
        marks = {word: word in present for word in words} | {"\n": _END_OF_VALUE}
        of_values = bytes(map(marks.__getitem__, words)).split(_END_OF_VALUES)
        for value, start, found in zip(values, starts, of_values, strict=False):
            if start:
                yield start in present
            else:
                # The last word may go on in the copy.
                yield not value[:1].isalnum() or not (b"\0" in found[:-1] or found == b"\0")

    def _some_held(self, values: Sequence[str], encodings: Sequence[str]) -> list[bool]:
        """Return whether bytes may contain each value, as `may_hold` does or less strictly."""
        if list(encodings) != ["utf-8"]:
            return [True] * len(values)
        numbers = {value for value in values if value.isascii() and value.isdigit()}
        starts = {value[:_SIZE] for value in values if value.isascii() and len(value) >= GRAM}
        grams = memoryview("".join(starts).lower().encode()).cast("I")
        marks = map(self._marks.__getitem__, map(_MARKS.__rmod__, grams))
        absent = {*compress(starts, map(not_, marks)), *numbers.difference(self._present(numbers))}
        return [value not in absent and value[:_SIZE] not in absent for value in values]

    def _present(self, pieces: Iterable[str]) -> set[str]:
        """Return the pieces that the copy may have."""
        found = list(pieces)
        for bits in _SHIFTS:
            numbers = map(_MARKS.__rmod__, map(bits.__rrshift__, map(hash, found)))
            found = list(compress(found, map(self._marks.__getitem__, numbers)))
        return set(found)

    def may_show(self, value: str) -> bool:
        """Return whether a text may contain a value, which is in the form of searches."""
        if number := digits_of_number(value):
            return self._has(number[:FEWEST_DIGITS_SEARCHED])
        words = needed_words(value)
        return words is None or all(map(self._has, words))

    def may_hold(self, value: str, encodings: Iterable[str]) -> bool:
        """Return whether bytes may contain a value in one of the encodings."""
        marks = self._marks
        for encoding in encodings:
            # A number is not searched for within longer ones.
            is_number = encoding == "utf-8" and value.isascii() and value.isdigit()
            if is_number and not self._has(value):
                continue
            data = value.encode(encoding, "replace").lower()
            # Most values start with bytes that the copy does not have.
            if len(data) >= _SIZE and not marks[_FIRST.unpack_from(data)[0] % _MARKS]:
                continue
            if all(map(marks.__getitem__, map(_MARKS.__rmod__, _numbered(data)))):
                return True
        return False


def _numbered(data: bytes) -> memoryview:
    """Return the grams of bytes as numbers."""
    return memoryview(data)[: len(data) // _SIZE * _SIZE].cast("I")


def _number_in(value: str, digits: str) -> str:
    """Return the same as `digits_of_number`, to which most values have too few digits."""
    few = len(digits) < FEWEST_DIGITS_SEARCHED or len(digits) * 2 <= len(value)
    return "" if few else digits_of_number(value)
