"""Finds thousands of byte strings in long data at once, wherever they start."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import cache

GRAM = 8
"""Bytes of the shortest string that can be looked for, which are compared first."""
_GRAM = struct.Struct("=Q")


class Literals:
    """Byte strings by their first bytes, and then by their lengths.

    Data is compared as numbers of eight bytes, at each of the eight ways to cut it: linear,
    whatever the number of strings.
    """

    def __init__(self, literals: Iterable[bytes]) -> None:
        """Take strings of at least `GRAM` bytes."""
        self._literals = frozenset(literals)
        self._lengths: dict[int, tuple[int, ...]] = {}
        """The lengths of the strings that start with the same bytes."""
        for literal in self._literals:
            gram = _GRAM.unpack_from(literal)[0]
            self._lengths[gram] = lengths_with(self._lengths.get(gram, ()), len(literal))

    def within(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield each string that occurs with its position, unordered; they may overlap."""
        known, every = self._lengths, self._literals
        for shift in range(GRAM) if known else ():
            grams = memoryview(data)[shift : shift + (len(data) - shift) // GRAM * GRAM].cast("Q")
            # Most data contains none, and this is twice as fast.
            if known.keys().isdisjoint(grams):
                continue
            for number, gram in enumerate(grams):
                if gram in known:
                    at = shift + number * GRAM
                    for length in known[gram]:
                        if (found := data[at : at + length]) in every:
                            yield at, found


def lengths_with(lengths: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return lengths with one more as a shared tuple: there are many tables of few lengths."""
    return lengths if length in lengths else _shared(*lengths, length)


@cache
def _shared(*lengths: int) -> tuple[int, ...]:
    return lengths


def characters(data: bytes, positions: Iterable[int]) -> Iterator[int]:
    """Return places in UTF-8, which ascend, as places in the text that it encodes."""
    if data.isascii():
        yield from positions
        return
    before = count = 0
    for position in positions:
        count += len(data[before:position].decode("utf-8", "replace"))
        before = position
        yield count
