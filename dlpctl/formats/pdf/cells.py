"""Rows of tables: the reading order separates cells like words, or not at all."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.interface import Piece
from dlpctl.formats.pdf.align import fold
from dlpctl.formats.pdf.glyphs import separator
from dlpctl.formats.pdf.matrix import Point, apply

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from dlpctl.formats.pdf.canvas import CanvasText
    from dlpctl.formats.pdf.drawing import Show
    from dlpctl.formats.pdf.views import Parts

_LABELLED = 2
_LEAST_CELL = 4
"""A text with fewer characters beside another such text is a part of a word."""
_BELOW, _SIDEWAYS = 2.0, 0.5
"""The distance in em, below its first line and beside it, at which a cell's next line starts."""


class _Run(NamedTuple):
    """Adjacent characters, counted as both readers count them: without white space."""

    start: int
    end: int


Cell = list[_Run]
"""The lines of a cell."""


def rows(found: CanvasText, segment: int) -> Parts:
    """Return rows as separate pieces, cell by cell, if both readers see the same order."""
    if not found.in_order:
        return []
    table = _table(found.drawing.shows)
    if all(len(row) < _LABELLED for row in table):
        return []
    counted = [*accumulate(map(len, map(fold, found.raw)))]

    def pieces(cell: Cell) -> Iterator[Piece | str]:
        for number, (start, end) in enumerate(cell):
            if number:
                yield " "
            yield Piece(segment, bisect_left(counted, start + 1), bisect_left(counted, end) + 1)

    parts: Parts = []
    # With two columns, one may label the other, and no header is above.
    for is_table, group in groupby(table, key=lambda row: len(row) >= _LABELLED):
        lines = list(group) if is_table else []
        between = "\t" if max(map(len, lines), default=0) > _LABELLED else "\n"
        for row in lines:
            for number, cell in enumerate(row):
                # A box of a form shows one character.
                if number and not _size(row[number - 1]) == _size(cell) == 1:
                    parts.append(between)
                parts += pieces(cell)
            parts.append("\n")
        if lines:
            parts.append("\n")
    return parts


def _size(cell: Cell) -> int:
    return sum(end - start for start, end in cell)


def _table(shows: Sequence[Show]) -> list[list[Cell]]:
    """Return the rows; a text is a cell of its own also where a column of other rows starts."""
    starts: Counter[float] = Counter()
    table = list(_rows(shows, (), starts))
    columns = {start for start, count in starts.items() if count >= _LABELLED}
    return list(_rows(shows, columns, starts)) if columns else table


def _rows(
    shows: Iterable[Show], columns: Container[float], starts: Counter[float]
) -> Iterator[list[Cell]]:
    """Yield the texts that the operators show, row by row and cell by cell; count where cells
    start that are not the first ones.
    """
    row: list[Cell] = []
    last: Show | None = None
    corner = (0.0, 0.0)
    counted = 0
    for show in shows:
        run = _Run(counted, counted + len(fold(show.text)))
        counted = run.end
        if run.start == run.end:
            continue
        gap = "\n" if last is None else separator(last, show)
        if last is not None and (
            (not gap and _abut(last, show))
            or (gap in ("", " ") and show.placed and _left(show) in columns)
        ):
            gap = "\t"
        if gap == "\t":
            starts[_left(show)] += 1
        step = _step(last, show, corner) if gap == "\n" and len(row) >= _LABELLED else gap
        if step == "\n":
            if row:
                yield row
            row = []
        if step in ("\n", "\t"):
            corner = apply(show.matrix, 0.0, 0.0)
            row.append([run])
        elif step == "below":
            row[-1].append(run)
        else:
            row[-1][-1] = row[-1][-1]._replace(end=run.end)
        last = show
    if row:
        yield row


def _left(show: Show) -> float:
    return round(apply(show.matrix, 0.0, 0.0)[0], 0)


def _abut(last: Show, show: Show) -> bool:
    """Return whether two adjacent texts are two cells: both were positioned and are not letters."""
    return (
        show.placed
        and max(len(last.text), len(show.text)) >= _LEAST_CELL
        and last.text[-1:].isalnum()
        and not show.text[:1].isspace()
    )


def _step(last: Show | None, show: Show, corner: Point) -> str:
    """Return where a line starts: in the cell before it, beside it, or in a new row."""
    a, b, c, d, _, _ = show.matrix
    em = abs(show.state.size) * math.hypot(c, d)
    if last is None or b or a <= 0 or show.font.vertical or not em:
        return "\n"
    x, y = apply(show.matrix, 0.0, 0.0)
    below = (apply(last.matrix, 0.0, 0.0)[1] - y) / em
    if 0 < below < _BELOW and abs(x - corner[0]) < _SIDEWAYS * em:
        return "below"
    # back up to the first line of the row
    return "\t" if x > corner[0] + em and abs(y - corner[1]) < _SIDEWAYS * em else "\n"
