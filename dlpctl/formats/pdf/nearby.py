"""Find the glyphs of a page by position, without computing the positions of all others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from dlpctl.formats.pdf.drawing import Show
from dlpctl.formats.pdf.glyphs import GlyphAt, Glyphs, pen_range
from dlpctl.formats.pdf.grid import Grid
from dlpctl.formats.pdf.lazy import Lazy
from dlpctl.formats.pdf.matrix import Point, apply
from dlpctl.formats.pdf.reading import Box

_MIDDLE = 0.25
"""The height of a glyph's middle above the baseline, in em."""
_MARGIN = 0.1
_CELL = 32.0
_RUN = 128
"""The maximum number of glyphs that are searched together."""


class GlyphIndex:
    """The glyphs of a page in short runs, by the areas that they cover."""

    def __init__(self, glyphs: Glyphs, shows: Sequence[Show]) -> None:
        self._glyphs = glyphs
        self._shows = shows
        self.middles = Lazy[int, Point](lambda index: _middle(glyphs[index]))
        self.strokes = Lazy[int, tuple[float, float, float, float] | None](
            lambda index: _stroke(glyphs[index])
        )
        """The origins of glyphs and of the glyphs after them; None for blanks."""

    def glyphs_near(self, region: Box) -> list[int]:
        """Return the glyphs of runs that show something in a region, or close to it."""
        runs, grid = self._runs
        return [glyph for index in grid.touching(region) for glyph in runs[index]]

    def middles_within(self, region: Box) -> list[int]:
        """Return the glyphs whose middle is in a region."""
        return [each for each in self.glyphs_near(region) if region.holds(self.middles[each])]

    @cached_property
    def _runs(self) -> tuple[list[range], Grid]:
        runs: list[range] = []
        boxes: list[Box] = []
        for index, show in enumerate(self._shows):
            numbers = range(*self._glyphs.first[index : index + 2])
            if len(numbers) <= _RUN:
                runs.append(numbers)
                boxes.append(_room(show))
                continue
            for at in range(0, len(numbers), _RUN):
                runs.append(numbers[at : at + _RUN])
                points = [self._glyphs[each].origin for each in runs[-1]]
                boxes.append(around(points, _em(show)))
        return runs, Grid(boxes, _CELL)


def around(points: Sequence[Point], margin: float) -> Box:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Box(min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin)


def _room(show: Show) -> Box:
    """Return a box around the baseline and the middles of an operator's glyphs."""
    matrix, state = show.matrix, show.state
    ends = pen_range(show)
    if show.font.vertical:
        return around([apply(matrix, 0.0, end + state.rise) for end in ends], _em(show))
    rises = state.rise, state.rise + _MIDDLE * state.size
    points = [apply(matrix, end * state.stretch, rise) for end in ends for rise in rises]
    return around(points, _MARGIN * _em(show))


def _em(show: Show) -> float:
    """Return the maximum size of an operator's glyphs on the page."""
    matrix = show.matrix
    return abs(show.state.size) * (math.hypot(*matrix[:2]) + math.hypot(*matrix[2:4]))


def _stroke(glyph: GlyphAt) -> tuple[float, float, float, float] | None:
    if not glyph.text.strip():
        return None
    return (*glyph.origin, *apply(glyph.frame, glyph.advance, 0.0))


def _middle(glyph: GlyphAt) -> Point:
    return apply(glyph.frame, glyph.advance / 2 if abs(glyph.advance) < 3 else 0.3, _MIDDLE)
