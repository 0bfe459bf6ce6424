"""Tell which pictures of a canvas may show words, and why its shapes or glyphs may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.formats.pdf.fonts import UNKNOWN
from dlpctl.formats.pdf.pictures import size_of

if TYPE_CHECKING:
    from dlpctl.formats.pdf.canvas import CanvasText
    from dlpctl.formats.pdf.drawing import Picture

LEGIBLE_PIXELS = 12
"""A picture with a shorter side cannot show a line of text."""
_LEGIBLE_POINTS = 4.0
_FEW_CONTRADICTIONS = 2
"""The maximum number of characters on which a font's map and names may disagree by mistake."""
_OUTLINED = 60
"""The number of curves on a page without text that may be letters drawn as shapes."""


def legible_pictures(found: CanvasText) -> list[Picture]:
    """Return the pictures of a canvas that may show words."""
    return [each for each in found.drawing.pictures if _legible(each)]


def reason_to_look(found: CanvasText) -> str:
    """Return the reason why a canvas may show words that are not in its text; empty if none."""
    drawing = found.drawing
    if drawing.curves >= _OUTLINED and not any(show.glyphs for show in drawing.shows):
        return "drawn shapes that may be letters"
    if any(len(show.font.contradictions) >= _FEW_CONTRADICTIONS for show in drawing.shows):
        return "a font that contradicts itself about its characters"
    if any(UNKNOWN in show.text for show in drawing.shows):
        count = found.reader.unmapped()
        if count and count > 0.02 * len(found.raw):
            return f"{count} characters in a font that does not say what they mean"
    return ""


def _legible(picture: Picture) -> bool:
    image, matrix = picture.source, picture.matrix
    width = (matrix[0] ** 2 + matrix[1] ** 2) ** 0.5
    height = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5
    if min(width, height) < _LEGIBLE_POINTS:
        return False
    return image is None or min(size_of(image)) >= LEGIBLE_PIXELS
