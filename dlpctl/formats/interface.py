"""The interface between file formats and the rest of dlpctl.

A format reads a file into *segments*: texts, each at one location in the file. Detectors search
*views*: sequences of pieces of segments, so that a value is found even if the file splits it across
runs, lines or pages. Findings in a view are mapped back to *edits* of segments, which the format
applies to a copy of the file, with everything else unchanged.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from operator import sub
from typing import NamedTuple, Protocol, Self, cast, runtime_checkable

from dlpctl.config.settings import FileLimits
from dlpctl.errors import FormatError
from dlpctl.regex import lazy

Limits = FileLimits
CELLS_APART = "\n\n"
"""The separator between the cells of a column in its view."""
APART = "\n\n\n"
"""Separates texts that do not continue in each other: a number has at most two gaps in a row."""
ACROSS_TAGS = "across tags"
"""The name of views of texts that tags divide within a line."""
_CELLS = 1 << 12
"""The number of cells that are objects at the same time: a column has millions."""
BINARY = "binary"
"""The format of files that no other format reads."""
SIGNED = "The file is signed; a masked copy loses the signature."
LIKE_LETTERS = "shapes that may be letters: save the drawing as PNG"
"""The reason why a drawing of many shapes is not inspected."""
_PAGE = lazy(r"(?:^| )page \d+$")


class NotThisFormatError(FormatError):
    """The file is not of this format after all; the next format that claims the file should read
    it.
    """


def too_deep(what: str, limits: Limits) -> FormatError:
    """Return the error for a file that nests deeper than the limit."""
    return FormatError(f"{what} nests deeper than {limits.nesting} levels: raise limits.nesting")


class Segment(NamedTuple):
    """A text at one location in a file."""

    text: str
    location: str
    """The location for display: `page 3`, `Sheet1!B7`, `word/header1.xml`."""
    anchor: object = None
    """The format's own reference to the location; it never leaves the process that
    read the file.
    """
    context: str = ""
    """Words that label the text: a column header, a JSON key, the name of a form field."""


class Piece(NamedTuple):
    """A range of characters of one segment."""

    segment: int
    start: int
    end: int


class Edit(NamedTuple):
    """Characters of one segment and their replacement."""

    segment: int
    start: int
    end: int
    replacement: str


class Uninspected(NamedTuple):
    """A part of the file that was not inspected."""

    location: str
    reason: str
    segment: int = -1
    """The segment whose edit removes the part; -1 if there is none."""

    @property
    def is_removable(self) -> bool:
        return self.segment >= 0


def described(uninspected: Iterable[Uninspected]) -> str:
    """Return a summary of uninspected parts: `2 pages not inspected: pictures, no OCR`."""
    reasons: dict[str, set[str]] = {}
    for location, reason, _ in uninspected:
        reasons.setdefault(reason, set()).add(location)
    return "; ".join(
        f"{_counted_places(locations)} not inspected: {reason}"
        for reason, locations in reasons.items()
    )


def _counted_places(locations: set[str]) -> str:
    noun = "page" if all(_PAGE.search(location) for location in locations) else "part"
    return f"{len(locations)} {noun}{'' if len(locations) == 1 else 's'}"


class Child(NamedTuple):
    """A file within the file: an attachment, a member of an archive, an embedded object."""

    key: str
    """Identifies the child within its parent; `mask` gets the new contents by this key."""
    name: str
    """The file name, for recognition and display."""
    data: bytes
    spare: bool = False
    """True if the parent is complete without the child, which is dropped if it cannot be masked or
    inspected.
    """


Edits = Sequence[Edit]
Children = Mapping[str, bytes | None]
"""New contents of files within a file by key; None drops a file."""


CellSpans = Callable[[], tuple["array[int]", "array[int]"]]
"""Returns the starts and the ends of cells."""


class ViewColumns(NamedTuple):
    """The pieces of a view, as columns of numbers."""

    offsets: array[int]
    """The start of each piece in the view."""
    segments: array[int]
    starts: array[int]
    """The start of each piece in its segment."""
    ends: array[int]


class View:
    """A text for detectors: pieces of segments, stored as numbers, with separators between them."""

    __slots__ = (
        "_cells",
        "_froms",
        "_segments",
        "_source",
        "_starts",
        "_text",
        "_tos",
        "context",
        "name",
        "repeats",
    )

    def __init__(
        self,
        name: str,
        parts: Iterable[Piece | str],
        segments: Sequence[Segment],
        context: str = "",
        *,
        repeats: bool = False,
    ) -> None:
        self.name = name
        self.context = context
        """Words that label everything in the view: the header of its column."""
        self.repeats = repeats
        """True if another view shows the same text; this one only adds the label."""
        texts: list[str] = []
        self._starts = array("q")
        self._segments = array("q")
        self._froms = array("q")
        self._tos = array("q")
        length = 0
        for part in parts:
            if isinstance(part, str):
                text = part
            else:
                segment, start, end = part
                text = segments[segment].text[start:end]
                self._starts.append(length)
                self._segments.append(segment)
                self._froms.append(start)
                self._tos.append(end)
            texts.append(text)
            length += len(text)
        self._text: str | None = "".join(texts)
        self._source = ""
        """The segment of cells, from which their text is made when needed."""
        self._cells: CellSpans | None = None
        """Reads the spans of cells, until they are needed."""

    @classmethod
    def of_columns(
        cls, name: str, text: str, columns: ViewColumns, context: str = "", *, repeats: bool = False
    ) -> Self:
        """Return a view from its text and columns."""
        view = cls(name, (), (), context, repeats=repeats)
        view._text = text
        view._starts, view._segments, view._froms, view._tos = columns
        return view

    @classmethod
    def of_cells(
        cls,
        name: str,
        source: str,
        segment: int,
        cells: CellSpans,
        header: str,
    ) -> Self:
        """Return the view of a column: the cells of a segment that a header labels."""
        view = cls(name, (), (), header, repeats=True)
        view._segments = array("B" if segment < 256 else "I", [segment])
        view._source, view._cells = source, cells
        view.release()
        return view

    def _find_cells(self) -> None:
        """Read the spans of cells before they are needed for the first time."""
        if self._cells is not None:
            self._froms, self._tos = self._cells()
            self._segments *= len(self._froms)
            self._cells = None

    @property
    def text(self) -> str:
        return self._read_cells() if self._text is None else self._text

    def _read_cells(self) -> str:
        self._find_cells()
        source = self._source
        lengths = map(sub, self._tos, self._froms)
        self._starts = array("I", accumulate(map(len(CELLS_APART).__add__, lengths), initial=0))
        self._starts.pop()
        parts: list[str] = []
        spans = zip(self._froms, self._tos, strict=True)
        while some := [source[start:end] for start, end in islice(spans, _CELLS)]:
            parts.append(CELLS_APART.join([*some, ""]))
        text = self._text = "".join(parts)
        return text

    def release(self) -> None:
        """Free the text of cells, which is made again when needed."""
        if self._source:
            self._text = None
            self._starts = array("I")

    @property
    def columns(self) -> ViewColumns:
        if self._text is None:
            self._read_cells()
        return ViewColumns(self._starts, self._segments, self._froms, self._tos)

    @property
    def count(self) -> int:
        """The number of pieces."""
        self._find_cells()
        return len(self._froms)

    def pieces(self) -> Iterator[tuple[int, int, int]]:
        """Yield all pieces, as segment, start and end."""
        self._find_cells()
        return zip(self._segments, self._froms, self._tos, strict=True)

    def pieces_of(self, start: int, end: int) -> list[Piece]:
        """Return a range of the view as ranges of segments, in order."""
        found: list[Piece] = []
        if self._text is None:
            self._read_cells()
        starts = self._starts
        if self.count == 1:  # a single piece; this is called for every finding
            first = self._froms[0] - starts[0]
            if first:
                start, end = start + first, end + first
            low, high = max(start, self._froms[0]), min(end, self._tos[0])
            return [Piece(self._segments[0], low, high)] if low < high else found
        index = max(0, bisect_right(starts, start) - 1)
        while index < len(starts) and starts[index] < end:
            at, first = starts[index], self._froms[index]
            low = max(start, at)
            high = min(end, at + self._tos[index] - first)
            if low < high:
                found.append(Piece(self._segments[index], first + low - at, first + high - at))
            index += 1
        return found


class Locator(Protocol):
    """An anchor whose location depends on the offset; workers send `locator()`, which is plain
    data.
    """

    def place_at(self, offset: int) -> str:
        """Return the location of the character at `offset` of the segment's text."""


