"""Contours that a page draws: letters as shapes, which a box would only cover."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.pdf.matrix import Matrix, Point, apply

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from dlpctl.formats.pdf.content import Operation

CURVES = (b"c", b"v", b"y")
_PAINTS = (b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*", b"S", b"s")
PATHS = (*CURVES, b"m", b"l", b"h", b"re", b"n", *_PAINTS)
LINES = frozenset((b"m", b"l", b"h", b"w", b"n", *_PAINTS))
"""Operators of straight paths, of which a map has a million: forms, which are kept, omit them."""
_LARGEST = 3.0
"""The maximum size of a letter, relative to the height of its place."""


class Contour(NamedTuple):
    """A part of a path between two moves of the pen, with its box on the page."""

    stream: Hashable
    start: int
    end: int
    left: float
    bottom: float
    right: float
    top: float


class Contours:
    """The contours of a drawing, in drawing order."""

    def __init__(self) -> None:
        self._all: list[Contour] = []
        self._first = 0
        """The first contour of the path under construction."""

    def trace(self, operation: Operation, matrix: Matrix, stream: Hashable) -> None:
        """Add the part of the path that an operator draws."""
        operator, operands, start, end = operation
        if operator == b"n":
            del self._all[self._first :]  # a clipping path, which is invisible
        if operator == b"n" or operator in _PAINTS:
            self._first = len(self._all)
            return
        numbers = [each for each in operands if isinstance(each, float) and math.isfinite(each)]
        if operator == b"re" and len(numbers) == 4:
            x, y, wide, high = numbers
            numbers = [x, y, x + wide, y, x, y + high, x + wide, y + high]
        points = [apply(matrix, *each) for each in zip(numbers[::2], numbers[1::2], strict=False)]
        last = self._all[-1] if self._all else None
        if operator in (b"m", b"re") or last is None or last.stream != stream:
            self._all.append(Contour(stream, start, end, *_around(points)))
        else:
            box = _around([*points, (last.left, last.bottom), (last.right, last.top)])
            self._all[-1] = Contour(stream, last.start, end, *box)

    def within(self, corners: Sequence[Point], high: float) -> Iterator[Contour]:
        """Yield the contours at a place that are as small as letters of a height."""
        left, bottom, right, top = _around(corners)
        for each in self._all:
            if (
                each.left < right
                and each.right > left
                and each.bottom < top
                and each.top > bottom
                and max(each.right - each.left, each.top - each.bottom) <= _LARGEST * high
            ):
                yield each


def _around(points: Sequence[Point]) -> tuple[float, float, float, float]:
    if not points:
        return 0.0, 0.0, 0.0, 0.0
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
