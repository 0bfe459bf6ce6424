"""Read the QR codes and bar codes of a picture, whose texts any telephone shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

Point = tuple[float, float]


class Code(NamedTuple):
    """The text of a code, and its corners, clockwise from its top left."""

    text: str
    corners: tuple[Point, Point, Point, Point]


def codes(picture: Image) -> list[Code]:
    """Return the codes of a grayscale picture."""
    import zxingcpp

    found = zxingcpp.read_barcodes(picture, text_mode=zxingcpp.TextMode.Plain)
    return [Code(code.text, _corners(code.position)) for code in found if code.text]


def _corners(position: Any) -> tuple[Point, Point, Point, Point]:
    corners = position.top_left, position.top_right, position.bottom_right, position.bottom_left
    first, second, third, fourth = ((float(each.x), float(each.y)) for each in corners)
    return first, second, third, fourth
