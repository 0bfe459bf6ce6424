"""Where some words stand in long texts: thousands of them are looked for at once, among millions that are none of them."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

_STRETCH = 1 << 16


class Words:
    """Words to look for, in their normal form. `token` matches a word, `normal` gives the normal form of one.

    A text is not matched word by word: it is cut as bytes at all that is in no word. Only where characters beyond ASCII stand does the
    expression decide.
    """

    def __init__(self, words: Iterable[str], token: re.Pattern[str], normal: Callable[[str], str]) -> None:
        self._words = {word.encode("ascii", "replace"): word for word in words if word.isascii()}
        self._others = {word for word in words if not word.isascii()}
        self._token = token
        self._normal = normal
        self._table = _table(token)

    def within(self, text: str) -> Iterator[tuple[int, str]]:
        """Where each of the words begins, and which it is."""
        # A question mark stands for each character beyond ASCII; those of the text itself are in no word.
        data = text.replace("?", " ").encode("ascii", "replace").translate(self._table)
        words = self._words
        start = 0
        while start < len(data):
            end = data.find(b" ", start + _STRETCH)
            stretch = data[start:] if end < 0 else data[start:end]
            found = stretch.split(b" ")
            foreign = b"?" in stretch
            if foreign or not words.keys().isdisjoint(found):
                places = accumulate(map((1).__add__, map(len, found)), initial=start)
                for at, word in zip(places, found, strict=False):
                    if word in words:
                        yield at, words[word]
                    elif foreign and b"?" in word:
                        yield from self._foreign(text, at, at + len(word))
            start += len(stretch) + 1

    def _foreign(self, text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
        for match in self._token.finditer(text, start, end):
            word = self._normal(match[0])
            if word in self._others or word.encode("ascii", "replace") in self._words:
                yield match.start(), word


@cache
def _table(token: re.Pattern[str]) -> bytes:
    """What becomes of each byte: small letters, and blanks for all that is in no word."""
    kept = (char if char == "?" or token.fullmatch(char) else " " for char in map(chr, range(128)))
    return "".join(kept).lower().encode().ljust(256)
