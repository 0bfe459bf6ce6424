"""Tables as pages and PDFs are copied: with a cell in each line, first the headers, then each row;
and with single blanks between cells.

Only their columns tell them from prose: all cells of each have digits, or are mail addresses, or
none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, takewhile
from typing import NamedTuple

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import Form
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

_IN_WORD = r"[^\s0-9:;,.!?@=<>(){}\[\]*\\|\"]"
_ABBREVIATED = r"{0,5}\.[º°ª]?"
_WORDS = (
    rf"[^\s!-@\[-`{{-~](?:{_IN_WORD}{_ABBREVIATED}|{_IN_WORD}*)"
    rf"(?: (?:{_IN_WORD}{_ABBREVIATED}|{_IN_WORD}+))*"
)
_BETWEEN = r"(?:(?:T\}(?:[^\n]T\{)?|T\{|_)\r?\n){1,3}"
"""Lines between the cells of a table of troff."""
_LINE_END = rf"[ \t]*\r?\n(?:[ \t]*\r?\n|{_BETWEEN})?"
_LINE = lazy(rf"[ \t]*(\S[^\n]{{0,63}}?)[ \t\r]*(?:\n(?:{_BETWEEN}|[ \t\r]*\n?)|\Z)".encode())
_DIGIT, _LETTER = lazy(rb"[0-9@]"), lazy(rb"[A-Za-z\x80-\xff]")
_TOKEN = lazy(rb"\S+")
_JOINTS = b" -_"
_OF_WORDS, _OF_DIGITS = (False, True), (True, False)
"""The shapes of lines with letters only, and with digits only."""
_MOST_COLUMNS, _FEWEST_COLUMNS, _FEWEST_ROWS, _ENOUGH_NAMED = 12, 2, 2, 3
_LONGEST_CELL = 64
_LONGEST_ABBREVIATED = 2
"""The blanks in a header that ends with an abbreviation."""
_MOST_LINES = 64
"""The lines that tell how many columns a table has."""


class _Line(NamedTuple):
    start: int
    text: bytes
    is_apart: bool = True
    """True below a blank line."""

    @property
    def shape(self) -> tuple[bool, bool]:
        return bool(_DIGIT.search(self.text)), bool(_LETTER.search(self.text))


class _FirstLines:
    """The first lines of a reading, which are read when they are needed: a table may be short."""

    def __init__(self, lines: Iterator[_Line]) -> None:
        self._unread = islice(lines, _MOST_LINES)
        self._read: list[_Line] = []

    def __getitem__(self, part: slice) -> list[_Line]:
        self._read += islice(self._unread, max(part.stop - len(self._read), 0))
        return self._read[part]

    def rows(self, first: int, width: int) -> Iterator[list[_Line]]:
        """Yield the lines from one on, as many together as a row has cells."""
        while len(row := self[first : first + width]) == width:
            yield row
            first += width


def _cells_in_lines(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the rows below the headers with which most lines are those of a table."""
    if not words.are_in(found[0]):
        return
    start = found.start()
    tables = (
        (_table(_FirstLines(each), words), number)
        for number, each in enumerate(_readings(data, start, words))
    )
    (length, _, first, names), number = max(tables, key=lambda each: (each[0][:2], each[1]))
    if not length:
        return
    below = islice(_readings(data, start, words)[number], first, None)
    shapes: list[bool] = []
    while row := list(islice(below, len(names))):
        shapes = shapes or [line.shape[0] for line in row]
        if [line.shape[0] for line in row] != shapes:
            return
        named = zip(names, row, strict=True)
        kept = [(name, *line[:2]) for name, line in named if name]
        yield Cells(*map(list, zip(*kept, strict=True)))


def _readings(
    data: bytes, position: int, words: HeaderWords
) -> tuple[Iterator[_Line], Iterator[_Line]]:
    """Return the lines from a position on, and these with wrapped ones as one."""
    return _lines(data, position), _unwrapped(data, position, words)


