"""Texts of the parts of an Office file, mapped to their source, and views of the texts."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.editcolumns import EditColumns
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import Edit as SegmentEdit
from dlpctl.formats.interface import Edits, Piece, Segment, View
from dlpctl.formats.locators import Cells, Units


class Leaf(NamedTuple):
    """A text at one position of the source, where it may be escaped."""

    start: int
    end: int
    text: str
    element: str
    """The element or attribute that contains the text, which determines how it is written."""


Fit = Callable[[Leaf, Sequence[Edit]], str]
"""Returns the text of a leaf with edits applied, adapted to its role: a formula, a name."""


class ViewPlan(NamedTuple):
    """A view to make of a reading: ranges of its text, and separators."""

    name: str
    parts: Iterable[tuple[int, int] | str]
    context: str = ""
    repeats: bool = False
    """True if another view shows the same text."""


class ColumnPlan(NamedTuple):
    """The view to make of the cells below a header."""

    name: str
    starts: array[int]
    """The position in the text at which each cell starts ..."""
    ends: array[int]
    header: str

    def cells(self) -> tuple[array[int], array[int]]:
        return self.starts, self.ends


@dataclass(frozen=True, slots=True)
class LeafRanges:
    """The mapping of a text to its leaves, as plain numbers: of many leaves, few change."""

    starts: array[int]
    """The position in the text at which each leaf starts ..."""
    ends: array[int]
    froms: array[int]
    """... and the position in the source."""
    tos: array[int]
    element_numbers: array[int]
    names: tuple[str, ...]
    """The names of `kinds`, by number."""

    def changed(self, text: str, edits: Iterable[Edit]) -> list[tuple[Leaf, str]]:
        """Return the leaves that edits of the text touch, each with its new text."""
        found = portions(self.starts, lambda index: self.ends[index] - self.starts[index], edits)
        return [
            (leaf := self._leaf(text, index), spliced(leaf.text, found[index]))
            for index in sorted(found)
        ]

    def _leaf(self, text: str, index: int) -> Leaf:
        shown = text[self.starts[index] : self.ends[index]]
        return Leaf(
            self.froms[index], self.tos[index], shown, self.names[self.element_numbers[index]]
        )


@dataclass(slots=True)
class Reading:
    """One layer of a part: its paragraphs, its attributes, its comments."""

    layer: str
    text: str = ""
    leaves: list[Leaf] = field(default_factory=list)
    """The leaves in the order of the text."""
    starts: array[int] = field(default_factory=lambda: array("q"))
    """The position in the text at which each leaf starts."""
    plans: list[ViewPlan] = field(default_factory=list)
    columns: list[ColumnPlan] = field(default_factory=list)
    """Columns, which repeat cells of the text under their headers."""
    paragraphs: array[int] = field(default_factory=lambda: array("q"))
    """The position in the text at which each paragraph starts."""
    unit: str = ""
    """The noun for the units of `places`; empty if the part itself is the location."""

    def ways(self) -> LeafRanges:
        names = {
            element: number
            for number, element in enumerate(dict.fromkeys(leaf.element for leaf in self.leaves))
        }
        return LeafRanges(
            self.starts,
            array(
                "q",
                [at + len(leaf.text) for at, leaf in zip(self.starts, self.leaves, strict=True)],
            ),
            array("q", [leaf.start for leaf in self.leaves]),
            array("q", [leaf.end for leaf in self.leaves]),
            array("q", [names[leaf.element] for leaf in self.leaves]),
            tuple(names),
        )

    def portions(self, edits: Iterable[Edit]) -> dict[int, list[Edit]]:
        """Return the edits within each leaf that edits of the text touch."""
        return portions(self.starts, lambda index: len(self.leaves[index].text), edits)

    def changed(self, edits: Iterable[Edit], fit: Fit | None = None) -> list[tuple[Leaf, str]]:
        """Return the leaves that edits touch, each with its new text; `fit` may
        change others too.
        """
        portions = self.portions(edits)
        if fit is not None:
            fitted = (
                (leaf, fit(leaf, portions.get(index, []))) for index, leaf in enumerate(self.leaves)
            )
            return [(leaf, text) for leaf, text in fitted if text != leaf.text]
        return [
            (self.leaves[index], spliced(self.leaves[index].text, found))
            for index, found in sorted(portions.items())
        ]


def portions(
    starts: Sequence[int], length_of: Callable[[int], int], edits: Iterable[Edit]
) -> dict[int, list[Edit]]:
    """Return the edits within each leaf; the first leaf touched gets the replacement."""
    found: dict[int, list[Edit]] = {}
    for index, edit in portioned(starts, length_of, edits):
        found.setdefault(index, []).append(edit)
    return found


def portioned(
    starts: Sequence[int], length_of: Callable[[int], int], edits: Iterable[Edit]
) -> Iterator[tuple[int, Edit]]:
    """Yield the edits within leaves, each with the number of the leaf."""
    for start, end, replacement in edits:
        index = max(0, bisect_right(starts, start) - 1)
        pending = replacement
        placed = False
        while index < len(starts) and starts[index] < end:
            at = starts[index]
            low, high = max(start, at), min(end, at + length_of(index))
            if low < high:
                yield index, Edit(low - at, high - at, pending)
                pending, placed = "", True
            index += 1
        if not placed and replacement:
            raise CannotMaskError(
                "a value is in the structure of the file, where nothing can replace it"
            )


def disjoint(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits of one text without overlaps: overlapping edits are joined."""
    merged: list[Edit] = []
    for edit in sorted(edits):
        if merged and edit.start < merged[-1].end:
            last = merged[-1]
            longer = edit if edit.end - edit.start > last.end - last.start else last
            replacement = longer.replacement or last.replacement or edit.replacement
            merged[-1] = Edit(last.start, max(last.end, edit.end), replacement)
        else:
            merged.append(edit)
    return merged


