"""Misread characters: digits in words and letters in numbers, which programs that read pictures
mistake for each other.

`Acc0unt N0: 447l182` reads `Account No: 4471182`. Names in source code have such digits, too: only
words of a label are read so, and only numbers of more digits than letters.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import Run
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_WORD = (
    r"(?:[A-Z]?[a-z]{1,13}[01][a-z]{1,12}|[A-Z][01][a-z]{2,12}|[A-Z]{1,12}[01][A-Z]{2,12}|N0|0f)"
)
_LABEL = rf"\b{_WORD}(?:[ .'/-]{{1,2}}[A-Za-z01]{{1,16}}){{0,3}}\.?[ ]{{0,2}}(?::[ ]|[ ]{{2}})"
_NUMBER = (
    r"(?:^|[^0-9A-Za-z+/=_-])O?[0-9]{1,8}(?:[-/.][0-9]{1,8}){0,2}[-/.]?[lIO][0-9]{1,8}"
    r"(?:[-/.][0-9]{1,8}){0,2}(?:[^0-9A-Za-z+/=_-]|$)"
)
_PHRASE = f"{_LABEL}|{_NUMBER}"
_search = finder(_PHRASE, "misread characters")
GATE = r"[A-Za-z][01][A-Za-z]|(?:^|[^0-9A-Za-z_])(?:N0|0f)[ .'/:-]|[0-9][-/.]?[lIO][0-9]"
"""Only the characters: complete phrases cost ten times as much."""
_MISREAD = lazy(rf"\b(?:({_WORD})|O?[0-9]+(?:[-/.]?[0-9lIO])+)\b".encode())
_NOT_HEXADECIMAL = lazy(rb"[g-zG-Z]")
_LETTERS, _CAPITALS = bytes.maketrans(b"01", b"ol"), bytes.maketrans(b"01", b"OI")
_DIGITS = bytes.maketrans(b"lIO", b"110")


def runs(data: bytes) -> Iterator[Run]:
    """Yield the misread characters, with what they read."""
    search, at, size = _search(), 0, len(data)
    while (span := search(data, at, size)[0])[0] >= 0:
        start, at = span
        for found in _MISREAD.finditer(data, start, at):
            run, word = found[0], found[1]
            if (read := _read_word(word) if word else run.translate(_DIGITS)) != run:
                yield *found.span(), read
        at -= 1  # the blank may be before the next one


def _read_word(word: bytes) -> bytes:
    """Return a word as it was written; what may be hexadecimal is kept."""
    if not _NOT_HEXADECIMAL.search(word):
        return word
    return word.translate(_CAPITALS if word.isupper() and word != b"N0" else _LETTERS)
