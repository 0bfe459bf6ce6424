"""Follows a content stream as a viewer does and writes down what it shows: texts with their place,
and pictures.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.pdf.content import SHOWS, STRAY, Name, Operand, Operation, operations
from dlpctl.formats.pdf.fonts import Font
from dlpctl.formats.pdf.matrix import IDENTITY, Matrix, multiply
from dlpctl.formats.pdf.objects import (
    is_array,
    is_dictionary,
    is_stream,
    number,
    numbers,
    stream_bytes,
)

if TYPE_CHECKING:
    from pikepdf import Object

StreamKey = Hashable
"""Names a content stream within the file: a page's index or the object number of a form."""

MAX_NESTING = 28
MAX_INVOCATIONS_ON_PAGE = 20_000
MARK_WORDS = (b"ActualText", b"Alt", b"E")
_MAX_STACK = 512
_MAX_STRAYS = 10_000
WORD_GAP = 0.18
"""A gap of this share of the font size separates words."""


@dataclass(slots=True)
class Budget:
    """What one file may cost, all pages together."""

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


@dataclass(slots=True)
class State:
    """The part of the graphics state that places text."""

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
    """A stretch of marked content that says in other words what its glyphs show."""

    stream: StreamKey
    start: int
    end: int
    tag: bytes
    properties: bytes | dict[bytes, Operand]
    """The dictionary itself, or its name in the resources."""
    resources: Object | None

    def words(self) -> str:
        """What the mark says inline. Words in the resources are found with the other strings of the
        file.
        """
        if not isinstance(self.properties, dict):
            return ""
        given = [self.properties.get(key) for key in MARK_WORDS]
        return "\n".join(_words(words) for words in given if isinstance(words, bytes))


@dataclass(slots=True)
class Show:
    """One operator that shows text."""

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
    """How far the pen moves, in text space, along the writing direction."""
    glyphs: int
    mark: Mark | None
    order: int


class Picture(NamedTuple):
    """An image as it is drawn."""

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
    """Everything that one page, or another stream that draws, shows."""

    shows: list[Show] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    curves: int = 0
    streams: set[StreamKey] = field(default_factory=set)
    trouble: str = ""
    unmatched_restores: list[tuple[int, int]] = field(default_factory=list)
    """`Q` operators of the outermost stream that undo no `q`."""
    open_saves: int = 0


