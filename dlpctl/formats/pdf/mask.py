"""Write a copy of a PDF without the values, and without earlier revisions."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dlpctl.errors import CannotMaskError
from dlpctl.formats.interface import Children, Edit, Segment
from dlpctl.formats.pdf import canvas as canvases
from dlpctl.formats.pdf import clean, edit, pictures, reading, source
from dlpctl.formats.pdf.drawing import MARK_WORDS, Budget, Drawing, Mark, Show, StreamKey
from dlpctl.formats.pdf.locate import Locator
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
from dlpctl.formats.pdf.objects import is_dictionary, is_stream, stream_bytes
from dlpctl.formats.pdf.places import MaskPlace, Removal, place_of_word
from dlpctl.formats.pdf.source import Canvas
from dlpctl.formats.pdf.walker import Walker

if TYPE_CHECKING:
    import pikepdf
    import pypdfium2

    from dlpctl.formats.ocr.seen import Corners

Drawn = DrawnText | ContentOrder | MarkText | StrayText | SeenText


@dataclass(slots=True)
class _Stream:
    """The glyphs and marks that one content stream loses, on all canvases."""

    shows: dict[int, Show] = field(default_factory=dict)
    glyphs: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    strays: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Painted:
    """A canvas that gets boxes."""

    canvas: Canvas
    drawing: Drawing
    masks: list[MaskPlace]


class Masking:
    """One copy in progress."""

    def __init__(
        self,
        data: bytes,
        document: PdfDocument,
        edits: Sequence[Edit],
        children: Children,
        *,
        drops_metadata: bool,
    ) -> None:
        self._data = data
        self._document = document
        self._children = children
        self._drops_metadata = drops_metadata
        limits = document.limits
        self._budget = Budget(limits.expanded_bytes, limits.pdf_glyphs, limits.pdf_invocations)
        self._walker = Walker(self._budget, traces=True)
        self._streams: dict[StreamKey, _Stream] = {}
        self._painted: list[_Painted] = []
        self._drawn: dict[StreamKey, list[tuple[Drawn, Edit]]] = {}
        self._stored: dict[object, list[Edit]] = {}
        self._stored_words: dict[source.ObjectNumber, set[Corners]] = {}
        for each in edits:
            segment = document.segments[each.segment]
            if not 0 <= each.start <= each.end <= len(segment.text):
                raise CannotMaskError(f"{segment.location}: an edit is outside of the text")
            anchor = segment.anchor
            if isinstance(anchor, Drawn):
                self._drawn.setdefault(anchor.canvas, []).append((anchor, each))
            elif isinstance(anchor, StoredWord):
                self._stored_words.setdefault(anchor.owner, set()).add(anchor.corners)
            elif not isinstance(anchor, Dropped):
                self._stored.setdefault(anchor, []).append(each)

    def run(self) -> bytes:
        with source.opened(self._data, self._document.password, self._document.limits) as pdf:
            self._locate(pdf)
            self._write(pdf)
            clean.apply(pdf, self._document, self._stored, self._budget)
            clean.replace_children(pdf, self._children)
            clean.sanitize(pdf)
            if self._drops_metadata:
                clean.drop_metadata(pdf)
            return saved(pdf)

    def _locate(self, pdf: pikepdf.Pdf) -> None:
        wanted = self._drawn
        if self._stored_words or any(isinstance(key, int) for key in wanted):
            readable = self._data
            if pdf.is_encrypted or pdf.get_warnings():
                readable = source.normalized(pdf)
            with reading.opened(readable) as pages:
                for canvas in source.page_canvases(pdf, self._budget):
                    if canvas.key in wanted and canvas.page is not None:
                        self._locate_on(canvas, pages, canvas.page)
        if any(isinstance(key, tuple) for key in wanted):
            aside = [
                canvas
                for canvas in source.side_canvases(pdf, set(), self._budget)
                if canvas.key in wanted
            ]
            limits, password = self._document.limits, self._document.password
            with reading.opened(source.side_document(self._data, password, limits, aside)) as pages:
                for index, canvas in enumerate(aside):
                    self._locate_on(canvas, pages, index)

    def _locate_on(self, canvas: Canvas, pages: pypdfium2.PdfDocument, index: int) -> None:
        found = canvases.read(self._walker, canvas, pages, index)
        removal = Removal()
        try:
            locator = Locator(found)
            for anchor, each in _joined(self._drawn[canvas.key], self._document.segments):
                if isinstance(anchor, StrayText):
                    stray = found.drawing.strays[anchor.index]
                    if stray.start == stray.end:
                        raise CannotMaskError(
                            f"{canvas.location}: an operator has more strings than it can show"
                        )
                    self._streams.setdefault(stray.stream, _Stream()).strays.append(
                        (stray.start, stray.end)
                    )
                    continue
                if isinstance(anchor, SeenText):
                    box = place_of_word(anchor.corners, each.replacement)
                    removal.boxes.append(box)
                    locator.remove_below(removal, box)
                    for contour in found.drawing.contours.within(box.corners(), box.height):
                        stream = self._streams.setdefault(contour.stream, _Stream())
                        stream.strays.append((contour.start, contour.end))
                    continue
                if isinstance(anchor, MarkText):
                    mark = found.drawing.marks[anchor.index]
                    removal.marks.append(mark)
                    groups = locator.of_mark(mark)
                elif isinstance(anchor, ContentOrder):
                    groups = locator.of_content(each.start, each.end)
                else:
                    if found.text != self._document.segments[each.segment].text:
                        raise CannotMaskError(
                            f"{canvas.location}: the text is not what it was when the "
                            "file was checked"
                        )
                    groups = locator.of_characters(each.start, each.end)
                ink = range(each.start, each.end) if isinstance(anchor, DrawnText) else ()
                locator.remove(removal, groups, each.replacement, ink)
        finally:
            found.close()
        by_start = {(show.stream, show.start): show for show in found.drawing.shows}
        for (key, start), gone in removal.glyphs.items():
            stream = self._streams.setdefault(key, _Stream())
            stream.shows[start] = by_start[key, start]
            stream.glyphs.setdefault(start, set()).update(gone)
        for mark in removal.marks:
            self._streams.setdefault(mark.stream, _Stream()).marks.append(mark)
        self._painted.append(_Painted(canvas, found.drawing, removal.boxes))

    def _write(self, pdf: pikepdf.Pdf) -> None:
        own = {painted.canvas.key for painted in self._painted}
        shared = _shared_pictures(pdf) if self._painted else set()
        for painted in self._painted:
            self._write_canvas(pdf, painted)
            box = painted.canvas.visible
            area = (
                (box.right - box.left) * (box.top - box.bottom)
                if painted.canvas.page is not None
                else 0.0
            )
            pictures.paint(
                pdf,
                painted.drawing,
                painted.masks,
                pictures.Page(area, self._document.limits.pixels, painted.canvas.location, shared),
            )
        pixels = self._document.limits.pixels
        for owner, shapes in self._stored_words.items():
            pictures.paint_one(pdf, pdf.get_object(owner), list(shapes), pixels, "a picture")
        for key, stream in self._streams.items():
            if key not in own and isinstance(key, tuple):
                target = pdf.get_object(key)
                target.write(self._rewritten(stream, stream_bytes(target, self._budget.expanded)))
            for mark in stream.marks:
                _drop_named_words(mark)

    def _rewritten(
        self, stream: _Stream, data: bytes, dropped: Iterable[tuple[int, int]] = ()
    ) -> bytes:
        return edit.rewritten(
            data, stream.shows.values(), stream.glyphs, stream.marks, [*dropped, *stream.strays]
        )

    def _write_canvas(self, pdf: pikepdf.Pdf, painted: _Painted) -> None:
        from pikepdf import Dictionary, Name

        canvas, drawing = painted.canvas, painted.drawing
        data = self._rewritten(
            self._streams.get(canvas.key, _Stream()), canvas.data, drawing.unmatched_restores
        )
        if canvas.page is None:
            # A glyph or a pattern without colors of its own shows a gap instead of a box.
            if canvas.stream is not None and str(canvas.stream.get("/Subtype", "")) == "/Form":
                data = edit.enclosed(data, drawing) + edit.boxes(painted.masks)
                _add_label_font(pdf, canvas.stream, canvas.resources)
            if canvas.stream is not None:
                canvas.stream.write(data)
            return
        page = pdf.pages[canvas.page].obj
        page.Contents = pdf.make_stream(edit.enclosed(data, drawing) + edit.boxes(painted.masks))
        _add_label_font(pdf, page, canvas.resources)
        if Name.Resources not in page:
            page.Resources = Dictionary()


def _joined(
    edits: Iterable[tuple[Drawn, Edit]], segments: Sequence[Segment]
) -> Iterator[tuple[Drawn, Edit]]:
    """Join the pieces of a value that only a gap separates: their boxes would reveal its shape."""
    before: tuple[Drawn, Edit] | None = None
    for anchor, each in edits:
        if before is not None:
            last = before[1]
            between = segments[each.segment].text[last.end : each.start]
            if (
                last.segment == each.segment
                and not each.replacement
                and last.end <= each.start
                and not between.strip()
            ):
                before = (before[0], last._replace(end=each.end))
                continue
            yield before
        before = (anchor, each)
    if before is not None:
        yield before


def _add_label_font(
    pdf: pikepdf.Pdf, owner: pikepdf.Object, resources: pikepdf.Object | None
) -> None:
    """Add the label font to a copy of the resources: other objects may share them."""
    from pikepdf import Dictionary, Name

    own = Dictionary(dict(resources.items()) if is_dictionary(resources) else {})
    fonts = own.get("/Font")
    copy = Dictionary(dict(fonts.items()) if is_dictionary(fonts) else {})
    copy["/" + edit.LABEL_FONT.decode()] = Dictionary(
        Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding
    )
    own.Font = copy
    owner.Resources = pdf.make_indirect(own)


def _shared_pictures(pdf: pikepdf.Pdf) -> set[source.ObjectNumber]:
    """Return the pictures that several pages use: a letterhead is not a scan."""
    seen: set[source.ObjectNumber] = set()
    shared: set[source.ObjectNumber] = set()
    for page in pdf.pages:
        resources = page.obj.get("/Resources")
        objects = resources.get("/XObject") if is_dictionary(resources) else None
        for item in objects.values() if is_dictionary(objects) else ():
            if is_stream(item):
                (shared if item.objgen in seen else seen).add(item.objgen)
    return shared


def _drop_named_words(mark: Mark) -> None:
    if not isinstance(mark.properties, bytes) or mark.resources is None:
        return
    entries = mark.resources.get("/Properties")
    entry = (
        entries.get("/" + mark.properties.decode("utf-8", "surrogateescape"))
        if is_dictionary(entries)
        else None
    )
    for key in MARK_WORDS if is_dictionary(entry) else ():
        if entry is not None and "/" + key.decode() in entry:
            del entry["/" + key.decode()]


def saved(pdf: pikepdf.Pdf) -> bytes:
    """Save completely, without the old file identifier, which can be a fingerprint of
    the original.
    """
    from pikepdf import ObjectStreamMode

    if "/ID" in pdf.trailer:
        del pdf.trailer["/ID"]
    # For a repaired file, qpdf would write a table of objects without its size.
    has_size = "/Size" in pdf.trailer
    buffer = io.BytesIO()
    pdf.save(
        buffer,
        encryption=False,
        deterministic_id=True,
        fix_metadata_version=False,
        object_stream_mode=ObjectStreamMode.generate if has_size else ObjectStreamMode.disable,
        compress_streams=True,
    )
    return buffer.getvalue()
