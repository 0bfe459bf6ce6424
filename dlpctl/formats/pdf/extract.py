"""Read a PDF: all its texts, drawn or not, and the parts that could not be inspected."""

from __future__ import annotations

from collections import deque
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from dlpctl.formats.interface import SIGNED, Child, Limits, Piece, Segment, Uninspected, View
from dlpctl.formats.ocr.passes import UNREAD
from dlpctl.formats.ocr.views import add_unread, add_words
from dlpctl.formats.pdf import canvas as canvases
from dlpctl.formats.pdf import reading, revisions, source, spacing, views
from dlpctl.formats.pdf.align import Alignment, fold
from dlpctl.formats.pdf.cells import rows
from dlpctl.formats.pdf.drawing import Budget, Drawing, Picture, StreamKey
from dlpctl.formats.pdf.legible import LEGIBLE_PIXELS, legible_pictures, reason_to_look
from dlpctl.formats.pdf.model import (
    ContentOrder,
    DrawnText,
    Dropped,
    MarkText,
    PdfDocument,
    SeenText,
    StoredWord,
    StrayText,
)
from dlpctl.formats.pdf.objects import is_stream, stream_bytes
from dlpctl.formats.pdf.pictures import size_of
from dlpctl.formats.pdf.seen import AT_ONCE, NO_OCR, PageSight, Sight
from dlpctl.formats.pdf.source import Canvas
from dlpctl.formats.pdf.strings import Collector
from dlpctl.formats.pdf.walker import Walker

if TYPE_CHECKING:
    from collections.abc import Callable

    import pikepdf
    import pypdfium2

    from dlpctl.formats.ocr.seen import Seen, SeenWord

_LEAST_STRAY = 4
_CODE = 20
"""The minimum number of bars or squares of a code."""


