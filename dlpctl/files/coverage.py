"""The report on a file: what was inspected of it, what was removed, and what its copy shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlpctl.files.report import Coverage, Gap, Verified
from dlpctl.formats.interface import Document, Uninspected, described
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.files.names import PlaceNames
    from dlpctl.formats.files import Node
    from dlpctl.formats.spans import ViewEdit
    from dlpctl.formats.verify import Verification

_PAGE = lazy(r"page (\d+)\b")


def coverage_of(
    node: Node,
    names: PlaceNames,
    *,
    removed: Sequence[Uninspected] = (),
    metadata: Sequence[str] = (),
    drawn: Node | None = None,
) -> Coverage:
    """Return what was inspected; `drawn` is the file as read from pictures for a flattened copy."""
    nodes = list(node.walk())
    segments = [segment for each in nodes for segment in each.document.segments]
    missed = [] if removed else list(node.uninspected())
    remarks = [f"Removed from the copy: {described(removed)}."] if removed else []
    if metadata:
        listed = "; ".join(dict.fromkeys(names.shown(metadata)))
        remarks.append(f"Removed from the copy: {listed}.")
    flattened = drawn.walk() if drawn is not None else ()
    remarks += (remark for each in (*nodes, *flattened) for remark in each.document.remarks)
    locations = names.shown([part.location for part in missed])
    return Coverage(
        node.document.format,
        len(nodes),
        len(segments),
        sum(len(segment.text) for segment in segments),
        tuple(Gap(location, part.reason) for location, part in zip(locations, missed, strict=True)),
        tuple(dict.fromkeys(remarks)),
    )


def pages_of(document: Document, view_edits: Iterable[ViewEdit]) -> tuple[int, ...]:
    """Return the pages with values that must not remain, if the document has pages."""
    pages = {
        number: int(found[1])
        for number, segment in enumerate(document.segments)
        if (found := _PAGE.match(segment.location))
    }
    touched = {
        piece.segment
        for view_edit in (view_edits if pages else ())
        for piece in document.views[view_edit.view].pieces_of(view_edit.start, view_edit.end)
    }
    return tuple(sorted({pages[number] for number in touched if number in pages}))


def verified_of(found: Verification) -> Verified:
    return Verified(found.values, len({leak.location for leak in found.leaks}), found.summary())


def reason_of_leak(found: Verification, names: PlaceNames) -> str:
    if found.clean:
        return ""
    leak = found.leaks[0]
    if found.unreadable:
        return f"the masked copy cannot be verified: {leak.shown_by}"
    (location,) = names.shown([leak.location])
    at = f" at {location}" if location else ""
    return f"the masked copy still holds a value{at}, as {leak.shown_by} shows"