@dataclass(slots=True)
class Document:
    """A file that has been read."""

    format: str
    segments: list[Segment]
    views: list[View]
    uninspected: list[Uninspected] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Sentences for reports: `The file is signed; a masked copy loses the signature.`"""

    def place_of(self, segment: int, offset: int = 0) -> str:
        """Return the location of the character at `offset` of a segment."""
        anchor = self.segments[segment].anchor
        # `isinstance` with a protocol takes a hundred times as long, and a table has a hundred
        # thousand locations.
        if hasattr(anchor, "place_at"):
            return cast("Locator", anchor).place_at(offset)
        return self.segments[segment].location


@runtime_checkable
class Format(Protocol):
    """A file format. Discovery finds each module or package of `dlpctl.formats` that defines
    `FORMAT`: there is no other registration.

    These attributes are optional. `rank` orders the formats that claim the same file, lowest first
    (default 50; ZIP has 60, so that formats based on ZIP precede it). `in_process = True` means
    that reading runs no native parser and decompresses nothing, so that no worker process is
    needed. `shows_all = True` means that the characters of the file show everything in it, so that
    a scan may read them as plain text. `is_text = True` means that the file has to decode as text;
    `is_text_underneath = True`, that a scan may read the file as text if its format fails, as with
    formats that run in process. `archive = True` means that users call such a file an archive.
    `is_table = True` means that each line end of its texts ends a cell, unless a cell has several
    lines. `text_start`, a regular expression, matches the start of those files that may consist of
    text characters, or a mark within the first `text_start_within` bytes; `python -m
    dlpctl.formats.discovery` then generates `quickcheck`. `sections(read, size)` yields ranges of a
    large file that are complete files. `extract_parts(data, limits)` yields documents that show the
    file together, so that a scan never holds all of a large one. `metadata`, a regular expression,
    matches the places of segments of metadata; edits that remove all text of all of them remove the
    metadata itself, dates and other numbers included. `flattened` names the format that reads the
    same files from pictures of their pages; that format has `is_redrawn = True`, since its copies
    differ from the file even without edits. `extensions_of(head, name)` returns those extensions
    that fit a file, if a format has several kinds of files. `has_preamble(data)` returns whether
    text precedes the actual file, so that the file is also read as text.
    """

    name: str
    extensions: tuple[str, ...]
    """With the dot, in lower case."""

    def sniff(self, head: bytes, name: str) -> bool:
        """Return whether a file is of this format, given its head or all of it."""

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        """Read the file; raise `FormatError` if it cannot be read with certainty."""

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        """Return a copy with edits and children applied; raise `CannotMaskError` if that is
        impossible.
        """

    def read_again(self, data: bytes, limits: Limits) -> Iterable[str]:
        """Return all text of the file, read by a second, independent method."""