class Walker:
    """Walks streams of one file; fonts and forms are read once."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._fonts: dict[tuple[int, int], Font] = {}
        self._forms: dict[tuple[int, int], list[Operation]] = {}
        self._invocations = 0

    def walk(self, data: bytes, key: StreamKey, resources: Object | None) -> Drawing:
        drawing = Drawing()
        self._invocations = 0
        self._walk(operations(data), key, resources, State(), drawing, [])
        return drawing

    def _font(self, resources: Object | None, name: Operand) -> Font | None:
        fonts = resources.get("/Font") if resources is not None else None
        source = _member(fonts, name)
        return self._read_font(source)

    def _read_font(self, source: object) -> Font | None:
        if not is_dictionary(source):
            return None
        number_ = source.objgen
        known = self._fonts.get(number_) if number_[0] else None
        if known is None:
            known = Font(source, self.budget.expanded)
            if number_[0]:
                self._fonts[number_] = known
        return known

    def _walk(
        self,
        stream: Iterable[Operation],
        key: StreamKey,
        resources: Object | None,
        state: State,
        drawing: Drawing,
        parents: list[StreamKey],
    ) -> None:
        drawing.streams.add(key)
        text: Matrix = IDENTITY
        line: Matrix = IDENTITY
        stack: list[State] = []
        marks: list[Mark | None] = []
        fonts: dict[bytes, Font | None] = {}
        for operation in stream:
            operator, operands = operation.operator, operation.operands
            if operator in SHOWS:
                if not operands:
                    continue
                if operator == b'"' and len(operands) >= 3:
                    state = copy.copy(state)
                    state.word_space, state.char_space = _real(operands[0]), _real(operands[1])
                if operator in (b"'", b'"'):
                    text = line = multiply((1.0, 0.0, 0.0, 1.0, 0.0, -state.leading), line)
                shown = operands[-1]
                items: list[Operand] = shown if isinstance(shown, list) else [shown]
                text = self._show(
                    operation, items, key, state, text, drawing, marks[-1] if marks else None
                )
            elif operator in (b"Td", b"TD"):
                x, y = _reals(operands, 2)
                if operator == b"TD":
                    state = copy.copy(state)
                    state.leading = -y
                a, b, c, d, e, f = line
                text = line = (a, b, c, d, x * a + y * c + e, x * b + y * d + f)
            elif operator == b"Tm":
                text = line = _matrix(operands)
            elif operator == b"BT":
                text = line = IDENTITY
            elif operator == b"T*":
                text = line = multiply((1.0, 0.0, 0.0, 1.0, 0.0, -state.leading), line)
            elif operator == b"q":
                if len(stack) < _MAX_STACK:
                    stack.append(state)
            elif operator == b"Q":
                if stack:
                    state = stack.pop()
                elif not parents:
                    drawing.unmatched_restores.append((operation.start, operation.end))
            elif operator == b"cm":
                state = copy.copy(state)
                state.matrix = multiply(_matrix(operands), state.matrix)
            elif operator == b"Tf":
                state = copy.copy(state)
                name = operands[0] if operands else None
                if isinstance(name, Name):
                    if name not in fonts:
                        fonts[name] = self._font(resources, name)
                    state.font = fonts[name]
                state.size = _reals(operands[1:], 1)[0]
            elif operator in _STATE_FIELDS:
                state = copy.copy(state)
                value = _reals(operands, 1)[0]
                attribute = _STATE_FIELDS[operator]
                if attribute == "stretch":
                    value /= 100
                setattr(state, attribute, int(value) if attribute == "mode" else value)
            elif operator in (b"BDC", b"BMC"):
                marks.append(
                    self._mark(operation, key, resources, drawing) or (marks[-1] if marks else None)
                )
            elif operator == b"EMC":
                if marks:
                    marks.pop()
            elif operator == b"DP":
                self._mark(operation, key, resources, drawing)
            elif operator == b"Do":
                self._invoke(operands, key, resources, state, drawing, parents)
            elif operator == b"BI":
                drawing.pictures.append(Picture(None, state.matrix, len(drawing.shows)))
            elif operator == b"gs":
                settings = _member(
                    resources.get("/ExtGState") if resources is not None else None, *operands[:1]
                )
                font = settings.get("/Font") if is_dictionary(settings) else None
                if is_array(font) and len(font) == 2:
                    state = copy.copy(state)
                    state.font, state.size = self._read_font(font[0]), number(font[1])
            elif operator == STRAY:
                text_bytes = operands[0]
                if isinstance(text_bytes, bytes) and len(drawing.strays) < _MAX_STRAYS:
                    words = _words(text_bytes)
                    drawing.strays.append(Stray(key, operation.start, operation.end, words))
            elif operator in (b"c", b"v", b"y"):
                drawing.curves += 1
        if not parents:
            drawing.open_saves = len(stack)

    def _show(
        self,
        operation: Operation,
        items: list[Operand],
        key: StreamKey,
        state: State,
        text: Matrix,
        drawing: Drawing,
        mark: Mark | None,
    ) -> Matrix:
        font = state.font
        if font is None:
            drawing.trouble = drawing.trouble or "text without a font"
            words = "".join(_words(item) for item in items if isinstance(item, bytes))
            drawing.strays.append(Stray(key, operation.start, operation.end, words))
            return text
        size, char_space, word_space = state.size, state.char_space, state.word_space
        parts: list[str] = []
        length = 0.0
        count = 0
        for item in items:
            if isinstance(item, float):
                length -= item / 1000 * size
                if item < -1000 * WORD_GAP and not font.vertical:
                    parts.append(" ")
            elif isinstance(item, bytes):
                measure = font.measure(item)
                parts.append(measure.text)
                length += (
                    measure.advance * size
                    + measure.codes * char_space
                    + measure.spaces * word_space
                )
                count += measure.codes
        self.budget.spend(glyphs=count)
        drawing.shows.append(
            Show(
                key,
                operation.start,
                operation.end,
                operation,
                items,
                font,
                state,
                multiply(text, state.matrix),
                "".join(parts),
                length,
                count,
                mark,
                len(drawing.shows),
            )
        )
        a, b, c, d, e, f = text
        if font.vertical:
            return (a, b, c, d, e + length * c, f + length * d)
        length *= state.stretch
        return (a, b, c, d, e + length * a, f + length * b)

    def _mark(
        self, operation: Operation, key: StreamKey, resources: Object | None, drawing: Drawing
    ) -> Mark | None:
        """The mark that an operation opens, if it says something in words."""
        if len(operation.operands) < 2:
            return None
        tag, properties = operation.operands[0], operation.operands[1]
        if isinstance(properties, dict):
            if not any(name in properties for name in MARK_WORDS):
                return None
        elif isinstance(properties, Name):
            entry = _member(
                resources.get("/Properties") if resources is not None else None, properties
            )
            if not is_dictionary(entry) or not any(
                "/" + name.decode() in entry for name in MARK_WORDS
            ):
                return None
        else:
            return None
        mark = Mark(
            key,
            operation.start,
            operation.end,
            tag if isinstance(tag, bytes) else b"",
            properties,
            resources,
        )
        drawing.marks.append(mark)
        return mark

    def _invoke(
        self,
        operands: list[Operand],
        key: StreamKey,
        resources: Object | None,
        state: State,
        drawing: Drawing,
        parents: list[StreamKey],
    ) -> None:
        source = _member(
            resources.get("/XObject") if resources is not None else None, *operands[:1]
        )
        if not is_stream(source):
            return
        self._invocations += 1
        within = self._invocations <= MAX_INVOCATIONS_ON_PAGE
        self.budget.spend(invocations=1 if within else self.budget.invocations + 1)
        kind = str(source.get("/Subtype", ""))
        if kind == "/Image":
            drawing.pictures.append(Picture(source, state.matrix, len(drawing.shows)))
            return
        number_ = source.objgen
        if kind != "/Form" or number_ == key or number_ in parents:
            return
        if len(parents) >= MAX_NESTING:
            raise FormatError(
                "forms in the PDF nest too deep: print it to a simpler PDF and try again"
            )
        if number_ not in self._forms:
            data = stream_bytes(source, self.budget.expanded)
            self.budget.spend(expanded=len(data))
            self._forms[number_] = list(operations(data))
        inner = copy.copy(state)
        placed = numbers(source.get("/Matrix"), 6)
        if placed is not None:
            inner.matrix = multiply(
                (placed[0], placed[1], placed[2], placed[3], placed[4], placed[5]), state.matrix
            )
        own = source.get("/Resources")
        self._walk(
            self._forms[number_],
            number_,
            own if is_dictionary(own) else resources,
            inner,
            drawing,
            [*parents, key],
        )


_STATE_FIELDS = {
    b"Tc": "char_space",
    b"Tw": "word_space",
    b"Tz": "stretch",
    b"TL": "leading",
    b"Ts": "rise",
    b"Tr": "mode",
}


def _words(raw: bytes) -> str:
    if raw.startswith((b"\xfe\xff", b"\xff\xfe")):
        return raw.decode("utf-16", "replace")
    return raw.removeprefix(b"\xef\xbb\xbf").decode(
        "utf-8" if raw.startswith(b"\xef\xbb\xbf") else "latin-1", "replace"
    )


def _member(container: object, name: Operand = None) -> Object | None:
    if not isinstance(name, Name) or not is_dictionary(container):
        return None
    return container.get("/" + name.decode("utf-8", "surrogateescape"))


def _real(value: Operand) -> float:
    return value if isinstance(value, float) and math.isfinite(value) else 0.0


def _reals(values: list[Operand], count: int) -> list[float]:
    found = [_real(value) for value in values[-count:]]
    return [0.0] * (count - len(found)) + found


def _matrix(values: list[Operand]) -> Matrix:
    a, b, c, d, e, f = _reals(values, 6)
    return (a, b, c, d, e, f)
