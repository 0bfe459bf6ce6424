"""The findings in all views and documents of a file: each value once, with its location."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.formats.interface import BINARY, CELLS_APART
from dlpctl.masking.leaks import Value
from dlpctl.masking.repeats import Repeats
from dlpctl.types import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dlpctl.formats.files import Node
    from dlpctl.formats.interface import Document, Piece, View

Scan = Callable[[str], Sequence[Finding]]
_new = tuple.__new__
_LONGEST_LABEL = 80
_BLOCK = 8 << 20
"""The characters of cells that are searched at the same time."""
_STRETCH = 1 << 16
"""The characters of cells that are objects at the same time."""


class Finder(Protocol):
    """Finds values in texts, and in the strings of binary files."""

    def scan(self, text: str, encoded: bytes | None = None, /) -> Sequence[Finding]:
        """Return the findings; `encoded` is the text in UTF-8, if there is such a copy of it."""

    def scan_binary(self, text: str, /) -> Sequence[Finding]: ...


class ViewFinding(NamedTuple):
    """A finding in one view of a document; its positions refer to the view's text."""

    view: int
    finding: Finding
    pieces: list[Piece]
    """The positions in the segments."""


def by_view(seen: Iterable[ViewFinding]) -> dict[int, list[Finding]]:
    """Return the findings of each view."""
    found: dict[int, list[Finding]] = {}
    for item in seen:
        found.setdefault(item.view, []).append(item.finding)
    return found


class WholeValues(Protocol):
    """The positions of values in the views that do not repeat others."""

    def outside(self, view: View, cells: Iterable[str]) -> Iterable[str]:
        """Return the cells, given as the pieces of a view, that are not exactly one value."""


class WholePieces(set["Piece"]):
    """The pieces that hold exactly one value."""

    def outside(self, view: View, cells: Iterable[str]) -> Iterator[str]:
        return (
            cell
            for cell, (segment, start, end) in zip(cells, view.pieces(), strict=False)
            if (segment, start, end) not in self and (segment, start + 1, end - 1) not in self
        )


class PlacedValue(NamedTuple):
    """A value of a file, however many views show it."""

    finding: Finding
    value: str
    node: Node
    document: Document
    segment: int
    start: int
    place: str
    """The location for display. It may contain names of files and sheets, which may hold values."""


def search_document(document: Document, finder: Finder) -> list[ViewFinding]:
    """Return the findings of every view of a document; strings of unknown binaries are not text."""
    is_binary = document.format == BINARY
    return scan_document(document, finder.scan_binary if is_binary else finder.scan)


def scan_document(document: Document, scan: Scan) -> list[ViewFinding]:
    """Return the findings of every view, including overlaps between views."""
    seen: list[ViewFinding] = []
    whole = WholePieces()
    labelled_later = any(view.context and view.repeats for view in document.views)
    for number, view in enumerate(document.views):
        for one in scan_labelled(view, whole, scan) if view.context else scan(view.text):
            pieces = view.pieces_of(one.start, one.end)
            seen.append(ViewFinding(number, one, pieces))
            if labelled_later and not view.repeats and len(pieces) == 1:
                whole.add(pieces[0])
    return _without_glued(document, seen)


def _without_glued(document: Document, seen: list[ViewFinding]) -> list[ViewFinding]:
    """Drop findings across a line end that include the start of a value in the next line."""
    if all(len(one.pieces) < 2 for one in seen):
        return seen
    whole: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for one in seen:
        if len(one.pieces) == 1:
            segment, start, end = one.pieces[0]
            whole.setdefault((one.finding.type, segment), []).append((start, end))
    for spans in whole.values():
        spans.sort()

    def holds_a_whole_one(one: ViewFinding) -> bool:
        length = one.finding.end - one.finding.start
        if len(one.pieces) < 2 or sum(each.end - each.start for each in one.pieces) < length:
            return False
        for each in one.pieces:
            spans = whole.get((one.finding.type, each.segment), [])
            at = bisect_left(spans, (each.start, each.start))
            if at < len(spans) and spans[at][1] <= each.end:
                return True
        return False

    return [one for one in seen if not holds_a_whole_one(one)]


def scan_labelled(view: View, whole: WholeValues, scan: Scan) -> Iterator[Finding]:
    """Scan the cells of a column with its label before each of them, as a reader sees a table: the
    words of the label are evidence for its cells and for nothing else.

    Cells that another view also shows are skipped if that view found them to be a `whole` value.
    """
    prefix = f"{' '.join(view.context.split())[:_LONGEST_LABEL]}: "
    if view.repeats:
        text = view.text
        is_complete = view.count == text.count(CELLS_APART)
        cells = whole.outside(view, _cells(text)) if is_complete else _cells(text)
        yield from _scan_cells(0, text, cells, prefix, scan)
        return
    for at, text in _cell_blocks(view.text, _BLOCK):
        yield from _scan_cells(at, text, _cells(text), prefix, scan)


def _cells(text: str) -> Iterator[str]:
    """Yield the cells of a text, of which a long one has too many to be objects at once."""
    for _, part in _cell_blocks(text, _STRETCH):
        yield from part.split(CELLS_APART)


