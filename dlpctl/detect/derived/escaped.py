"""Unescaped text: what is inside a string of JSON, of source code or of markup is read as the
program that takes it reads it, also if it was escaped twice.

Only the surroundings of escapes that punctuate a text are copied, since a line end at the end of
a string of a program hides nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from dlpctl.detect.automaton.anchors import character_start
from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

_BEFORE, _AFTER = 256, 1024
"""Bytes around a mark that are copied with it: as far as labels, values and context reach."""
_CLOSE = 512
"""Bytes of a line after a mark in which another one tells nothing new."""

# Escapes that tell that the text around them is inside a string. Both regexes start with the
# character of all such escapes, which is found fastest.
_ENTITY_MARK = lazy(
    rb"&(?:amp;){0,2}(?:(?:quot|apos|#34|#39|#x22|#x27);"
    rb"|(?:(?<=[=-]&)|(?<=[=-]&amp;)|(?<=[=-]&amp;amp;))gt;)"
)
_BACKSLASH_MARK = lazy(
    rb"\\(?:(?<=[0-9A-Za-z!#-&(-\[\]-~]\\)\\{0,6}[nrt][0-9A-Za-z_.\[{<#/-]"
    rb"|\\{0,6}[\"'][ ]?[:=,\]})&]|(?:(?<=[:=,({\[]\\)|(?<=[:=,({\[][ ]\\))\\{0,6}[\"'])"
)
_APART = b"\n\x1a\n"
_ESCAPE = lazy(
    rb"(\\+(?:u[0-9A-Fa-f]{4}|[\"'/nrt])|&(?:amp;){0,2}(?:quot|apos|lt|gt|amp|#34|#39|#x22|#x27);)"
)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_ENTITIES = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"apos": b"'", b"#39": b"'", b"#x27": b"'"}


class EscapedText(DerivedText):
    """The surroundings of marks without their escapes, with the places of everything in the
    original.
    """

    def __init__(self, data: bytes, marks: Iterable[tuple[int, int]]) -> None:
        self._original = data
        self._windows = list(_windows(data, marks))
        known = _Unescaped()
        texts: list[bytes] = []
        for first, last in self._windows:
            parts = _ESCAPE.split(data[first:last])
            parts[1::2] = map(known.__getitem__, parts[1::2])
            texts += (b"".join(parts), _APART)
        self._starts = [*accumulate(map(len, texts[:-1]), initial=0)][::2]
        self.data = b"".join(texts)
        self._known_parts: dict[int, tuple[list[int], list[int]]] = {}

    @classmethod
    def of(cls, data: bytes) -> EscapedText | None:
        """Return the unescaped surroundings of marks; None without any."""
        marks = _marks(data)
        return cls(data, marks) if marks else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        return self._origin(start), self._origin(end - 1, after=True)

    def _origin(self, position: int, *, after: bool = False) -> int:
        window = bisect_right(self._starts, position) - 1
        starts, origins = self._parts(window)
        at = bisect_right(starts, position) - 1
        if at % 2:
            return origins[at + 1 if after else at]
        return origins[at] + position - starts[at] + after

    def _parts(self, window: int) -> tuple[list[int], list[int]]:
        """Return the starts of the parts of a window in this text and in the original; every other
        one is an escape.
        """
        if window not in self._known_parts:
            first, last = self._windows[window]
            parts = _ESCAPE.split(self._original[first:last])
            known = _Unescaped()
            origins = [*accumulate(map(len, parts), initial=first)]
            parts[1::2] = map(known.__getitem__, parts[1::2])
            starts = [*accumulate(map(len, parts), initial=self._starts[window])]
            self._known_parts[window] = starts, origins
        return self._known_parts[window]


class _Unescaped(dict[bytes, bytes]):
    """The characters of escapes, by the escapes that were met."""

    def __missing__(self, escape: bytes) -> bytes:
        self[escape] = written = _unescaped(escape)
        return written


def _marks(data: bytes) -> list[tuple[int, int]]:
    marks: list[tuple[int, int]] = []
    for regex in (_ENTITY_MARK, _BACKSLASH_MARK):
        start = 0
        while found := regex.search(data, start):
            marks.append(found.span())
            close = found.end() + _CLOSE
            line_end = data.find(b"\n", found.end(), close)
            start = close if line_end < 0 else line_end
    return sorted(marks)


def _windows(data: bytes, marks: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Return the surroundings of marks within their lines, joined where they meet."""
    first = last = -1
    for start, end in marks:
        if last < 0 or start - _BEFORE > last:
            if last >= 0:
                yield first, last
            line = data.rfind(b"\n", max(0, start - _BEFORE), start) + 1
            first = line or character_start(data, max(0, start - _BEFORE))
        line_end = data.find(b"\n", end, end + _AFTER)
        last = character_start(data, min(len(data), end + _AFTER)) if line_end < 0 else line_end
    if last >= 0:
        yield first, last


def _unescaped(escape: bytes) -> bytes:
    if escape.startswith(b"&"):
        return _ENTITIES.get(escape.strip(b"&;").rpartition(b";")[2], b'"')
    if b"u" in escape[-5:-4]:
        return chr(int(escape[-4:], 16)).encode("utf-8", "replace")
    return _LETTERS.get(escape[-1:], escape[-1:])
