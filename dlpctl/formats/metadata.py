"""The metadata of files: who made them, with what and where, beside what they show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from dlpctl.formats.interface import Document, Edit


def metadata_of(regex: str | None, document: Document) -> Iterator[int]:
    """Yield the numbers of the segments whose labels match the regex of metadata."""
    if regex is not None:
        is_place = _compiled(regex).fullmatch
        for number, segment in enumerate(document.segments):
            if is_place(segment.location) and segment.text.strip():
                yield number


def without_metadata(regex: str | None, document: Document, edits: Iterable[Edit]) -> list[Edit]:
    """Return edits together with those that leave nothing of the metadata."""
    removals = [
        Edit(number, 0, len(document.segments[number].text), "")
        for number in metadata_of(regex, document)
    ]
    removed = {removal.segment for removal in removals}
    return sorted([*(edit for edit in edits if edit.segment not in removed), *removals])


def is_without_metadata(regex: str | None, document: Document, edits: Iterable[Edit]) -> bool:
    """Return whether edits leave nothing of the metadata that a document has."""
    removed = {
        edit.segment
        for edit in edits
        if not edit.replacement
        and edit.end - edit.start == len(document.segments[edit.segment].text)
    }
    numbers = set(metadata_of(regex, document))
    return bool(numbers) and numbers <= removed


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)