def _cell_blocks(text: str, size: int) -> Iterator[tuple[int, str]]:
    """Yield parts of a text of about `size` characters that end between two cells, with their
    positions: all cells of a long text would take too much memory as objects.
    """
    first, last = 0, text.find(CELLS_APART, size)
    while last >= 0:
        if text[last - 1] == "\n":  # within line ends, of which some may be a cell's own
            last = text.find(CELLS_APART, last + 1)
            continue
        yield first, text[first:last]
        first = last + len(CELLS_APART)
        last = text.find(CELLS_APART, first + size)
    yield first, text[first:]


def _scan_cells(
    at: int, text: str, open_cells: Iterable[str], prefix: str, scan: Scan
) -> Iterator[Finding]:
    """Yield the findings in the cells of a text, which is at a position; scan the open ones."""
    # Many columns have few distinct values: scan each value once.
    cells = list(dict.fromkeys(open_cells))
    if not cells:
        return
    apart = CELLS_APART + prefix
    starts = [
        len(prefix) + at
        for at in accumulate(map(len(apart).__add__, map(len, cells[:-1])), initial=0)
    ]
    within: dict[str, list[Finding]] = {}
    for finding in scan(prefix + apart.join(cells)):
        first = max(bisect_right(starts, finding.start) - 1, 0)
        last = max(bisect_right(starts, finding.end - 1) - 1, 0)
        for cell, begin in zip(cells[first : last + 1], starts[first : last + 1], strict=True):
            start, end = max(finding.start - begin, 0), min(finding.end - begin, len(cell))
            if start < end:
                within.setdefault(cell, []).append(finding._replace(start=start, end=end))
    for cell in _cells(text) if within else ():
        yield from (
            one._replace(start=at + one.start, end=at + one.end) for one in within.get(cell, ())
        )
        at += len(cell) + len(CELLS_APART)


def place_all(node: Node, seen_in: Callable[[Document], list[ViewFinding]]) -> list[PlacedValue]:
    """Return all values of a file and the files within it, in order; this empties the lists."""
    return [placed for each in node.walk() for placed in _placed_in(each, seen_in)]


def _placed_in(node: Node, seen_in: Callable[[Document], list[ViewFinding]]) -> list[PlacedValue]:
    found = _distinct(node, node.document, seen_in(node.document))
    for other in node.others:
        # Text read in another way mostly shows the same values; only new ones count.
        known = {spelled(one.value) for one in found}
        found += [
            one for one in _distinct(node, other, seen_in(other)) if spelled(one.value) not in known
        ]
    return found


def _distinct(node: Node, document: Document, seen: list[ViewFinding]) -> list[PlacedValue]:
    """Return the best finding for each stretch of the document: the surest, then the longest.

    This empties the list as it goes, so that a hundred thousand findings free the memory for their
    values.
    """
    taken: dict[int, bytearray] = {}
    kept: list[PlacedValue] = []
    places: dict[str, str] = {}
    # Reversed, with equal findings in their order, since they are taken from the end.
    seen.reverse()
    seen.sort(key=lambda one: (one.finding.score, one.finding.end - one.finding.start, -one.view))
    while seen:
        view, finding, pieces = seen.pop()
        if not pieces or not _take(taken, pieces, document):
            continue
        segment, start, _ = pieces[0]
        value = document.views[view].text[finding.start : finding.end]
        place = node.place(document, segment, start)
        place = places.setdefault(place, place)
        kept.append(_new(PlacedValue, (finding, value, node, document, segment, start, place)))
    if len(taken) > 1:
        kept = list(_once_a_place(kept))
    kept.sort(key=lambda one: (one.segment, one.start))
    return kept


def _take(taken: dict[int, bytearray], pieces: Sequence[Piece], document: Document) -> bool:
    """Mark the characters of pieces, unless one of them is already taken."""
    for segment, start, end in pieces:
        marks = taken.get(segment)
        if marks is None:
            taken[segment] = bytearray(len(document.segments[segment].text))
        elif marks.find(1, start, end) >= 0:
            return False
    for segment, start, end in pieces:
        taken[segment][start:end] = b"\1" * (end - start)
    return True


def _once_a_place(found: Iterable[PlacedValue]) -> Iterator[PlacedValue]:
    """Return the findings of one segment at each location: a cell is in a row and in a column."""
    groups: dict[tuple[str, str], dict[int, list[PlacedValue]]] = {}
    for one in found:
        by_segment = groups.setdefault((one.place, spelled(one.value)), {})
        by_segment.setdefault(one.segment, []).append(one)
    for by_segment in groups.values():
        yield from max(
            by_segment.values(),
            key=lambda those: (max(one.finding.score for one in those), len(those)),
        )


def spelled(value: str) -> str:
    """Return a value's letters and digits in lower case, which line breaks do not change."""
    return "".join(filter(str.isalnum, value)).casefold() or value


def repeats_of(placed: Iterable[PlacedValue]) -> Repeats:
    """Return a finder for the values of a file in other texts."""
    return Repeats(
        {Value(one.finding.type, one.finding.category, one.value): one.finding for one in placed}
    )


class ValueList:
    """The values of a file as lines of a text, for policies, summaries and samples."""

    def __init__(self, placed: Sequence[PlacedValue], places: Sequence[str]) -> None:
        starts = accumulate((len(one.value) + 1 for one in placed), initial=0)
        self.text = "\n".join(one.value for one in placed)
        self.findings = [
            _new(
                Finding, (*one.finding[:2], start, start + len(one.value), *one.finding[4:6], place)
            )
            for one, start, place in zip(placed, starts, places, strict=False)
        ]
