"""Scans on grainy paper, which OCR reads sooner and better without the grain, at half their size.

The grain counts as ink otherwise, on which OCR spends a minute.
"""

from __future__ import annotations

import cmath
import math
import re
from bisect import bisect_right
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.ocr.ink import colored_ink, has_ink
from dlpctl.formats.ocr.lines import MOST_LINES, paper_of
from dlpctl.formats.ocr.seen import Corners, Point, Seen, SeenWord
from dlpctl.formats.ocr.single_pass import around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from PIL.Image import Image


_LARGE = 4_000_000
"""The pixels of a scan that has enough of them for OCR at half its size."""
_GRAIN_SHIFT, _MOST_GRAIN, _DEVIATIONS, _LEAST_PAPER = 3, 24, 3, 0.8
"""The distance of pixels that share no grain, the largest usual difference between them that is
grain, how many of these the shades of paper differ, and the share of a page that has them.
"""
_DIGITS = re.compile(r"[0-9][^0-9]?[0-9][^0-9]?[0-9]")
_LEAST_HEIGHT = 13
"""The height in pixels of a line below which OCR confuses digits."""
_ROOM, _LEAST_PAGE = 0.3, 2
"""The room around a line, in its heights, and the minimum size of a page of which only parts are
read, in sizes of these parts.
"""
_Box = tuple[int, int, int, int]


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
    """Return what is read on a large scan at half its size, and with all of its pixels where they
    may matter; None if that may be anywhere.
    """
    half = halved(picture)
    if half is None:
        return None
    seen = read(half)
    words = [word._replace(corners=_doubled(word.corners)) for word in seen.words]
    unread = [*map(_doubled, seen.unread)]
    areas = [*unread, *_small_print(words)]
    if not areas:
        return Seen(words, [])
    parts = None if colored_ink(half) else _parts(picture, areas)
    if parts is None:
        return None
    more = read(parts.picture)
    found = [
        word._replace(line=f"parts {word.line}", corners=parts.moved(word.corners))
        for word in more.words
    ]
    # The grain of all pixels may hide faint letters.
    hidden = [area for area in unread if not any(_is_in(word.corners, area) for word in found)]
    return Seen([*words, *found], [*hidden, *map(parts.moved, more.unread)])


def _is_in(corners: Corners, area: Corners) -> bool:
    """Return whether the middle of corners is in the box around an area."""
    left, top, right, bottom = around(area)
    x, y = (sum(each) / len(corners) for each in zip(*corners, strict=True))
    return left <= x <= right and top <= y <= bottom


def _doubled(corners: Corners) -> Corners:
    a, b, c, d = ((2 * x, 2 * y) for x, y in corners)
    return a, b, c, d


def _small_print(words: Iterable[SeenWord]) -> Iterator[Corners]:
    """Yield the areas of lines with digits that are too low for OCR to distinguish them."""
    for _, each in groupby(words, key=lambda word: word.line):
        line = list(each)
        is_low = max(map(_height_of, line)) < 2 * _LEAST_HEIGHT
        if is_low and _DIGITS.search("".join(word.text for word in line)):
            yield _around_line(line)


def _around_line(line: Sequence[SeenWord]) -> Corners:
    """Return the corners of a line in the direction of its first word."""
    (left, top), (right, bottom), *_ = line[0].corners
    along = cmath.rect(1, math.atan2(bottom - top, right - left))
    level = [complex(*point) / along for word in line for point in word.corners]
    left, top, right, bottom = around((point.real, point.imag) for point in level)
    box = (left, top), (right, top), (right, bottom), (left, bottom)
    a, b, c, d = (complex(*point) * along for point in box)
    return (a.real, a.imag), (b.real, b.imag), (c.real, c.imag), (d.real, d.imag)


class _Parts(NamedTuple):
    """Parts of a picture, one below the other."""

    picture: Image
    tops: list[int]
    """The tops of the parts in this picture."""
    shifts: list[Point]
    """The distance of each part from where it was."""

    def moved(self, corners: Corners) -> Corners:
        """Return where corners in this picture were."""
        middle = sum(y for _, y in corners) / len(corners)
        x_shift, y_shift = self.shifts[max(bisect_right(self.tops, middle) - 1, 0)]
        a, b, c, d = ((x + x_shift, y + y_shift) for x, y in corners)
        return a, b, c, d


def _parts(picture: Image, areas: Sequence[Corners]) -> _Parts | None:
    """Return the ink of areas of a picture, apart from each other; None if they are as large as
    the picture.
    """
    import PIL.Image
    from PIL import ImageDraw

    if len(areas) > MOST_LINES:
        return None
    even = without_grain(picture.convert("L"))
    paper = paper_of(even)
    beside = PIL.Image.new("L", even.size, 255)
    draw = ImageDraw.Draw(beside)
    boxes: list[_Box] = []
    for corners in areas:
        a, b, c, _ = corners
        room = math.ceil(_ROOM * min(math.dist(a, b), math.dist(b, c)))
        draw.polygon(corners, 0)
        draw.line([*corners, a, b], 0, 2 * room)
        left, top, right, bottom = map(round, around(corners))
        boxes.append((left - room, top - room, right + room, bottom + room))
    even.paste(paper, mask=beside)
    boxes = _apart(boxes)
    width = max(right - left for left, _, right, _ in boxes)
    height = sum(2 * (bottom - top) for _, top, _, bottom in boxes)
    if _LEAST_PAGE * width * height > even.width * even.height:
        return None
    parts = _Parts(PIL.Image.new("L", (width, height), paper), [], [])
    at = 0
    for left, top, right, bottom in boxes:
        high = bottom - top
        start = at + high // 2
        parts.picture.paste(even.crop((left, top, right, bottom)), (0, start))
        parts.tops.append(at)
        parts.shifts.append((left, top - start))
        at += 2 * high
    return parts


def _apart(boxes: Iterable[_Box]) -> list[_Box]:
    """Return boxes that do not overlap around the boxes."""
    apart: list[_Box] = []
    for box in boxes:
        each, rest = box, apart
        while True:
            overlapping = [other for other in rest if _overlap(each, other)]
            if not overlapping:
                break
            rest = [other for other in rest if other not in overlapping]
            lefts, tops, rights, bottoms = zip(each, *overlapping, strict=True)
            each = min(lefts), min(tops), max(rights), max(bottoms)
        apart = [*rest, each]
    return apart


def _overlap(box: _Box, other: _Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _height_of(word: SeenWord) -> float:
    return math.dist(word.corners[0], word.corners[3])
