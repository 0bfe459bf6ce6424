"""Scans on grainy paper, which OCR reads sooner and better without the grain, at half their size.

The grain counts as ink otherwise, on which OCR spends a minute.
"""

from __future__ import annotations

import math
import re
from itertools import groupby
from typing import TYPE_CHECKING

from dlpctl.formats.ocr.seen import Seen

if TYPE_CHECKING:
    from PIL.Image import Image

    from dlpctl.formats.ocr.seen import Corners, SeenWord

_LARGE = 4_000_000
"""The pixels of a scan that has enough of them for OCR at half its size."""
_GRAIN_SHIFT, _DEVIATIONS, _LEAST_PAPER = 3, 3, 0.6
"""The distance of pixels that share no grain, the typical differences between them that are grain,
and the share of a page within which that is paper.
"""
_HIGH = re.compile(r"[0-9A-Zbdfhkl@]")
_LEAST_HEIGHT = 13
"""The height in pixels of a line with high letters below which OCR confuses digits."""


def without_grain(picture: Image) -> Image:
    """Return a picture of shades with an even paper; unchanged if it has no paper or no grain."""
    paper = _paper_of(picture)
    return picture.point([paper[0] if shade in paper else shade for shade in range(256)])


def halved(picture: Image) -> Image | None:
    """Return a large scan at half its size; None if it is small, has no grain or no paper."""
    if picture.width * picture.height <= _LARGE or len(_paper_of(picture.convert("L"))) < 2:
        return None
    return picture.reduce(2)


def _paper_of(picture: Image) -> list[int]:
    """Return the shades of the paper, the most frequent one first."""
    from PIL import ImageChops

    pixels = picture.width * picture.height
    beside = ImageChops.offset(picture, _GRAIN_SHIFT)
    differences = ImageChops.difference(picture, beside).histogram()
    below, grain = differences[0], 0
    while 2 * below < pixels:
        grain += 1
        below += differences[grain]
    shades = picture.histogram()
    paper = max(range(256), key=shades.__getitem__)
    width = _DEVIATIONS * grain
    band = range(max(paper - width, 0), min(paper + width, 255) + 1)
    if sum(shades[shade] for shade in band) < _LEAST_PAPER * pixels:
        return [paper]
    return [paper, *band]


def doubled(seen: Seen) -> Seen:
    """Return what was read at half the size of a picture with corners in the picture."""

    def in_picture(corners: Corners) -> Corners:
        a, b, c, d = ((2 * x, 2 * y) for x, y in corners)
        return a, b, c, d

    words = [word._replace(corners=in_picture(word.corners)) for word in seen.words]
    return Seen(words, [in_picture(corners) for corners in seen.unread])


def has_small_print(seen: Seen) -> bool:
    """Return whether any line is too low for OCR to tell its digits apart."""
    lines = (list(words) for _, words in groupby(seen.words, key=lambda word: word.line))
    return any(
        max(map(_height_of, line)) < _LEAST_HEIGHT
        for line in lines
        if _HIGH.search("".join(word.text for word in line))
    )


def _height_of(word: SeenWord) -> float:
    return math.dist(word.corners[0], word.corners[3])
