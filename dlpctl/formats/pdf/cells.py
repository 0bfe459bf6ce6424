"""Rows of tables: the reading order has a space between two cells, as between two words, or nothing at all."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from dlpctl.formats.interface import Piece
from dlpctl.formats.pdf.align import fold
from dlpctl.formats.pdf.glyphs import separator
from dlpctl.formats.pdf.views import lines_of

if TYPE_CHECKING:
    from dlpctl.formats.pdf.canvas import CanvasText
    from dlpctl.formats.pdf.views import Parts
    from dlpctl.formats.pdf.walker import Show


def rows(found: CanvasText, segment: int) -> Parts:
    """The lines in which pieces stand apart, with tabs there; only where both readers see the characters in one order."""
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
    return _with_tabs(found.text, begins, segment)


def _with_tabs(text: str, begins: list[int], segment: int) -> Parts:
    parts: Parts = []
    for line in lines_of(text):
        cells = begins[bisect_left(begins, line.start + 1) : bisect_left(begins, line.end)]
        start = line.start
        for cell in cells:
            end = start + len(text[start:cell].rstrip())
            parts += (Piece(segment, start, end), "\t")
            start = cell
        if cells:
            parts.append(Piece(segment, start, line.end))
        if cells or (parts and parts[-1] != "\n"):
            parts.append("\n")
    return parts
