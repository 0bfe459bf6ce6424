"""Table columns as a derived text: each cell right after its header, as `header: cell`.

A header may be far above its value. A finding in a cell of this text is reported at the cell's
position.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, compress
from operator import add, mul, not_, sub

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.interface import DerivedText, LabelScore
from dlpctl.detect.derived.tables import OpenTable, sensitive_cells
from dlpctl.detect.resolve import Candidate, cannot_beat, rank
from dlpctl.texts.positions import positions

_MOST_SORTS = 256
_BYTES = [bytes((number,)) for number in range(_MOST_SORTS)]
_new = tuple.__new__


class Columns(DerivedText):
    """The cells below headers that name something sensitive, each right after its header."""

    def __init__(
        self, cells: Iterable[Cells], scores: dict[tuple[int, bytes], float | None] | None = None
    ) -> None:
        """`scores` are those that labels give to patterns, as far as they are known."""
        text = bytearray()
        self._labels: list[bytes] = []
        self._blocks, self._starts, self._froms, self._tos = (array("q") for _ in range(4))
        label_of: dict[bytes, bytes] = {}
        for headers, starts, texts in cells:
            for header in {*headers}.difference(label_of):
                label_of[header] = b"\n" + header + b": "
            labels = [label_of[header] for header in headers]
            written = list(map(b"%b%b\n".__mod__, zip(labels, texts, strict=True)))
            blocks = list(accumulate(map(len, written), initial=len(text)))
            text += b"".join(written)
            blocks.pop()
            self._labels += labels
            self._blocks.extend(blocks)
            self._starts.extend(map(add, blocks, map(len, labels)))
            self._froms.extend(starts)
            self._tos.extend(map(add, starts, map(len, texts)))
        self.data = bytes(text)
        self._holders: dict[int, Candidate] = {}
        """The candidates of the original that occupy cells."""
        self._scores = {} if scores is None else scores
        self._holder_sorts: list[tuple[float, bool, int, bytes]] = []
        """The scores, patterns and labels of holders."""
        self._marked = 0
        self._marks = b""
        """The number of the holder's sort, or zero, for each byte from `_marked` on."""

    @classmethod
    def of(
        cls,
        data: bytes,
        headers: Iterable[tuple[int, int]],
        table: OpenTable | None,
        words: HeaderWords,
    ) -> Columns | None:
        """Return the sensitive columns of the tables with these headers, or None without any.

        `table` is the one whose rows the text starts with; it becomes the last one of the text.
        """
        columns = cls(sensitive_cells(data, headers, table or OpenTable(), words))
        return columns if columns.data else None

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span in the original; None where it is not within one cell."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return None
        first = self._froms[at] + start - self._starts[at]
        last = first + end - start
        return (first, last) if last <= self._tos[at] else None

    def cells_in(self, first: int, last: int) -> tuple[int, int, int]:
        """Return the range of this text with the cells that are in a range of the original, and
        where the first of them starts there, which may be before the range.
        """
        low = bisect_right(self._tos, first)
        high = max(low, bisect_left(self._froms, last))
        if low == high:
            return 0, 0, first
        end = self._blocks[high] if high < len(self._blocks) else len(self.data)
        return self._blocks[low], end, min(first, self._froms[low])

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where the cells that are in a range of this text are in the original."""
        low = max(0, bisect_right(self._blocks, first) - 1)
        high = max(low, bisect_left(self._blocks, last) - 1)
        return self._froms[low], self._tos[high]

    def settle(self, found: list[Candidate], label_score: LabelScore) -> None:
        """Give each candidate that takes a cell the score that the label gives it."""
        holders: dict[int, Candidate] = {}
        self._holders, self._marks, self._holder_sorts = holders, b"", []
        if not found:
            return
        low = bisect_left(self._froms, min(found)[0])
        high = bisect_right(self._froms, max(found)[0])
        cell_at = dict(zip(self._froms[low:high], range(low, high), strict=True))
        tos, labels, scores = self._tos, self._labels, self._scores
        for number, candidate in enumerate(found):
            start, end, plain, proven, pattern = candidate
            at = cell_at.get(start)
            if at is None or tos[at] != end:
                continue
            key = pattern, labels[at]
            if key not in scores:
                scores[key] = label_score(*key)
            score = max(plain, scores[key] or 0.0)
            settled = found[number] = _new(Candidate, (start, end, score, proven, pattern))
            holder = holders.get(at)
            if holder is None or rank(settled) < rank(holder):
                holders[at] = settled
        if holders:
            self._mark(min(holders), max(holders) + 1)

    def _mark(self, low: int, high: int) -> None:
        """Mark the bytes of cells by the sort of their holders, since there are few sorts and many
        trigger matches.
        """
        numbers: dict[tuple[float, bool, int, bytes], int] = {}
        cells = bytearray(high - low)
        for at, (_, _, score, proven, pattern) in self._holders.items():
            sort = score, proven, pattern, self._labels[at]
            number = numbers.setdefault(sort, len(numbers) + 1)
            if number < _MOST_SORTS:
                cells[at - low] = number
        self._holder_sorts = list(numbers)[: _MOST_SORTS - 1]
        blocks = self._blocks[low : high + 1]
        if high == len(self._blocks):
            blocks.append(len(self.data))
        self._marked = blocks[0]
        self._marks = b"".join(
            map(mul, map(_BYTES.__getitem__, cells), map(sub, blocks[1:], blocks))
        )

    def open_ends(self, ends: list[int], best: float, proven: bool, pattern: int) -> list[int]:
        settled = bytearray(_MOST_SORTS)
        for number, (score, held_proven, holder, label) in enumerate(self._holder_sorts, start=1):
            held = Candidate(0, 0, score, held_proven, holder)
            settled[number] = cannot_beat(best, proven, pattern, held) or (
                holder == pattern and self._scores[pattern, label] is not None
            )
        first = self._marked + 1  # a match ends after its last byte
        low, high = bisect_left(ends, first), bisect_left(ends, first + len(self._marks))
        marks = map(self._marks.__getitem__, map((-first).__add__, ends[low:high]))
        still_open = map(not_, map(settled.__getitem__, marks))
        return [*ends[:low], *compress(ends[low:high], still_open), *ends[high:]]

    def holders(self) -> Iterator[Candidate]:
        for at, holder in sorted(self._holders.items()):
            start = self._starts[at]
            yield holder._replace(start=start, end=start + self._tos[at] - self._froms[at])


class ColumnCells:
    """The cells of all columns in a long text, of which `Columns` are made for one range."""

    def __init__(self, data: bytes, cells: Iterable[Cells]) -> None:
        self._data = data
        self._starts, self._ends = positions(len(data)), positions(len(data))
        self._numbers: array[int] = array("B")
        """The number of each cell's header, of which there are few."""
        numbers: dict[bytes, int] = {}
        for headers, starts, texts in cells:
            for header in {*headers}.difference(numbers):
                numbers[header] = len(numbers)
            if len(numbers) > _MOST_SORTS and self._numbers.typecode == "B":
                self._numbers = array("I", self._numbers)
            self._numbers.extend(map(numbers.__getitem__, headers))
            self._starts.extend(starts)
            self._ends.extend(map(add, starts, map(len, texts)))
        self._headers = list(numbers)
        self._scores: dict[tuple[int, bytes], float | None] = {}

    def columns(self, first: int, last: int, margin: int) -> Columns:
        """Return the cells in a range of the text, and around them those that take `margin` bytes
        of the columns.
        """
        low = self._beyond(bisect_right(self._ends, first), -1, margin)
        high = self._beyond(bisect_left(self._starts, last), 1, margin)
        some = slice(low, max(low, high))
        starts = self._starts[some].tolist()
        texts = list(map(self._data.__getitem__, map(slice, starts, self._ends[some])))
        headers = list(map(self._headers.__getitem__, self._numbers[some]))
        return Columns([Cells(headers, starts, texts)], self._scores)

    def _beyond(self, at: int, step: int, margin: int) -> int:
        """Return the boundary between cells that is `margin` bytes of the columns from one."""
        headers, numbers, starts, ends = self._headers, self._numbers, self._starts, self._ends
        last = len(starts) if step > 0 else 0
        while margin > 0 and at != last:
            cell = min(at, at + step)
            margin -= len(headers[numbers[cell]]) + ends[cell] - starts[cell]
            at += step
        return at
