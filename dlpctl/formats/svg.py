"""SVG: texts by position, and shapes that may be letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from operator import add
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.interface import (
    LIKE_LETTERS,
    Child,
    Children,
    Document,
    Edits,
    Limits,
    Uninspected,
)
from dlpctl.formats.markup import Xml
from dlpctl.formats.placed import PlacedText
from dlpctl.formats.source import Resolved, blanked, outermost
from dlpctl.formats.svgcodes import Box, drawn_codes
from dlpctl.formats.svgletters import (
    DrawnShape,
    UnknownPlaceError,
    pictures_of,
    shapes_of,
    sizes_apart,
    usual_size,
)
from dlpctl.formats.svgpaths import COMMAND, NUMBER, Point, spans_of_coordinates, steps
from dlpctl.regex import lazy

_ROOT = lazy(
    rb"(?:\s|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>)*"
    rb"<(?:\w+:)?svg[\s>]",
    re.DOTALL,
)
_ELEMENT = lazy(r"<(?:\w+:)?(\w+)\b([^<>]*)")
_ATTRIBUTE = lazy(r"""\s([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_MOVED = lazy(r"translate\(([^()]*)\)|matrix\(([^()]*)\)")
_SIZE = lazy(r"""font-size\s*[:=]\s*["']?([0-9]{1,4}(?:\.[0-9]{1,9})?)""")
_USUAL_SIZE = 16.0
_LETTERS, _SHAPES = 8, 5
"""So many shapes beside each other, of so many kinds, look like a line of letters."""
_MOST_SHAPES = 20_000
_TOO_MANY = f"only its first {_MOST_SHAPES:,} elements were searched for shapes like letters"
_CODE, _DRAWN_LETTERS = "code ", "letters "
_DRAWN = {_CODE: "a code that is", _DRAWN_LETTERS: "letters that are"}
"""The start of the keys of what is drawn, as files within the drawing."""


class _Shape(NamedTuple):
    """The box of a shape, and the outline that distinguishes it."""

    left: float
    top: float
    right: float
    bottom: float
    outline: str


class Svg(Xml):
    name = "svg"
    extensions = (".svg",)
    rank = 69

    def sniff(self, head: bytes, name: str) -> bool:
        return _ROOT.match(head.replace(b"\0", b"")) is not None

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = super().extract(data, limits, password)
        source = self.decoded(data).text
        if next(islice(_ELEMENT.finditer(source), _MOST_SHAPES + 1, None), None):
            document.uninspected.append(Uninspected("drawing", _TOO_MANY))
        if _has_line_of_letters(list(_shapes(source))):
            pictures = _letters(source)
            if pictures is None:
                document.uninspected.append(Uninspected("drawing", LIKE_LETTERS))
            document.children += (
                Child(f"{_DRAWN_LETTERS}{number}", f"letters {number}.png", picture)
                for number, picture in enumerate(pictures or (), 1)
            )
        for number, text in enumerate(drawn_codes(_boxes(source)), 1):
            document.children.append(Child(f"{_CODE}{number}", f"code {number}.txt", text.encode()))
        return document

    def resolve(self, source: str) -> Iterable[Resolved]:
        """Yield coordinates as spaces, too."""
        paths = (blanked(*span) for span in spans_of_coordinates(source))
        return outermost(paths, super().resolve(source))

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        for start, what in _DRAWN.items():
            if any(key.startswith(start) for key in children):
                raise CannotMaskError(f"{what} drawn cannot be masked: save it as PNG")
        others = [child for child in document.children if not child.key.startswith((*_DRAWN,))]
        return super().mask(data, replace(document, children=others), edits, children)

    def placed_texts(self, source: str) -> Iterator[PlacedText]:
        x = y = 0.0
        size = _USUAL_SIZE
        for part, start, end in self._parts(source):
            if part == "tag" and (found := _ELEMENT.match(source, start)):
                given = _attributes(found[2])
                if sized := _SIZE.search(found[2]):
                    size = float(sized[1])
                if found[1] == "text":
                    x, y = _translation(given)
                for key in ("x", "y"):
                    number = NUMBER.search(given.get(key, "")) if found[1] != "image" else None
                    if number is not None and key == "x":
                        x = float(number[0])
                    elif number is not None:
                        y = float(number[0])
            elif part in {"text", "cdata"} and source[start:end].strip():
                yield PlacedText(start, end, x, y, size)


def _attributes(text: str) -> dict[str, str]:
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(text)}


def _translation(given: dict[str, str]) -> tuple[float, float]:
    """Return where an element is moved to."""
    found = _MOVED.search(given.get("transform", ""))
    numbers = [float(each) for each in NUMBER.findall(found[1] or found[2])] if found else []
    across, down = [*numbers[-2:], 0.0, 0.0][:2]
    return across, down


def _shapes(source: str) -> Iterator[_Shape]:
    """Return the closed shapes of a drawing, and the glyphs that it uses."""
    for count, found in enumerate(_ELEMENT.finditer(source)):
        if count > _MOST_SHAPES:
            return
        given = _attributes(found[2])
        if found[1] == "use":
            x, y = (float(given.get(key) or 0) for key in "xy" if _is_number(given.get(key) or "0"))
            yield _Shape(x, y - 1.0, x, y, given.get("xlink:href", given.get("href", "")))
        elif found[1] == "path":
            x, y = _translation(given)
            for shape in _subpaths(given.get("d", "")):
                yield shape._replace(
                    left=shape.left + x,
                    right=shape.right + x,
                    top=shape.top + y,
                    bottom=shape.bottom + y,
                )


def _boxes(source: str) -> Iterator[Box]:
    """Yield the boxes of rectangles, of the parts of paths, and of thick lines across."""
    sizes: dict[str, Box] = {}
    for count, found in enumerate(_ELEMENT.finditer(source)):
        if count > _MOST_SHAPES:
            return
        given = _attributes(found[2])
        left, top = _translation(given)
        if found[1] in {"rect", "use"}:
            numbers = [NUMBER.search(given.get(key, "")) for key in ("x", "y", "width", "height")]
            x, y, width, height = (float(each[0]) if each else 0.0 for each in numbers)
            box = Box(left + x, top + y, left + x + width, top + y + height)
            if found[1] == "use":
                reference = given.get("xlink:href", given.get("href", "")).removeprefix("#")
                used = sizes.get(reference, Box(0.0, 0.0, 0.0, 0.0))
                box = Box(*map(add, used, (box.left, box.top) * 2))
            sizes.setdefault(given.get("id", ""), box)
            yield box
        elif found[1] == "path":
            path, stroke = given.get("d", ""), NUMBER.search(given.get("stroke-width", ""))
            closed = [Box(*shape[:4]) for shape in _subpaths(path)]
            for part in closed or _thick_lines(path, float(stroke[0]) if stroke else 1.0):
                yield Box(*map(add, part, (left, top) * 2))


def _thick_lines(path: str, width: float) -> Iterator[Box]:
    """Yield the boxes of lines across, by which rows of squares are drawn."""
    x = y = 0.0
    for command, operands in COMMAND.findall(path):
        numbers = [float(each) for each in NUMBER.findall(operands)]
        base = (x, y) if command.islower() else (0.0, 0.0)
        if command in "hH":
            for number in numbers:
                end = base[0] + number
                yield Box(min(x, end), y - width / 2, max(x, end), y + width / 2)
                x = end
        elif command in "vV" and numbers:
            y = base[1] + numbers[-1]
        elif len(numbers) > 1:
            x, y = base[0] + numbers[-2], base[1] + numbers[-1]


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def _subpaths(path: str) -> Iterator[_Shape]:
    """Return the parts of a path that are closed and have curves or corners enough for letters."""
    points: list[Point] = []
    outline = ""
    for letter, reached, _ in steps(path):
        if letter == "z":
            if len(points) > 2:
                yield _Shape(*_box_of(points), outline)
            points, outline = [], ""
        else:
            outline += letter
            points = [] if letter == "m" else points
            points += reached


def _box_of(points: list[Point]) -> tuple[float, float, float, float]:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _letters(source: str) -> list[bytes] | None:
    """Return pictures of the shapes that may be letters; None if they may lack some of them."""
    try:
        shapes = shapes_of(source, _MOST_SHAPES)
    except UnknownPlaceError:
        return None
    if len({shape.angle for shape in shapes}) == 1 and not _has_line_of_letters(_parts(shapes)):
        return []
    if len(shapes) < _LETTERS:
        return None
    usual = usual_size(shapes)
    fitting, *others = sizes_apart(shapes, usual)
    if any(_has_line_of_letters(_as_shapes(each)) for each in others):
        return None
    return pictures_of(fitting, usual) if usual else None


def _as_shapes(drawn: list[DrawnShape]) -> list[_Shape]:
    return [
        _Shape(each.left, each.top, each.right, each.bottom, str([*map(len, each.contours)]))
        for each in drawn
    ]


def _parts(drawn: list[DrawnShape]) -> list[_Shape]:
    return [
        _Shape(*_box_of(contour), str(len(contour))) for each in drawn for contour in each.contours
    ]


def _has_line_of_letters(shapes: list[_Shape]) -> bool:
    """Return whether shapes of different outlines follow each other at one height."""
    line: list[_Shape] = []
    for shape in shapes:
        if line and not _follows(line[-1], shape):
            line = []
        line.append(shape)
        if len(line) >= _LETTERS and len({each.outline for each in line}) >= _SHAPES:
            return True
    return False


def _follows(shape: _Shape, following: _Shape) -> bool:
    """Return whether a shape may be the letter after another one, or a hole in it."""
    high, other_high = shape.bottom - shape.top, following.bottom - following.top
    larger = max(high, other_high)
    return (
        abs(shape.bottom - following.bottom) < 0.5 * larger
        and 0 < larger < 8 * max(min(high, other_high), 1e-9)
        and -2 * larger
        < following.left - shape.right
        < (30 if shape.left == shape.right else 2 * larger)
        and max(shape.right - shape.left, following.right - following.left) < 2.5 * larger
    )


FORMAT = Svg()
