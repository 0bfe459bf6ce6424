"""The texts of a file, and of all files within it, as sections of one text.

A section is the text of one view. Each section is searched on its own, so that its findings are
those of the view. Their positions refer to the text of all sections, so that findings can be stored
as numbers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.detect.packed import PackedFindings
from dlpctl.files.finding import WholePieces, scan_labelled, spelled
from dlpctl.formats.discovery import format_named
from dlpctl.formats.interface import BINARY, Document
from dlpctl.formats.source import Readable, TextFormat

if TYPE_CHECKING:
    from dlpctl.files.finding import Finder
    from dlpctl.formats.files import Node
    from dlpctl.formats.interface import View, ViewColumns
    from dlpctl.types import Finding

_APART = "\n"
_MANY = 1 << 10
"""The number of cells that are compared with findings together."""


class Section(NamedTuple):
    """The text of one view."""

    node: Node
    number: int
    """The number of the view among those that do not repeat others."""
    view: View
    start: int
    """The section's position in the text of all sections."""

    @property
    def source(self) -> Readable | None:
        """The source that the section is read from, if it is a single text."""
        number = self.view.columns.segments[0]
        anchor = self.node.document.segments[number].anchor
        return anchor if self.view.count == 1 and isinstance(anchor, Readable) else None

    def segment_at(self, position: int) -> tuple[int, int]:
        """Return the segment of a position in the text of all sections, and the offset in the
        segment.
        """
        offsets, segments, starts, _ = self.view.columns
        at = position - self.start
        piece = max(bisect_right(offsets, at) - 1, 0)
        return segments[piece], starts[piece] + max(at - offsets[piece], 0)

    def location(self, position: int) -> str:
        """Return the location of a position in the text of all sections, for display."""
        return self.node.location_of(self.node.document, *self.segment_at(position))


