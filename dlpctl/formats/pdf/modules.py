"""Count the shapes of a page that may be the squares and bars of a code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dlpctl.formats.pdf.matrix import Matrix, Point, apply

if TYPE_CHECKING:
    from dlpctl.formats.pdf.content import Operation

_LEAST, _MOST = 0.6, 12.0
"""The shorter side, in points, of a square or bar of a code; rules are finer, and cells larger."""
_LEAST_STROKE = 1.5
"""The minimum width, in points, of a line that shows a row of squares."""


_MOST_LINES = 8
"""The maximum number of lines around a square or bar."""


class Modules:
    """The shapes of a drawing that may be parts of a code: rectangles, polygons, thick lines."""

    def __init__(self) -> None:
        self.count = 0
        self._last: list[Point] = []
        """The box of the last shape, if it was counted."""
        self._width = 1.0
        self._box: list[Point] = []
        """The lower left and upper right corner of the path so far; empty if it is no module."""
        self._lines = 0

    def see(self, operation: Operation, matrix: Matrix) -> None:
        """Follow an operator that draws a part of a path or sets the width of lines."""
        if operation.operator == b"l" and not self._box:
            return
        numbers = [each for each in operation.operands if isinstance(each, float)]
        if operation.operator == b"w":
            self._width = numbers[0] if numbers else self._width
        elif operation.operator == b"l":
            self._lines += 1
            is_simple = self._lines <= _MOST_LINES and len(numbers) == 2
            self._box = _extended(self._box, apply(matrix, *numbers)) if is_simple else []
        elif operation.operator == b"re":
            if len(numbers) == 4:
                sides = abs(numbers[2]), abs(numbers[3])
                across, along = _scales(matrix)
                corner = numbers[0] + numbers[2], numbers[1] + numbers[3]
                box = _extended([apply(matrix, *numbers[:2])] * 2, apply(matrix, *corner))
                self._count(box, _LEAST <= min(sides[0] * across, sides[1] * along) <= _MOST)
        else:
            self._end(matrix)
            if operation.operator == b"m" and len(numbers) == 2:
                self._box, self._lines = [apply(matrix, *numbers)] * 2, 0

    def _end(self, matrix: Matrix) -> None:
        if self._box:
            (left, bottom), (right, top) = self._box
            least, width = min(right - left, top - bottom), self._width * max(_scales(matrix))
            is_line = least == 0 and left + bottom < right + top
            is_stroke = is_line and _LEAST_STROKE <= width <= _MOST
            self._count(self._box, _LEAST <= least <= _MOST or is_stroke)
            self._box = []

    def _count(self, box: list[Point], is_module: bool) -> None:
        self.count += is_module
        self._last = box if is_module else []

    def see_words(self, x: float, y: float) -> None:
        """Follow text that starts at a point: a shape that it is written on is no module."""
        if self._last:
            (left, bottom), (right, top) = self._last
            self.count -= left <= x <= right and bottom <= y <= top
            self._last = []


def _extended(box: list[Point], point: Point) -> list[Point]:
    (left, bottom), (right, top) = box
    x, y = point
    return [(min(left, x), min(bottom, y)), (max(right, x), max(top, y))]


def _scales(matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, *_ = matrix
    return math.hypot(a, b), math.hypot(c, d)
