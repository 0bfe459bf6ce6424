"""Read words that are struck through without the rule.

OCR reads other letters with confidence otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.ocr.ink import DARK, RULE, across, letters_of, long_runs
from dlpctl.formats.ocr.lines import (
    MOST_LINES,
    box_of,
    is_long,
    joined,
    paper_of,
    read_again,
    text_of,
)
from dlpctl.formats.ocr.single_pass import Pass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word

_THICKEST, _CROSSED, _FEW = 8, range(20, 153), 2
"""The maximum thickness of a rule through letters, the shares in 255 of it that their strokes
cross, and the minimum number of its pieces that they cross.
"""
_THIN = 0.085
"""The maximum thickness of a rule in heights of letters that leaves the bars of digits."""


class Unstruck(NamedTuple):
    """A picture without the rules through its letters."""

    picture: Image
    thickness: int
    """The usual thickness of the rules."""


def without_strikes(picture: Image) -> Unstruck | None:
    """Return a picture without rules, dark on light; None if no rule crosses letters."""
    from PIL import ImageChops, ImageFilter, ImageOps
    from PIL.Image import Resampling, Transpose

    ink = letters_of(picture)
    rules, _ = long_runs(ink, RULE)
    _, heights = long_runs(rules.transpose(Transpose.TRANSPOSE), 1)
    thin = sorted(height for height in heights if height <= _THICKEST)
    if not thin:
        return None
    thickness = thin[len(thin) // 2]
    beside = thickness // 2 + 2
    through = ImageChops.darker(
        ImageChops.offset(ink, 0, beside), ImageChops.offset(ink, 0, -beside)
    )
    size = max(ink.width // RULE, 1), ink.height
    crossed = ImageChops.darker(through, rules).resize(size, Resampling.BOX)
    is_crossed = crossed.point([255 * (shade in _CROSSED) for shade in range(256)])
    is_rule = rules.resize(size, Resampling.BOX).point([0] * 230 + [255] * 26)
    if ImageChops.darker(is_crossed, is_rule).histogram()[255] < _FEW:
        return None
    copy = picture.copy() if paper_of(picture) >= DARK else ImageOps.invert(picture)
    copy.paste(across(copy, 0, beside), mask=rules.filter(ImageFilter.MaxFilter(3)))
    return Unstruck(copy, thickness)


def read_unstruck(
    unstruck: Unstruck | None, passes: Sequence[Pass]
) -> tuple[list[Pass], list[tuple[Pass, list[Word]]]]:
    """Return what is read again of the lines with digits that the last pass reads differently than
    those before it, and the lines whose digits may be others.
    """
    *others, found = passes
    known = {text_of(line) for each in others for line in each.lines}
    lines = [] if unstruck is None else [*_lines_with_digits(found, known)]
    if unstruck is None or not lines or len(lines) > MOST_LINES:
        return [], [(found, line) for line in lines]
    boxes = [(box_of(line, found.times), line) for line in lines]
    readings = read_again(unstruck.picture, boxes)
    misread = [
        (found, line)
        for line, read in zip(lines, readings, strict=True)
        if not read or unstruck.thickness * found.times > _THIN * joined(line).height
    ]
    return [Pass(read, 0.0, found.size, 1.0) for read in readings], misread


def _lines_with_digits(found: Pass, known: set[str]) -> Iterator[list[Word]]:
    for line in found.lines:
        text = text_of(line)
        if is_long(line) and text not in known and any(map(str.isdigit, text)):
            yield line
