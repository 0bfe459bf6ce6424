"""The findings in all views and documents of a file: each value once, with its location."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.formats.interface import ACROSS_TAGS, BINARY, CELLS_APART
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
    location: str
    """The location for display. It may contain names of files and sheets, which may hold values."""


def search_document(document: Document, finder: Finder) -> list[ViewFinding]:
    """Return the findings of every view of a document; strings of unknown binaries are not text."""
    is_binary = document.format == BINARY
    return scan_document(document, finder.scan_binary if is_binary else finder.scan)


def scan_document(document: Document, scan: Scan) -> list[ViewFinding]:
    """Return the findings of every view, including overlaps between views."""
    seen: list[ViewFinding] = []
    complete = WholePieces()
    labelled_later = any(view.context and view.repeats for view in document.views)
    for number, view in enumerate(document.views):
        for item in scan_labelled(view, complete, scan) if view.context else scan(view.text):
            pieces = view.pieces_of(item.start, item.end)
            if not pieces:
                continue  # a label
            seen.append(ViewFinding(number, item, pieces))
            if labelled_later and not view.repeats and len(pieces) == 1:
                complete.add(pieces[0])
    return _without_glued(document, seen)


def _without_glued(document: Document, seen: list[ViewFinding]) -> list[ViewFinding]:
    """Drop findings across a line end that include the start of a value in the next line."""
    if all(len(item.pieces) < 2 for item in seen):
        return seen
    complete: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for item in seen:
        if len(item.pieces) == 1:
            segment, start, end = item.pieces[0]
            complete.setdefault((item.finding.type, segment), []).append((start, end))
    for spans in complete.values():
        spans.sort()

    def holds_complete_value(item: ViewFinding) -> bool:
        length = item.finding.end - item.finding.start
        if len(item.pieces) < 2 or sum(each.end - each.start for each in item.pieces) < length:
            return False
        # On one line, the start of a value may be a value as well.
        is_on_line = document.views[item.view].name == ACROSS_TAGS
        for each in item.pieces[is_on_line:]:
            spans = complete.get((item.finding.type, each.segment), [])
            at = bisect_left(spans, (each.start, each.start))
            if at < len(spans) and spans[at][1] <= each.end:
                return True
        return False

    return [item for item in seen if not holds_complete_value(item)]


def scan_labelled(view: View, complete: WholeValues, scan: Scan) -> Iterator[Finding]:
    """Scan the cells of a column with its label before each of them, as a reader sees a table: the
    words of the label are evidence for its cells and for nothing else.

    Cells that another view also shows are skipped if that view found them to be a `whole` value.
    """
    prefix = f"{' '.join(view.context.split())[:_LONGEST_LABEL]}: "
    if view.repeats:
        text = view.text
        is_complete = view.count == text.count(CELLS_APART)
        cells = complete.outside(view, _cells(text)) if is_complete else _cells(text)
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
        for cell, cell_start in zip(cells[first : last + 1], starts[first : last + 1], strict=True):
            start, end = (
                max(finding.start - cell_start, 0),
                min(finding.end - cell_start, len(cell)),
            )
            if start < end:
                within.setdefault(cell, []).append(finding._replace(start=start, end=end))
    for cell in _cells(text) if within else ():
        yield from (
            item._replace(start=at + item.start, end=at + item.end) for item in within.get(cell, ())
        )
        at += len(cell) + len(CELLS_APART)


def place_all(node: Node, seen_in: Callable[[Document], list[ViewFinding]]) -> list[PlacedValue]:
    """Return all values of a file and the files within it, in order; this empties the lists."""
    return [placed for each in node.walk() for placed in _placed_in(each, seen_in)]


def _placed_in(node: Node, seen_in: Callable[[Document], list[ViewFinding]]) -> list[PlacedValue]:
    found = _distinct(node, node.document, seen_in(node.document))
    for other in node.others:
        # Text read in another way mostly shows the same values; only new ones count.
        known = {spelled(item.value) for item in found}
        found += [
            item
            for item in _distinct(node, other, seen_in(other))
            if spelled(item.value) not in known
        ]
    return found


def _distinct(node: Node, document: Document, seen: list[ViewFinding]) -> list[PlacedValue]:
    """Return the best finding for each stretch of the document: the surest, then the longest.

    This empties the list as it goes, so that a hundred thousand findings free the memory for their
    values.
    """
    taken: dict[int, bytearray] = {}
    kept: list[PlacedValue] = []
    shared: dict[str, str] = {}
    # Reversed, with equal findings in their order, since they are taken from the end.
    seen.reverse()
    seen.sort(
        key=lambda item: (item.finding.score, item.finding.end - item.finding.start, -item.view)
    )
    while seen:
        view, finding, pieces = seen.pop()
        if not pieces or not _take(taken, pieces, document):
            continue
        segment, start, _ = pieces[0]
        value = document.views[view].text[finding.start : finding.end]
        location = node.location_of(document, segment, start)
        location = shared.setdefault(location, location)
        kept.append(_new(PlacedValue, (finding, value, node, document, segment, start, location)))
    if len(taken) > 1:
        kept = list(_once_a_place(kept))
    kept.sort(key=lambda item: (item.segment, item.start))
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
    for item in found:
        by_segment = groups.setdefault((item.location, spelled(item.value)), {})
        by_segment.setdefault(item.segment, []).append(item)
    for by_segment in groups.values():
        yield from max(
            by_segment.values(),
            key=lambda those: (max(item.finding.score for item in those), len(those)),
        )


def spelled(value: str) -> str:
    """Return a value's letters and digits in lower case, which line breaks do not change."""
    return "".join(filter(str.isalnum, value)).casefold() or value


def repeats_of(placed: Iterable[PlacedValue]) -> Repeats:
    """Return a finder for the values of a file in other texts."""
    return Repeats(
        {
            Value(item.finding.type, item.finding.category, item.value): item.finding
            for item in placed
        }
    )


class ValueList:
    """The values of a file as lines of a text, for policies, summaries and samples."""

    def __init__(self, placed: Sequence[PlacedValue], locations: Sequence[str]) -> None:
        starts = accumulate((len(item.value) + 1 for item in placed), initial=0)
        self.text = "\n".join(item.value for item in placed)
        self.findings = [
            _new(
                Finding,
                (*item.finding[:2], start, start + len(item.value), *item.finding[4:6], location),
            )
            for item, start, location in zip(placed, starts, locations, strict=False)
        ]