class Builder:
    """Joins leaves and separators to the text of a reading."""

    def __init__(self, layer: str) -> None:
        self.reading = Reading(layer)
        self._texts: list[str] = []
        self.length = 0
        self._viewed: list[tuple[int, int] | str] = []
        self._last_label = 0
        """The position in the text of the last label."""

    def leaf(self, leaf: Leaf) -> tuple[int, int]:
        """Add a leaf, and return its range in the text."""
        at = self.length
        self.reading.leaves.append(leaf)
        self.reading.starts.append(at)
        self.apart(leaf.text)
        return at, self.length

    def apart(self, separator: str) -> None:
        """Add text that is in no leaf."""
        self._texts.append(separator)
        self.length += len(separator)

    def label(self, words: str) -> None:
        """Add words that only the view shows, since no edit of the text may change them."""
        if self.length > self._last_label:
            self._viewed.append((self._last_label, self.length))
        self._viewed.append(words)
        self._last_label = self.length

    def view(self, name: str) -> ViewPlan:
        """Return the view of the complete text with its labels."""
        return ViewPlan(name, [*self._viewed, (self._last_label, self.length)])

    def start_paragraph(self) -> None:
        """Start the next paragraph."""
        self.reading.paragraphs.append(self.length)

    def done(self) -> Reading:
        self.reading.text = "".join(self._texts)
        return self.reading


@dataclass(frozen=True, slots=True)
class Spot:
    """The anchor of a segment: the layer, the part, and the starts of its paragraphs."""

    part: str
    layer: str
    label: str
    paragraphs: array[int]
    unit: str = ""
    ways: LeafRanges | None = field(default=None, kw_only=True)
    """The leaves, so that masking need not read the part again; None if it must."""

    def locator(self) -> Units | Cells | None:
        return Units(self.label, self.unit, self.paragraphs) if self.unit else None

    def place_at(self, offset: int) -> str:
        locator = self.locator()
        return locator.place_at(offset) if locator else self.label


class Collector:
    """Collects readings of all parts as the segments and views of one document."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.views: list[View] = []

    def add(self, reading: Reading, spot: Spot, context: str = "") -> None:
        """Add a reading as a segment, unless it is empty."""
        if not reading.text.strip():
            return
        number = len(self.segments)
        self.segments.append(Segment(reading.text, spot.label, spot, context))
        for plan in reading.plans:
            parts = (part if isinstance(part, str) else Piece(number, *part) for part in plan.parts)
            self.views.append(
                View(
                    f"{spot.label}: {plan.name}",
                    parts,
                    self.segments,
                    plan.context,
                    repeats=plan.repeats,
                )
            )
        for column in reading.columns:
            name = f"{spot.label}: {column.name}"
            self.views.append(
                View.of_cells(name, reading.text, number, column.cells, column.header)
            )


def edits_by_layer(
    segments: Sequence[Segment], edits: Edits
) -> dict[tuple[str, str], Sequence[Edit]]:
    """Return the edits of a document by part and layer, in order."""
    found: dict[tuple[str, str], EditColumns[Edit]] = {}
    columns = (
        edits if isinstance(edits, EditColumns) else EditColumns.holding(SegmentEdit, 3, edits)
    )
    columns = columns.in_order()
    numbers, starts, ends = columns.numbers
    low = 0
    while low < len(numbers):
        high = bisect_right(numbers, numbers[low], low)
        spot = segments[numbers[low]].anchor
        if not isinstance(spot, Spot):
            raise CannotMaskError("this is not what was read from the file: read it again")
        of_layer = found.setdefault((spot.part, spot.layer), EditColumns(Edit, 2))
        of_layer.extend([starts[low:high], ends[low:high]], columns.replacements[low:high])
        low = high
    return {**found}