class Sections:
    """The sections of a file, in the order of its segments."""

    def __init__(self, node: Node, sections: Sequence[Section], columns: Sequence[_Columns]):
        self.node = node
        self.all = sections
        self.text = _APART.join(section.view.text for section in sections)
        self.formats = [each.document.format for each in node.walk()]
        """The formats of the file and of those within it."""
        self.replaced: list[Finding] = []
        """The findings that several ones in columns replaced; a copy must not show them either."""
        self._columns = columns
        self._starts = [section.start for section in sections]

    @classmethod
    def of(cls, node: Node) -> Sections | None:
        """Return the sections of a file; None if several views show the same text, or no view has
        text.
        """
        sections: list[Section] = []
        columns: list[_Columns] = []
        start = 0
        for each in node.walk():
            document = each.document
            if each.others or document.uninspected:
                return None
            shown = _shown(document)
            repeating = [view for view in document.views if view.context and view.repeats]
            if not _show_all_once(document, shown):
                return None
            base = len(sections)
            for number, view in enumerate(shown):
                sections.append(Section(each, number, view, start))
                start += len(view.text) + len(_APART)
            if repeating:
                columns.append(_Columns(repeating, _positions(sections[base:])))
        return cls(node, sections, columns) if sections else None

    @property
    def source(self) -> Readable | None:
        """The source of a file that is one text without escapes; None for any other file."""
        if len(self.all) != 1 or self.node.children:
            return None
        found = self.all[0].source
        is_text = isinstance(format_named(self.node.document.format), TextFormat)
        return found if found is not None and found.is_verbatim and is_text else None

    def search(self, finder: Finder) -> PackedFindings | None:
        """Return the findings in the sections and under the labels of columns; None if one spans
        several segments, or they overlap in a chain. The bytes of the file are freed if its text is
        enough.
        """
        together = PackedFindings.of((), len(self.text))
        for section in self.all:
            found = _packed(section, finder, len(self.text))
            if len(self.all) == 1:
                together = found
            else:
                together.extend(found, section.start)
            if self._columns and section.view.count > 1 and _crosses(section, found):
                return None
        self.keep_only_text()
        more: list[Finding] = []
        for columns in self._columns:
            labelled = columns.search(together, finder)
            if labelled is None:
                return None
            more += labelled
        result = together.with_others(more) if more else (together, [])
        if result is None:
            return None
        together, self.replaced = result
        return together

    def forget_columns(self) -> None:
        """Free the views that only repeat others, once they were searched."""
        self._columns = ()
        for each in self.node.walk():
            # `Files` may return the same document again.
            each.document = replace(each.document, views=_shown(each.document))

    def keep_only_text(self) -> None:
        """Free the bytes of a file that is one text, from which they can be made again."""
        source = self.source
        if source is not None and source.is_utf8:
            self.node.content.keep_as(self.text, "\ufeff" if source.mark else "")

    def forget_texts(self) -> None:
        """Free the texts, of which none is needed any longer in this process."""
        for each in self.node.walk():
            each.document = Document(each.document.format, [], [])
        self.all, self.text, self._columns = (), "", ()

    def forget(self) -> None:
        """Free everything that the file holds, in a process that does not need it."""
        self.forget_texts()
        for each in self.node.walk():
            each.content.forget()

    def at(self, position: int) -> Section:
        """Return the section of a position."""
        return self.all[bisect_right(self._starts, position) - 1]

    def locations(self, starts: Sequence[int]) -> Iterator[str]:
        """Yield the locations of ascending positions, for display."""
        for section, low, high in self.ranges(starts):
            source = section.source
            if source is None:
                yield from map(section.location, starts[low:high])
                continue
            line_ends, line_end, location = source.line_ends, -1, ""
            for start in starts[low:high]:
                position = source.source_start(start - section.start)
                if position > line_end:
                    line = bisect_left(line_ends, position)
                    line_end = line_ends[line] if line < len(line_ends) else len(self.text)
                    location = section.location(start)
                yield location

    def ranges(self, starts: Sequence[int]) -> Iterator[tuple[Section, int, int]]:
        """Yield sections with the numbers of the ascending positions in each section."""
        low = 0
        while low < len(starts):
            section = self.at(starts[low])
            high = bisect_left(starts, section.start + len(section.view.text) + 1, low)
            yield section, low, high
            low = high

    def repeated_places(self, found: PackedFindings) -> set[int]:
        """Return the numbers of findings that repeat others: a value at one location may be in
        several segments, such as a cell and its formula.
        """
        by_node: dict[int, list[tuple[Section, int, int]]] = {}
        for part in self.ranges(found.starts):
            by_node.setdefault(id(part[0].node), []).append(part)
        return {number for parts in by_node.values() for number in self._repeated(found, parts)}

    def _repeated(
        self, found: PackedFindings, parts: Sequence[tuple[Section, int, int]]
    ) -> Iterator[int]:
        """Return the repeated findings of one document; only segments with the same label share
        locations.
        """
        segments = parts[0][0].node.document.segments
        held = {
            section.segment_at(start)[0]
            for section, low, high in parts
            for start in found.starts[low : high if section.view.count > 1 else low + 1]
        }
        labels = Counter(segments[segment].location for segment in held)
        groups: dict[tuple[str, str], dict[int, list[int]]] = {}
        for section, low, high in parts if len(labels) < len(held) else ():
            for number in range(low, high):
                start, end = found.starts[number], found.ends[number]
                segment, _ = section.segment_at(start)
                if labels[segments[segment].location] > 1:
                    key = section.location(start), spelled(self.text[start:end])
                    groups.setdefault(key, {}).setdefault(segment, []).append(number)
        for by_segment in groups.values():
            best = max(
                by_segment.values(),
                key=lambda those: (max(found[number].score for number in those), len(those)),
            )
            yield from (n for those in by_segment.values() if those is not best for n in those)


def _shown(document: Document) -> list[View]:
    """Return the views that do not only repeat others."""
    return [view for view in document.views if not (view.context and view.repeats)]


def _show_all_once(document: Document, views: Sequence[View]) -> bool:
    """Return whether views show every segment that contains text, in order and only once."""
    following = 0
    lengths = [len(segment.text) for segment in document.segments]
    for view in views:
        _, segments, starts, ends = view.columns
        if any(starts):
            segments, ends = _whole_segments(view.columns)
        if not segments:
            return False
        if len(segments) > 1 and not all(before < after for before, after in pairwise(segments)):
            return False
        if not all(map(eq, ends, map(lengths.__getitem__, segments))):
            return False
        first, last = segments[0], segments[-1]
        if first < following or any(islice(lengths, following, first)):
            return False
        if sum(lengths[first : last + 1]) != sum(ends):
            return False
        following = last + 1
    return not any(islice(lengths, following, None))


