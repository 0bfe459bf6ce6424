"""One pass of OCR: a picture as it is prepared, and the words that are read on it."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats import ocr
from dlpctl.formats.ocr.ink import strong_ink
from dlpctl.formats.ocr.lines import (
    CONFIDENT,
    LEAST_TEXT,
    confidence,
    file_of,
    paper_of,
    text_length,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word
    from dlpctl.formats.ocr.seen import Corners, Point

_LITTLE = 24
"""A small count of characters."""


class View(NamedTuple):
    """A picture as prepared for a pass."""

    picture: Image
    angle: float
    times: float


class Pass(NamedTuple):
    """The words of one pass, by line."""

    lines: list[list[Word]]
    angle: float
    size: tuple[int, int]
    """The size of the rotated picture."""
    times: float
    sideways: Pass | None = None
    """The lines that run downward, in a picture rotated once more."""

    def confident(self) -> list[list[Word]]:
        return [
            line
            for line in self.lines
            if confidence(line) >= CONFIDENT and text_length(line) >= LEAST_TEXT
        ]

    @property
    def score(self) -> int:
        return sum(map(text_length, self.confident()))

    @property
    def weight(self) -> float:
        """The number of characters, weighted by their confidence."""
        return sum(text_length(line) * confidence(line) for line in self.lines)

    @property
    def length(self) -> int:
        return max(_LITTLE, sum(map(text_length, self.lines)))


def read_views(views: Sequence[View], *, sparse: bool = False) -> list[Pass]:
    """Return a pass over each view, all of them in one run."""
    turned = [rotated(view.picture, view.angle) for view in views]
    shown = [_resized(picture, view.times) for picture, view in zip(turned, views, strict=True)]
    passes: list[Pass] = []
    found = ocr.words(file_of(shown), pages=len(shown), sparse=sparse)
    for words, picture, view in zip(found, turned, views, strict=True):
        lines: dict[str, list[Word]] = defaultdict(list)
        for word in words:
            lines[word.line].append(word)
        read = Pass(list(lines.values()), view.angle, picture.size, view.times)
        passes.append(_without_sideways(read))
    return passes


def _without_sideways(read: Pass) -> Pass:
    """Return a pass with the lines that run downward in a pass of their own.

    Tesseract reads them, too, but the start of such a word is not at its left.
    """
    downward = [line for line in read.lines if _is_downward(line)]
    if not downward:
        return read
    (wide, high), right = read.size, read.size[0] * read.times
    lines = [
        [
            word._replace(
                left=word.top,
                top=round(right) - word.left - word.width,
                width=word.height,
                height=word.width,
            )
            for word in line
        ]
        for line in downward
    ]
    return read._replace(
        lines=[line for line in read.lines if not _is_downward(line)],
        sideways=Pass(lines, read.angle + 90, (high, wide), read.times),
    )


def _is_downward(line: list[Word]) -> bool:
    wide, high = sum(word.width for word in line), sum(word.height for word in line)
    return text_length(line) >= LEAST_TEXT and high > 2 * wide


def _resized(picture: Image, times: float) -> Image:
    if times == 1:
        return picture
    from PIL.Image import Resampling

    size = round(picture.width * times), round(picture.height * times)
    return picture.resize(size, Resampling.LANCZOS)


def rotated(picture: Image, angle: float) -> Image:
    if not angle % 360:
        return picture
    from PIL.Image import Resampling

    return picture.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor=paper_of(picture))


def corners_of(found: Pass, word: Word, size: tuple[int, int], room: float = 0.0) -> Corners:
    """Return the corners of a word, with a margin, in the picture before its rotation."""
    sine, cosine = (each(math.radians(-found.angle)) for each in (math.sin, math.cos))

    def back(x: float, y: float) -> Point:
        x, y = x / found.times - found.size[0] / 2, y / found.times - found.size[1] / 2
        return x * cosine + y * sine + size[0] / 2, y * cosine - x * sine + size[1] / 2

    left, top = word.left - room, word.top - room
    right, bottom = word.left + word.width + room, word.top + word.height + room
    return back(left, top), back(right, top), back(right, bottom), back(left, bottom)


def without_lines(picture: Image, found: Pass, *, ink_only: bool = False) -> Image:
    """Return a copy without the lines that were read, filled with the shade around each word.

    `ink_only` leaves what is fainter than their letters.
    """
    from PIL import ImageStat

    copy = picture.copy()
    for line in found.confident():
        for word, following in zip(line, [*line[1:], None], strict=True):
            right = word.left + word.width
            if following is not None and 0 < following.left - right < 2 * word.height:
                right = following.left
            room = max(3.0 * found.times, word.height / 4)
            box = around(
                corners_of(found, word._replace(width=right - word.left), picture.size, room)
            )
            left, top, right, bottom = (round(each) for each in box)
            within = (
                max(left, 0),
                max(top, 0),
                min(right, picture.width),
                min(bottom, picture.height),
            )
            if within[0] < within[2] and within[1] < within[3]:
                part = picture.crop(within)
                paper = int(ImageStat.Stat(part).median[0])
                copy.paste(paper, within, strong_ink(part, paper) if ink_only else None)
    return copy


def around(corners: Iterable[Point]) -> tuple[float, float, float, float]:
    xs, ys = zip(*corners, strict=True)
    return min(xs), min(ys), max(xs), max(ys)
