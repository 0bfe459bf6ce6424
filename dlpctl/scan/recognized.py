"""Choose how to read a content, by the format that `dlpctl.formats` recognizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.recognition import HEAD, ends_with_zip, is_source_text, recognize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dlpctl.formats.compressed import Compressed
    from dlpctl.formats.sections import ReadRange, Section
    from dlpctl.scan.source import File

BOOKS = ".epub"
"""The suffix of e-books, which are ZIP archives but do not count as archives."""
LABELLED = "too large for its format: read as plain text, without the labels of its columns"


class Content(NamedTuple):
    """The way to read a content: as text, as strings, or by its format."""

    format: str
    is_text: bool = False
    is_binary: bool = False
    is_archive: bool = False
    in_process: bool = True
    """True for text, which is searched as text if its format fails."""


TEXT = Content("text", is_text=True)


def recognized(data: bytes, path: str, tail: bytes = b"") -> Content:
    """Return how to read a content; raise `FormatError` if the content is two files in one."""
    name = path.rpartition("/")[2]
    if is_source_text(data, name) and not (tail and ends_with_zip(tail)):
        return TEXT
    from dlpctl.formats.interface import BINARY

    chosen = recognize(data, name, tail)
    return Content(
        chosen.name,
        bool(getattr(chosen, "shows_all", False)),
        chosen.name == BINARY,
        bool(getattr(chosen, "archive", False)) and not name.lower().endswith(BOOKS),
        any(getattr(chosen, name, False) for name in ("in_process", "is_text_underneath")),
    )


class InParts(NamedTuple):
    """The way to read a large content in parts."""

    binary: bool
    not_inspected: str = ""
    """The parts that are not inspected."""


def in_parts(head: bytes, path: str, tail: bytes = b"") -> InParts | None:
    """Return how to read a large content in parts; None if it must be read as a whole."""
    from dlpctl.formats.binary import UNKNOWN, reason

    try:
        content = recognized(head[:HEAD], path, tail)
    except FormatError:
        return None  # the reason is reported when the content is read
    if content.is_binary:
        return InParts(binary=True, not_inspected=reason(head[:HEAD]) or UNKNOWN)
    if content.format == "csv" and b"\0" not in head:
        return InParts(binary=False, not_inspected=LABELLED)
    if not content.is_text or _is_wide(head[:HEAD]):
        return None
    return InParts(binary=False)


def compression_of(head: bytes, path: str) -> Compressed | None:
    """Return the format of a content that is one compressed file, if it can be decompressed as a
    stream.
    """
    from dlpctl.formats.compressed import Compressed

    try:
        chosen = recognize(head[:HEAD], path.rpartition("/")[2])
    except FormatError:
        return None
    return chosen if isinstance(chosen, Compressed) and chosen.in_pieces else None


class InSections(NamedTuple):
    """The way to read a large document in ranges, each of which is a complete file."""

    is_archive: bool
    sections: Iterator[Section]


def in_sections(head: bytes, file: File, tail: bytes, read: ReadRange) -> InSections | None:
    """Return the sections of a large document; None if its format has none."""
    from dlpctl.formats.discovery import format_named

    try:
        content = recognized(head, file.shown, tail)
    except FormatError:
        return None
    divide = getattr(format_named(content.format), "sections", None)
    return divide and InSections(content.is_archive, divide(read, file.size))


def _is_wide(head: bytes) -> bool:
    """Return whether the encoding makes parts of a text unreadable on their own."""
    from dlpctl.formats.encoding import decode

    if head.isascii() and b"\0" not in head:
        return b"\x1b$" in head
    decoded = decode(head)
    return decoded is not None and decoded.encoding.startswith(("utf-16", "utf-32", "iso2022"))
