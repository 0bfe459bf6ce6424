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
        for text, piece in zip(line, pieces, strict=True):
            column = self._columns.setdefault(text.x, len(self._columns))
            self.cells.append((Cell(self._table, self._row, column), [piece[1:]]))
        self._row += 1

    def end(self) -> None:
        """End the table at a line with a single text."""
        if self._row:
            self._table, self._row, self._columns = self._table + 1, 0, {}


class _Element(NamedTuple):
    """The end of a tag with a place, and the place; without a right end if it says none."""

    start: int
    x: float
    y: float
    right: float
    bottom: float

    def continues(self, before: _Element | None) -> bool:
        """Return whether a word follows another one in a line, not in the next column."""
        height = self.bottom - self.y
        return before is not None and self.y == before.y and 0 < self.x - before.right < height


def placed_texts(source: str, texts: Iterable[Continuous]) -> Iterator[PlacedText]:
    """Yield the texts after the start of each element with a place of its own."""
    elements = _elements(source)
    following, last = next(elements, None), None
    # The texts are not read for a source without such elements.
    for parts in texts if following else ():
        found: list[PlacedText] = []
        for start, end in (part for part in parts if not isinstance(part, str)):
            element = None
            while following is not None and following.start <= start:
                element, following = following, next(elements, None)
            if source[start:end].isspace():
                continue
            if element is None or (found and element.continues(last)):
                found[-1:] = [text._replace(end=end) for text in found[-1:]]
            else:
                found.append(PlacedText(start, end, element.x, element.y, 0.0))
            last = element or last
        yield from found


def _elements(source: str) -> Iterator[_Element]:
    for found in _PLACED.finditer(source):
        left, top, right, bottom = (side.search(found[0]) for side in _SIDES)
        if left and top:
            ends = (float(side[1]) if side else 0.0 for side in (right, bottom))
            yield _Element(found.end(), float(left[1]), float(top[1]), *ends)
