"""Convert edits of views to edits of segments."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from operator import le
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
    wanted, lengths = _pieces(document, view_edits)
    if _are_apart(wanted):
        return wanted
    return EditColumns.holding(Edit, 3, _merged(wanted, lengths))


def _merged(wanted: EditColumns[Edit], lengths: array[int]) -> Iterator[Edit]:
    """Yield disjoint edits instead of those that overlap."""
    last: Edit | None = None
    last_length = 0
    for number in _ordered(wanted, lengths):
        edit, length = wanted[number], lengths[number]
        if last is None or last.segment != edit.segment or edit.start >= last.end:
            if last is not None:
                yield last
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
        yield last


def _pieces(
    document: Document, view_edits: Iterable[ViewEdit]
) -> tuple[EditColumns[Edit], array[int]]:
    """Return an edit for each piece of a value, and the length of the value for each of them."""
    wanted, lengths = EditColumns(Edit, 3), array("q")

    def pieces() -> Iterator[tuple[int, int, int, str]]:
        for view, start, end, replacement in view_edits:
            for number, piece in enumerate(document.views[view].pieces_of(start, end)):
                yield *piece, "" if number else replacement
                lengths.append(end - start)

    wanted.add(pieces())
    return wanted, lengths


def _are_apart(edits: EditColumns[Edit]) -> bool:
    """Return whether edits are in order and none starts before the end of another one, as in most
    files.
    """
    segments, starts, ends = edits.numbers
    reached = zip(segments, map(max, ends, map((1).__add__, starts)), strict=True)
    following = zip(islice(segments, 1, None), islice(starts, 1, None), strict=True)
    return all(map(le, reached, following))


def _ordered(edits: EditColumns[Edit], lengths: array[int]) -> Sequence[int]:
    """Return the numbers of edits by position, those of long values first."""
    segments, starts, _ = edits.numbers

    def order(number: int) -> tuple[int, int, int]:
        return segments[number], starts[number], -lengths[number]

    numbers = range(len(edits))
    is_ordered = all(before <= after for before, after in pairwise(map(order, numbers)))
    return numbers if is_ordered else sorted(numbers, key=order)
