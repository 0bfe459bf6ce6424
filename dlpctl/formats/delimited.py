"""CSV and TSV: the header of a column labels its cells; quoting is preserved."""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import compress, islice
from operator import add
from typing import NamedTuple

from dlpctl.formats.cellgroups import HEADER_WITHIN
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import Limits, Segment, View
from dlpctl.formats.placed import views_by_place
from dlpctl.formats.residues import CELL_END, with_rows_apart
from dlpctl.formats.source import Parts, Readable, TextFormat, Token, line_cuts
from dlpctl.formats.wordrows import has_words, placed_words
from dlpctl.texts.tables import regular_rows

_DELIMITERS = ",;\t|\x01\x1f"
_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_AROUND = '" \t'
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r)|[^\r\n]++")
_ROWS = 1 << 10
_IRREGULAR = 1 << 10
"""Rows that are read one by one if unquoted rows differ in their number of cells."""


class Delimited(TextFormat):
    name = "csv"
    extensions = (".csv", ".tsv", ".tab", ".psv")
    shows_all = False
    is_table = True

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        """Return a view of each column under its own header and no other."""
        delimiter = _delimiter(source)
        position = _header_start(source, delimiter)
        if position < 0:
            return
        first: list[_Column] = []
        _read_rows(source, position, 1, delimiter, first)
        headers = [source[starts[0] : ends[0]].strip(_AROUND) for starts, ends in first]
        if has_words(headers):
            words = placed_words(source, headers, delimiter)
            yield from views_by_place(source, words, readable, segments)
        table = _CsvTable(source, position)
        for number, header in enumerate(headers):
            if not header:
                continue
            cells = partial(table.cells_below, number)
            yield View.of_cells(f"column {header}", source, 0, cells, header)

    def tokens(self, source: str) -> Iterable[Token]:
        return _tokens(source, _delimiter(source))

    def parts(self, source: str, size: int) -> Parts:
        delimiter = _delimiter(source)
        return Parts(_row_cuts(source, delimiter, size), partial(self._fit, delimiter))

    def fit(self, source: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        return self._fit(_delimiter(source), source, edits)

    def _fit(self, delimiter: str, source: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        special = re.compile(f'[{re.escape(delimiter)}"\n\r]')
        edited = "".join(source[start:end] + replacement for start, end, replacement in edits)
        if '"' not in source and not special.search(edited):
            return iter(edits)  # all edits are within cells that need no quotes
        return self.fitted(source, _tokens(source, delimiter), edits)

    def write(self, delimiter: str, token: str, edits: Sequence[Edit]) -> str:
        if token.startswith('"') and token.endswith('"') and len(token) > 1:
            return spliced(token, edits, lambda text: text.replace('"', '""'), margin=1)
        written = spliced(token, edits)
        if any(char in written for char in (delimiter, '"', "\n", "\r")):
            return '"' + written.replace('"', '""') + '"'
        return written

    def read_again(self, data: bytes, limits: Limits) -> Iterator[str]:
        yield _cells_again(self.decoded(data).text)
        yield from map(with_rows_apart, super().read_again(data, limits))


def _cells_again(text: str) -> str:
    """Return the cells of a table, read by the standard library; the text if it cannot read it."""
    reader = csv.reader((found[0] for found in _LINE.finditer(text)), delimiter=_delimiter(text))
    previous = csv.field_size_limit(max(len(text), 1))
    parts: list[str] = []
    try:
        # The cells of a long table are objects only for some rows at a time.
        while rows := list(islice(reader, _ROWS)):
            cells = [" ".join(cell.splitlines()) for row in rows for cell in row]
            if cells:
                parts.append(CELL_END.join(cells))
    except csv.Error:
        return text
    finally:
        csv.field_size_limit(previous)
    del reader, text  # which takes as much memory as the cells
    return CELL_END.join(parts)


def _tokens(source: str, delimiter: str) -> Iterator[Token]:
    for start, end, _ in _cells(source, delimiter):
        yield Token(start, end, delimiter)


def _row_cuts(source: str, delimiter: str, size: int) -> list[int]:
    """Return row starts that divide a source into parts of about `size` characters."""
    if '"' not in source:
        return line_cuts(source, size)
    cuts = [0]
    for start, end, last in _cells(source, delimiter):
        if last and cuts and end - cuts[-1] >= size and source.startswith("\n", end):
            cuts.append(end + 1)
        del start
    return cuts if cuts[-1] == len(source) else [*cuts, len(source)]


def _delimiter(source: str) -> str:
    """Return the character that occurs equally often in most of the first lines."""
    lines = [line for line in _QUOTED.sub("", source[: 1 << 15]).splitlines()[:50] if line.strip()]
    if not lines:
        return ","
    counts = {char: Counter(line.count(char) for line in lines) for char in _DELIMITERS}

    def agreement(char: str) -> tuple[bool, float, int]:
        times, lines_with = max(
            ((count, number) for count, number in counts[char].items() if count),
            default=(0, 0),
            key=lambda counted: counted[1],
        )
        return char in lines[0], lines_with / len(lines), times

    return max(_DELIMITERS, key=agreement)


@cache
def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    apart = re.escape(delimiter)
    return re.compile(
        rf'("(?:[^"]|"")*+(?:"|\Z)[^{apart}\r\n]*+|[^{apart}\r\n]*+)({apart}|\r\n|\n|\r|\Z)'
    )


def _cells(source: str, delimiter: str) -> Iterator[tuple[int, int, bool]]:
    """Return start and end of each cell, and whether it ends a row."""
    size = len(source)
    for found in _cell_pattern(delimiter).finditer(source):
        start, end = found.span(1)
        if start == size and start == end:
            return
        yield start, end, found[2] != delimiter


class _Column(NamedTuple):
    """The spans of the cells of a column that are not empty, and that of its header."""

    starts: array[int]
    ends: array[int]


class _CsvTable:
    """The columns of a source, which are read when the cells of one are needed."""

    def __init__(self, source: str, position: int) -> None:
        self._source, self._position = source, position

    @cached_property
    def _columns(self) -> list[_Column]:
        columns = _columns(self._source, self._position)
        for starts, ends in columns:
            del starts[0], ends[0]  # the header
        return columns

    def cells_below(self, number: int) -> _Column:
        """Return the cells of a column, without its header."""
        return self._columns[number]


def _numbers(numbers: Iterable[int] = ()) -> array[int]:
    """Return positions in four bytes each, since a table has millions of them."""
    return array("I", numbers)


def _columns(source: str, position: int) -> list[_Column]:
    """Return as many columns as the row at a position has."""
    delimiter = _delimiter(source)
    columns: list[_Column] = []
    position = _read_rows(source, position, 1, delimiter, columns)
    width = len(columns)
    while position < len(source):
        rows = regular_rows(source, position, delimiter, width)
        if rows is None:
            position = _read_rows(source, position, _IRREGULAR, delimiter, columns)
            continue
        for number, (starts, ends) in enumerate(columns):
            each = slice(number, None, width)
            lengths = list(map(len, rows.cells[each]))
            filled = list(compress(rows.starts[each], lengths))
            starts.extend(filled)
            ends.extend(map(add, filled, filter(None, lengths)))
        position = rows.end + 1
    return columns


def _read_rows(
    source: str, position: int, count: int, delimiter: str, columns: list[_Column]
) -> int:
    """Read a number of rows from a position on, the first of a source without columns; return where
    they end.
    """
    is_first = not columns
    column = 0
    for found in _cell_pattern(delimiter).finditer(source, position):
        start, end = found.span(1)
        if start == len(source) == end:
            break
        if is_first:
            columns.append(_Column(_numbers(), _numbers()))
        if column < len(columns) and (is_first or end > start):
            columns[column].starts.append(start)
            columns[column].ends.append(end)
        column += 1
        if found[2] != delimiter:
            column, count = 0, count - 1
            if not count:
                return found.end()
    return len(source)


def _header_start(source: str, delimiter: str) -> int:
    """Return where the row starts that labels the others, after a title; -1 if there is none."""
    rows: list[tuple[int, list[str]]] = []
    position = 0
    while position < len(source) and len(rows) < HEADER_WITHIN:
        cells: list[_Column] = []
        start, position = position, _read_rows(source, position, 1, delimiter, cells)
        texts = (source[starts[0] : ends[0]].strip(_AROUND) for starts, ends in cells)
        rows.append((start, [*filter(None, texts)]))
    widest = max((len(names) for _, names in rows), default=0)
    start, names = next((each for each in rows if len(each[1]) * 2 > widest), (0, []))
    return start if _are_headers(names) else -1


def _are_headers(names: Sequence[str]) -> bool:
    """Return whether a row labels the others: words, all different, none of them a value."""
    if not names or len(set(names)) != len(names):
        return False
    return all(
        len(name) <= 64 and "@" not in name and sum(map(str.isdigit, name)) < 4 for name in names
    ) and any(char.isalpha() for name in names for char in name)


FORMAT = Delimited()
