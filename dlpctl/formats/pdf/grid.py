"""A spatial index of boxes and points on a page, so that few are compared.

Extraction and masking share this index; it makes no decisions of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

from dlpctl.formats.pdf.reading import Box

_MOST_CELLS = 64
"""A box that covers more cells is stored separately and always compared."""


class Grid:
    """Boxes by the square cells of the page that they touch."""

    def __init__(self, boxes: Iterable[Box], cell: float) -> None:
        self._cell = cell
        self._boxes = list(boxes)
        self._cells: dict[tuple[int, int], list[int]] = {}
        self._wide: list[int] = []
        for index, box in enumerate(self._boxes):
            if not all(map(math.isfinite, box)):
                continue
            columns, rows = self._covered(box)
            if len(columns) == len(rows) == 1:  # the most common case
                self._cells.setdefault((columns.start, rows.start), []).append(index)
                continue
            if len(columns) * len(rows) > _MOST_CELLS:
                self._wide.append(index)
                continue
            for location in product(columns, rows):
                self._cells.setdefault(location, []).append(index)

    def touching(self, region: Box) -> list[int]:
        """Return the boxes that share a point with a region, in order."""
        if not all(map(math.isfinite, region)):
            return []
        columns, rows = self._covered(region)
        if len(columns) * len(rows) > len(self._cells):
            near: Iterable[int] = range(len(self._boxes))
        else:
            near = {
                index
                for location in product(columns, rows)
                for index in self._cells.get(location, ())
            }.union(self._wide)
        return sorted(index for index in near if _touch(self._boxes[index], region))

    def _covered(self, box: Box) -> tuple[range, range]:
        """Return the columns and rows of cells that a box covers."""
        return (
            range(int(box.left // self._cell), int(box.right // self._cell) + 1),
            range(int(box.bottom // self._cell), int(box.top // self._cell) + 1),
        )


def _touch(each: Box, other: Box) -> bool:
    return (
        each.left <= other.right
        and other.left <= each.right
        and each.bottom <= other.top
        and other.bottom <= each.top
    )
