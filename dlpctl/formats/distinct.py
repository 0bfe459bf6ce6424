"""Make equal texts distinct, where masking made them equal and a format does not allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable


class DistinctTexts:
    """Gives equal texts numbers, from 2."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        """The last number of each text; without it, n equal texts would take n * n / 2 attempts."""

    def choose(
        self, text: str, numbered: Callable[[int], str], is_free: Callable[[str], bool]
    ) -> str:
        """Return a text, or else its form with the first number, for which `is_free` is true."""
        number = self._numbers.get(text, 1)
        while not is_free(candidate := text if number == 1 else numbered(number)):
            number += 1
        self._numbers[text] = number
        return candidate


class DistinctNames:
    """Gives names of which no two are equal; `key` gives what has to differ."""

    def __init__(self, taken: Iterable[str] = (), key: Callable[[str], str] = str) -> None:
        self._texts = DistinctTexts()
        self._key = key
        self._taken = set(map(key, taken))

    def add(self, name: str, numbered: Callable[[int], str]) -> str:
        """Return a name, or its numbered form if it is taken, and take it."""
        chosen = self._texts.choose(name, numbered, self._is_free)
        self._taken.add(self._key(chosen))
        return chosen

    def _is_free(self, name: str) -> bool:
        return self._key(name) not in self._taken
