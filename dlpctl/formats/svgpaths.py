"""The paths of SVG: their steps, and the closed contours that they draw."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from dlpctl.regex import lazy

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
NUMBER = lazy(_NUMBER)
COMMAND = lazy(r"([MmLlHhVvCcSsQqTtAaZz])([^A-Za-z]*(?:[eE][-+]?[0-9][^A-Za-z]*)*)")
_OPERANDS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7}
_PATH = lazy(r"""\sd\s*=\s*(?:"([^"<>&]*)"|'([^'<>&]*)')""")
_ONLY_STEPS = lazy(r"[MmLlHhVvCcSsQqTtAaZz0-9\s,.eE+-]*")
_PAIRS = lazy(rf"(?:\s*{NUMBER.pattern},{NUMBER.pattern}(?=\s|$))+\s*")
_PAIRS = lazy(rf"(?:\s*{_NUMBER},{_NUMBER}(?=\s|$))*\s*")
_FINENESS = 6
"""The lines that draw a curve."""
Point = tuple[float, float]
Contour = list[Point]


class Step(NamedTuple):
    """A command of a path with one set of operands."""

    letter: str
    points: Contour
    """The points that a curve bends to, and the last one, where the step ends."""
    operands: list[float]


def spans_of_coordinates(source: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of paths that are only steps, each with its number of operands or with points
    as `x,y`.

    Their numbers are no values; others may be written between the steps of a path.
    """
    for found in _PATH.finditer(source):
        start, end = found.span(found.lastindex or 0)
        if _ONLY_STEPS.fullmatch(source, start, end) and all(
            len(numbers_of(operands)) == _OPERANDS.get(command.lower(), 0)
            or _PAIRS.fullmatch(operands)
            for command, operands in COMMAND.findall(source, start, end)
        ):
            yield start, end


def numbers_of(text: str) -> list[float]:
    return [float(each) for each in NUMBER.findall(text)]


def steps(path: str) -> Iterator[Step]:
    """Yield the steps of a path; further points after a start are lines."""
    x = y = 0.0
    start = x, y
    for command, operands in COMMAND.findall(path):
        letter = command.lower()
        if letter == "z":
            x, y = start
            yield Step(letter, [start], [])
            continue
        numbers, size = numbers_of(operands), _OPERANDS[letter]
        for at in range(0, len(numbers) - size + 1, size):
            given = numbers[at : at + size]
            across, down = (x, y) if command.islower() else (0.0, 0.0)
            if letter == "h":
                points = [(across + given[0], y)]
            elif letter == "v":
                points = [(x, down + given[0])]
            else:
                pairs = given[-2:] if letter == "a" else given
                points = [
                    (across + right, down + below)
                    for right, below in zip(pairs[::2], pairs[1::2], strict=True)
                ]
            x, y = points[-1]
            if letter == "m" and not at:
                start = x, y
            yield Step("l" if letter == "m" and at else letter, points, given)


def contours(path: str) -> Iterator[Contour]:
    """Yield the closed contours of a path, with lines for its curves."""
    contour: Contour = []
    for step in steps(path):
        if step.letter == "z":
            if len(contour) > 2:
                yield contour
            contour = step.points
        elif step.letter == "m":
            contour = step.points
        elif contour:
            contour += _flattened(contour[-1], step)


def _flattened(start: Point, step: Step) -> Contour:
    bends = step.points[:-1]
    if step.letter == "a":
        bends = _bend_of_arc(start, step)
    if not bends:
        return step.points
    return [
        _on_curve([start, *bends, step.points[-1]], number / _FINENESS)
        for number in range(1, _FINENESS + 1)
    ]


def _on_curve(points: Contour, share: float) -> Point:
    """Return a point of a curve, by the construction of Casteljau."""
    while len(points) > 1:
        points = [
            (x + (next_x - x) * share, y + (next_y - y) * share)
            for (x, y), (next_x, next_y) in pairwise(points)
        ]
    return points[0]


def _bend_of_arc(start: Point, step: Step) -> Contour:
    """Return the point that a curve about as high as the arc bends to."""
    (x, y), (end_x, end_y) = start, step.points[-1]
    chord = math.hypot(end_x - x, end_y - y)
    radius = max(abs(step.operands[0]), abs(step.operands[1]), chord / 2)
    if not chord:
        return []
    beside = math.sqrt(max(radius * radius - chord * chord / 4, 0.0))
    height = radius + (beside if step.operands[3] else -beside)
    side = 2 * height / chord * (1 if step.operands[4] else -1)
    return [((x + end_x) / 2 + (end_y - y) * side, (y + end_y) / 2 - (end_x - x) * side)]
