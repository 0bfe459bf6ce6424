"""The tables of markup as views: of HTML and DocBook, flat OpenDocument, Word's and Excel's XML.

The tags between two cells may be long, so that a label and the value in the next cell are far from
each other in the source. A view shows the cells alone, and one for each column knows its header.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.cellgroups import (
    HEADER_WITHIN,
    has_groups,
    header_row,
    is_header,
    labelled_rows,
    rows_of_groups,
)
from dlpctl.formats.continuous import Continuous
from dlpctl.formats.interface import APART, CELLS_APART, Piece, Segment, View
from dlpctl.formats.residues import CELL_END
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.formats.source import Readable

_TAG = lazy(
    r"(?i)<(?P<end>/?)(?:[\w.-]+:)?(?:(?P<table>table|tbl|informaltable)|(?P<row>tr|row|table-row)"
    r"|(?P<cell>td|th|tc|entry|cell|(?:covered-)?table-cell)|(?P<note>annotation))"
    r"(?=[\s/>])(?P<attributes>[^<>]*)"
)
_CELL = lazy(r"(?i)<(?:[\w.-]+:)?(?:td|tc|th|entry|cell|table-cell)[\s/>]")
_WIDTH = lazy(r"(?i)\b(?:colspan|number-columns-repeated)\s*=\s*[\"']?([0-9]{1,4})")
_HEIGHT = lazy(r"(?i)\browspan\s*=\s*[\"']?([0-9]{1,4})")
_INDEX = lazy(r"(?i):index\s*=\s*[\"']([0-9]{1,5})")
Span = tuple[int, int]
_LONGEST, _MOST_WORDS = 80, 7
"""Longer texts are neither labels nor values that need one."""
_MOST_COVERED = 256
"""The first columns, in which cells of rows above are looked for."""
_CELL_APART, _SPACE = (-1, -1), (-2, -2)
"""The separators of the texts of a column, as spans."""


class Cell(NamedTuple):
    """A position in a table, each number counted from 0."""

    table: int
    row: int
    column: int


class _OpenTable:
    """A table that is open."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._row = -1
        self._next = 0
        self._covered: dict[int, int] = {}
        """The last row that a cell above takes, by its columns."""
        self.cell: Cell | None = None

    def start_row(self) -> None:
        self._row, self._next, self.cell = self._row + 1, 0, None

    def start_cell(self, attributes: str) -> None:
        if self._row < 0:
            return
        index, width = _INDEX.search(attributes), _WIDTH.search(attributes)
        while self._covered.get(self._next, -1) >= self._row:
            self._next += 1
        column = int(index[1]) - 1 if index else self._next
        self._next = column + (int(width[1]) if width else 1)
        if height := _HEIGHT.search(attributes):
            last = self._row + int(height[1]) - 1
            self._covered |= dict.fromkeys(range(column, min(self._next, _MOST_COVERED)), last)
        self.cell = Cell(self.number, self._row, column)


def _cell_starts(source: str) -> Iterator[tuple[int, Cell | None]]:
    """Yield the positions from which on texts are in another cell, or in none."""
    count, opened = 0, [_OpenTable(0)]
    for found in _TAG.finditer(source):
        is_end = bool(found["end"])
        if found["note"]:
            yield found.end(), opened[-1].cell if is_end else None
            continue
        if found["table"]:
            if is_end:
                del opened[max(len(opened) - 1, 1) :]
            elif not found["attributes"].endswith("/"):
                count += 1
                opened.append(_OpenTable(count))
        elif found["row"]:
            if is_end:
                opened[-1].cell = None
            else:
                opened[-1].start_row()
        elif is_end:
            opened[-1].cell = None
        else:
            opened[-1].start_cell(found["attributes"])
            if found["attributes"].endswith("/"):
                opened[-1].cell = None
        yield found.end(), opened[-1].cell


class _Column:
    """The texts of a column, as plain numbers: a file has millions of cells."""

    def __init__(self) -> None:
        self._starts, self._ends = array("q"), array("q")
        self._below: dict[int, int] = {}
        """The positions at which the cells below each of the first rows start."""

    def add(self, row: int, texts: Iterable[Span | str]) -> None:
        """Add the texts of a cell."""
        if self._starts:
            texts = [_CELL_APART, *texts]
        for start, end in (_SPACE if isinstance(part, str) else part for part in texts):
            self._starts.append(start)
            self._ends.append(end)
        if row < HEADER_WITHIN:
            self._below[row] = len(self._starts)

    def parts_below(self, row: int) -> Iterator[Span | str]:
        """Yield the parts of the cells below one of the first rows, which the column has."""
        # The cell starts with a separator.
        first = self._below[row] + 1
        for span in zip(self._starts[first:], self._ends[first:], strict=True):
            yield {_SPACE: " ", _CELL_APART: CELLS_APART}.get(span, span)