class Extraction:
    """Collects the parts of one document."""

    def __init__(
        self,
        data: bytes,
        limits: Limits,
        password: str | None,
        of_text: frozenset[int] = frozenset(),
    ) -> None:
        """`of_text` are the pages whose pictures show only the text of the page."""
        self._data = data
        self._limits = limits
        self._password = password
        self._of_text = of_text
        self._budget = Budget(limits.expanded_bytes, limits.pdf_glyphs, limits.pdf_invocations)
        self._walker = Walker(self._budget)
        self.document = PdfDocument("pdf", [], [], limits=limits, password=password)
        self._pages: list[views.PageView] = []
        self._others: list[int] = []
        self._content_views: list[View] = []
        self._drawn: set[StreamKey] = set()
        self._sight: Sight | None = None
        self._waiting: deque[Callable[[], None]] = deque()
        """Functions that add the words of pictures that OCR is reading."""
        self._missed: set[source.ObjectNumber] = set()
        """Pictures that are not inspected with their page."""

    def run(self) -> PdfDocument:
        document = self.document
        with source.opened(self._data, self._password, self._limits) as pdf:
            readable = self._data
            if pdf.is_encrypted or pdf.get_warnings():
                readable = source.normalized(pdf)
            with reading.opened(readable) as pages, closing(Sight(readable, self._limits)) as sight:
                self._sight = sight
                if len(pages) != len(pdf.pages):
                    self._missing("document", "two readers do not agree on its pages")
                for index, canvas in enumerate(source.page_canvases(pdf, self._budget)):
                    if index < len(pages):
                        self._read(pdf, canvas, pages, index)
                self._pictures(pdf, sight)
                while self._waiting:
                    self._waiting.popleft()()
            aside = source.side_canvases(pdf, self._drawn, self._budget)
            self._drawn.update(canvas.key for canvas in aside)
            self._hidden_pages(source.hidden_pages(pdf, self._budget))
            collector = Collector(pdf, self._budget, set(self._drawn))
            for text in collector.texts():
                self._add(Segment(text.text, text.location, text.anchor, text.context))
            for location, reason in collector.skipped:
                self._missing(location, reason)
            document.signed = collector.signed
            for key, name in collector.files.items():
                data = stream_bytes(pdf.get_object(key), self._budget.expanded)
                self._budget.spend(expanded=len(data))
                document.children.append(Child(f"{key[0]}.{key[1]}", name, data))
            if aside:
                self._read_aside(pdf, aside)
        self._earlier_revisions()
        if between := revisions.between_objects(self._data):
            self._add(Segment(between, "between objects", Dropped()))
        if document.signed:
            document.remarks.append(SIGNED)
        document.views = (
            views.build(self._pages, self._others, document.segments) + self._content_views
        )
        return document

    def _read_aside(self, pdf: pikepdf.Pdf, aside: list[Canvas]) -> None:
        data = source.side_document(self._data, self._password, self._limits, aside)
        with reading.opened(data) as pages:
            for index, canvas in enumerate(aside):
                self._read(pdf, canvas, pages, index)

    def _add(self, segment: Segment) -> None:
        self._others.append(len(self.document.segments))
        self.document.segments.append(segment)

    def _missing(self, location: str, reason: str) -> None:
        self.document.uninspected.append(Uninspected(location, reason))

    def _read(
        self, pdf: pikepdf.Pdf, canvas: Canvas, pages: pypdfium2.PdfDocument, index: int
    ) -> None:
        found = canvases.read(self._walker, canvas, pages, index)
        try:
            self._drawn.update(found.drawing.streams)
            segments = self.document.segments
            hyphens = [
                at
                for at, character in enumerate(found.raw)
                if character in (reading.LINE_HYPHEN, "\x02")
            ]
            page = views.PageView(len(segments), hyphens)
            segments.append(Segment(found.text, canvas.location, DrawnText(canvas.key)))
            self._pages.append(page)
            if table := rows(found, page.segment):
                self._content_views.append(View("rows of tables", table, segments, repeats=True))
            spaced = spacing.is_spaced(found.raw)
            alignment = found.align() if spaced or not found.in_order else None
            if alignment is not None and not found.in_order:
                self._content_order(found, alignment, page.segment)
            if alignment is not None and spaced:
                parts = _merged(spacing.joined(alignment, page.segment))
                self._content_views.append(View("letters spaced out", parts, segments))
            self._marks(found)
            self._judge(pdf, found)
        finally:
            found.close()

    def _content_order(
        self, found: canvases.CanvasText, alignment: Alignment, segment: int
    ) -> None:
        """Return the view in content order. Only text that pdfium omits becomes a segment of its
        own.
        """
        content = found.content(alignment)
        if not content.text.strip():
            return
        unread = canvases.unread_glyphs(found, alignment)
        segments = self.document.segments
        own = len(segments)
        if any(unread):
            segments.append(
                Segment(content.text, found.canvas.location, ContentOrder(found.canvas.key))
            )
        parts: views.Parts = []
        position = 0
        shown: set[int] = set()
        for index, start in enumerate(content.starts):
            parts.append(content.text[position:start])
            glyph = alignment.glyphs[index]
            position = start + len(glyph.text)
            if unread[index]:
                parts.append(Piece(own, start, position))
                continue
            fresh = [char for char in alignment.by_glyph[index] if char not in shown]
            shown.update(fresh)
            is_blank = not glyph.text.strip()
            if is_blank and any(found.raw[char].strip() for char in fresh):
                fresh = []  # white space that pdfium takes for a character
            parts += [Piece(segment, char, char + 1) for char in fresh]
            if is_blank and not fresh:
                parts.append(glyph.text)
        self._content_views.append(View("content order", _merged(parts), segments))

    def _marks(self, found: canvases.CanvasText) -> None:
        page_text = fold(found.raw)
        for index, mark in enumerate(found.drawing.marks):
            text = mark.words()
            if len(text) > 2 and fold(text) not in page_text:
                self._add(
                    Segment(
                        text,
                        f"{found.canvas.location}, replacement text",
                        MarkText(found.canvas.key, index),
                    )
                )

        for index, stray in enumerate(found.drawing.strays):
            if len(stray.text) > _LEAST_STRAY:
                self._add(
                    Segment(
                        stray.text,
                        f"{found.canvas.location}, not shown",
                        StrayText(found.canvas.key, index),
                    )
                )

    def _judge(self, pdf: pikepdf.Pdf, found: canvases.CanvasText) -> None:
        drawing, canvas = found.drawing, found.canvas
        pictures, reason = legible_pictures(found), reason_to_look(found) or self._code_in(found)
        if canvas.page in self._of_text and self._sight is not None:
            self._sight.skip(pictures)
            pictures = []
        if reason and canvas.page is not None and self._sight and not self._sight.obstacle():
            # all of the page, as if it were a picture
            box = canvas.visible
            matrix = (box.right - box.left, 0.0, 0.0, box.top - box.bottom, box.left, box.bottom)
            pictures.append(Picture(None, matrix, 0))
        elif reason:
            self._missing(canvas.location, reason)
        if drawing.trouble:
            self._missing(canvas.location, drawing.trouble)
        if canvas.page is not None and pictures:
            self._look(pdf, canvas, canvas.page, pictures)
        elif not canvas.is_glyph and any(each.source is None for each in pictures):
            self._missing(canvas.location, NO_OCR)

    def _code_in(self, found: canvases.CanvasText) -> str:
        page, sight = found.canvas.page, self._sight
        is_seen = (
            page is not None
            and sight
            and found.drawing.modules.count >= _CODE
            and sight.has_code(page)
        )
        return "shapes that are a QR code or a bar code" if is_seen else ""

    def _look(self, pdf: pikepdf.Pdf, canvas: Canvas, page: int, pictures: list[Picture]) -> None:
        """Read the words on the pictures of a page, line by line."""
        obstacle = self._sight.obstacle() if self._sight is not None else NO_OCR
        if obstacle or self._sight is None:
            self._missing(canvas.location, obstacle)
            self._missed.update(each.source.objgen for each in pictures if each.source is not None)
            return
        if self._sight.is_repeated(pictures):
            return
        read = self._sight.on_page(pdf, page, pictures)
        self._later(partial(self._page_words, canvas, pictures, read))

    def _page_words(
        self, canvas: Canvas, pictures: list[Picture], read: Callable[[], PageSight]
    ) -> None:
        seen = read()
        location = f"{canvas.location}, picture"

        def segment_of(word: SeenWord, text: str) -> Segment:
            return Segment(text, location, SeenText(canvas.key, word.corners))

        if any(each.source is None for each in pictures) and seen.unread:
            self._missing(
                canvas.location, UNREAD
            )  # shapes, or pictures that cannot be painted over
        else:
            add_unread(self.document, seen.unread, canvas.location, segment_of)
        self._content_views += add_words(
            "words on pictures", seen.words, self.document.segments, segment_of
        )

    def _pictures(self, pdf: pikepdf.Pdf, sight: Sight) -> None:
        """Read the stored pictures that no page shows unchanged."""
        for item in pdf.objects:
            if (
                not is_stream(item)
                or str(item.get("/Subtype", "")) != "/Image"
                or min(size_of(item)) < LEGIBLE_PIXELS
                or sight.is_shown(item)
            ):
                continue
            owner = item.objgen
            location = f"picture, object {owner[0]}"
            if obstacle := sight.obstacle():
                if owner not in self._missed:
                    self._missing(location, obstacle)
                continue
            read = sight.in_picture(pdf, item)
            if read is None:
                self._missing(location, "a picture that cannot be decoded")
                continue
            self._later(partial(self._stored_words, owner, location, read))

    def _stored_words(
        self, owner: source.ObjectNumber, location: str, read: Callable[[], Seen]
    ) -> None:
        seen = read()
        segment_of = partial(_stored_word, owner, location)
        add_unread(self.document, seen.unread, location, segment_of)
        self._content_views += add_words(location, seen.words, self.document.segments, segment_of)

    def _later(self, add_words: Callable[[], None]) -> None:
        """Add words once OCR has read them; only few pictures are in memory together."""
        self._waiting.append(add_words)
        if len(self._waiting) > AT_ONCE:
            self._waiting.popleft()()

    def _hidden_pages(self, hidden: list[Canvas]) -> None:
        for canvas in hidden:
            drawing = self._walker.walk(canvas.data, canvas.key, canvas.resources)
            self._drawn.update(drawing.streams)
            text = plain_text(drawing)
            if text.strip():
                self._add(Segment(text, canvas.location, Dropped()))

    def _earlier_revisions(self) -> None:
        known = {line for segment in self.document.segments for line in segment.text.splitlines()}
        for number_, prefix in enumerate(revisions.earlier(self._data), 1):
            location = f"earlier revision {number_}"
            texts = revisions.texts(prefix, self._password, self._limits, self._budget)
            if texts is None:
                self._missing(location, "an earlier state of the file that cannot be read")
                continue
            lines = [
                line
                for text in texts
                for line in text.splitlines()
                if line.strip() and line not in known
            ]
            known.update(lines)
            if lines:
                self._add(Segment("\n".join(lines), location, Dropped()))


def plain_text(drawing: Drawing) -> str:
    from dlpctl.formats.pdf.glyphs import separator

    parts: list[str] = []
    for index, show in enumerate(drawing.shows):
        if index:
            parts.append(separator(drawing.shows[index - 1], show))
        parts.append(show.text)
    return "".join(parts)


def _merged(parts: views.Parts) -> views.Parts:
    merged: views.Parts = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, str):
            if isinstance(last, str):
                merged[-1] = last + part
            elif part:
                merged.append(part)
        elif isinstance(last, Piece) and last.segment == part.segment and last.end == part.start:
            merged[-1] = last._replace(end=part.end)
        else:
            merged.append(part)
    return merged


def _stored_word(owner: source.ObjectNumber, location: str, word: SeenWord, text: str) -> Segment:
    return Segment(text, location, StoredWord(owner, word.corners))
