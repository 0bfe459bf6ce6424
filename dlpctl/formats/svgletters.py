"""The shapes of an SVG as a picture, so that OCR reads the letters among them.

Each closed shape is black on white, whatever its color, order and visibility, so that no letter is
hidden. What is too large for a letter is left out, and what may be under letters is an outline.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats.svgpaths import Contour, Point, contours, numbers_of
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from PIL.Image import Image

_TAG = lazy(r"<(/?)(?:\w+:)?(\w+)\b([^<>]*)")
_ATTRIBUTE = lazy(r"""\s([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_FUNCTION = lazy(r"(\w+)\s*\(([^()]*)\)")
_ELSEWHERE = lazy(
    r"(?s)(?<!text-)\btransform(?:-origin)?\s*:|<(?:\w+:)?symbol\b[^<>]*viewBox|<(?:\w+:)?svg\b.*<(?:\w+:)?svg\b"
)
"""Transformations that this module does not follow."""
_NOT_SHOWN = frozenset(("defs", "symbol"))
_SHOWN = frozenset(("clippath", "mask", "pattern", "marker"))
"""Elements whose shapes appear, even if a definition holds them."""
_NAMED = 3
"""The elements around a path that others may use by name."""
_HEIGHT, _MARGIN = 36.0, 40
"""The size of letters and the margin in the picture, in pixels."""
_TOO_LARGE, _TOO_SMALL = 5.0, 0.25
"""The sizes of shapes that are no letters, in sizes of the usual one."""
_SOLID = 0.77
"""The share of its box that a shape fills if it may be under letters."""
_MOST_ANGLES, _MOST_POINTS, _MOST_PIXELS = 6, 1 << 19, 24_000_000
Matrix = tuple[float, float, float, float, float, float]
_UNMOVED: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class DrawnShape(NamedTuple):
    """A shape at its place in the drawing, which is turned so that the shape is upright."""

    angle: int
    contours: list[Contour]
    left: float
    top: float
    right: float
    bottom: float

    @property
    def size(self) -> float:
        return max(self.right - self.left, self.bottom - self.top)

    def may_hide(self, usual: float) -> bool:
        """Return whether letters may be drawn over the shape."""
        width, height = self.right - self.left, self.bottom - self.top
        if len(self.contours) > 1 or min(width, height) < 0.5 * usual:
            return False
        return _area(self.contours[0]) > _SOLID * width * height


class _Open(NamedTuple):
    """An element that is open; `is_shown` counts those around it."""

    name: str
    identifier: str
    own: Matrix
    matrix: Matrix
    is_shown: bool


class _Found(NamedTuple):
    """A path, or the use of a named element, with the next elements around it."""

    around: Sequence[_Open]
    matrix: Matrix
    contours: list[Contour]
    reference: str


class UnknownPlaceError(ValueError):
    """Shapes are at places that this module does not know."""


def shapes_of(source: str, most: int) -> list[DrawnShape]:
    """Return the closed shapes of a drawing; raise `UnknownPlaceError` without their places."""
    if _ELSEWHERE.search(source):
        raise UnknownPlaceError
    named: dict[str, list[tuple[Matrix, list[Contour]]]] = {}
    found = list(_elements(source, most))
    for each in found:
        matrix = _UNMOVED
        for element in reversed(each.around):
            matrix = _product(element.own, matrix)
            if element.identifier and each.contours:
                named.setdefault(element.identifier, []).append((matrix, each.contours))
    shapes: list[DrawnShape] = []
    count = 0
    for each in found:
        if not each.around[-1].is_shown:
            continue
        drawn = [(_UNMOVED, each.contours)] if each.contours else named.get(each.reference, [])
        for inner, outline in drawn:
            count += sum(map(len, outline))
            if count > _MOST_POINTS:
                raise UnknownPlaceError
            if outline:
                shapes.append(_placed(outline, _product(each.matrix, inner)))
    return shapes


def _elements(source: str, most: int) -> Iterator[_Found]:
    opened: list[_Open] = []
    for end, name, rest in islice(_tags(source), most):
        if end:
            while opened and opened.pop().name != name:
                pass
            continue
        given = {key: double or single for key, double, single in _ATTRIBUTE.findall(rest)}
        own = _matrix(given.get("transform", ""))
        outer, shown = (opened[-1].matrix, opened[-1].is_shown) if opened else (_UNMOVED, True)
        shown = name.lower() in _SHOWN or (shown and name.lower() not in _NOT_SHOWN)
        element = _Open(name, given.get("id", ""), own, _product(outer, own), shown)
        around = [*opened[1 - _NAMED :], element]
        if name == "path":
            yield _Found(around, element.matrix, list(contours(given.get("d", ""))), "")
        elif name == "use":
            reference = given.get("xlink:href", given.get("href", "")).removeprefix("#")
            x, y = (next(iter(numbers_of(given.get(key, ""))), 0.0) for key in "xy")
            moved = _product(element.matrix, (1.0, 0.0, 0.0, 1.0, x, y))
            yield _Found(around, moved, [], reference)
        if not rest.endswith("/"):
            opened.append(element)


def _tags(source: str) -> Iterator[tuple[str, str, str]]:
    for found in _TAG.finditer(source):
        yield found[1], found[2], found[3]


def _matrix(text: str) -> Matrix:
    matrix = _UNMOVED
    for name, operands in _FUNCTION.findall(text):
        numbers = numbers_of(operands)
        if name == "translate" and numbers:
            each: Matrix = (1.0, 0.0, 0.0, 1.0, numbers[0], [*numbers, 0.0][1])
        elif name == "scale" and numbers:
            each = (numbers[0], 0.0, 0.0, numbers[-1], 0.0, 0.0)
        elif name == "rotate" and numbers:
            each = _turned(*[*numbers, 0.0, 0.0][:3])
        elif name == "matrix" and len(numbers) == len(_UNMOVED):
            a, b, c, d, e, f = numbers
            each = (a, b, c, d, e, f)
        else:
            raise UnknownPlaceError
        matrix = _product(matrix, each)
    return matrix


def _turned(degrees: float, x: float, y: float) -> Matrix:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y


def _product(outer: Matrix, inner: Matrix) -> Matrix:
    if inner == _UNMOVED:
        return outer
    a, b, c, d, e, f = inner
    (x, y), (p, q), (r, s) = (_moved(outer, point) for point in ((0, 0), (a, b), (c, d)))
    return (p - x, q - y, r - x, s - y, *_moved(outer, (e, f)))


def _moved(matrix: Matrix, point: Point) -> Point:
    a, b, c, d, e, f = matrix
    x, y = point
    return a * x + c * y + e, b * x + d * y + f


def _placed(outline: list[Contour], matrix: Matrix) -> DrawnShape:
    angle = round(math.degrees(math.atan2(matrix[1], matrix[0]))) % 360
    upright = _product(_turned(-angle, 0.0, 0.0), matrix) if angle else matrix
    placed = [[_moved(upright, point) for point in contour] for contour in outline]
    xs, ys = zip(*(point for contour in placed for point in contour), strict=True)
    if not math.isfinite(sum(xs) + sum(ys)):
        raise UnknownPlaceError
    return DrawnShape(angle, placed, min(xs), min(ys), max(xs), max(ys))


def _area(contour: Contour) -> float:
    pairs = zip(contour, [*contour[1:], contour[0]], strict=True)
    return abs(sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in pairs)) / 2


def usual_size(shapes: Sequence[DrawnShape]) -> float:
    """Return the usual size of the shapes, which is that of letters if most of them are."""
    return median(shape.size for shape in shapes)


def sizes_apart(shapes: Sequence[DrawnShape], usual: float) -> tuple[list[DrawnShape], ...]:
    """Return the shapes that are as large as letters, and those that are smaller or larger."""
    fitting = [each for each in shapes if each.size <= _TOO_LARGE * usual]
    others = [each for each in shapes if each.size > _TOO_LARGE * usual]
    tiny = [each for each in fitting if each.size < _TOO_SMALL * usual]
    return fitting, tiny, others


def pictures_of(shapes: Sequence[DrawnShape], usual: float) -> list[bytes] | None:
    """Return pictures of the shapes as PNG, one for each angle; None if they would be too large."""
    by_angle: dict[int, list[DrawnShape]] = {}
    for shape in shapes:
        by_angle.setdefault(shape.angle, []).append(shape)
    if len(by_angle) > _MOST_ANGLES:
        return None
    pictures = [_picture_of(each, usual) for each in by_angle.values()]
    return None if None in pictures else [each for each in pictures if each is not None]


def _picture_of(shapes: Sequence[DrawnShape], usual: float) -> bytes | None:
    from PIL import Image as Images

    scale = _HEIGHT / usual
    left, top = min(each.left for each in shapes), min(each.top for each in shapes)
    right, bottom = max(each.right for each in shapes), max(each.bottom for each in shapes)
    width, height = (int(length * scale) + 2 * _MARGIN for length in (right - left, bottom - top))
    if width * height > _MOST_PIXELS:
        return None
    image = Images.new("L", (width, height), 255)
    for shape in shapes:
        _draw(image, shape, scale, (left, top), is_outline=shape.may_hide(usual))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def _draw(
    image: Image, shape: DrawnShape, scale: float, origin: Point, *, is_outline: bool
) -> None:
    from PIL import Image as Images
    from PIL import ImageChops, ImageDraw

    left, top = (
        int((at - zero) * scale) for at, zero in zip((shape.left, shape.top), origin, strict=True)
    )
    size = int((shape.right - shape.left) * scale) + 3, int((shape.bottom - shape.top) * scale) + 3
    ink = Images.new("1", size)
    for contour in shape.contours:
        points = [
            ((x - origin[0]) * scale - left, (y - origin[1]) * scale - top) for x, y in contour
        ]
        layer = Images.new("1", size)
        ImageDraw.Draw(layer).polygon(points, fill=None if is_outline else 1, outline=1)
        ink = ImageChops.logical_xor(ink, layer)
    image.paste(0, (left + _MARGIN, top + _MARGIN), ink)