def _whole_segments(columns: ViewColumns) -> tuple[array[int], array[int]]:
    """Return the segments of a view, and where each ends, with the parts of a segment as one, which
    words of the view divide; nothing if there is anything between parts.
    """
    segments, ends = array("q"), array("q")
    for segment, start, end in zip(*columns[1:], strict=True):
        if not start:
            segments.append(segment)
            ends.append(end)
        elif segments and (segments[-1], ends[-1]) == (segment, start):
            ends[-1] = end
        else:
            return array("q"), array("q")
    return segments, ends


def _positions(sections: Sequence[Section]) -> dict[int, int]:
    """Return the position of each segment of a document in the text of all sections."""
    return {
        segment: section.start + offset
        for section in sections
        for offset, segment in zip(*section.view.columns[:2], strict=True)
    }


def _packed(section: Section, finder: Finder, size: int) -> PackedFindings:
    """Return the findings of a section, with positions for a text of this size."""
    view = section.view
    is_binary = section.node.document.format == BINARY
    if view.context:
        scan = finder.scan_binary if is_binary else finder.scan
        seen: Sequence[Finding] = list(scan_labelled(view, WholePieces(), scan))
    elif is_binary:
        seen = finder.scan_binary(view.text)
    else:
        source = section.source
        # One copy of a long text less is in memory.
        is_encoded = source is not None and source.is_utf8 and not source.mark
        seen = finder.scan(view.text, section.node.data if is_encoded else None)
    return seen if isinstance(seen, PackedFindings) else PackedFindings.of(seen, size)


def _crosses(section: Section, found: PackedFindings) -> bool:
    """Return whether a finding of a section spans several segments."""
    offsets = section.view.columns.offsets
    return any(
        bisect_right(offsets, start) != bisect_right(offsets, end - 1)
        for start, end in zip(found.starts, found.ends, strict=True)
    )


class _Columns(NamedTuple):
    """The views of a document that repeat cells of its sections under their labels."""

    views: Sequence[View]
    positions: dict[int, int]
    """The position of each segment in the text of all sections."""

    def search(self, known: PackedFindings, finder: Finder) -> list[Finding] | None:
        """Return the findings in cells that are not exactly one of the known values."""
        found: list[Finding] = []
        complete = _WholeCells(known, self.positions)
        for view in self.views:
            for finding in scan_labelled(view, complete, finder.scan):
                pieces = view.pieces_of(finding.start, finding.end)
                if len(pieces) > 1:
                    return None
                for segment, start, end in pieces:
                    at = self.positions[segment]
                    found.append(finding._replace(start=at + start, end=at + end))
            view.release()
        return found


class _WholeCells(NamedTuple):
    """The cells that are exactly one value."""

    found: PackedFindings
    positions: dict[int, int]

    def outside(self, view: View, cells: Iterable[str]) -> Iterator[str]:
        """Yield the cells of a view, each at its position in the text, that are not exactly one
        value, apart from quotes; findings do not overlap.
        """
        starts, ends, positions = self.found.starts, self.found.ends, self.positions
        pieces, rest = view.pieces(), iter(cells)
        while spans := [
            (start := positions[segment] + first, start + last - first)
            for segment, first, last in islice(pieces, _MANY)
        ]:
            some = islice(rest, len(spans))
            low = bisect_left(starts, spans[0][0])
            high = bisect_left(starts, spans[-1][1], low)
            if low == high:  # as in most of a masked copy
                yield from some
                continue
            for cell, (start, end) in zip(some, spans, strict=True):
                at = bisect_left(starts, start, low, high)
                quote = starts[at] - start if at < high else -1
                if quote not in (0, 1) or ends[at] != end - quote:
                    yield cell


def search_long(node: Node, finder: Finder, least: int) -> PackedFindings | None:
    """Return the findings in a file that is one long text; None for any other file."""
    if len(node.data) < least:
        return None
    sections = Sections.of(node)
    return None if sections is None or sections.source is None else sections.search(finder)
