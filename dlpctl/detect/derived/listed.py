"""Listed characters: a text as the numbers of its characters, or as its characters one by one.

Programs write the bytes of a text so, in arrays, in calls that make a text of them, and in values of
the Windows registry. What is found is reported as the complete list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.linear import Find, compile_regex, finders

_FEWEST = 8
"""The characters of a list: half a card number."""
_COMMA = r"[ \t]*,(?:[ \t]*\\?\r?\n)?[ \t]*"
_QUOTE = "[\"']"
_CHARACTER = rf"{_QUOTE}(?:[ -!#-&(-\[\]-~]|\\.){_QUOTE}"
_LEAST_SHOWN = 0.9
"""The share of the characters of texts in numbers that are a text: numbers of a table are not."""
_BYTES = 256
_SHOWN = bytes((*b"\t\n\r", *range(32, 127)))


class _Notation(NamedTuple):
    """A way to write one character of a list."""

    cell: str
    between: str
    decode: Callable[[str], int]

    def lists(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Yield the spans of the lists in this notation, with their texts."""
        for found in _compiled(self.cell, self.between).finditer(data):
            cells = re.split(self.between, found[0].decode())
            codes = list(map(self.decode, cells))
            # In two bytes each, most characters have a zero.
            text = bytes(code for code in codes if 0 < code < _BYTES)
            numbers = len(codes) - (codes.count(0) if len(text) >= _FEWEST else 0)
            if len(text) - len(text.translate(None, _SHOWN)) >= _LEAST_SHOWN * numbers:
                yield *found.span(), b" " + text.decode("latin-1").encode() + b" "


_NOTATIONS = (
    _Notation("[0-9]{1,3}", _COMMA, int),
    _Notation("0[xX][0-9A-Fa-f]{1,2}", _COMMA, lambda cell: int(cell, 16)),
    _Notation("[0-9A-Fa-f]{2}", _COMMA, lambda cell: int(cell, 16)),
    _Notation("[01]{8}", "[ ,]{1,2}", lambda cell: int(cell, 2)),
    _Notation(_CHARACTER, _COMMA, lambda cell: ord(cell[-2])),
)


@cache
def _compiled(cell: str, between: str) -> re.Pattern[bytes]:
    lists = rf"(?<![0-9A-Za-z]){cell}(?:{between}{cell}){{{_FEWEST - 1},}}+(?![0-9A-Za-z])"
    return re.compile(lists.encode())


@cache
def _search() -> Find:
    cells = rf"(?:0[xX][0-9A-Fa-f]{{1,2}}|[0-9A-Fa-f]{{2}}|1[0-2][0-9]|{_CHARACTER})"
    return finders(
        compile_regex(
            rf"{cells}(?:{_COMMA}{cells}){{{_FEWEST - 1}}}|[01]{{8}}(?:[ ,]{{1,2}}[01]{{8}}){{7}}",
            "listed characters",
        )
    )[0]


def listed_texts(data: bytes) -> Iterator[DecodedText]:
    """Yield the texts that are listed within a text, one for each notation."""
    if _search()(data, 0, len(data))[0][0] >= 0:
        for notation in _NOTATIONS:
            if runs := list(notation.lists(data)):
                yield DecodedText(*copy_around(data, runs))
