"""The geometry of charts. Templates draw them as SVG, without scripts and styles of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

HEIGHT = 100.0


class Segment(NamedTuple):
    """A part of a bar that starts at `start`."""

    css_class: str
    start: float
    length: float


class Column(NamedTuple):
    """A bar of a chart over time."""

    label: str
    numbers: Sequence[int]
    segments: Sequence[Segment]


class Columns(NamedTuple):
    bars: Sequence[Column]
    top: int
    """The number at the upper end of the axis."""


def columns(rows: Sequence[tuple[str, Sequence[int]]], classes: Sequence[str]) -> Columns:
    """Return a bar for each row, all on the same axis."""
    top = rounded_up(max((sum(numbers) for _, numbers in rows), default=0))
    bars = (Column(label, numbers, stack(numbers, classes, top)) for label, numbers in rows)
    return Columns(tuple(bars), top)


def stack(numbers: Iterable[int], classes: Iterable[str], top: int) -> tuple[Segment, ...]:
    """Return the segments of one bar; `top` is the number that fills its length."""
    segments, start = [], 0.0
    for number, css_class in zip(numbers, classes, strict=True):
        length = number / top * HEIGHT if top else 0.0
        if length:
            segments.append(Segment(css_class, round(start, 3), round(length, 3)))
        start += length
    return tuple(segments)


def rounded_up(number: int) -> int:
    """Return the next number that reads well on an axis."""
    if number <= 1:
        return 1
    unit = int("1" + "0" * (len(str(number)) - 1))
    steps = (10, 15, 20, 30, 40, 50, 60, 80, 100)
    return next(step * unit // 10 for step in steps if step * unit >= number * 10)
