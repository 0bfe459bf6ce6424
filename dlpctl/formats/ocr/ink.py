"""Measure the ink of a picture: whether it has any, the size of its letters, and its rotation."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
_COLORED = 24
"""The minimum contrast of ink in colors."""
_FEW_CELLS = {5: 100, 10: 40, 20: 20, 40: 10}
"""The minimum number of inked cells surrounded by inked cells in a word, by the cells' size."""
_FEW_PIXELS = 64
"""The maximum number of inked pixels of a word that is too small to read."""
_TEXTURE = 0.5
"""The maximum share of a page that is inked, in the smallest cells."""
_STROKE_SHIFTS, _COARSE, _AROUND = (1, 2, 4, 8), 4, 13
"""The shifts that remove strokes of up to 15 pixels, and the scale and width of the paper's median.
"""
_STRONG = 0.3
"""The minimum contrast of a pixel of a letter, against the strongest one."""
_SKEWS, _SLOPES, _AROUND_PEAK = range(-14, 15), range(-44, 46), range(-5, 6)
_LINED = 1.15
"""The minimum clearness of lines at their slope, against that at the median slope."""
_LEAST_SKEW = 2
_SKEW_WIDTH = 400
_STROKE, _STROKES = 24, 60
"""The minimum length in pixels of a side of a box, and how many would make a page."""
RULE, DARK = 60, 128
"""The minimum length in pixels of a rule, which no letter has, and the lightest shade of one."""
_HIGHEST_BOX, _FEW_BOXES = 3, 8
"""The maximum height of a box for a letter, in minimum lengths, and the minimum number of sides."""
_BESIDE = 4
"""The distance in pixels of the paper from the side of a box."""


def enlargement(picture: Image) -> int:
    """Return the factor to enlarge a picture by: tesseract misses letters of screenshot size."""
    times = most_enlargement(picture)
    return 1 if times > 1 and (_has_large_letters(picture) or is_texture(picture)) else times


def most_enlargement(picture: Image) -> int:
    """Return the factor for the smallest letters that a picture of its size has."""
    pixels = picture.width * picture.height
    return next((times for most, times in _ENLARGED if pixels <= most), 1)


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


def colored_ink(picture: Image) -> Image | None:
    """Return the contrast of the colors of a picture as shades if it has ink as light as its paper;
    None if it has none, or no colors.
    """
    from PIL import ImageOps

    if picture.mode != "RGB" or is_blank(picture.convert("HSV").getchannel("S")):
        return None
    light, *colors = picture.convert("YCbCr").split()
    for color in colors:
        hidden = _hidden_contours(color, light)
        if any(_inked_cells(hidden, cell)[0] >= few for cell, few in _FEW_CELLS.items()):
            return ImageOps.autocontrast(color)
    return None


def has_more_ink(picture: Image, shown: Image) -> bool:
    """Return whether a picture has ink where another one of the same size has none."""
    return _hidden_contours(picture, shown).histogram()[255] > _FEW_PIXELS


