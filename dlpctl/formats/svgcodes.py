"""Codes that an SVG draws: squares and bars of one size, as elements, paths or strokes."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from dlpctl.formats.pictures.barcodes import codes

_FEWEST = 20
_SMALLEST, _FARTHEST = 1e-3, 1e6
"""The sides and the coordinates of what a viewer can show as a code."""
_LARGEST = 12.0
"""The sides that the squares of a corner may have at most, in modules."""
_MODULE = 6.0
"""The pixels of a module in the picture that is read."""
_QUIET = 4.0
"""The margin around a code, in modules."""
_MOST_PIXELS = 3000


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    @property
    def least(self) -> float:
        return min(self.right - self.left, self.bottom - self.top)


def drawn_codes(boxes: Iterable[Box]) -> list[str]:
    """Return the texts of the codes that these boxes show; a box within another is a hole."""
    from PIL import Image, ImageChops

    found = [box for box in boxes if box.least > _SMALLEST and max(map(abs, box)) < _FARTHEST]
    if len(found) < _FEWEST:
        return []
    module = median(box.least for box in found)
    if sum(abs(box.least - module) < module / 5 for box in found) < len(found) / 2:
        return []
    found = [box for box in found if box.least <= _LARGEST * module]
    lefts, tops, rights, bottoms = zip(*found, strict=True)
    left, top = min(lefts) - _QUIET * module, min(tops) - _QUIET * module
    width, height = max(rights) + _QUIET * module - left, max(bottoms) + _QUIET * module - top
    scale = min(_MODULE / module, _MOST_PIXELS / max(width, height))
    picture = Image.new("1", (round(width * scale) + 1, round(height * scale) + 1))
    for box in found:
        corners = [round((box.left - left) * scale), round((box.top - top) * scale)]
        size = [round((box.right - left) * scale), round((box.bottom - top) * scale)]
        if size[0] > corners[0] and size[1] > corners[1]:
            area = (*corners, *size)
            picture.paste(ImageChops.invert(picture.crop(area)), area[:2])
    return [code.text for code in codes(ImageChops.invert(picture).convert("L"))]
