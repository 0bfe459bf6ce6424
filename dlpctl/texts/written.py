"""Tell what masking wrote from real values: a ciphertext may look like a card number."""

from __future__ import annotations

from collections.abc import Container, Iterable
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

    def is_within(self, text: str, start: int, end: int) -> bool:
        """Return whether these characters are a replacement, or a part of one."""
        return text[start:end] in self._texts or any(
            text[at : at + length] in self._texts
            for length in self._lengths
            for at in range(max(end - length, 0), start + 1)
        )