def _hidden_contours(picture: Image, shown: Image) -> Image:
    from PIL import ImageChops, ImageFilter

    # Around ink that is darker or lighter than its paper, colors change, too.
    seen = _contours(shown, _FAINT).filter(ImageFilter.MaxFilter(5))
    return ImageChops.subtract(_contours(picture, _COLORED), seen)


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
    """Return the strokes of a picture in black on white, without the colors of boxes around them.

    Strokes are darker than the paper or lighter, whichever leaves the paper nearer to its median.
    """
    from PIL import ImageChops, ImageFilter, ImageOps
    from PIL.Image import Resampling, composite

    darker, lighter = ImageChops.darker, ImageChops.lighter
    without_dark = _shifted(_shifted(picture, lighter, 1), darker, -1)
    without_light = _shifted(_shifted(picture, darker, 1), lighter, -1)
    size = max(picture.width // _COARSE, 1), max(picture.height // _COARSE, 1)
    coarse = picture.resize(size, Resampling.BOX).filter(ImageFilter.MedianFilter(_AROUND))
    paper = coarse.resize(picture.size, Resampling.NEAREST)
    is_dark = ImageChops.subtract(
        ImageChops.difference(without_light, paper), ImageChops.difference(without_dark, paper)
    ).point([0] + [255] * 255)
    strokes = composite(
        ImageChops.difference(without_dark, picture),
        ImageChops.difference(picture, without_light),
        is_dark,
    )
    return _without_rules(ImageOps.invert(ImageOps.autocontrast(strokes)))


def _without_rules(strokes: Image) -> Image:
    """Return strokes without the rules through words and below them."""
    from PIL import ImageFilter

    ink = strokes.point([255 * (shade < DARK) for shade in range(256)])
    rules, lengths = long_runs(ink, RULE)
    if not lengths:
        return strokes
    copy = strokes.copy()
    copy.paste(across(strokes, 0, _BESIDE), mask=rules.filter(ImageFilter.MaxFilter(3)))
    return copy


def across(picture: Image, x: int, y: int) -> Image:
    """Return for each pixel the lighter of two pixels on both sides, as if a rule was not there."""
    from PIL import ImageChops

    return ImageChops.lighter(ImageChops.offset(picture, x, y), ImageChops.offset(picture, -x, -y))


def _shifted(picture: Image, combine: Callable[[Image, Image], Image], sign: int) -> Image:
    """Return a picture combined with its shifts across and down."""
    from PIL import ImageChops

    for shift in _STROKE_SHIFTS:
        for across, down in ((shift, 0), (0, shift)):
            picture = combine(picture, ImageChops.offset(picture, sign * across, sign * down))
    return picture


def without_boxes(picture: Image) -> Image | None:
    """Return a picture without the boxes around letters, as forms have them; None if it has none.

    OCR takes a letter in a box for a part of the box.
    """
    from PIL import ImageFilter
    from PIL.Image import Transpose

    stroke = max(_STROKE, max(picture.size) // _STROKES)
    ink = _contours(picture, _CONTRAST)
    rows, lengths = long_runs(ink, stroke)
    columns, heights = long_runs(ink.transpose(Transpose.TRANSPOSE), stroke)
    sides = [height for height in heights if height < _HIGHEST_BOX * stroke]
    # Large letters have strokes as high, but none as wide.
    if len(sides) < _FEW_BOXES or 2 * sum(lengths) < sum(sides):
        return None
    copy = picture.copy()
    for rules, (x, y) in (
        (rows, (0, _BESIDE)),
        (columns.transpose(Transpose.TRANSPOSE), (_BESIDE, 0)),
    ):
        # The contours are beside the rule.
        copy.paste(across(copy, x, y), mask=rules.filter(ImageFilter.MaxFilter(3)))
    return copy


def inked_columns(picture: Image) -> bytes:
    """Return for each column whether it has as much contrast as a letter."""
    from PIL import ImageFilter
    from PIL.Image import Resampling

    ink = letters_of(picture)
    return ink.filter(ImageFilter.MaxFilter(3)).resize((ink.width, 1), Resampling.BOX).tobytes()


def letters_of(picture: Image) -> Image:
    """Return where a picture has as much contrast as a letter."""
    low, high = picture.getextrema()
    paper = max(range(256), key=picture.histogram().__getitem__)
    faintest = (high - low) / 3  # type: ignore[operator]
    return picture.point([255 * (abs(shade - paper) > faintest) for shade in range(256)])


def long_runs(ink: Image, least: int) -> tuple[Image, list[int]]:
    """Return the runs of ink in rows of a minimum length, and their lengths."""
    import PIL.Image

    inked = ink.tobytes()
    runs, lengths = bytearray(len(inked)), []
    for run in re.finditer(b"\xff{%d,}" % least, inked):
        runs[run.start() : run.end()] = run[0]
        lengths.append(run.end() - run.start())
    return PIL.Image.frombytes("L", ink.size, bytes(runs)), lengths


def strong_ink(picture: Image, paper: int) -> Image:
    """Return where a picture differs from its paper about as much as its letters do."""
    from PIL import ImageFilter

    ink = picture.point([abs(shade - paper) for shade in range(256)])
    strongest = max(shade for shade, count in enumerate(ink.histogram()) if count)
    strong = ink.point([255 * (shade > _STRONG * strongest) for shade in range(256)])
    return strong.filter(ImageFilter.MaxFilter(5))


class Slope(NamedTuple):
    """The angle of lines that run across the page; 0 if there are none."""

    angle: int
    is_clearest: bool
    """True if no other angle puts as much ink on as few lines: upright lines are not left."""


def slope_of(picture: Image) -> Slope:
    """Return the angle with the clearest lines beyond a skew, such as the labels of a chart, on the
    page or on the part of it that has ink.
    """
    from PIL import ImageOps

    slope = _slope_of(picture)
    box = ImageOps.invert(picture).point([255 * (shade > _CONTRAST) for shade in range(256)])
    inked = picture.crop(box.getbbox())
    if slope.angle or 2 * inked.width * inked.height > picture.width * picture.height:
        return slope
    within = _slope_of(inked)
    return within if within.is_clearest else slope


def _slope_of(picture: Image) -> Slope:
    clearness = _clearness(picture, _SLOPES)
    clear = _LINED * sorted(clearness.values())[len(clearness) // 2]
    peaks = [
        angle
        for angle, each in clearness.items()
        if angle not in _SKEWS
        and each > clear
        and each == max(clearness.get(angle + turn, 0.0) for turn in _AROUND_PEAK)
    ]
    best = max(peaks, key=clearness.__getitem__, default=0)
    return Slope(best, bool(best) and clearness[best] == max(clearness.values()))


def skew_of(picture: Image) -> int:
    """Return the small angle that puts the most ink on the fewest lines; 0 if it is tiny."""
    clearness = _clearness(picture, _SKEWS)
    best = max(clearness, key=clearness.__getitem__)
    return best if abs(best) >= _LEAST_SKEW else 0


def _clearness(picture: Image, angles: Iterable[int]) -> dict[int, float]:
    """Return for each angle how much ink is on how few lines."""
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

    return {angle: clearness(angle) for angle in angles}
