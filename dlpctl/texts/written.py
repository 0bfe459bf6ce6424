"""Tell what masking wrote from real values: a ciphertext may look like a card number."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Self


class Written:
    """The replacements that masking wrote for values."""

    def __init__(self, texts: Container[str], lengths: Iterable[int]) -> None:
        """`lengths` are those of the texts, of which none is empty."""
        self._texts = texts
        self._lengths = sorted(lengths)

    @classmethod
    def of(cls, replacements: Iterable[str]) -> Self:
        texts = {text for text in replacements if text}
        return cls(texts, set(map(len, texts)))

    def covers(self, text: str, start: int, end: int) -> bool:
        """Return whether these characters are a replacement, or a part of one."""
        return self._is_any(text, start, end, lambda length: range(max(end - length, 0), start + 1))

    def touches(self, text: str, start: int, end: int) -> bool:
        """Return whether any of these characters is of a replacement."""
        return self._is_any(text, start, end, lambda length: range(max(start - length + 1, 0), end))

    def _is_any(
        self, text: str, start: int, end: int, starts: Callable[[int], Iterable[int]]
    ) -> bool:
        return text[start:end] in self._texts or any(
            text[at : at + length] in self._texts
            for length in self._lengths
            for at in starts(length)
        )
