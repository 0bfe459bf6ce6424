"""Finds thousands of byte strings in long data at once, wherever they start."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GRAM = 8
"""Bytes of the shortest string that can be looked for: what the first look at the data compares."""
_GRAM = struct.Struct("=Q")


class Literals:
    """Byte strings by their first bytes, and then by their lengths.

    Data is compared as numbers of eight bytes, at each of the eight ways to cut it: linear, whatever the number of strings.
    """

    def __init__(self, literals: Iterable[bytes]) -> None:
        """Take strings of at least `GRAM` bytes."""
        self._by_gram: dict[int, dict[int, set[bytes]]] = {}
        for literal in literals:
            by_length = self._by_gram.setdefault(_GRAM.unpack_from(literal)[0], {})
            by_length.setdefault(len(literal), set()).add(literal)

    def within(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Return each string that the data holds with its place, not in the order of places; they may overlap."""
        known = self._by_gram
        for shift in range(GRAM) if known else ():
            grams = memoryview(data)[shift : shift + (len(data) - shift) // GRAM * GRAM].cast("Q")
            # Most data holds none, and this is twice as fast.
            if known.keys().isdisjoint(grams):
                continue
            for number, gram in enumerate(grams):
                if gram in known:
                    at = shift + number * GRAM
                    for length, literals in known[gram].items():
                        if (found := data[at : at + length]) in literals:
                            yield at, found


def characters(data: bytes, places: Iterable[int]) -> Iterator[int]:
    """Return places in UTF-8, which ascend, as places in the text that it encodes."""
    if data.isascii():
        yield from places
        return
    before = count = 0
    for place in places:
        count += len(data[before:place].decode("utf-8", "replace"))
        before = place
        yield count
