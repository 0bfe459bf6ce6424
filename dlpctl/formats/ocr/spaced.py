"""Read lines of letters far from each other, as in the boxes of a form, with the letters together.

OCR reads such letters one by one, and takes a seven for `/7` or leaves a letter out.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats import ocr
from dlpctl.formats.ocr.ink import inked_columns
from dlpctl.formats.ocr.lines import (
    HEIGHTS,
    MOST_LINES,
    Box,
    agreed,
    crop_of,
    file_of,
    moved,
    paper_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word

_APART, _FAR, _GROUPS_APART = 0.4, 3.0, 1.5
"""The minimum and maximum gap between spaced letters, in their heights, and the minimum gap between
groups, in gaps.
"""
_CLOSE, _GROUPS_CLOSE = 0.15, 0.6
"""The gaps that are left of these, in heights of letters."""
_FEWEST = 4


class _Line(NamedTuple):
    """A line whose letters were moved together."""

    picture: Image
    origin: tuple[int, int]
    columns: list[int]
    """For each column, the column of the crop that it was."""


def read_spaced(picture: Image, boxes: Sequence[Box]) -> list[list[list[Word]] | None]:
    """Return the readings of each line on which OCR agrees; None for lines that are not spaced."""
    together = [_together(picture, box) for box in boxes]
    lines = [line for line in together if line is not None]
    readings = iter(_read(lines[:MOST_LINES]) + [[] for _ in lines[MOST_LINES:]])
    return [None if line is None else next(readings) for line in together]


def _read(lines: Sequence[_Line]) -> list[list[list[Word]]]:
    if not lines:
        return []
    crops = [
        crop_of(
            line.picture,
            (0.0, 0.0, float(line.picture.width), float(line.picture.height)),
            height,
            room=False,
        )
        for line in lines
        for height in HEIGHTS
    ]
    found = ocr.line_words(file_of([crop for crop, _, _ in crops]), pages=len(crops))
    readings = iter(zip(found, crops, strict=True))
    return [
        agreed(
            [
                [_apart(moved(word, origin, times), line) for word in words]
                for words, (_, origin, times) in (next(readings) for _ in HEIGHTS)
            ],
        )
        for line in lines
    ]


def _together(picture: Image, box: Box) -> _Line | None:
    """Return a line with its letters moved together; None if they are not apart."""
    import PIL.Image

    left, top, right, bottom = box
    height = bottom - top
    within = (
        max(math.floor(left - height), 0),
        max(math.floor(top - height / 4), 0),
        min(math.ceil(right + height), picture.width),
        min(math.ceil(bottom + height / 4), picture.height),
    )
    crop = picture.crop(within)
    inked = [number for number, ink in enumerate(inked_columns(crop)) if ink]
    gaps = [after - before - 1 for before, after in pairwise(inked)]
    apart = [gap for gap in gaps if _APART * height < gap <= _FAR * height]
    if len(apart) < _FEWEST or 2 * len(apart) < sum(gap > 0 for gap in gaps):
        return None
    widest = _GROUPS_APART * median(apart)
    starts, ends = [inked[0]], []
    for before, gap in zip(inked, gaps, strict=False):
        if gap > _APART * height:
            close = round((_CLOSE if gap <= widest else _GROUPS_CLOSE) * height)
            ends.append(before + 1)
            starts.append(before + 1 + gap - min(gap, close))
    ends.append(inked[-1] + 1)
    columns = [column for span in zip(starts, ends, strict=True) for column in range(*span)]
    line = PIL.Image.new("L", (len(columns), crop.height), paper_of(crop))
    at = 0
    for start, end in zip(starts, ends, strict=True):
        line.paste(crop.crop((start, 0, end, crop.height)), (at, 0))
        at += end - start
    return _Line(line, within[:2], columns)


def _apart(word: Word, line: _Line) -> Word:
    """Return a word at its place in the picture."""
    last = len(line.columns) - 1
    first = line.columns[min(max(word.left, 0), last)]
    end = line.columns[min(max(word.left + word.width - 1, 0), last)] + 1
    left, top = line.origin
    return word._replace(left=left + first, top=top + word.top, width=max(end - first, 1))
