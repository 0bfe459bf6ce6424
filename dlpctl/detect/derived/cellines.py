"""Tables as pages and PDFs are copied: with a cell in each line, first the headers, then each row;
and with single blanks between cells.

Only their columns tell them from prose: the cells of each have digits, letters or neither alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import Form
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

_IN_WORD = r"[^\s0-9:;,.!?@=<>(){}\[\]*\\|\"]"
_WORDS = rf"[^\s!-@\[-`{{-~]{_IN_WORD}*(?: {_IN_WORD}+)*"
_LINE_END = r"[ \t]*\r?\n(?:[ \t]*\r?\n)?"
_LINE = lazy(rb"[ \t]*(\S[^\n]{0,63}?)[ \t\r]*(?:\n[ \t\r]*\n?|\Z)")
_DIGIT, _LETTER = lazy(rb"[0-9]"), lazy(rb"[A-Za-z\x80-\xff]")
_TOKEN = lazy(rb"\S+")
_JOINTS = b" -_"
_MOST_COLUMNS, _FEWEST_ROWS = 12, 2
_MOST_LINES = 64
"""The lines that tell how many columns a table has."""


class _Line(NamedTuple):
    start: int
    text: bytes

    @property
    def shape(self) -> tuple[bool, bool]:
        return bool(_DIGIT.search(self.text)), bool(_LETTER.search(self.text))


def _cells_in_lines(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the rows below the headers with which most lines are those of a table."""
    if not words.are_in(found[0]):
        return
    lines = list(islice(_lines(data, found.start()), _MOST_LINES))
    shapes = [line.shape for line in lines]
    headers = list(takewhile(lambda line: not line.shape[0], lines))[:_MOST_COLUMNS]
    names = [words.name(line.text) for line in headers]
    sizes = [
        (_cells_of_rows(shapes[first:], width, fewest), -width, first)
        for first in range(len(headers))
        for width in range(2, len(headers) - first + 1)
        if (fewest := 1 if all(names[first:]) and first + width == len(headers) else _FEWEST_ROWS)
    ]
    size, width, first = max(sizes, default=(0, 0, 0))
    names = names[first : first - width]
    titles = {line.text.translate(None, _JOINTS) for line in headers[first : first - width]}
    if not size or not any(names) or len(titles) < -width:
        return
    row_shapes = shapes[first - width : first - 2 * width]
    below = _lines(data, lines[first - width].start)
    while (row := list(islice(below, -width))) and [line.shape for line in row] == row_shapes:
        kept = [(name, *line) for name, line in zip(names, row, strict=True) if name]
        yield Cells(*map(list, zip(*kept, strict=True)))


def _cells_between_blanks(
    data: bytes, found: re.Match[bytes], words: HeaderWords
) -> Iterator[Cells]:
    """Yield the rows below a line of headers that have as many words as it and look alike."""
    header = found[1].split()
    names = [words.name(each) for each in header] if words.are_in(found[1]) else []
    if not any(names) or len({*header}) < len(header):
        return
    shape: list[tuple[bool, bool]] = []
    rows: list[Cells] = []
    fewest = 1 if all(names) else _FEWEST_ROWS
    for line in islice(_lines(data, found.start()), 1, None):
        row = [_Line(line.start + each.start(), each[0]) for each in _TOKEN.finditer(line.text)]
        shapes = [each.shape for each in row]
        shape = shape or shapes
        if shapes != shape or len(row) != len(names):
            break
        kept = [(name, *each) for name, each in zip(names, row, strict=True) if name]
        rows.append(Cells(*map(list, zip(*kept, strict=True))))
    if len(rows) >= fewest and any(digits for digits, _ in shape):
        yield from rows


def _cells_of_rows(shapes: Sequence[tuple[bool, bool]], width: int, fewest: int) -> int:
    """Return the number of cells in rows below headers that look like the first row."""
    first = shapes[width : 2 * width]
    rows = (shapes[at : at + width] for at in range(width, len(shapes) - width + 1, width))
    number = len(list(takewhile(first.__eq__, rows)))
    return number * width if number >= fewest and any(digits for digits, _ in first) else 0


def _lines(data: bytes, position: int) -> Iterator[_Line]:
    """Yield the short lines from a position on, with no more than one blank line between them."""
    while position < len(data) and (line := _LINE.match(data, position)):
        yield _Line(line.start(1), line[1])
        position = line.end()


_HEADERS = rf"[A-Z]{_IN_WORD}*(?: {_IN_WORD}+){{1,7}}"
FORMS_OF_COPIES = (
    Form(
        rf"(?:^|\n){_WORDS}{_LINE_END}{_WORDS}{_LINE_END}[^\n0-9]*[0-9]",
        rf"(?:{_WORDS}{_LINE_END}){{2,24}}[^\n0-9]*[0-9]",
        _cells_in_lines,
        starts_line=True,
    ),
    Form(
        rf"(?:^|\n){_HEADERS}\r?\n[^\n0-9]*[0-9]",
        rf"({_HEADERS})\r?\n[^\n0-9]*[0-9]",
        _cells_between_blanks,
        starts_line=True,
    ),
)