class _TableReader:
    """Reads the cells of all tables, and keeps what their columns and unusual rows need."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.columns: dict[tuple[int, int], _Column] = {}
        self.first: dict[int, dict[int, dict[int, str]]] = {}
        """The texts of the first rows of each table, by column."""
        self.rows: dict[tuple[int, int], list[list[Span]]] = {}
        """The first rows of each table, and those with a value in several cells."""

    def _words(self, parts: Continuous) -> str:
        shown = (part if isinstance(part, str) else self._text[slice(*part)] for part in parts)
        return " ".join("".join(shown).split())

    def parts(self, texts: Iterable[tuple[Cell, Continuous]]) -> Iterator[Span | str]:
        """Yield the texts of the rows with labels, each cell in a line."""
        for (table, row), found in groupby(texts, key=lambda each: each[0][:2]):
            cells = list(found)
            spans = [[part for part in text if not isinstance(part, str)] for _, text in cells]
            shown = [self._words(text) for _, text in cells]
            if row < HEADER_WITHIN or has_groups("\t".join(shown)):
                self.rows[table, row] = spans
            for (cell, text), words in zip(cells, shown, strict=True):
                self.columns.setdefault((table, cell.column), _Column()).add(row, text)
                if row < HEADER_WITHIN:
                    first = self.first.setdefault(table, {}).setdefault(row, {})
                    first[cell.column] = first.get(cell.column, "") + words
            if any(map(is_header, shown[:-1])):
                for _, text in cells:
                    yield from text
                    yield f"{CELL_END}\n"
                yield APART


def table_views(
    source: str, texts: Iterable[Continuous], readable: Readable, segments: Sequence[Segment]
) -> Iterator[View]:
    """Yield the views of the tables of a source, given its texts in order."""
    if _CELL.search(source):
        yield from views_of_cells(
            _texts_of_cells(source, texts, readable, segments[0].text), segments
        )


def views_of_cells(
    cells: Iterable[tuple[Cell, Continuous]], segments: Sequence[Segment]
) -> Iterator[View]:
    """Yield the views of cells, whose parts are ranges of the readable text."""
    text = segments[0].text
    reader = _TableReader(text)
    if (shown := _view("cells of tables", reader.parts(cells), segments)).count:
        yield shown
    for name, rows in (("rows of groups", rows_of_groups), ("labelled rows", labelled_rows)):
        if parts := list(rows(reader.rows, text)):
            yield _view(name, parts, segments)
    heads = {table: _heads(rows) for table, rows in reader.first.items()}
    for (table, number), column in reader.columns.items():
        for head in heads.get(table, ()):
            header = reader.first[table].get(head, {}).get(number, "")
            if is_header(header) and (parts := [*column.parts_below(head)]):
                yield _view("column", parts, segments, header)


def _heads(rows: Mapping[int, Mapping[int, str]]) -> Sequence[int]:
    """Return the row that labels the columns, and the one below if it labels parts of these."""
    head = header_row({row: [*texts.values()] for row, texts in rows.items()}) or 0
    below = rows.get(head + 1, {})
    is_divided = not below.keys() <= rows.get(head, {}).keys()
    labels_parts = is_divided and all(map(is_header, below.values()))
    return [head, head + 1] if labels_parts else [head]


def _view(
    name: str, parts: Iterable[Span | str], segments: Sequence[Segment], header: str = ""
) -> View:
    pieces = (part if isinstance(part, str) else Piece(0, *part) for part in parts)
    return View(name, pieces, segments, header, repeats=True)


def _texts_of_cells(
    source: str, texts: Iterable[Continuous], readable: Readable, text: str
) -> Iterator[tuple[Cell, Continuous]]:
    """Yield each cell with a short text, and the parts of it in the readable text."""
    for cell, found in groupby(_in_cells(source, texts), key=itemgetter(0)):
        parts = [part for _, each in found for part in ("\n", *each)]
        shown = _trimmed(parts, readable, text)
        words = "".join(part if isinstance(part, str) else text[slice(*part)] for part in shown)
        if 0 < len(words) <= _LONGEST and len(words.split()) <= _MOST_WORDS:
            yield cell, shown


def _in_cells(source: str, texts: Iterable[Continuous]) -> Iterator[tuple[Cell, Continuous]]:
    starts = _cell_starts(source)
    end: tuple[int, Cell | None] = (len(source) + 1, None)
    following, cell = next(starts, end), None
    for parts in texts:
        first = next((part[0] for part in parts if not isinstance(part, str)), None)
        if first is None:
            continue
        while following[0] <= first:
            cell, following = following[1], next(starts, end)
        if cell is not None:
            yield cell, parts


def _trimmed(parts: Continuous, readable: Readable, text: str) -> Continuous:
    """Return the parts in the readable text, without the blanks around them."""
    shown: Continuous = []
    for part in parts:
        if isinstance(part, str):
            shown += [part] if shown else []
            continue
        start, end = readable.offset_of(part[0]), readable.offset_of(part[1])
        blank = text[start:end].isspace()
        if shown or not blank:
            start += 0 if shown else len(text[start:end]) - len(text[start:end].lstrip())
            shown.append(" " if blank else (start, end))
    while shown:
        last = shown.pop()
        if not isinstance(last, str):
            shown.append((last[0], last[0] + len(text[last[0] : last[1]].rstrip())))
            break
    return shown
