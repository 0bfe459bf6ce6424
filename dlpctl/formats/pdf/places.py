"""The areas that removed text leaves on a page."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dlpctl.formats.ocr.seen import Corners
from dlpctl.formats.pdf.drawing import Mark, StreamKey
from dlpctl.formats.pdf.matrix import Matrix, Point, apply

_ROOM = 0.15
"""OCR puts its boxes close around the ink."""


@dataclass(slots=True)
class MaskPlace:
    """A removed part of a line: a parallelogram on the page, with a label."""

    frame: Matrix
    """The matrix of the first glyph; the em is 1."""
    left: float
    right: float
    bottom: float
    top: float
    label: str
    order: int
    """The drawing order, to find drawings above the text."""
    invisible: bool

    @property
    def height(self) -> float:
        return math.hypot(*self.frame[2:4]) * (self.top - self.bottom)

    def corners(self) -> list[Point]:
        return [
            apply(self.frame, x, y)
            for x, y in (
                (self.left, self.bottom),
                (self.right, self.bottom),
                (self.right, self.top),
                (self.left, self.top),
            )
        ]


@dataclass(slots=True)
class Removal:
    """The glyphs, marks and areas that one canvas loses."""

    glyphs: dict[tuple[StreamKey, int], set[tuple[int, int]]] = field(default_factory=dict)
    """By stream and start of the operator: the items and codes."""
    marks: list[Mark] = field(default_factory=list)
    boxes: list[MaskPlace] = field(default_factory=list)


def place_of_word(corners: Corners, label: str) -> MaskPlace:
    """Return the area of a word that no glyph shows; the pictures at its position show it."""
    start, end, _, (x, y) = corners
    high = max(math.dist(start, (x, y)), 1.0)
    wide = max(math.dist(start, end), 0.1)
    across = (end[0] - start[0]) / wide * high, (end[1] - start[1]) / wide * high
    up = start[0] - x, start[1] - y
    if not any(up):
        up = -across[1], across[0]
    return MaskPlace(
        (*across, *up, x, y),
        -_ROOM,
        wide / high + _ROOM,
        -_ROOM,
        1.0 + _ROOM,
        label,
        0,
        invisible=True,
    )
