"""What a file format gives the rest of dlpctl, and what it takes back.

A format reads a file into *segments*: texts, each at one place of the file. Detectors run on *views*: sequences of pieces of segments,
so that a value is found although the file splits it over runs, lines or pages. Findings in a view are mapped back to *edits* of segments,
which the format writes into a copy of the file, everything else kept as it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable


class Segment(NamedTuple):
    """A text as it stands at one place of a file."""

    text: str
    place: str
    """Where it stands, for people: `page 3`, `Sheet1!B7`, `word/header1.xml`."""
    anchor: object = None
    """What the format needs to find the place again; picklable, private to the format."""
    context: str = ""
    """Words that label the text without being part of it: a column header, a JSON key, a form field's name."""


class Piece(NamedTuple):
    """A range of characters of one segment."""

    segment: int
    start: int
    end: int


class Edit(NamedTuple):
    """Characters of one segment and what stands there instead."""

    segment: int
    start: int
    end: int
    replacement: str


class Uninspected(NamedTuple):
    """A part of the file that no detector could look at."""

    place: str
    reason: str


class Child(NamedTuple):
    """A file within the file: an attachment, a member of an archive, an embedded object."""

    key: str
    """Names the child within its parent, unique; `mask` gets the new contents by it."""
    name: str
    """File name, for sniffing and for people."""
    data: bytes


class View:
    """A text for detectors, joined from pieces of segments and from separators that stand in no segment."""

    __slots__ = ("_pieces", "_starts", "name", "text")

    def __init__(self, name: str, parts: Sequence[Piece | str], segments: Sequence[Segment]) -> None:
        self.name = name
        texts: list[str] = []
        self._starts: list[int] = []
        self._pieces: list[Piece] = []
        length = 0
        for part in parts:
            if isinstance(part, str):
                text = part
            else:
                text = segments[part.segment].text[part.start : part.end]
                self._starts.append(length)
                self._pieces.append(part)
            texts.append(text)
            length += len(text)
        self.text = "".join(texts)

    def pieces_of(self, start: int, end: int) -> list[Piece]:
        """The characters `start` to `end` of the view, as ranges of segments, in the view's order."""
        found: list[Piece] = []
        index = max(0, bisect_right(self._starts, start) - 1)
        while index < len(self._pieces) and self._starts[index] < end:
            at, piece = self._starts[index], self._pieces[index]
            low = max(start, at)
            high = min(end, at + piece.end - piece.start)
            if low < high:
                found.append(Piece(piece.segment, piece.start + low - at, piece.start + high - at))
            index += 1
        return found


@dataclass(slots=True)
class Document:
    """A file that has been read."""

    format: str
    segments: list[Segment]
    views: list[View]
    uninspected: list[Uninspected] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What people should know, one sentence each: `The file is signed; masking breaks the signature.`"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may cost before it counts as unreadable, which blocks it."""

    input_bytes: int = 100 << 20
    expanded_bytes: int = 500 << 20
    entry_ratio: int = 200
    entry_ratio_from: int = 1 << 20
    entries: int = 2_000
    depth: int = 3
    pdf_pages: int = 2_000
    pixels: int = 60_000_000
    nesting: int = 200
    """How deep XML and JSON may nest."""
    memory_bytes: int = 2 << 30
    seconds: float = 120.0


@runtime_checkable
class Format(Protocol):
    """One file format. A module of `dlpctl.formats` (or a package) that defines `FORMAT` is found by discovery."""

    name: str
    extensions: tuple[str, ...]

    def sniff(self, head: bytes, name: str) -> bool:
        """Whether a file that begins with `head` is of this format."""

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        """Read the file; raises `FormatError` where it cannot be read with certainty."""

    def mask(
        self, data: bytes, document: Document, edits: Sequence[Edit], children: Mapping[str, bytes | None]
    ) -> bytes:
        """A copy with the edits made and the children replaced (None drops one); raises `CannotMaskError`."""

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        """All text of the file by a second, independent way: what the verifier searches for values that should be gone."""
