"""One canvas, read by both readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlpctl.formats.pdf.align import (
    Alignment,
    ContentText,
    align_by_place,
    align_in_order,
    content_text,
    fold,
    same_order,
)
from dlpctl.formats.pdf.drawing import Drawing
from dlpctl.formats.pdf.fonts import UNKNOWN
from dlpctl.formats.pdf.glyphs import pen_end
from dlpctl.formats.pdf.matrix import apply
from dlpctl.formats.pdf.reading import LINE_HYPHEN, Char, PageReader
from dlpctl.formats.pdf.source import Canvas
from dlpctl.formats.pdf.walker import Walker

if TYPE_CHECKING:
    import pypdfium2


@dataclass(slots=True)
class CanvasText:
    """The text of a canvas. `reader` is open until `close`."""

    canvas: Canvas
    drawing: Drawing
    reader: PageReader
    raw: str
    """The text of pdfium, with its marks for hyphens at line ends."""
    in_order: bool
    chars: list[Char] | None = None
    """Only set if the readers disagree."""

    @property
    def text(self) -> str:
        return self.raw.replace(LINE_HYPHEN, "-").replace("\x02", "-")

    def align(self) -> Alignment:
        if self.in_order:
            return align_in_order(self.raw, self.drawing)
        return align_by_place(self.chars or [], self.drawing)

    def content(self, alignment: Alignment) -> ContentText:
        return content_text(self.drawing, alignment.glyphs)

    def close(self) -> None:
        self.reader.close()


def read(walker: Walker, canvas: Canvas, document: pypdfium2.PdfDocument, index: int) -> CanvasText:
    """Read a canvas. The walker goes first: its budgets reject content that would choke pdfium."""
    drawing = walker.walk(canvas.data, canvas.key, canvas.resources)
    reader = PageReader(
        document, index, widen=canvas.page is not None and _reaches_out(drawing, canvas)
    )
    text = reader.text()
    if text is not None and same_order(text, drawing):
        return CanvasText(canvas, drawing, reader, text, True)
    text = reader.text_by_character()
    return CanvasText(canvas, drawing, reader, text, False, reader.chars(text))


def _reaches_out(drawing: Drawing, canvas: Canvas) -> bool:
    """Return whether text is outside of the visible area, where pdfium would omit it."""
    box = canvas.visible
    return any(
        not (box.holds(apply(show.matrix, 0.0, 0.0)) and box.holds(pen_end(show)))
        for show in drawing.shows
    )


def unread_glyphs(found: CanvasText, alignment: Alignment) -> list[bool]:
    """Return for each glyph whether pdfium omits its text, so that only other readers see it."""
    chars = found.chars or []
    unread = []
    for glyph, owned in zip(alignment.glyphs, alignment.by_glyph, strict=True):
        wanted = fold(glyph.text)
        given = "".join(fold(chars[index].text) for index in owned)
        unread.append(bool(wanted) and UNKNOWN not in wanted and wanted not in given)
    return unread
