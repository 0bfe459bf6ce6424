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
    wanted: list[tuple[int, int, int, int, Edit]] = []
    for view, start, end, replacement in view_edits:
        for number, piece in enumerate(document.views[view].pieces_of(start, end)):
            edit = Edit(*piece, replacement if number == 0 else "")
            wanted.append((edit.segment, edit.start, start - end, len(wanted), edit))
    wanted.sort()
    merged: list[tuple[Edit, int]] = []
    for _, _, shorter, _, edit in wanted:
        length = -shorter
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
