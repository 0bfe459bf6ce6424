"""The texts of a table by column, as segments and views; edits become new texts of cells.

A path identifies the values at one position of a row, such as `column 3.address[]`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.archive import Allowance, Names
from dlpctl.formats.encoding import Edit as TextEdit
from dlpctl.formats.encoding import spliced
from dlpctl.formats.interface import (
    APART,
    CELLS_APART,
    Child,
    Document,
    Edit,
    Edits,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.formats.locators import Units

PART = 8 << 20
"""The characters of a part of a large table."""
_MOST_PARTS = 1 << 14
_KEYS = frozenset(("key", "k", "name", "label", "field", "property", "attribute", "setting"))
_VALUES = frozenset(("value", "v", "val", "text", "content"))
"""The names of the columns of keys and of their values, in tables of settings."""


class _Column(NamedTuple):
    """The anchor of a segment: the values at one path, and the start of each."""

    path: str
    location: str
    unit: str
    starts: array[int]
    before: int
    """The number of values in earlier parts."""

    def cell(self, text: str, number: int) -> str:
        """Return one of the values in the text of the segment."""
        first = self.starts[number]
        is_last = number + 1 == len(self.starts)
        return text[first : len(text) if is_last else self.starts[number + 1] - len(CELLS_APART)]

    def locator(self) -> Units:
        return Units(self.location, self.unit, self.starts, self.before)

    def place_at(self, offset: int) -> str:
        return self.locator().place_at(offset)


class _Texts:
    """The values at one path, in the order of the file.

    They are joined every now and then: as objects, short ones take ten times the memory.
    """

    def __init__(self, header: str, before: int, *, is_of_row: bool) -> None:
        self.header = header
        self.is_of_row = is_of_row
        self.before = before
        """The number of values in earlier parts."""
        self.starts = array("q")
        self._parts: list[str] = []
        self._joined: list[str] = []
        self._length = 0

    @property
    def count(self) -> int:
        """Return the number of values up to here."""
        return self.before + len(self.starts)

    def pad(self, count: int) -> None:
        """Add empty values up to a number of them."""
        if count > self.count:
            self.extend([""] * (count - self.count))

    def extend(self, texts: Sequence[str]) -> None:
        self._join()
        apart = len(CELLS_APART).__add__
        ends = accumulate(map(apart, map(len, texts)), initial=self._length)
        self.starts.extend(ends)
        self._length = self.starts.pop()
        self._joined.append(CELLS_APART.join(texts))

    def append(self, text: str) -> None:
        self.starts.append(self._length)
        self._parts.append(text)
        self._length += len(text) + len(CELLS_APART)
        if len(self._parts) >= _MOST_PARTS:
            self._join()

    def text(self) -> str:
        self._join()
        return CELLS_APART.join(self._joined)

    def _join(self) -> None:
        if self._parts:
            self._joined.append(CELLS_APART.join(self._parts))
            self._parts.clear()


class TableTexts:
    """Collects the texts of a table by path."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._paths: dict[str, _Texts] = {}
        self._missing: dict[str, str] = {}
        self._reported: set[str] = set()
        self._counts: dict[str, int] = {}
        """The number of values at each path within rows, in earlier parts."""
        self._first_row = 0
        self.size = 0
        """The number of characters in this part."""
        self.rows = 0
        """The number of rows before the one that is being read."""

    def cells(self, path: str, header: str) -> Callable[[str], None]:
        """Return a function that adds the next value at a path: that of the row, or
        one within it.
        """

        def add(text: str) -> None:
            self._count(len(text) + 1)
            self._texts(path, header).append(text)

        return add

    def extend(self, path: str, header: str, texts: Sequence[str]) -> None:
        """Add the next values at a path."""
        if texts:
            self._count(sum(map(len, texts)) + len(texts))
            self._texts(path, header).extend(texts)

    def _texts(self, path: str, header: str) -> _Texts:
        """Return the values of a path, up to the row that is being read."""
        known = self._paths.get(path)
        if known is None:  # a path is added with its first value
            is_of_row = _location(path) == path
            before = self._first_row if is_of_row else self._counts.get(path, 0)
            known = self._paths[path] = _Texts(header, before, is_of_row=is_of_row)
        if known.is_of_row:  # rows may be without a text
            known.pad(self.rows)
        return known

    def _count(self, size: int) -> None:
        self._allowance.expanded(size)
        self.size += size

    def miss(self, path: str, reason: str) -> None:
        """Record values that have no readable text."""
        if path not in self._reported:
            self._missing[path] = reason

    def start_part(self, row: int) -> None:
        """Forget the texts, and continue with a row."""
        self._counts |= {path: texts.count for path, texts in self._paths.items()}
        self._reported.update(self._missing)
        self._first_row = self.rows = row
        self._paths, self._missing, self.size = {}, {}, 0

    def document(self, format_name: str, names: Names, children: Iterable[Child] = ()) -> Document:
        """Return the texts as a document, with those of `names`."""
        document = names.document(format_name, children)
        for path in sorted(self._paths, key=_column_number):  # rows may be without a text
            texts = self._paths[path]
            location = _location(path)
            unit = "row" if location == path else "value"
            column = _Column(path, location, unit, texts.starts, texts.before)
            text = texts.text()
            document.segments.append(Segment(text, location, column, texts.header))
            full = Piece(len(document.segments) - 1, 0, len(text))
            document.views.append(View(location, [full], document.segments, texts.header))
        document.views += self._pairs(document.segments)
        document.uninspected += [
            Uninspected(_location(path), reason) for path, reason in self._missing.items()
        ]
        return document

    def _pairs(self, segments: Sequence[Segment]) -> Iterator[View]:
        """Yield the values of maps, and of columns of settings, each after its key."""
        keys: dict[str, tuple[int, _Column]] = {}
        values: dict[str, tuple[int, _Column]] = {}
        for number, segment in enumerate(segments):
            if isinstance(column := segment.anchor, _Column):
                parent, _, last = column.path.rpartition(".")
                for names, found in ((_KEYS, keys), (_VALUES, values)):
                    if not names.isdisjoint((last.lower(), segment.context.lower())):
                        found.setdefault(parent, (number, column))
        for parent in keys.keys() & values.keys():
            pair = (keys[parent], values[parent])
            if len({(len(column.starts), column.before) for _, column in pair}) == 1:
                yield View("keys and values", _alternating(pair, segments), segments)


