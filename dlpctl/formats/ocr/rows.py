"""Find rows of letters by their shapes alone, in the ink that OCR has left."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.ocr.ink import flattened, has_ink, is_texture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image

    from dlpctl.formats.ocr.lines import Box

_CONTRASTS = 40, 75, 110, 190
"""The contrasts of ink: strong letters touch each other, or the grain of a photo, at the lower
ones, and faint letters are left out at the higher ones.
"""
_MOST_INK = 0.35
"""The maximum inked share of a picture; with more, the grain of a photo is taken for ink."""
_RUN = re.compile(rb"[^\0]+")
_MOST_SHAPES, _LEAST_AREA = 50_000, 200
"""The maximum number of shapes, and the least pixels of a page for each; a picture with more shapes
than both is a texture.
"""
_LOWEST, _HIGHEST, _WIDEST, _LEAST_FILL, _MOST_FILL = 6, 90, 2.5, 0.12, 0.9
"""The heights of a letter in pixels, its width in heights, and the inked share of its box."""
_GAP, _WORD_GAP, _HIGHER, _SHARED, _BAND = 0.5, 1.1, 2.2, 0.6, 32
"""The usual gap between letters and the widest one between words in heights, the ratio of the
heights of letters, the share of the lower one beside the other, and the height of bands of pixels
in which the preceding letter is looked up.
"""
_FARTHEST = math.ceil(_WORD_GAP * _HIGHEST)
_FEWEST, _ALIKE, _DEVIATION, _LEAST_WIDTH = 9, 0.75, 0.45, 7.5
"""The fewest letters of a row, how many of them differ how little from the usual height, and its
width in usual heights.
"""
_OFF, _ALIGNED = 0.15, 0.7
"""The usual heights by which letters are off their line, and the share of pairs that are not."""


class _Shape(NamedTuple):
    """Connected pixels of ink."""

    left: int
    top: int
    right: int
    bottom: int
    inked: int

    @property
    def height(self) -> int:
        return self.bottom - self.top

    def is_letter(self) -> bool:
        wide, high = self.right - self.left, self.height
        return (
            _LOWEST <= high <= _HIGHEST
            and wide <= _WIDEST * high
            and _LEAST_FILL * wide * high < self.inked < _MOST_FILL * wide * high
        )

    def is_followed_by(self, other: _Shape) -> bool:
        lower, higher = sorted((self.bottom - self.top, other.bottom - other.top))
        return (
            other.left - self.right <= _WORD_GAP * higher
            and min(self.bottom, other.bottom) - max(self.top, other.top) >= _SHARED * lower
            and higher <= _HIGHER * lower
            and self.right <= (other.left + other.right) / 2 + 0.3 * self.height
        )

    def is_aligned_with(self, other: _Shape, slope: float, off: float) -> bool:
        """Return whether two letters have the same line below them, or above them."""
        rise = slope * (other.left - self.left)
        return min(abs(other.bottom - self.bottom - rise), abs(other.top - self.top - rise)) <= off

    def transposed(self) -> _Shape:
        return _Shape(self.top, self.left, self.bottom, self.right, self.inked)


def rows_of_letters(picture: Image) -> list[Box]:
    """Return the boxes of rows of letters, across and down a picture; they may slant."""
    if not is_texture(picture) and not has_ink(picture):
        return []
    strokes = flattened(picture)
    rows: list[Box] = []
    for contrast in _CONTRASTS:
        ink = strokes.point([255 * (255 - shade > contrast) for shade in range(256)])
        if ink.histogram()[255] > _MOST_INK * ink.width * ink.height:
            continue
        shapes = _shapes(ink)
        rows += (_around(row) for row in _rows(shapes))
        downward = _rows([shape.transposed() for shape in shapes])
        rows += (_around([letter.transposed() for letter in row]) for row in downward)
    return rows


def _around(row: list[_Shape]) -> Box:
    lefts, tops, rights, bottoms, _ = zip(*row, strict=True)
    return float(min(lefts)), float(min(tops)), float(max(rights)), float(max(bottoms))


def _shapes(ink: Image) -> list[_Shape]:
    """Return the connected shapes of a picture of two shades."""
    pixels, width = ink.tobytes(), ink.width
    parents: list[int] = []
    boxes: list[list[int]] = []
    above: list[tuple[int, int, int]] = []
    most = max(_MOST_SHAPES, len(pixels) // _LEAST_AREA)
    for top in range(ink.height):
        runs, at = [], 0
        for run in _RUN.finditer(pixels, top * width, (top + 1) * width):
            left, right = run.start() - top * width, run.end() - top * width
            box, number = [left, top, right, top + 1, right - left], -1
            while at < len(above) and above[at][1] < left:
                at += 1
            # The last of the touching runs may touch the following run, too.
            for touched in range(at, len(above)):
                start, _, other = above[touched]
                if start > right:
                    break
                root = _root(parents, other)
                if number < 0:
                    _extend(boxes[root], box)
                    number = root
                elif root != number:
                    _extend(boxes[number], boxes[root])
                    parents[root] = number
            if number < 0:
                number = len(parents)
                parents.append(number)
                boxes.append(box)
            runs.append((left, right, number))
        above = runs
        if len(parents) > most:
            return []
    return [_Shape(*box) for number, box in enumerate(boxes) if parents[number] == number]


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = number = parents[parents[number]]
    return number


def _extend(box: list[int], other: list[int]) -> None:
    left, top, right, bottom, inked = other
    box[0], box[1] = min(box[0], left), min(box[1], top)
    box[2], box[3] = max(box[2], right), max(box[3], bottom)
    box[4] += inked


def _rows(shapes: list[_Shape]) -> Iterator[list[_Shape]]:
    """Yield the rows of letters of about the same height, each near to the preceding one."""
    rows: list[list[_Shape]] = []
    last: dict[int, list[list[_Shape]]] = defaultdict(list)
    for letter in sorted(shape for shape in shapes if shape.is_letter()):
        preceding: list[list[_Shape]] = []
        for band in range(letter.top // _BAND - 1, letter.bottom // _BAND + 2):
            last[band] = [row for row in last[band] if row[-1].right > letter.left - _FARTHEST]
            preceding += (row for row in last[band] if row[-1].is_followed_by(letter))
        if preceding:
            row = max(preceding, key=lambda row: row[-1].right)
            last[_band(row)].remove(row)
        else:
            rows.append(row := [])
        row.append(letter)
        last[_band(row)].append(row)
    for row in rows:
        if len(row) >= _FEWEST and _is_even(row):
            yield row


def _is_even(row: list[_Shape]) -> bool:
    """Return whether a row has letters of about the same height, most of them close together."""
    usual = median(letter.height for letter in row)
    alike = sum(abs(letter.height - usual) <= _DEVIATION * usual for letter in row)
    pairs = list(pairwise(row))
    gap = median(after.left - before.right for before, after in pairs)
    slope = (row[-1].bottom - row[0].bottom) / (row[-1].left - row[0].left)
    aligned = sum(before.is_aligned_with(after, slope, _OFF * usual) for before, after in pairs)
    return (
        alike >= _ALIKE * len(row)
        and aligned >= _ALIGNED * len(pairs)
        and gap <= _GAP * usual
        and row[-1].right - row[0].left >= _LEAST_WIDTH * usual
    )


def _band(row: list[_Shape]) -> int:
    return (row[-1].top + row[-1].bottom) // 2 // _BAND
