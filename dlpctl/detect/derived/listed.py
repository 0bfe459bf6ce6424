"""Listed characters: a text as the numbers of its characters, or as its characters one by one.

Programs write the bytes of a text so, in arrays, in calls that make a text of them, and in values
of the Windows registry. What is found is reported as the complete list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.linear import finder

_FEWEST = 8
"""The characters of a list: half a card number."""
_COMMA = r"[ \t]*,(?:[ \t]*\\?\r?\n)?[ \t]*"
_HEX = "0[xX][0-9A-Fa-f]{1,2}"
_BLANK = r"[ \t]+(?:\r?\n[ \t]*)?"
_OPERATOR = r"[ \t]*(?:[&+.]|\|\|)[ \t]*(?:_?\r?\n[ \t]*)?"
_CALL = r"(?i:chr|char|chrw|chrb)\(\d{2,3}\)"
_SHOWN_CODE = "(?:3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-6])"
_CHARACTER = r"[\"'](?:[ -!#-&(-\[\]-~]|\\.)[\"']"
_LEAST_SHOWN = 0.9
"""The share of characters among the numbers of a text: those of a table are others."""
_BYTES = 256
_SHOWN = bytes((*b"\t\n\r", *range(32, 127)))


class _Notation(NamedTuple):
    """A way to write the characters of a list."""

    cell: str
    between: str
    decode: Callable[[str], int]

    def list_at(self, data: bytes, start: int) -> tuple[int, bytes]:
        """Return the end of the list that starts at a position, and its text, if it is one."""
        found = _compiled(self.cell, self.between).match(data, start)
        if found is None:
            return start, b""
        # A split would also cut at a comma that is a character of the list.
        codes = list(map(self.decode, re.findall(self.cell, found[0].decode())))
        text = bytes(code for code in codes if 0 < code < _BYTES)
        # In two bytes each, most characters have a zero.
        numbers = len(codes) - (codes.count(0) if len(text) >= _FEWEST else 0)
        is_text = len(text) - len(text.translate(None, _SHOWN)) >= _LEAST_SHOWN * numbers
        return found.end(), text.decode("latin-1").encode() if is_text else b""


_NOTATIONS = (
    _Notation("[0-9]{1,3}", _COMMA, int),
    _Notation(_HEX, _COMMA, lambda cell: int(cell, 16)),
    _Notation("[0-9A-Fa-f]{2}", _COMMA, lambda cell: int(cell, 16)),
    _Notation(_HEX, _BLANK, lambda cell: int(cell, 16)),
    _Notation(_SHOWN_CODE, _BLANK, int),
    _Notation(_CALL, _OPERATOR, lambda cell: int(re.sub(r"\D", "", cell))),
    _Notation("[01]{8}", "[ ,]{1,2}", lambda cell: int(cell, 2)),
    _Notation(_CHARACTER, _COMMA, lambda cell: ord(cell[-2])),
)


@cache
def _compiled(cell: str, between: str) -> re.Pattern[bytes]:
    return re.compile(rf"{cell}(?:{between}{cell}){{{_FEWEST - 1},}}(?![0-9A-Za-z])".encode())


_STARTS = (
    (rf"(?:\b(?:{_HEX}|[0-9A-Fa-f]{{2}}|1[0-2][0-9]|0)\b|{_CHARACTER})", _COMMA),
    (rf"\b{_HEX}\b", _BLANK),
    (rf"\b{_SHOWN_CODE}\b", _BLANK),
    (rf"\b{_CALL}", _OPERATOR),
    (r"\b[01]{8}\b", "[ ,]{1,2}"),
)
_LISTS = "|".join(f"{cell}(?:{between}{cell}){{{_FEWEST - 1}}}" for cell, between in _STARTS)
_search = finder(_LISTS, "listed characters")
_NUMBER = r"[0-9A-Fa-f][0-9A-Fa-fxX]{0,3}"
GATE = (
    rf"{_COMMA}{_NUMBER}{_COMMA}{_NUMBER}{_COMMA}{_NUMBER}{_COMMA}"
    rf"|{_CHARACTER}(?:{_COMMA}{_CHARACTER}){{3}}|{_HEX}(?:{_BLANK}{_HEX}){{3}}"
    rf"|[0-9]{{2}}(?:{_BLANK}[0-9]{{2,3}}){{3}}|(?i:chr|char|chrw|chrb)\([0-9]{{2,3}}\)"
    r"|[01]{8}[ ,]{1,2}[01]{8}"
)
"""Matches wherever a part of a list is."""


def listed_texts(data: bytes) -> Iterator[DecodedText]:
    """Yield the texts that are listed within a text, one for each notation."""
    search, size = _search(), len(data)
    runs: dict[_Notation, list[tuple[int, int, bytes]]] = {}
    at = 0
    while (span := search(data, at, size)[0])[0] >= 0:
        start, at = span
        for notation in _NOTATIONS:
            end, text = notation.list_at(data, start)
            if text:
                runs.setdefault(notation, []).append((start, end, b" " + text + b" "))
            at = max(at, end)
    for found in runs.values():
        yield DecodedText(*copy_around(data, found))
