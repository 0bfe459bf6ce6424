"""Rows of tables: the reading order has a space between two cells, as between two words, or nothing at all."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from dlpctl.formats.interface import Piece
from dlpctl.formats.pdf.align import fold
from dlpctl.formats.pdf.glyphs import separator
from dlpctl.formats.pdf.views import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dlpctl.formats.pdf.canvas import CanvasText
    from dlpctl.formats.pdf.views import Parts
    from dlpctl.formats.pdf.walker import Show

_LABELLED = 2


def rows(found: CanvasText, segment: int) -> Parts:
    """The lines in which pieces stand apart, cell by cell; only where both readers see the characters in one order."""
    if not found.in_order:
        return []
    apart: list[int] = []
    behind = 0
    last: Show | None = None
    for show in found.drawing.shows:
        width = len(fold(show.text))
        if width:
            if last is not None and separator(last, show) == "\t":
                apart.append(behind)
            last = show
        behind += width
    if not apart:
        return []
    # Both count characters without white space: at these places of the text, a cell begins.
    counted = [*accumulate(map(len, map(fold, found.raw)))]
    begins = [bisect_left(counted, count + 1) for count in apart]
    return _joined(_lines_of_cells(found.text, begins, segment))


def _lines_of_cells(text: str, begins: list[int], segment: int) -> Iterator[list[Piece]]:
    """The cells of each line; none of one that has but one."""
    for line in lines_of(text):
        starts = [line.start, *begins[bisect_left(begins, line.start + 1) : bisect_left(begins, line.end)]]
        ends = [*starts[1:], line.end]
        cells = zip(starts, ends, strict=True) if len(starts) > 1 else ()
        yield [Piece(segment, start, start + len(text[start:end].rstrip())) for start, end in cells]


def _joined(lines: Iterable[list[Piece]]) -> Parts:
    """Rows that follow each other, with tabs. Of two columns one may be the labels of the other, and no header of it stands above."""
    parts: Parts = []
    for is_table, group in groupby(lines, key=bool):
        rows = list(group) if is_table else []
        between = "\t" if max(map(len, rows), default=0) > _LABELLED else "\n"
        for row in rows:
            for cell in row:
                parts += (cell, between)
            parts[-1] = "\n"
        if rows:
            parts.append("\n")
    return parts
