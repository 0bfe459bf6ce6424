"""Table columns as a derived text: each cell right after its header, as `header: cell`.

A header may be far above its value. A finding in a cell of this text is reported at the cell's
position.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from operator import add

from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.interface import DerivedText, LabelScore
from dlpctl.detect.derived.tables import Cells, OpenTable, sensitive_cells
from dlpctl.detect.resolve import Candidate, cannot_beat, rank


class Columns(DerivedText):
    """The cells below headers that name something sensitive, each right after its header."""

    def __init__(self, cells: Iterable[Cells]) -> None:
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
        self._scores: dict[tuple[int, bytes], float | None] = {}

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
        self._holders, scores = holders, self._scores
        for number, (start, end, plain, _proven, pattern) in enumerate(found):
            at = bisect_right(self._froms, start) - 1
            if at < 0 or self._froms[at] != start or self._tos[at] != end:
                continue
            key = pattern, self._labels[at]
            if key not in scores:
                scores[key] = label_score(*key)
            if (score := scores[key]) and score > plain:
                found[number] = found[number]._replace(score=score)
            holder = holders.get(at)
            if holder is None or rank(found[number]) < rank(holder):
                holders[at] = found[number]

    def open_hits(self, ends: list[int], best: float, proven: bool, pattern: int) -> list[int]:
        kept: list[int] = []
        settled: dict[tuple[float, int, bytes], bool] = {}
        for end in ends:
            at = bisect_left(self._blocks, end) - 1
            holder = self._holders.get(at)
            if holder is not None:
                key = holder.score, holder.pattern, self._labels[at]
                if key not in settled:
                    settled[key] = cannot_beat(best, proven, pattern, holder) or (
                        holder.pattern == pattern
                        and self._scores[pattern, self._labels[at]] is not None
                    )
                if settled[key]:
                    continue
            kept.append(end)
        return kept

    def holders(self) -> Iterator[Candidate]:
        for at, holder in sorted(self._holders.items()):
            start = self._starts[at]
            yield holder._replace(start=start, end=start + self._tos[at] - self._froms[at])
