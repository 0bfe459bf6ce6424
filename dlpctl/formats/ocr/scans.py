"""Scans on grainy paper, which OCR reads sooner and better without the grain, at half their size.

The grain counts as ink otherwise, on which OCR spends a minute.
"""

from __future__ import annotations

import math
import re
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from dlpctl.formats.ocr.ink import has_ink
from dlpctl.formats.ocr.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

    from dlpctl.formats.ocr.seen import Corners, SeenWord

_LARGE = 4_000_000
"""The pixels of a scan that has enough of them for OCR at half its size."""
_GRAIN_SHIFT, _MOST_GRAIN, _DEVIATIONS, _LEAST_PAPER = 3, 24, 3, 0.8
"""The distance of pixels that share no grain, the largest usual difference between them that is
grain, how many of these the shades of paper differ, and the share of a page that has them.
"""
_DIGITS = re.compile(r"[0-9][^0-9]?[0-9][^0-9]?[0-9]")
_LEAST_HEIGHT = 13
"""The height in pixels of a line below which OCR confuses digits."""


def without_grain(picture: Image) -> Image:
    """Return a picture of shades with an even paper; unchanged if it has no grain, or no ink left
    without it.
    """
    paper = _paper_of(picture)
    if not paper:
        return picture
    usual = max(paper, key=picture.histogram().__getitem__)
    even = picture.point([usual if shade in paper else shade for shade in range(256)])
    return even if has_ink(even) else picture


def halved(picture: Image) -> Image | None:
    """Return a large scan at half its size; None if it is small or has no grain."""
    if picture.width * picture.height <= _LARGE or not _paper_of(picture.convert("L")):
        return None
    return picture.reduce(2)


def _paper_of(picture: Image) -> range:
    """Return the shades of grainy paper; empty if a picture has none."""
    from PIL import ImageChops

    pixels = picture.width * picture.height
    # Lines and stripes differ across them only.
    grain = min(
        _median(ImageChops.difference(picture, ImageChops.offset(picture, *shift)).histogram())
        for shift in ((_GRAIN_SHIFT, 0), (0, _GRAIN_SHIFT))
    )
    shades = picture.histogram()
    usual, width = shades.index(max(shades)), _DEVIATIONS * grain
    paper = range(max(usual - width, 0), min(usual + width, 255) + 1)
    is_paper = sum(shades[shade] for shade in paper) >= _LEAST_PAPER * pixels
    return paper if 0 < grain <= _MOST_GRAIN and is_paper else range(0)


def _median(histogram: list[int]) -> int:
    below = list(accumulate(histogram))
    return next(value for value, count in enumerate(below) if 2 * count >= below[-1])


def read_at_half(picture: Image, read: Callable[[Image], Seen]) -> Seen | None:
    """Return what is read on a large scan at half its size; None if its other pixels may matter."""
    half = halved(picture)
    seen = None if half is None else read(half)
    if seen is None or seen.unread or _has_small_print(seen):
        return None
    words = [word._replace(corners=_doubled(word.corners)) for word in seen.words]
    return Seen(words, [])


def _doubled(corners: Corners) -> Corners:
    a, b, c, d = ((2 * x, 2 * y) for x, y in corners)
    return a, b, c, d


def _has_small_print(seen: Seen) -> bool:
    """Return whether any line with digits is too low for OCR to distinguish them."""
    lines = (list(words) for _, words in groupby(seen.words, key=lambda word: word.line))
    return any(
        max(map(_height_of, line)) < _LEAST_HEIGHT
        for line in lines
        if _DIGITS.search("".join(word.text for word in line))
    )


def _height_of(word: SeenWord) -> float:
    return math.dist(word.corners[0], word.corners[3])
