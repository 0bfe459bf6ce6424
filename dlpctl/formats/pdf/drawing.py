"""The content that a stream shows: texts, marks and pictures, with the state that
positioned them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.pdf.content import Name, Operand, Operation
from dlpctl.formats.pdf.fonts import Font
from dlpctl.formats.pdf.matrix import IDENTITY, Matrix
from dlpctl.formats.pdf.modules import Modules
from dlpctl.formats.pdf.outlines import CURVES, Contours

if TYPE_CHECKING:
    from pikepdf import Object

StreamKey = Hashable
"""Identifies a content stream within the file: a page's index or the object number of a form."""

MARK_WORDS = (b"ActualText", b"Alt", b"E")
_LANGUAGE = re.compile(rb"[A-Za-z]{0,8}(?:[-_][A-Za-z0-9]{1,8}){0,5}")
WORD_GAP = 0.18
"""A gap of this share of the font size separates words."""


@dataclass(slots=True)
class Budget:
    """The remaining cost that one file may cause, all pages together."""

    expanded: int
    glyphs: int
    invocations: int

    def spend(self, *, glyphs: int = 0, invocations: int = 0, expanded: int = 0) -> None:
        self.glyphs -= glyphs
        self.invocations -= invocations
        self.expanded -= expanded
        if self.glyphs < 0 or self.invocations < 0 or self.expanded < 0:
            raise FormatError(
                "the PDF draws more than the limits allow: print it to a simpler PDF and try again"
            )


class State(NamedTuple):
    """The part of the graphics state that positions text."""

    matrix: Matrix = IDENTITY
    char_space: float = 0.0
    word_space: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    font: Font | None = None
    size: float = 0.0
    mode: int = 0
    rise: float = 0.0


@dataclass(slots=True)
class Mark:
    """A range of marked content with replacement words for its glyphs."""

    stream: StreamKey
    start: int
    end: int
    tag: bytes
    properties: bytes | dict[bytes, Operand]
    """The dictionary itself, or its name in the resources."""
    resources: Object | None

    @property
    def replaces(self) -> bool:
        """True if the words replace those that the marked glyphs show."""
        return not isinstance(self.properties, dict) or any(map(self.properties.get, MARK_WORDS))

    def words(self) -> str:
        """Return the mark's inline words; words in the resources are strings of the file."""
        if not isinstance(self.properties, dict):
            return ""
        return "\n".join(map(words_of, strings_in(self.properties)))


def strings_in(properties: dict[bytes, Operand]) -> list[bytes]:
    """Return the strings of a mark that may say something."""
    return [
        value
        for key, value in properties.items()
        if isinstance(value, bytes)
        and not isinstance(value, Name)
        and not (key == b"Lang" and is_language(value))
    ]


def is_language(text: bytes) -> bool:
    """Return whether a string is the tag of a language, which is no text."""
    return _LANGUAGE.fullmatch(text) is not None


@dataclass(slots=True)
class Show:
    """An operator that shows text."""

    stream: StreamKey
    start: int
    end: int
    operation: Operation
    items: list[Operand]
    font: Font
    state: State
    matrix: Matrix
    """From text space, where the pen starts at the origin, to the page."""
    text: str
    length: float
    """The distance that the pen moves, in text space, along the writing direction."""
    glyphs: int
    mark: Mark | None
    order: int
    placed: bool
    """True if the text was positioned; false if it starts where the text before it ends."""


class Picture(NamedTuple):
    """An image as drawn."""

    source: Object | None
    """None for an inline image."""
    matrix: Matrix
    order: int


class Stray(NamedTuple):
    """Text in a content stream that is not shown."""

    stream: StreamKey
    start: int
    end: int
    text: str


@dataclass(slots=True)
class Drawing:
    """Everything that one page, or another drawing stream, shows."""

    shows: list[Show] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    curves: int = 0
    modules: Modules = field(default_factory=Modules)
    contours: Contours = field(default_factory=Contours)
    """Empty unless the walker traces contours."""
    streams: set[StreamKey] = field(default_factory=set)
    trouble: str = ""
    unmatched_restores: list[tuple[int, int]] = field(default_factory=list)
    """`Q` operators of the outermost stream without a `q`."""
    open_saves: int = 0

    def count(self, operation: Operation, matrix: Matrix) -> None:
        """Count a curve, or a shape if it may be part of a code."""
        self.curves += operation.operator in CURVES
        self.modules.see(operation, matrix)

    def add(self, show: Show) -> None:
        """Add text, after the shapes that it is written on."""
        self.shows.append(show)
        self.modules.see_words(*show.matrix[4:])


def words_of(raw: bytes) -> str:
    """Return a string of a PDF as text."""
    if raw.startswith((b"\xfe\xff", b"\xff\xfe")):
        return raw.decode("utf-16", "replace")
    return raw.removeprefix(b"\xef\xbb\xbf").decode(
        "utf-8" if raw.startswith(b"\xef\xbb\xbf") else "latin-1", "replace"
    )
