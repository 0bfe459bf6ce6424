"""Convert edits of views to edits of segments."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from dlpctl.formats.editcolumns import EditColumns
from dlpctl.formats.interface import Document, Edit, Edits


class ViewEdit(NamedTuple):
    """Characters of a view that must not remain, and their replacement."""

    view: int
    start: int
    end: int
    replacement: str


def edits_of(document: Document, view_edits: Iterable[ViewEdit]) -> Edits:
    """Return disjoint edits; the first piece of a value is replaced, and the longest value wins."""
    wanted = EditColumns(Edit, 3)
    lengths = array("q")
    for view, start, end, replacement in view_edits:
        for number, piece in enumerate(document.views[view].pieces_of(start, end)):
            wanted.append(*piece, replacement if number == 0 else "")
            lengths.append(end - start)
    merged = EditColumns(Edit, 3)
    last: Edit | None = None
    last_length = 0
    for number in _ordered(wanted, lengths):
        edit, length = wanted[number], lengths[number]
        if last is None or last.segment != edit.segment or edit.start >= last.end:
            if last is not None:
                merged.append(*last)
            last, last_length = edit, length
            continue
        better = (
            edit.replacement
            if not last.replacement or (edit.replacement and length > last_length)
            else last.replacement
        )
        last = Edit(last.segment, last.start, max(last.end, edit.end), better)
        last_length = max(length, last_length)
    if last is not None:
        merged.append(*last)
    return merged


def _ordered(edits: EditColumns[Edit], lengths: array[int]) -> Sequence[int]:
    """Return the numbers of edits by position, those of long values first."""
    segments, starts, _ = edits.numbers

    def order(number: int) -> tuple[int, int, int]:
        return segments[number], starts[number], -lengths[number]

    numbers = range(len(edits))
    is_ordered = all(before <= after for before, after in pairwise(map(order, numbers)))
    return numbers if is_ordered else sorted(numbers, key=order)
