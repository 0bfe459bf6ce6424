"""Lines with findings for reports: each value in them is masked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.regex import lazy
from dlpctl.texts.binaries import BLANK

if TYPE_CHECKING:
    from dlpctl.scan.places import TextPlaces
    from dlpctl.types import Finding

HIDDEN = "(hidden)"
"""Replaces a value of which even a part would reveal too much."""
_REACH = 160
"""The number of characters before and after a value that are shown of its line."""
_LINE_END = lazy(rf"[\n{chr(BLANK)}]")
"""The end of a line, or of a string in binary data."""
_BLANKS = {ord("\t"): " ", ord("\r"): " "}
_LEAST_REPEATED = 4
"""The minimum length of a value that is also masked where it is not a finding."""


class Excerpt(NamedTuple):
    """A line, or a part of a long one."""

    line: str
    mark: int
    """The position of the masked value in the text."""


class Excerpts:
    """The lines of findings in one text."""

    def __init__(self, located: TextPlaces, shown: Callable[[Finding], str | None]) -> None:
        """`shown` returns a finding's masked value."""
        self._text = located.text
        self._findings = located.findings
        self._starts, self._ends = located.starts, located.ends
        self._shown = shown

    def of(self, finding: Finding) -> Excerpt:
        text, start, end = self._text, finding.start, finding.end
        reached = max(0, start - _REACH)
        first = start - len(_LINE_END.split(text[reached:start])[-1])
        last = end + len(_LINE_END.split(text[end : end + _REACH], 1)[0])
        inside = range(bisect_right(self._ends, first), bisect_left(self._starts, last))
        masks = {
            text[self._starts[at] : self._ends[at]]: self._shown(self._findings[at]) or HIDDEN
            for at in inside
        }
        pieces: list[str] = []
        mark = 0
        for at in inside:
            pieces.append(_masked(text[first : self._starts[at]], masks))
            if self._starts[at] == start:
                mark = sum(map(len, pieces))
            pieces.append(printable_line(masks[text[self._starts[at] : self._ends[at]]]))
            first = max(first, self._ends[at])
        pieces.append(_masked(text[first:last], masks))
        return Excerpt("".join(pieces), mark)


def _masked(text: str, masks: Mapping[str, str]) -> str:
    """Mask the same values in the text between findings, where they may occur undetected."""
    for value, mask in masks.items():
        if len(value) >= _LEAST_REPEATED:
            text = text.replace(value, mask)
    return printable_line(text)


def draw_carets(
    line: str, marks: Sequence[tuple[int, int]], width: int
) -> tuple[str, list[tuple[str, str]]]:
    """Return the part of a line that fits, and for each mark a gap and the carets below it."""
    first = 0
    if sum(marks[-1]) > width:
        first = max(0, min(marks[0][0] - width // 4, len(line) - width))
    line = line[first : first + width]
    drawn: list[tuple[str, str]] = []
    after = 0
    for mark, size in marks:
        start, end = max(mark - first, after), min(mark - first + size, width)
        if start < end:
            drawn.append((" " * _columns(line[after:start]), "^" * _columns(line[start:end])))
            after = end
        else:
            drawn.append(("", ""))
    return line, drawn


def _columns(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    from unicodedata import east_asian_width

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def printable_line(text: str) -> str:
    """Return text of one line in which every character takes one column or is escaped."""
    return printable(text.translate(_BLANKS))


def printable(text: str) -> str:
    """Return text with escapes for characters that end the line or move the cursor."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