def _alternating(
    columns: Iterable[tuple[int, _Column]], segments: Sequence[Segment]
) -> Iterator[Piece | str]:
    """Yield the cells of two columns in turns."""
    texts = [(number, column, segments[number].text) for number, column in columns]
    for row in range(len(texts[0][1].starts)):
        for (number, column, text), apart in zip(texts, (": ", APART), strict=True):
            first = column.starts[row]
            yield from (Piece(number, first, first + len(column.cell(text, row))), apart)


def _location(path: str) -> str:
    """Return the column of a path; names of fields may hold values."""
    return path.partition(".")[0].partition("[")[0]


def _column_number(path: str) -> int:
    return int(_location(path).rpartition(" ")[2])


def changes_of(document: Document, edits: Edits) -> tuple[dict[str, dict[str, str]], list[Edit]]:
    """Return new texts by path and old text, and the edits of other segments."""
    others: list[Edit] = []
    of_cells: dict[tuple[int, int], list[TextEdit]] = {}
    for edit in sorted(edits):
        column = document.segments[edit.segment].anchor
        if isinstance(column, _Column):
            cell = bisect_right(column.starts, edit.start) - 1
            first = column.starts[cell]
            moved = TextEdit(edit.start - first, edit.end - first, edit.replacement)
            of_cells.setdefault((edit.segment, cell), []).append(moved)
        else:
            others.append(edit)
    changes: dict[str, dict[str, str]] = {}
    for (number, cell), moved_edits in of_cells.items():
        segment = document.segments[number]
        column = segment.anchor
        assert isinstance(column, _Column)
        text = column.cell(segment.text, cell)
        if moved_edits[-1].end > len(text):
            raise CannotMaskError("a cell of the file cannot be told from its neighbours")
        # Equal cells stay equal, so that a value is removed from all of them.
        changes.setdefault(column.path, {}).setdefault(text, spliced(text, moved_edits))
    return changes, others
