"""Write content streams again, byte for byte except for removed glyphs and their boxes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache

from dlpctl.errors import CannotMaskError
from dlpctl.formats.pdf.content import Operand
from dlpctl.formats.pdf.drawing import Drawing, Mark, Show
from dlpctl.formats.pdf.encodings import encoding, glyph_text, glyph_widths
from dlpctl.formats.pdf.matrix import apply
from dlpctl.formats.pdf.places import MaskPlace

LABEL_FONT = b"DlpctlLabel"


def number_text(value: float) -> bytes:
    return (
        (f"{value:.5f}".rstrip("0").rstrip(".") or "0")
        .replace("-0", "0" if value == 0 else "-0")
        .encode()
    )


def rewritten(
    data: bytes,
    shows: Iterable[Show],
    glyphs: Mapping[int, set[tuple[int, int]]],
    marks: Iterable[Mark],
    dropped: Iterable[tuple[int, int]] = (),
) -> bytes:
    """Return the stream without the given glyphs, by start of the operator, and marks' words."""
    changes: dict[int, tuple[int, bytes]] = {start: (end, b" ") for start, end in dropped}
    for show in shows:
        if show.start in glyphs and show.start not in changes:
            changes[show.start] = (show.end, _without(show, glyphs[show.start]))
    for mark in marks:
        if isinstance(mark.properties, dict):
            is_point = data.endswith(b"DP", mark.start, mark.end)
            changes[mark.start] = (mark.end, _without_words(mark, is_point=is_point))
    parts: list[bytes] = []
    position = 0
    for start in sorted(changes):
        end, replacement = changes[start]
        parts += (data[position:start], replacement)
        position = end
    return b"".join([*parts, data[position:]])


def _without(show: Show, gone: set[tuple[int, int]]) -> bytes:
    """Return the operator with a displacement instead of each removed glyph."""
    state, font = show.state, show.font
    new: list[bytes | float] = []

    def add(item: bytes | float) -> None:
        last = new[-1] if new else None
        if isinstance(item, float):
            new[-1:] = [last + item] if isinstance(last, float) else [*new[-1:], item]
        elif isinstance(last, bytes):
            new[-1] = last + item
        else:
            new.append(item)

    for item_index, item in enumerate(show.items):
        if isinstance(item, float):
            add(item)
        elif isinstance(item, bytes):
            for index, code in enumerate(font.split(item)):
                if (item_index, index) not in gone:
                    add(code)
                    continue
                move = font.glyph(code).advance * state.size + state.char_space
                move += state.word_space if code == b" " else 0.0
                add(-move / state.size * 1000 if state.size else 0.0)
    _same_length(show, new)
    prefix = b""
    if show.operation.operator == b'"':
        spaces = show.operation.operands
        prefix = b"%s Tw %s Tc " % (_operand(spaces[0]), _operand(spaces[1]))
    if show.operation.operator in (b"'", b'"'):
        prefix += b"T* "
    body = b" ".join(
        number_text(item) if isinstance(item, float) else b"<%s>" % item.hex().encode()
        for item in new
    )
    return prefix + b"[" + body + b"] TJ"


def _same_length(show: Show, items: list[bytes | float]) -> None:
    """Refuse items of another length, since the following text must stay in position."""
    state = show.state
    length = 0.0
    for item in items:
        if isinstance(item, bytes):
            measure = show.font.measure(item)
            length += (
                measure.advance * state.size
                + measure.codes * state.char_space
                + measure.spaces * state.word_space
            )
        else:
            length -= item / 1000 * state.size
    if not math.isclose(length, show.length, rel_tol=1e-6, abs_tol=1e-3) and state.size:
        raise CannotMaskError(
            "text of the PDF cannot be replaced by a gap of its width: remove the value at its "
            "source"
        )


def _operand(value: Operand) -> bytes:
    return number_text(value) if isinstance(value, float) else b"0"


def _without_words(mark: Mark, *, is_point: bool) -> bytes:
    properties = mark.properties if isinstance(mark.properties, dict) else {}
    kept = b""
    for key, value in properties.items():
        if isinstance(value, float):
            kept += b"/%s %s " % (key, number_text(value))
    if kept:
        return b"/%s <<%s>> %s" % (mark.tag, kept, b"DP" if is_point else b"BDC")
    return b"/%s %s" % (mark.tag, b"MP" if is_point else b"BMC")


def enclosed(data: bytes, drawing: Drawing) -> bytes:
    """Return the content so that the graphics state afterwards is as before."""
    return b"q\n" + data + b"\n" + b"Q " * (drawing.open_saves + 1) + b"\n"


def boxes(locations: Iterable[MaskPlace], colored: bool = True) -> bytes:
    """Return black boxes with white words in them."""
    parts = [b"/Artifact BMC q"]
    for location in locations:
        corners = b" ".join(
            b"%s %s %s" % (number_text(x), number_text(y), b"m" if index == 0 else b"l")
            for index, (x, y) in enumerate(location.corners())
        )
        parts.append((b"0 g " if colored else b"") + corners + b" h f")
        if location.label and colored:
            parts.append(_label(location))
    parts.append(b"Q EMC")
    return b"\n".join(parts)


@cache
def _codes() -> dict[str, int]:
    names = encoding("WinAnsiEncoding") or ()
    return {glyph_text(name): code for code, name in reversed(list(enumerate(names))) if name}


def _label(location: MaskPlace) -> bytes:
    codes = _codes()
    text = bytes(
        codes.get(character, codes["?"]) for character in location.label if character >= " "
    )
    names = encoding("WinAnsiEncoding") or ()
    widths = glyph_widths("Helvetica") or {}
    width = sum(widths.get(names[code] or "", 500.0) for code in text) / 1000
    room, height = location.right - location.left - 0.1, location.top - location.bottom
    size = max(0.01, min(height * 0.7, room / width if width else 1.0))
    a, b, c, d, _, _ = location.frame
    # Mirrored and upside-down text gets a label in the direction of its own glyphs.
    x, y = apply(location.frame, location.left + 0.05, location.bottom + (height - size * 0.7) / 2)
    matrix = b" ".join(
        number_text(value) for value in (a * size, b * size, c * size, d * size, x, y)
    )
    literal = text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT 1 g 0 Tc 0 Tw 100 Tz 0 Ts 0 Tr /%s 1 Tf %s Tm (%s) Tj ET" % (
        LABEL_FONT,
        matrix,
        literal,
    )
