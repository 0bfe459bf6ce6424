"""Position the glyphs of a text operator on the page, and determine what separates
two operators.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple, overload

from dlpctl.formats.pdf.drawing import WORD_GAP, Show
from dlpctl.formats.pdf.matrix import Matrix, Point, apply

_LINE_GAP = 0.3
"""A step of this share of the font size across the line starts a new line."""

_CELL_GAP = 0.75
"""The maximum gap between words of justified lines; cells of a table are further apart."""


class GlyphAt(NamedTuple):
    """One glyph on the page."""

    show: int
    """The index of the glyph's `Show`."""
    item: int
    code: int
    """The index of the code in the item."""
    text: str
    origin: Point
    frame: Matrix
    """From the glyph's space, where the em is 1 and the origin 0, to the page."""
    advance: float
    """The advance in units of the em."""
    known: bool


def glyphs_of(show: Show, index: int) -> list[GlyphAt]:
    """Return the glyphs of one operator, in the order in which it shows them."""
    state, font = show.state, show.font
    size, stretch, rise = state.size, state.stretch, state.rise
    found: list[GlyphAt] = []
    pen = 0.0
    a, b, c, d, e, f = show.matrix
    # From the em to text space, then to the page; only the translation differs between glyphs.
    frame_a, frame_b = size * stretch * a, size * stretch * b
    frame_c, frame_d = size * c, size * d
    for item_index, item in enumerate(show.items):
        if isinstance(item, float):
            pen -= item / 1000 * size
            continue
        if not isinstance(item, bytes):
            continue
        for code_index, code in enumerate(font.split(item)):
            glyph = font.glyph(code)
            if font.vertical:
                x, y = glyph.offset[0] * size * stretch, pen + glyph.offset[1] * size + rise
            else:
                x, y = pen * stretch, rise
            origin = (x * a + y * c + e, x * b + y * d + f)
            found.append(
                GlyphAt(
                    index,
                    item_index,
                    code_index,
                    glyph.text,
                    origin,
                    (frame_a, frame_b, frame_c, frame_d, origin[0], origin[1]),
                    glyph.advance,
                    glyph.known,
                )
            )
            pen += (
                glyph.advance * size
                + state.char_space
                + (state.word_space if code == b" " else 0.0)
            )
    return found


class Glyphs(Sequence[GlyphAt]):
    """The glyphs of several operators. The glyphs of an operator are computed on first access."""

    def __init__(self, shows: Sequence[Show]) -> None:
        self._shows = shows
        self.first = [0, *accumulate(show.glyphs for show in shows)]
        """The number of the first glyph of each operator, and of all glyphs."""
        self._placed: list[list[GlyphAt] | None] = [None] * len(shows)

    def of_show(self, index: int) -> list[GlyphAt]:
        placed = self._placed[index]
        if placed is None:
            placed = self._placed[index] = glyphs_of(self._shows[index], index)
        return placed

    def __len__(self) -> int:
        return self.first[-1]

    def __iter__(self) -> Iterator[GlyphAt]:
        return chain.from_iterable(map(self.of_show, range(len(self._shows))))

    @overload
    def __getitem__(self, number: int) -> GlyphAt: ...
    @overload
    def __getitem__(self, number: slice) -> list[GlyphAt]: ...
    def __getitem__(self, number: int | slice) -> GlyphAt | list[GlyphAt]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        index = bisect_right(self.first, number) - 1
        return self.of_show(index)[number - self.first[index]]


def pen_range(show: Show) -> tuple[float, float]:
    """Return bounds, in text space, of where an operator may move its pen."""
    state, font = show.state, show.font
    least = most = pen = 0.0
    for item in show.items:
        if isinstance(item, float):
            pen -= item / 1000 * state.size
        elif isinstance(item, bytes):
            measure = font.measure(item)
            steps = (
                measure.advance * state.size,
                measure.codes * state.char_space,
                measure.spaces * state.word_space,
            )
            least = min(least, pen + sum(min(step, 0.0) for step in steps))
            most = max(most, pen + sum(max(step, 0.0) for step in steps))
            pen += sum(steps)
    return least, most


def pen_end(show: Show) -> Point:
    if show.font.vertical:
        return apply(show.matrix, 0.0, show.length)
    return apply(show.matrix, show.length * show.state.stretch, 0.0)


def separator(before: Show, after: Show) -> str:
    """Return the separator of two operators' texts: nothing, a space, a tab or a line end."""
    start = apply(after.matrix, 0.0, 0.0)
    end = pen_end(before)
    matrix, size = before.matrix, before.state.size
    along = (matrix[2], matrix[3]) if before.font.vertical else (matrix[0], matrix[1])
    norm = math.hypot(*along)
    em = abs(size) * math.hypot(matrix[2], matrix[3])
    if not norm or not em:
        return "\n"
    x, y = start[0] - end[0], start[1] - end[1]
    if abs(y * along[0] - x * along[1]) / norm > _LINE_GAP * em:
        return "\n"
    gap = (x * along[0] + y * along[1]) / norm
    if before.font.vertical:
        gap = -gap
    if gap < -1.5 * em:
        return "\n"
    if gap > _CELL_GAP * em:
        return "\t"
    return " " if gap > WORD_GAP * em else ""