def _unwrapped(data: bytes, position: int, words: HeaderWords) -> Iterator[_Line]:
    """Yield cells: words go on in a line that starts with a small letter, and below the first blank
    line in any line of words that is no header.
    """
    lines = _lines(data, position)
    cell = next(lines, None)
    if cell is None:  # too long
        return
    is_header = True
    for line in lines:
        is_header &= not line.is_apart
        may_go_on = not line.is_apart and line.shape == _OF_WORDS and len(cell.text) < _LONGEST_CELL
        is_further = not is_header and cell.shape == _OF_WORDS
        if may_go_on and (line.text[:1].islower() or (is_further and not words.are_in(line.text))):
            text = data[cell.start : line.start + len(line.text)].replace(b"\n", b" ")
            cell = _Line(cell.start, text)
        else:
            yield cell
            cell = line
    yield cell


def _table(lines: _FirstLines, words: HeaderWords) -> tuple[int, float, int, list[bytes]]:
    """Return how long the rows are that look alike, the share of their headers that name something,
    the first of their lines, and the name of each cell; there may be a number before each row.
    """
    above = takewhile(lambda line: not line.shape[0], chain.from_iterable(lines.rows(0, 1)))
    titles = [line.text for line in islice(above, _MOST_COLUMNS)]
    names = [words.name(title) for title in titles]
    best: tuple[int, float, int, list[bytes]] = (0, 0.0, 0, [])
    for first, last in combinations(range(len(names) + 1), 2):
        header = names[first:last]
        if not any(header) or last - first < _FEWEST_COLUMNS or not _differ(titles[first:last]):
            continue
        if any(map(_ends_sentence, titles[first:last], header)):
            continue
        number = [b""] * ([line.shape for line in lines[last : last + 1]] == [_OF_DIGITS])
        for row in (number + header, header) if number else (header,):
            if size := _size(lines.rows(last, len(row)), _fewest_rows(header)):
                if len(row) == _FEWEST_COLUMNS and _is_form(lines[last : last + size], words):
                    continue
                start, *_, end = lines[last : last + size]
                length = end.start + len(end.text) - start.start
                best = max(best, (length, 1 - header.count(b"") / len(header), last, row))
    return best


def _is_form(lines: Sequence[_Line], words: HeaderWords) -> bool:
    """Return whether most lines of words are labels."""
    of_words = [line.text for line in lines if not line.shape[0]]
    return sum(map(words.are_in, of_words)) * 2 > len(of_words) > 0


def _ends_sentence(title: bytes, name: bytes) -> bool:
    """Return whether a point is that of a sentence rather than of an abbreviation."""
    is_sentence = title[:1].islower() or title.count(b" ") > _LONGEST_ABBREVIATED
    return title.endswith(b".") and (is_sentence or not name)


def _fewest_rows(header: Sequence[bytes]) -> int:
    """Return how many rows tell a table: one if most headers name something, the last one too."""
    named = len(header) - header.count(b"")
    return 1 if header[-1] and (named == len(header) or named >= _ENOUGH_NAMED) else _FEWEST_ROWS


def _differ(titles: Sequence[bytes]) -> bool:
    return len({title.translate(None, _JOINTS) for title in titles}) == len(titles)


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
        kept = [(name, *each[:2]) for name, each in zip(names, row, strict=True) if name]
        rows.append(Cells(*map(list, zip(*kept, strict=True))))
    if len(rows) >= fewest and any(digits for digits, _ in shape):
        yield from rows


def _size(rows: Iterator[list[_Line]], fewest: int) -> int:
    """Return the number of cells in rows that look like the first one."""
    with_digits = ([line.shape[0] for line in row] for row in rows)
    first = next(with_digits, [])
    number = 1 + len(list(takewhile(first.__eq__, with_digits)))
    return number * len(first) if number >= fewest and any(first) else 0


def _lines(data: bytes, position: int) -> Iterator[_Line]:
    """Yield the short lines from a position on, with no more than one blank line between them."""
    is_apart = True
    while position < len(data) and (line := _LINE.match(data, position)):
        yield _Line(line.start(1), line[1], is_apart=is_apart)
        is_apart = data.find(b"\n", data.find(b"\n", line.end(1)) + 1, line.end()) >= 0
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
