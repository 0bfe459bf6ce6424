"""A set of texts by their hashes: millions of texts in eight bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain

_PARTS = 1 << 8
_FEW = 1 << 16
"""The number of hashes up to which equal ones do not matter, and of texts that are remembered."""


class TextHashes:
    """A set of texts that has practically no false positives, since a hash has 64 bits."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._parts = [array("q") for _ in range(_PARTS)]
        self._count = 0
        """The number of hashes, among which are equal ones."""
        self._most = _FEW
        self._is_sorted = True
        self.add(map(hash, texts))

    def add(self, hashes: Iterable[int]) -> None:
        """Add texts by their hashes, which a forked process may have computed."""
        parts = self._parts
        for number in hashes:
            parts[number % _PARTS].append(number)
            self._count += 1
        self._is_sorted = False
        if self._count > self._most:
            self._most = _FEW + 2 * len(self)

    def _sorted(self) -> list[array[int]]:
        if not self._is_sorted:
            for at, part in enumerate(self._parts):
                self._parts[at] = array("q", sorted(set(part)))
            self._count = sum(map(len, self._parts))
            self._is_sorted = True
        return self._parts

    def __len__(self) -> int:
        return sum(map(len, self._sorted()))

    def __contains__(self, text: object) -> bool:
        return self.has(hash(text))

    def __iter__(self) -> Iterator[int]:
        """Yield the distinct hashes."""
        return chain.from_iterable(self._sorted())

    def has(self, number: int) -> bool:
        """Return whether a text with this hash is in the set."""
        part = self._sorted()[number % _PARTS]
        at = bisect_left(part, number)
        return at < len(part) and part[at] == number


class NewTexts:
    """Distinguishes texts from those before: a column has few values, or all different ones."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def among(self, texts: set[str]) -> set[str]:
        """Return the texts without those known from before, of which only the first are kept."""
        new = texts - self._known
        if len(self._known) < _FEW:
            self._known |= new
        return new
