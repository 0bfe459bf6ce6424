"""Measure the ink of a picture: whether it has any, the size of its letters, and its rotation."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_ENLARGED = ((1_000_000, 3), (4_000_000, 2))
"""The maximum number of pixels for each enlargement factor; a page at 300 dpi has more."""
_STRIP, _CONTRAST = 150, 40
"""The width of the strips in which letters are measured, and the contrast of a letter."""
_RUN = re.compile(rb"[^\0]{8,}")
_LOW, _ENOUGH = {18: 0.03, 14: 0.005}, 10
"""The share of runs lower than a line of small letters, by height, and the fewest runs."""
_FAINT = 12
"""The minimum contrast of ink."""
_FEW_CELLS = {5: 100, 10: 40, 20: 20, 40: 10}
"""The minimum number of inked cells surrounded by inked cells in a word, by the cells' size."""
_TEXTURE = 0.5
"""The maximum share of a page that is inked, in the smallest cells."""
_PAPER = 24
"""The paper around a pixel is the average over this number of pixels on each side."""
_SKEWS = range(-14, 15)
_LEAST_SKEW = 2
_SKEW_WIDTH = 400


def enlargement(picture: Image) -> int:
    """Return the factor to enlarge a picture by: tesseract misses letters of screenshot size."""
    pixels = picture.width * picture.height
    times = next((times for most, times in _ENLARGED if pixels <= most), 1)
    return 1 if times > 1 and (_has_large_letters(picture) or is_texture(picture)) else times


def _has_large_letters(picture: Image) -> bool:
    """Return whether nearly all lines are higher than small letters, so that
    enlarging is useless.
    """
    from PIL.Image import Resampling, Transpose

    contours = _contours(picture, _CONTRAST)
    # Rows of a strip as bytes: consecutive rows with ink are lines of text.
    strips = contours.resize(
        (max(picture.width // _STRIP, 1), picture.height), Resampling.BOX
    ).transpose(Transpose.TRANSPOSE)
    inked = strips.tobytes()
    heights = [
        len(run)
        for start in range(0, len(inked), picture.height)
        for run in _RUN.findall(inked[start : start + picture.height])
    ]
    return len(heights) >= _ENOUGH and all(
        sum(height < lowest for height in heights) < share * len(heights)
        for lowest, share in _LOW.items()
    )


def _contours(picture: Image, faint: int) -> Image:
    from PIL import ImageDraw, ImageFilter

    contours = picture.filter(ImageFilter.FIND_EDGES)
    # The filter leaves the outermost pixels unchanged.
    ImageDraw.Draw(contours).rectangle((0, 0, picture.width - 1, picture.height - 1), outline=0)
    return contours.point([0] * faint + [255] * (256 - faint))


def is_blank(picture: Image) -> bool:
    low, high = picture.getextrema()
    return high - low < _FAINT / 4  # type: ignore[operator]


def has_ink(picture: Image) -> bool:
    """Return whether a picture has more than rules, boxes and specks, and less than a texture."""
    if is_blank(picture) or is_texture(picture):
        return False
    contours = _contours(picture, _FAINT)
    return any(_inked_cells(contours, cell)[0] >= few for cell, few in _FEW_CELLS.items())


def is_texture(picture: Image) -> bool:
    """Return whether more of a picture is inked than of any page of text."""
    inked, cells = _inked_cells(_contours(picture, _FAINT), min(_FEW_CELLS))
    return inked > _TEXTURE * cells


def _inked_cells(contours: Image, cell: int) -> tuple[int, int]:
    """Return the number of inked cells surrounded by inked cells, and the number of all cells."""
    from PIL import ImageFilter
    from PIL.Image import Resampling

    size = max(contours.width * 2 // cell, 1), max(contours.height * 2 // cell, 1)
    cells = contours.resize(size, Resampling.BOX).point(_is_inked)
    return cells.filter(ImageFilter.MinFilter(3)).histogram()[255], size[0] * size[1]


def _is_inked(share: int) -> int:
    return 255 if share > 25 else 0


def flattened(picture: Image) -> Image:
    """Return the picture in black on white, relative to the paper around each pixel."""
    from PIL import ImageChops, ImageFilter, ImageOps

    paper = picture.filter(ImageFilter.BoxBlur(_PAPER))
    return ImageOps.invert(ImageOps.autocontrast(ImageChops.difference(picture, paper)))


def skew_of(picture: Image) -> int:
    """Return the angle that puts the most ink on the fewest lines; 0 for a small picture."""
    from PIL.Image import Resampling

    share = _SKEW_WIDTH / max(picture.size)
    size = max(round(picture.width * share), 1), max(round(picture.height * share), 1)
    ink = _contours(picture, _CONTRAST).resize(size, Resampling.BOX).convert("F")

    def clearness(angle: int) -> float:
        turned = ink.rotate(angle, Resampling.BILINEAR)
        rows = array("f", turned.resize((1, size[1]), Resampling.BOX).tobytes())
        columns = array("f", turned.resize((size[0], 1), Resampling.BOX).tobytes())
        return max(
            sum(row * row for row in rows) * size[0] ** 2,
            sum(column * column for column in columns) * size[1] ** 2,
        )

    best = max(_SKEWS, key=clearness)
    return best if abs(best) >= _LEAST_SKEW else 0
