"""Convert edits of views to edits of segments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dlpctl.formats.interface import Document, Edit


class ViewEdit(NamedTuple):
    """Characters of a view that must not remain, and their replacement."""

    view: int
    start: int
    end: int
    replacement: str


def edits_of(document: Document, view_edits: Iterable[ViewEdit]) -> list[Edit]:
    """Return disjoint edits; the first piece of a value is replaced, and the longest value wins."""
    wanted: list[tuple[Edit, int]] = []
    for view, start, end, replacement in view_edits:
        for number, piece in enumerate(document.views[view].pieces_of(start, end)):
            wanted.append((Edit(*piece, replacement if number == 0 else ""), end - start))
    wanted.sort(key=lambda item: (item[0].segment, item[0].start, -item[1]))
    merged: list[tuple[Edit, int]] = []
    for edit, length in wanted:
        last, last_length = merged[-1] if merged else (None, 0)
        if last is None or last.segment != edit.segment or edit.start >= last.end:
            merged.append((edit, length))
            continue
        better = (
            edit.replacement
            if not last.replacement or (edit.replacement and length > last_length)
            else last.replacement
        )
        joined = Edit(last.segment, last.start, max(last.end, edit.end), better)
        merged[-1] = (joined, max(length, last_length))
    return [edit for edit, _ in merged]
