"""Unescaped text: what is inside a string of JSON, of source code or of markup is read as the
program that takes it reads it, also if it was escaped twice.

Only the surroundings of escapes that punctuate a text are copied, since a line end at the end of
a string of a program hides nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable

from dlpctl.detect.automaton.anchors import character_start
from dlpctl.detect.derived.interface import DerivedText
from dlpctl.regex import lazy

_BEFORE, _AFTER = 256, 1024
"""Bytes around a mark that are copied with it: as far as labels, values and context reach."""
CLOSE = 512
"""Bytes after a mark in which another one tells nothing new."""

_ENTITY = r"&(?:amp;){0,2}(?:quot|apos|#34|#39|#x22|#x27);|[=-]&(?:amp;){0,2}gt;"
_QUOTE = r"\\{1,7}[\"']"
_AFTER_LINE = r"[0-9A-Za-z!#-&(-\[\]-~]\\{1,7}[nrt][0-9A-Za-z_.\[{<#/-]"
MARKS = rf"{_ENTITY}|{_QUOTE}[ ]?[:=,\]}})&]|[:=,({{\[][ ]?{_QUOTE}|{_AFTER_LINE}"
"""Escapes that tell that the text around them is inside a string."""
PUNCTUATION = b"&=-\\:,({["
"""The first characters of marks that do not start with a character before a backslash."""
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
        parts: list[bytes] = []
        self._starts, self._origins = array("q"), array("q")
        """Starts of the parts in this text and in the original; every other one is an escape."""
        size = 0
        for first, last in _windows(data, marks):
            origin = first
            for at, part in enumerate(_ESCAPE.split(data[first:last])):
                written = _unescaped(part) if at % 2 else part
                self._starts.append(size)
                self._origins.append(origin)
                parts.append(written)
                size += len(written)
                origin += len(part)
            # Windows are apart, and the parts go on to alternate.
            self._starts.append(size)
            self._origins.append(origin)
            parts.append(_APART)
            size += len(_APART)
        self.data = b"".join(parts)

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        return self._origin(start), self._origin(end - 1, after=True)

    def _origin(self, position: int, *, after: bool = False) -> int:
        at = bisect_right(self._starts, position) - 1
        if at % 2:
            return self._origins[at + 1 if after else at]
        return self._origins[at] + position - self._starts[at] + after


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
