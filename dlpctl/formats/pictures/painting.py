"""Words of pictures, and the shapes that are painted over them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

    from dlpctl.formats.interface import Document, Edit
    from dlpctl.formats.ocr.seen import Corners, Point

_MARGIN = 3


class PlacedWord(NamedTuple):
    """The frame of a word, and the word's position as in `SeenWord`."""

    frame: int
    line: str
    box: tuple[float, float, float, float]
    corners: Corners


def marked_shapes(document: Document, edits: Sequence[Edit]) -> dict[int, list[Corners]]:
    """Return the shapes to paint over on each frame: words, and the gaps between adjacent ones."""
    edited = {edit.segment for edit in edits}
    words: set[PlacedWord] = set()
    chosen: set[PlacedWord] = set()
    for number, segment in enumerate(document.segments):
        if isinstance(segment.anchor, PlacedWord):
            words.add(segment.anchor)
            if number in edited:
                chosen.add(segment.anchor)
    marked: dict[int, list[Corners]] = {}
    for word in chosen:
        marked.setdefault(word.frame, []).append(word.corners)
    ordered = sorted(words, key=lambda word: (word.frame, word.line, word.box))
    for left, right in pairwise(ordered):
        if left in chosen and right in chosen and _beside(left, right):
            (_, top, bottom, _), (next_top, _, _, next_bottom) = left.corners, right.corners
            marked[left.frame].append((top, next_top, next_bottom, bottom))
    return marked


def _beside(left: PlacedWord, right: PlacedWord) -> bool:
    """Return whether two words are on one line with little space between them."""
    height = right.box[3] - right.box[1]
    return (left.frame, left.line) == (right.frame, right.line) and (
        0 < right.box[0] - left.box[2] < 2 * height
    )


def _grown(corners: Corners) -> list[Point]:
    """Return the corners moved outwards by the margin of a mask."""
    (ax, ay), (bx, by), _, (dx, dy) = corners
    wide, high = max(math.hypot(bx - ax, by - ay), 1.0), max(math.hypot(dx - ax, dy - ay), 1.0)
    across = (bx - ax) / wide * _MARGIN, (by - ay) / wide * _MARGIN
    down = (dx - ax) / high * _MARGIN, (dy - ay) / high * _MARGIN
    return [
        (
            corner[0] + right * across[0] + low * down[0],
            corner[1] + right * across[1] + low * down[1],
        )
        for corner, right, low in zip(corners, (-1, 1, 1, -1), (-1, -1, 1, 1), strict=True)
    ]


def _shade(picture: Image, corners: Corners) -> str:
    """Return a color for a box like that around it: OCR reads a black bar as words."""
    if picture.mode in {"1", "CMYK"}:
        return "black"
    from PIL import ImageStat

    xs, ys = zip(*corners, strict=True)
    around = (int(min(xs)), int(min(ys)), math.ceil(max(xs)), math.ceil(max(ys)))
    light = ImageStat.Stat(picture.crop(around).convert("L")).median[0]
    return "#e4e4e4" if light > 127 else "#2c2c2c"


def paint(picture: Image, shapes: Sequence[Corners]) -> None:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    for corners in shapes:
        draw.polygon(_grown(corners), fill=_shade(picture, corners))
