"""Dumps of memory and files: rows of bytes as numbers or characters, mostly after their offsets.

The text of a dump is read from its bytes, since a row ends after sixteen of them. Words are read in
either byte order. What is found is reported as the complete dump: a row may show a byte twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from dlpctl.detect.derived.decoded import DecodedText
from dlpctl.detect.linear import compile_regex, line_starts
from dlpctl.regex import lazy

_OFFSET = r"(?:0[xX])?[0-9A-Fa-f]{4,16}(?:[:|][ \t]*|[ \t]+)"
_LONG_OFFSET = "[0-9A-Fa-f]{6,16}:?"
_BYTE = "[0-9A-Fa-f]{2}"
_BYTES = rf"{_BYTE}(?:[ ]{_BYTE}){{%s}}|{_BYTE}{_BYTE}(?:[ ]{_BYTE}{_BYTE}){{%s}}"
_PLAIN = rf"(?:{_BYTE}){{%s}}\r?"
_CHARACTER = (
    r"(?:[ ]{3}[!-~]|[ ]{2}\\[0abfnrtv]|[ ][0-3][0-7]{2}|[ ]{2}[a-z]{2}|[ ][a-z]{3}|[ ]{4})"
)
_FIRST_CHARACTER = r"[ ]{2}(?:[ ][A-Za-z]|\\[0abfnrtv])"
_START = (
    rf"\n(?:[ \t]*{_OFFSET}(?:0[xX]{_BYTE}[, \t]|(?:{_BYTE})+[ ]{_BYTE})"
    rf"|{_LONG_OFFSET}(?:[ \t]+-?[0-9]{{1,6}}[ \t]+-?[0-9]|{_CHARACTER}{{2}})"
    rf"|[ \t]*(?:{_BYTES % (7, 3)})|(?:{_BYTE}){{16,}}\r?\n{_BYTE}"
    rf"|{_FIRST_CHARACTER}{_CHARACTER}{{7}}|:(?:{_BYTE}){{5}}|S[123](?:{_BYTE}){{4}})"
)
"""The start of a row after a line, which is searched for quickly."""
_WITH_OFFSETS = (
    rf"[ \t]*+{_OFFSET}(0[xX]{_BYTE}(?:[, \t]{{1,2}}0[xX]{_BYTE})*+"
    rf"|{_BYTE}(?:[ ]{_BYTE}){{7}}(?:[ ]{{2}}|[ ]?-[ ]?){_BYTE}(?:[ ]{_BYTE})*+"
    rf"|(?:{_BYTE}){{1,8}}(?:[ ](?:{_BYTE}){{1,8}})%s)(?![^\s|])[^\n]*+"
)
_HEX_RECORD = rf":(?:{_BYTE}){{3}}00((?:{_BYTE})+){_BYTE}[ \t\r]*+"
_S_RECORD = (
    rf"S(?:1(?:{_BYTE}){{3}}|2(?:{_BYTE}){{4}}|3(?:{_BYTE}){{5}})((?:{_BYTE})+){_BYTE}[ \t\r]*+"
)
"""Records of firmware, by Intel and Motorola: a length, an address, bytes and their checksum."""
_OF_DUMP = lazy(rb"[ \t]*(?:(?:0[xX])?[0-9A-Fa-f]{4,16}[:|]|(?:0[xX])?[0-9A-Fa-f]{6,16}[ \t]|:|S)")
"""The start of a row that only dumps have, whatever their bytes are."""
_LEAST_SHOWN = 0.75
"""The share of characters in bytes that are written as numbers, as those of few tables are."""
_HIDDEN = lazy("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]+")
_CELL = lazy(rb"(?:0[xX])?([0-9A-Fa-f]{2,})")
_WIDTH = 4
_NAMES = {b"sp": b" ", b"nl": b"\n", b"ht": b"\t", b"cr": b"\r", b"\\n": b"\n", b"\\t": b"\t"}
"""The names of characters that texts have, in dumps of characters; others are left out."""


class _Notation(NamedTuple):
    """A way to write bytes in the rows of dumps."""

    row: str
    """A regular expression whose last group has the cells."""
    last: str
    """A last row, which may be shorter."""
    decode: Callable[[list[bytes]], bytes]
    """Returns the bytes in the cells of several rows."""
    has_offsets: bool = True
    """False if only a second row tells that the first is one."""

    def dumps(self, data: bytes, starts: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        """Yield the spans of the dumps that start at some of the lines, with what they show."""
        row = _compiled(f"^(?:{self.row}|{self.last})$")
        ends = "?" if self.has_offsets else ""
        dumps = _compiled(rf"(?:^{self.row}\n)+(?:^{self.last}(?:\n|\Z)){ends}")
        after = 0
        for start in starts:
            if start < after or not (
                dump := dumps.match(data, self._first_row(data, start, after))
            ):
                continue
            after = dump.end()
            rows = row.finditer(data, *dump.span())
            shown = self.decode([each[each.lastindex or 0] for each in rows])
            # In two bytes each, most characters have a zero.
            text = shown.replace(b"\0", b"").decode("utf-8", "replace")
            if text and (_OF_DUMP.match(data, dump.start()) or _is_readable(text)):
                yield *dump.span(), text.encode()

    def _first_row(self, data: bytes, start: int, after: int) -> int:
        """Return the start of the first of the rows up to one, which are all after a position."""
        row = _compiled(f"^{self.row}$")
        while start > after:
            before = max(data.rfind(b"\n", after, start - 1) + 1, after)
            if not row.match(data, before):
                break
            start = before
        return start


def dumped_texts(data: bytes) -> Iterator[DecodedText]:
    """Yield the texts that the dumps within a text show, one for each notation."""
    if starts := list(line_starts(_starts(), data)):
        for notation in _NOTATIONS:
            if text := DecodedText.with_runs(data, notation.dumps(data, starts)):
                yield text


@cache
def _starts() -> Any:
    return compile_regex(_START, "dumps")


@cache
def _compiled(regex: str) -> re.Pattern[bytes]:
    return re.compile(regex.encode(), re.MULTILINE)


def _as_written(rows: list[bytes]) -> bytes:
    return bytes.fromhex(b"".join(_CELL.findall(b" ".join(rows))).decode())


def _reversed(rows: list[bytes]) -> bytes:
    """Return the bytes of words with the lowest byte first; nothing for single bytes."""
    words = _CELL.findall(b" ".join(rows))
    if all(len(word) == 2 for word in words):
        return b""
    return b"".join(bytes.fromhex(word.decode())[::-1] for word in words)


def _numbers(rows: list[bytes], *, base: int, size: int) -> bytes:
    """Return the bytes of numbers, if they are mostly characters."""
    most = 1 << 8 * size
    numbers = [int(cell, base) for cell in b" ".join(rows).split()]
    if any(number >= most for number in numbers):
        return b""
    shown = b"".join((number % most).to_bytes(size, "little") for number in numbers)
    return shown if _is_readable(shown.replace(b"\0", b"").decode("utf-8", "replace")) else b""


def _is_readable(text: str) -> bool:
    """Return whether bytes that are written as numbers are mostly characters."""
    return len(_HIDDEN.sub("", text)) >= _LEAST_SHOWN * len(text)


def _characters(rows: list[bytes]) -> bytes:
    """Return the bytes of characters, each in a column of its own; blanks at ends may be cut."""
    width = max(map(len, rows))
    text = b"".join(row.ljust(width) for row in rows).rstrip()
    cells = (text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH))
    return b"".join(map(_character, cells))


def _character(cell: bytes) -> bytes:
    bare = cell.strip()
    if len(bare) < 2:
        return bare or b" "
    return bytes((int(bare, 8),)) if bare.isdigit() else _NAMES.get(bare, b"")


def _after_offset(cell: str) -> str:
    return rf"{_LONG_OFFSET}((?:[ \t]+{cell})++)[ \t\r]*+"


_WORDS = (
    (_WITH_OFFSETS % "++", _WITH_OFFSETS % "*+", True),
    (
        rf"[ \t]*+({_BYTES % ('7,', '3,')})[ \t\r]*+",
        rf"[ \t]*+({_BYTES % ('0,', '0,')})[ \t\r]*+",
        False,
    ),
    (rf"({_PLAIN % '16,'})", rf"({_PLAIN % '1,'})", False),
    (_HEX_RECORD, _HEX_RECORD, True),
    (_S_RECORD, _S_RECORD, True),
)
_NUMBERS = (
    (r"[01][0-7]{5}", 8, 2),
    (r"[0-3][0-7]{2}", 8, 1),
    (r"[0-9]{1,5}", 10, 2),
    (r"-?[0-9]{1,3}", 10, 1),
)
_CHARACTERS = rf"({_CHARACTER}{{%s}}+)[ \t\r]*+"
_NOTATIONS = (
    *(
        _Notation(row, last, decode, has_offsets)
        for row, last, has_offsets in _WORDS
        for decode in (_as_written, _reversed)
    ),
    *(
        _Notation(_after_offset(cell), _after_offset(cell), partial(_numbers, base=base, size=size))
        for cell, base, size in _NUMBERS
    ),
    _Notation(_LONG_OFFSET + _CHARACTERS % "1,", _LONG_OFFSET + _CHARACTERS % "1,", _characters),
    _Notation(_CHARACTERS % "8,", _CHARACTERS % "1,", _characters, has_offsets=False),
)
