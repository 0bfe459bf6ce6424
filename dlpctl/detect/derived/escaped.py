"""Unescaped text: the content of strings in JSON, source code or markup as the program that parses
it sees it, even if it was escaped twice.

Only the surroundings of escapes that punctuate a text are copied, since a line end at the end of a
program's string hides nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from dlpctl.detect.automaton.anchors import character_start
from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

_BEFORE, _AFTER = 256, 1024
"""Bytes around a mark that are copied with it: as far as labels, values and context reach."""
_CLOSE = 512
"""Bytes of a line after a mark in which another one tells nothing new."""
_PIECE = 4096
"""Bytes from which a window is cut: the original places of few pieces are asked for."""

Mark = tuple[int, int, int]
"""The start of a mark, the end of the bytes in which another one tells nothing new, and its own."""

# Escapes that tell that the text around them is inside a string, as group 1. Both regexes start
# with the character of all such escapes, which is found fastest.
_ENTITY_MARK = lazy(
    rb"(&(?:amp;){0,2}(?:(?:quot|apos|#34|#39|#x22|#x27);|lt;/(?=[A-Za-z])"
    rb"|(?:(?<=[=-]&)|(?<=[=-]&amp;)|(?<=[=-]&amp;amp;))gt;))[^\n]{0,%d}" % _CLOSE
)
_BACKSLASH_MARK = lazy(
    rb"(\\(?:(?<=[0-9A-Za-z!#-&(-\[\]-~]\\)\\{0,6}[nrt][0-9A-Za-z_.\[{<#/-]"
    rb"|\\{0,6}[\"'][ ]?[:=,\]})&]|(?:(?<=[:=,({\[]\\)|(?<=[:=,({\[][ ]\\))\\{0,6}[\"']))"
    rb"[^\n]{0,%d}" % _CLOSE
)
_BREAK_MARK = lazy(rb"(<(?:br|BR) ?/?>)\r?\n[^\n<]{0,%d}" % _CLOSE)
GATE = (
    r"<(?:br|BR) ?/?>\r?\n"
    r"|&(?:amp;){0,2}(?:(?:quot|apos|#34|#39|#x22|#x27);|lt;/[A-Za-z])|[=-]&(?:amp;){0,2}gt;"
    r"|[0-9A-Za-z!#-&(-\[\]-~]\\{1,7}[nrt][0-9A-Za-z_.\[{<#/-]|\\[\"'][ ]?[:=,\]})&]"
    r"|[:=,({\[][ ]?\\{1,7}[\"']"
)
"""Matches wherever a mark is."""
_MARKS = _ENTITY_MARK, _BACKSLASH_MARK, _BREAK_MARK
# Characters beyond ASCII, by number or by the usual names of letters with marks.
_CHARACTER = (
    rb"(?:#(?:[1-9][0-9]{2,4}|[xX][0-9A-Fa-f]{2,4})"
    rb"|[A-Za-z](?:uml|acute|grave|circ|tilde|ring|cedil|slash|caron)|szlig|aelig|AElig)"
)
_LETTER_MARK = lazy(
    rb"&(?:(?<=[A-Za-z]&)(?:amp;){0,2}%b;|(?:amp;){0,2}%b;[A-Za-z])"
    rb"|\\(?:(?<=[A-Za-z]\\)|(?<=[A-Za-z]\\\\)|(?<=[\"' ]\\))u0[0-9A-Fa-f]{3}"
    % (_CHARACTER, _CHARACTER)
)
_BETWEEN = lazy(rb"[\s,]")
_APART = b"\n\x1a\n"
_ESCAPE = lazy(
    rb"(\\+(?:u[0-9A-Fa-f]{4}|[\"'/nrt])"
    rb"|&(?:amp;){0,2}(?:quot|apos|lt|gt|amp|#34|#39|#x22|#x27|%b);"
    rb"|<(?:br|BR) ?/?>(?=\r?\n))" % _CHARACTER
)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ENTITIES = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"apos": b"'", b"#39": b"'", b"#x27": b"'"}
_ENTITIES |= dict.fromkeys((b"quot", b"#34", b"#x22"), b'"')


class EscapedText(DerivedText):
    """The surroundings of marks without their escapes, with the places of everything in the
    original.
    """

    def __init__(self, data: bytes, marks: Iterable[Mark]) -> None:
        self._original = data
        self._pieces: list[tuple[int, int]] = []
        known = _Unescaped()
        texts: list[bytes] = []
        for first, last in _windows(data, marks):
            for piece in _pieces(data, first, last):
                parts = _ESCAPE.split(_without_usual_escapes(data[slice(*piece)]))
                parts[1::2] = map(known.__getitem__, parts[1::2])
                self._pieces.append(piece)
                texts.append(b"".join(parts))
            texts[-1] += _APART
        self._starts = [*accumulate(map(len, texts[:-1]), initial=0)]
        self.data = b"".join(texts)
        self._known_parts: dict[int, tuple[list[int], list[int]]] = {}

    @classmethod
    def of(cls, data: bytes) -> EscapedText | None:
        """Return the unescaped surroundings of marks; None without any."""
        marks = _marks(data)
        return cls(data, marks) if marks else None

    @classmethod
    def throughout(cls, data: bytes) -> EscapedText | None:
        """Return the complete text, unescaped; None without any mark."""
        if b"&" not in data and b"\\" not in data and b"<br" not in data and b"<BR" not in data:
            return None  # every mark starts with one of these
        size = len(data)
        marked = any(mark.search(data) for mark in (*_MARKS, _LETTER_MARK))
        return cls(data, [(0, size, size)]) if marked else None

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        return self._origin(start), self._origin(end - 1, after=True)

    def _origin(self, position: int, *, after: bool = False) -> int:
        piece = bisect_right(self._starts, position) - 1
        starts, origins = self._parts(piece)
        at = bisect_right(starts, position) - 1
        if at % 2:
            return origins[at + 1 if after else at]
        return origins[at] + position - starts[at] + after

    def _parts(self, piece: int) -> tuple[list[int], list[int]]:
        """Return the starts of the parts of a piece in this text and in the original; every other
        one is an escape.
        """
        if piece not in self._known_parts:
            first, last = self._pieces[piece]
            parts = _ESCAPE.split(self._original[first:last])
            known = _Unescaped()
            origins = [*accumulate(map(len, parts), initial=first)]
            parts[1::2] = map(known.__getitem__, parts[1::2])
            starts = [*accumulate(map(len, parts), initial=self._starts[piece])]
            self._known_parts[piece] = starts, origins
        return self._known_parts[piece]


class _Unescaped(dict[bytes, bytes]):
    """The characters of escapes, by the escapes that were met."""

    def __missing__(self, escape: bytes) -> bytes:
        self[escape] = written = _unescaped(escape)
        return written


def _marks(data: bytes) -> list[Mark]:
    """Return the spans of marks, each with its end and with the end of what it tells."""
    return sorted(
        (*found.span(), found.end(1)) for regex in _MARKS for found in regex.finditer(data)
    )


def _windows(data: bytes, marks: Iterable[Mark]) -> Iterator[tuple[int, int]]:
    """Return the surroundings of marks within their lines, joined where they meet."""
    first = last = -1
    for start, told, end in marks:
        if last < 0 or start - _BEFORE > last:
            if last >= 0:
                yield first, last
            line = data.rfind(b"\n", max(0, start - _BEFORE), start) + 1
            first = line or character_start(data, max(0, start - _BEFORE))
        if told - end < _CLOSE:
            last = told  # a line end, or that of the data
            continue
        line_end = data.find(b"\n", told, end + _AFTER)
        last = character_start(data, min(len(data), end + _AFTER)) if line_end < 0 else line_end
    if last >= 0:
        yield first, last


def _pieces(data: bytes, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Return the parts of a window, cut where no escape is."""
    while cut := _BETWEEN.search(data, first + _PIECE, last):
        yield first, cut.end()
        first = cut.end()
    yield first, last


def _without_usual_escapes(data: bytes) -> bytes:
    """Return the data with most quotes unescaped: replacing takes a tenth of the time of a regex,
    which finds all other escapes, and the rest of those of a quote.
    """
    return data.replace(b'\\\\\\"', b'"').replace(b'\\"', b'"')


def _unescaped(escape: bytes) -> bytes:
    if escape.startswith(b"&"):
        name = escape.strip(b"&;").rpartition(b";")[2]
        return _ENTITIES.get(name) or _character(name.decode())
    if escape.startswith(b"<"):
        return b""  # the line end follows
    if b"u" in escape[-5:-4]:
        return chr(int(escape[-4:], 16)).encode("utf-8", "replace")
    return _LETTERS.get(escape[-1:], escape[-1:])


def _character(name: str) -> bytes:
    """Return a character by the name or number of its entity."""
    from html import unescape

    return unescape(f"&{name};").encode("utf-8", "replace")
