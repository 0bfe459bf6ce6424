"""Follow a content stream of a PDF as a viewer does, and record the texts and pictures.

To support another operator, add it to `_OPERATORS`, and to `WANTED` in `content`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dlpctl.errors import FormatError
from dlpctl.formats.pdf.content import SHOWS, STRAY, Name, Operand, Operation, operations
from dlpctl.formats.pdf.drawing import (
    MARK_WORDS,
    WORD_GAP,
    Budget,
    Drawing,
    Mark,
    Picture,
    Show,
    State,
    Stray,
    StreamKey,
    strings_in,
    words_of,
)
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
from dlpctl.formats.pdf.outlines import LINES, PATHS

if TYPE_CHECKING:
    from pikepdf import Object

MAX_NESTING = 28
MAX_INVOCATIONS_ON_PAGE = 20_000
_MAX_STACK = 512
_MAX_STRAYS = 10_000


class Walker:
    """Walks the streams of one file; fonts and forms are read once."""

    def __init__(self, budget: Budget, *, traces: bool = False) -> None:
        self.budget = budget
        self.operators = _TRACING if traces else _OPERATORS
        self._more = frozenset(self.operators)
        self._of_forms = self._more if traces else self._more - LINES
        self._fonts: dict[tuple[int, int], Font] = {}
        self._forms: dict[tuple[int, int], list[Operation]] = {}
        self._invocations = 0

    def walk(self, data: bytes, key: StreamKey, resources: Object | None) -> Drawing:
        drawing = Drawing()
        self._invocations = 0
        _Interpreter(self, key, resources, State(), drawing, []).run(operations(data, self._more))
        return drawing

    def font(self, source: object) -> Font | None:
        """Return a font by its dictionary; None for any other object."""
        if not is_dictionary(source):
            return None
        number_ = source.objgen
        known = self._fonts.get(number_) if number_[0] else None
        if known is None:
            known = Font(source, self.budget.expanded)
            if number_[0]:
                self._fonts[number_] = known
        return known

    def form(self, source: Object) -> list[Operation]:
        """Return the operations of a form."""
        number_ = source.objgen
        if number_ not in self._forms:
            data = stream_bytes(source, self.budget.expanded)
            self.budget.spend(expanded=len(data))
            self._forms[number_] = list(operations(data, self._of_forms))
        return self._forms[number_]

    def count_invocation(self) -> None:
        self._invocations += 1
        within = self._invocations <= MAX_INVOCATIONS_ON_PAGE
        self.budget.spend(invocations=1 if within else self.budget.invocations + 1)


class _Interpreter:
    """Executes the operators of one stream, each a method; forms that it draws have their own."""

    def __init__(
        self,
        walker: Walker,
        key: StreamKey,
        resources: Object | None,
        state: State,
        drawing: Drawing,
        parents: list[StreamKey],
    ) -> None:
        self._walker = walker
        self._key = key
        self._resources = resources
        self._state = state
        self._drawing = drawing
        self._parents = parents
        self._text: Matrix = IDENTITY
        self._line: Matrix = IDENTITY
        self._placed = True
        self._stack: list[State] = []
        self._marks: list[Mark | None] = []
        self._fonts: dict[bytes, Font | None] = {}

    def run(self, stream: Iterable[Operation]) -> None:
        self._drawing.streams.add(self._key)
        for operation in stream:
            perform = self._walker.operators.get(operation.operator)
            if perform is not None:
                perform(self, operation)
        if not self._parents:
            self._drawing.open_saves = len(self._stack)

    def _resource(self, category: str, name: Operand) -> Object | None:
        """Return a resource of the stream by its name."""
        entries = self._resources.get(category) if self._resources is not None else None
        return _member(entries, name)

    # ---- text

    def start_text(self, _operation: Operation) -> None:
        self._placed = True
        self._text = self._line = IDENTITY

    def set_matrix(self, operation: Operation) -> None:
        self._placed = True
        self._text = self._line = _matrix(operation.operands)

    def move(self, operation: Operation) -> None:
        self._placed = True
        x, y = _reals(operation.operands, 2)
        if operation.operator == b"TD":
            self._state = self._state._replace(leading=-y)
        a, b, c, d, e, f = self._line
        self._text = self._line = (a, b, c, d, x * a + y * c + e, x * b + y * d + f)

    def next_line(self, _operation: Operation) -> None:
        self._placed = True
        down = (1.0, 0.0, 0.0, 1.0, 0.0, -self._state.leading)
        self._text = self._line = multiply(down, self._line)

    def set_font(self, operation: Operation) -> None:
        operands = operation.operands
        name = operands[0] if operands else None
        font = self._state.font
        if isinstance(name, Name):
            if name not in self._fonts:
                self._fonts[name] = self._walker.font(self._resource("/Font", name))
            font = self._fonts[name]
        self._state = self._state._replace(font=font, size=_reals(operands[1:], 1)[0])

    def set_field(self, operation: Operation) -> None:
        value = _reals(operation.operands, 1)[0]
        name, convert = _STATE_FIELDS[operation.operator]
        change: dict[str, Any] = {name: convert(value)}
        self._state = self._state._replace(**change)

    def show(self, operation: Operation) -> None:
        operator, operands = operation.operator, operation.operands
        if not operands:
            return
        if operator == b'"' and len(operands) >= 3:
            words, characters = _real(operands[0]), _real(operands[1])
            self._state = self._state._replace(word_space=words, char_space=characters)
        if operator in (b"'", b'"'):
            self.next_line(operation)
        shown = operands[-1]
        items: list[Operand] = shown if isinstance(shown, list) else [shown]
        if self._state.font is None:
            self._drawing.trouble = self._drawing.trouble or "text without a font"
            text = "".join(words_of(item) for item in items if isinstance(item, bytes))
            self._stray(operation, text)
        else:
            self._show_items(operation, items, self._state.font)

    def _show_items(self, operation: Operation, items: list[Operand], font: Font) -> None:
        state, drawing, text = self._state, self._drawing, self._text
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
        self._walker.budget.spend(glyphs=count)
        drawing.add(
            Show(
                self._key,
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
                self._marks[-1] if self._marks else None,
                len(drawing.shows),
                self._placed,
            )
        )
        self._placed = False
        a, b, c, d, e, f = text
        if font.vertical:
            self._text = (a, b, c, d, e + length * c, f + length * d)
        else:
            length *= state.stretch
            self._text = (a, b, c, d, e + length * a, f + length * b)

    # ---- graphics state

    def save(self, _operation: Operation) -> None:
        if len(self._stack) < _MAX_STACK:
            self._stack.append(self._state)

    def restore(self, operation: Operation) -> None:
        if self._stack:
            self._state = self._stack.pop()
        elif not self._parents:
            self._drawing.unmatched_restores.append((operation.start, operation.end))

    def transform(self, operation: Operation) -> None:
        matrix = multiply(_matrix(operation.operands), self._state.matrix)
        self._state = self._state._replace(matrix=matrix)

    def set_from_resources(self, operation: Operation) -> None:
        settings = self._resource("/ExtGState", *operation.operands[:1])
        font = settings.get("/Font") if is_dictionary(settings) else None
        if is_array(font) and len(font) == 2:
            self._state = self._state._replace(
                font=self._walker.font(font[0]), size=number(font[1])
            )

    # ---- marks, pictures and forms

    def open_mark(self, operation: Operation) -> None:
        last = self._marks[-1] if self._marks else None
        mark = self._mark(operation)
        self._marks.append(mark if mark is not None and mark.replaces else last)

    def close_mark(self, _operation: Operation) -> None:
        if self._marks:
            self._marks.pop()

    def mark_point(self, operation: Operation) -> None:
        self._mark(operation)

    def _mark(self, operation: Operation) -> Mark | None:
        """Return the mark that an operation opens, if the mark has words."""
        if len(operation.operands) < 2:
            return None
        tag, properties = operation.operands[0], operation.operands[1]
        if isinstance(properties, Name):
            entry = self._resource("/Properties", properties)
            names = ("/" + name.decode() for name in MARK_WORDS)
            if not is_dictionary(entry) or not any(name in entry for name in names):
                return None
        elif not isinstance(properties, dict) or not strings_in(properties):
            return None
        mark = Mark(
            self._key,
            operation.start,
            operation.end,
            tag if isinstance(tag, bytes) else b"",
            properties,
            self._resources,
        )
        self._drawing.marks.append(mark)
        return mark

    def draw_inline_picture(self, _operation: Operation) -> None:
        self._picture(None)

    def _picture(self, source: Object | None) -> None:
        drawing = self._drawing
        drawing.pictures.append(Picture(source, self._state.matrix, len(drawing.shows)))

    def invoke(self, operation: Operation) -> None:
        source = self._resource("/XObject", *operation.operands[:1])
        if not is_stream(source):
            return
        self._walker.count_invocation()
        subtype = str(source.get("/Subtype", ""))
        if subtype == "/Image":
            self._picture(source)
        elif subtype == "/Form":
            self._draw_form(source)

    def _draw_form(self, source: Object) -> None:
        number_ = source.objgen
        if number_ == self._key or number_ in self._parents:
            return
        if len(self._parents) >= MAX_NESTING:
            raise FormatError(
                "forms in the PDF nest too deep: print it to a simpler PDF and try again"
            )
        state = self._state
        placed = numbers(source.get("/Matrix"), 6)
        if placed is not None:
            a, b, c, d, e, f = placed
            state = state._replace(matrix=multiply((a, b, c, d, e, f), state.matrix))
        own = source.get("/Resources")
        resources = own if is_dictionary(own) else self._resources
        parents = [*self._parents, self._key]
        stream = self._walker.form(source)
        _Interpreter(self._walker, number_, resources, state, self._drawing, parents).run(stream)

    def note_stray(self, operation: Operation) -> None:
        text = operation.operands[0]
        if isinstance(text, bytes) and len(self._drawing.strays) < _MAX_STRAYS:
            self._stray(operation, words_of(text))

    def _stray(self, operation: Operation, words: str) -> None:
        self._drawing.strays.append(Stray(self._key, operation.start, operation.end, words))

    def count(self, operation: Operation) -> None:
        self._drawing.count(operation, self._state.matrix)

    def trace(self, operation: Operation) -> None:
        self._drawing.contours.trace(operation, self._state.matrix, self._key)


_OPERATORS: dict[bytes, Callable[[_Interpreter, Operation], None]] = {
    **dict.fromkeys(SHOWS, _Interpreter.show),
    b"BT": _Interpreter.start_text,
    b"Tm": _Interpreter.set_matrix,
    b"Td": _Interpreter.move,
    b"TD": _Interpreter.move,
    b"T*": _Interpreter.next_line,
    b"Tf": _Interpreter.set_font,
    **dict.fromkeys((b"Tc", b"Tw", b"Tz", b"TL", b"Ts", b"Tr"), _Interpreter.set_field),
    b"q": _Interpreter.save,
    b"Q": _Interpreter.restore,
    b"cm": _Interpreter.transform,
    b"gs": _Interpreter.set_from_resources,
    b"BDC": _Interpreter.open_mark,
    b"BMC": _Interpreter.open_mark,
    b"EMC": _Interpreter.close_mark,
    b"DP": _Interpreter.mark_point,
    b"BI": _Interpreter.draw_inline_picture,
    b"Do": _Interpreter.invoke,
    STRAY: _Interpreter.note_stray,
    **dict.fromkeys((*PATHS, b"w"), _Interpreter.count),
}
_TRACING = _OPERATORS | dict.fromkeys(PATHS, _Interpreter.trace)
_STATE_FIELDS: dict[bytes, tuple[str, Callable[[float], float]]] = {
    b"Tc": ("char_space", float),
    b"Tw": ("word_space", float),
    b"Tz": ("stretch", lambda percent: percent / 100),
    b"TL": ("leading", float),
    b"Ts": ("rise", float),
    b"Tr": ("mode", int),
}


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
