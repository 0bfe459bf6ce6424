"""Measure the ink of a picture: whether it has any, how large its letters are, how it is turned."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

_ENLARGED = ((1_000_000, 3), (4_000_000, 2))
"""Up to so many pixels, so many times as wide and high; a page at 300 dpi has more."""
_STRIP, _CONTRAST = 150, 40
"""The width of the strips in which letters are measured, and the contrast of a letter."""
_RUN = re.compile(rb"[^\0]{8,}")
_LOW, _ENOUGH = {18: 0.03, 14: 0.005}, 10
"""The share of runs lower than a line of small letters, by height, and the fewest runs."""
_FAINT = 12
"""The least contrast of ink."""
_FEW_CELLS = {5: 100, 10: 40, 20: 20, 40: 10}
"""The fewest inked cells surrounded by such cells that are a word, by the cells' side."""
_TEXTURE = 0.5
"""No more of a page is inked, in the smallest cells."""
_PAPER = 24
"""The paper around a pixel is the average of so many pixels on each side."""
_SKEWS = range(-14, 15)
_LEAST_SKEW = 2
_SKEW_WIDTH = 400


def enlargement(picture: Image) -> int:
    """Return how much to enlarge a picture: tesseract reads few of a screenshot's letters."""
    pixels = picture.width * picture.height
    times = next((times for most, times in _ENLARGED if pixels <= most), 1)
    return 1 if times > 1 and (_has_large_letters(picture) or is_texture(picture)) else times


def _has_large_letters(picture: Image) -> bool:
    """Return whether nearly all lines are higher than small letters, so that enlarging is idle."""
    from PIL.Image import Resampling, Transpose

    contours = _contours(picture, _CONTRAST)
    # Bytes of the rows of a strip: those with anything dark or light in them follow each other in
    # the lines of its text.
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
    # The filter leaves the outermost pixels as they are.
    ImageDraw.Draw(contours).rectangle((0, 0, picture.width - 1, picture.height - 1), outline=0)
    return contours.point([0] * faint + [255] * (256 - faint))


def is_blank(picture: Image) -> bool:
    low, high = picture.getextrema()
    return high - low < _FAINT / 4  # type: ignore[operator]


def has_ink(picture: Image) -> bool:
    """Return whether a picture shows more than rules, boxes and specks, and less than a texture."""
    if is_blank(picture) or is_texture(picture):
        return False
    contours = _contours(picture, _FAINT)
    return any(_inked_cells(contours, cell)[0] >= few for cell, few in _FEW_CELLS.items())


def is_texture(picture: Image) -> bool:
    """Return whether most of a picture is inked, as no page of text is."""
    inked, cells = _inked_cells(_contours(picture, _FAINT), min(_FEW_CELLS))
    return inked > _TEXTURE * cells


def _inked_cells(contours: Image, cell: int) -> tuple[int, int]:
    """Return how many cells are inked and surrounded by such cells, and how many there are."""
    from PIL import ImageFilter
    from PIL.Image import Resampling

    size = max(contours.width * 2 // cell, 1), max(contours.height * 2 // cell, 1)
    cells = contours.resize(size, Resampling.BOX).point(_is_inked)
    return cells.filter(ImageFilter.MinFilter(3)).histogram()[255], size[0] * size[1]


def _is_inked(share: int) -> int:
    return 255 if share > 25 else 0


def flattened(picture: Image) -> Image:
    """Return what is darker or lighter than the paper around it, in black on white."""
    from PIL import ImageChops, ImageFilter, ImageOps

    paper = picture.filter(ImageFilter.BoxBlur(_PAPER))
    return ImageOps.invert(ImageOps.autocontrast(ImageChops.difference(picture, paper)))


def skew_of(picture: Image) -> int:
    """Return the angle that puts most ink of a picture on the fewest lines; 0 for a small one."""
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
