"""Finds thousands of words in long texts at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate

TOKEN = re.compile(r"[^\W_]+")
"""Letters and digits without anything else between them."""
_STRETCH = 1 << 16
_BEYOND = re.compile(rb"(?<![^ ])[^ ?]*\?[^ ]*")


class Words:
    """Words to search for, in their normal form.

    `token` matches a word and `normal` returns its normal form. A text is cut as bytes at all that
    is in no word; only near characters beyond ASCII does the expression decide.

    """

    def __init__(
        self, words: Iterable[str], token: re.Pattern[str], normal: Callable[[str], str]
    ) -> None:
        self._words = frozenset(words)
        self._encoded = {word.encode(): word for word in self._words if word.isascii()}
        self._token = token
        self._normal = normal
        self._table = _table(token)

    def within(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the start of each word that occurs, and the word."""
        # A question mark stands for each character beyond ASCII; those of the text itself are in no
        # word.
        data = text.replace("?", " ").encode("ascii", "replace").translate(self._table)
        words = self._encoded
        start = 0
        while start < len(data):
            end = data.find(b" ", start + _STRETCH)
            stretch = data[start:] if end < 0 else data[start:end]
            found = stretch.split(b" ")
            foreign = b"?" in stretch and self._occurs_in(
                text[start : start + len(stretch)], stretch
            )
            if foreign or not words.keys().isdisjoint(found):
                starts = accumulate(map((1).__add__, map(len, found)), initial=start)
                for at, word in zip(starts, found, strict=False):
                    if word in words:
                        yield at, words[word]
                    elif foreign and b"?" in word:
                        for match in self._token.finditer(text, at, at + len(word)):
                            if (other := self._normal(match[0])) in self._words:
                                yield match.start(), other
            start += len(stretch) + 1

    def _occurs_in(self, text: str, data: bytes) -> bool:
        """Return whether a word with or beside characters beyond ASCII is one of the words."""
        beyond = "\n".join([text[slice(*found.span())] for found in _BEYOND.finditer(data)])
        found = self._token.findall(beyond)
        return not self._words.isdisjoint(self._normal("\n".join(found)).split("\n"))


class SpelledWords:
    """Words to search for only as they are written, or in capitals."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = {spelling: word for word in words for spelling in (word, word.upper())}
        """The words by their spellings."""
        self._folded = Words(map(folded, self.words), TOKEN, folded)

    def within(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the span of each word that occurs, and the word."""
        for start, _ in self._folded.within(text) if self.words else ():
            match = TOKEN.match(text, start)
            if match and match[0] in self.words:
                yield start, match.end(), self.words[match[0]]


def words_of_ascii(text: str) -> list[str]:
    """Return the words of a text in ASCII, in lower case: the same as all matches of `TOKEN`, in a
    fraction of the time.
    """
    return text.encode().translate(_blanks()).decode().split()


@cache
def _blanks() -> bytes:
    return _table(TOKEN).replace(b"?", b" ")


def distinct_words(text: str, token: re.Pattern[str]) -> set[str]:
    """Return the distinct words of a text, as `folded` writes them: the same as all matches of
    `token`, in a fraction of the time.
    """
    data = text.replace("?", " ").encode("ascii", "replace").translate(_table(token))
    words = set(b"\n".join({*data.split()}).decode().split("\n"))
    if b"?" in data:
        words = {word for word in words if "?" not in word}
        beyond = "\n".join([text[slice(*found.span())] for found in _BEYOND.finditer(data)])
        words.update(folded("\n".join(token.findall(beyond))).split("\n"))
    return words


def folded(text: str) -> str:
    """Return the text in lower case, each character at its position: a few that would grow stay.

    A sigma becomes the same letter at the end of a word and elsewhere.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lowered.replace("ς", "σ")


@cache
def _table(token: re.Pattern[str]) -> bytes:
    """Return what becomes of each byte: small letters, and blanks for all that is in no word."""
    kept = (char if char == "?" or token.fullmatch(char) else " " for char in map(chr, range(128)))
    return "".join(kept).lower().encode().ljust(256)
