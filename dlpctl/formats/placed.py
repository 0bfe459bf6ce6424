"""Views of texts that a page or drawing places one beside the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from dlpctl.formats.continuous import Continuous
from dlpctl.formats.interface import Piece, Segment, View
from dlpctl.formats.markuptables import Cell, views_of_cells
from dlpctl.formats.source import Readable
from dlpctl.formats.wraps import joined_lines
from dlpctl.regex import lazy

_WIDE_GAP = 1.6
"""Letters that are further apart than this, in their usual steps, are of two words."""
_WIDEST = 0.72
"""The width of a character, in sizes of the font, from which a gap is after it."""

_PLACED = lazy(r"""(?i)<(?>[^<>]*?[\s"';](?:top|ymin)\s*[:=])[^<>]*+>""")
"""An element with a place of its own, as converters of PDF write it."""
_SIDES = [
    lazy(rf"""(?i)[\s"';]{side}\s*[:=]\s*["']?(-?[0-9]{{1,6}}(?:\.[0-9]{{1,9}})?)""")
    for side in ("(?:left|xmin)", "(?:top|ymin)", "xmax", "ymax")
]


class PlacedText(NamedTuple):
    """A text, and where it starts."""

    start: int
    end: int
    x: float
    y: float
    size: float
    """The size of the font."""
    reach: float = 0.0
    """The distance from the left before which another word is in the same cell."""


def views_by_place(
    source: str, texts: Iterable[PlacedText], readable: Readable, segments: Sequence[Segment]
) -> Iterator[View]:
    """Yield lines of texts with gaps between them, without gaps where texts may be adjacent, and
    joined where a value may continue in the next line; and the columns of texts below each other.
    """
    joined: list[Piece | str] = []
    lines: list[Piece | str] = []
    tables = _Tables()
    for _, group in groupby(texts, key=lambda text: text.y):
        line = list(group)
        pieces = [Piece(0, *map(readable.offset_of, text[:2])) for text in line]
        if len(line) < 2:
            lines += (*pieces, "\n")
            tables.end()
            continue
        steps = [
            (after.x - text.x) / max(text.end - text.start, 1) for text, after in pairwise(line)
        ]
        usual = median(steps)
        letters = sum(text.end - text.start for text in line) <= 2 * len(line)
        if not letters:
            tables.add(line, pieces)
        is_joined = False
        for text, piece, step in zip(line, pieces, [*steps, 0.0], strict=True):
            is_close = letters and step <= _WIDE_GAP * usual
            gap = "" if is_close or source[text.end - 1].isspace() else " " if step > 0 else "\n"
            lines += (piece, gap)
            adjacent = gap == "" or 0 < step <= _WIDEST * text.size
            joined += (piece, "" if adjacent else gap)
            is_joined = is_joined or (adjacent and gap != "")
        lines[-1] = "\n"
        joined[-1] = "\n"
        if not is_joined:
            del joined[-2 * len(line) :]
    wrapped = joined_lines(lines, segments)
    for name, parts in (
        ("texts by place", lines),
        ("adjacent texts", joined),
        ("lines joined", wrapped),
    ):
        if parts:
            yield View(name, parts, segments)
    yield from views_of_cells(tables.cells, segments)


class _Tables:
    """Collects the texts of lines that have several, by their distances from the left."""

    def __init__(self) -> None:
        self.cells: list[tuple[Cell, Continuous]] = []
        self._table = self._row = 0
        self._columns: dict[float, int] = {}

    def add(self, line: Sequence[PlacedText], pieces: Sequence[Piece]) -> None:
        cells: list[tuple[Cell, Continuous]] = []
        reach = 0.0
        for text, piece in zip(line, pieces, strict=True):
            if cells and text.x < reach:
                cells[-1][1].extend((" ", piece[1:]))
            else:
                column = self._columns.setdefault(text.x, len(self._columns))
                cells.append((Cell(self._table, self._row, column), [piece[1:]]))
            reach = text.reach
        if len(cells) > 1:
            self.cells += cells
            self._row += 1
        else:
            self.end()

    def end(self) -> None:
        """End the table at a line with a single text."""
        if self._row:
            self._table, self._row, self._columns = self._table + 1, 0, {}


def placed_texts(source: str, texts: Iterable[Continuous]) -> Iterator[PlacedText]:
    """Yield the texts after the start of each element with a place of its own."""
    elements = _elements(source)
    following = next(elements, None)
    # The texts are not read for a source without such elements.
    for parts in texts if following else ():
        found: list[PlacedText] = []
        for start, end in (part for part in parts if not isinstance(part, str)):
            element = None
            while following is not None and following.end <= start:
                element, following = following, next(elements, None)
            if source[start:end].isspace():
                continue
            if element is not None:
                found.append(element._replace(start=start, end=end))
            elif found:
                found[-1] = found[-1]._replace(end=end)
        yield from found


def _elements(source: str) -> Iterator[PlacedText]:
    """Yield the tags with a place, as texts that are there."""
    for found in _PLACED.finditer(source):
        left, top, right, bottom = (side.search(found[0]) for side in _SIDES)
        if left and top:
            x, y = float(left[1]), float(top[1])
            reach = float(right[1]) + float(bottom[1]) - y if right and bottom else 0.0
            yield PlacedText(*found.span(), x, y, 0.0, reach)
