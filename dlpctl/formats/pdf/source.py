"""The file in pikepdf: opened within the limits, with its canvases in a fixed order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits
from dlpctl.formats.pdf.drawing import Budget, StreamKey
from dlpctl.formats.pdf.objects import (
    is_array,
    is_dictionary,
    is_stream,
    name_text,
    numbers,
    stream_bytes,
)
from dlpctl.formats.pdf.reading import Box

if TYPE_CHECKING:
    import pikepdf

ObjectNumber = tuple[int, int]
_STREAM = re.compile(rb">>\s*stream\r?\n")
_INLINE_PICTURE = re.compile(rb"(?:^|\s)BI\s*/")
_CATALOG = re.compile(
    rb"([0-9]+)\s+([0-9]+)\s+obj\s*<<(?:(?!endobj).)*?/Type\s*/Catalog", re.DOTALL
)
_END_OF_STREAM = b"\nendstream\nendobj\n%%EOF\n"
_OBJECT = re.compile(rb"([0-9]+)\s+([0-9]+)\s+obj\b")
_WITHIN_LINE = re.compile(rb"(?<![\r\n0-9])([0-9]+\s+[0-9]+\s+obj\b|trailer\b)")
_EVERYWHERE = Box(-1e9, -1e9, 1e9, 1e9)
_SHOWS_TEXT = (b"Tj", b"TJ", b"'", b'"')


@dataclass(slots=True)
class Canvas:
    """Something that draws: a page, or a stream that no page's content reaches."""

    key: StreamKey
    location: str
    data: bytes
    resources: pikepdf.Object | None
    stream: pikepdf.Object | None
    """None for a page, whose content may be several streams."""
    page: int | None
    visible: Box

    @property
    def is_glyph(self) -> bool:
        """Return whether the canvas draws a character of a Type 3 font, which pages
        show as text.
        """
        stream = self.stream
        return stream is not None and "/Subtype" not in stream and "/PatternType" not in stream


def _is_cut_off(data: bytes) -> bool:
    started = _STREAM.search(data, data.rfind(b"endobj") + 1)
    return started is not None and data.find(b"endstream", started.end()) < 0


def _opened(data: bytes, password: str) -> pikepdf.Pdf:
    """Open a file; give a damaged one a line for each object, and a trailer if it has none."""
    import pikepdf

    try:
        return pikepdf.open(io.BytesIO(data), password=password, suppress_warnings=True)
    except pikepdf.PasswordError:
        raise
    except pikepdf.PdfError:
        root = re.findall(_CATALOG, data)
        repaired = _WITHIN_LINE.sub(rb"\n\1", data)
        if root and b"trailer" not in data:
            repaired += b"\ntrailer <</Root %s %s R>>\n%%%%EOF\n" % root[-1]
        if repaired == data:
            raise
        return pikepdf.open(io.BytesIO(repaired), password=password, suppress_warnings=True)


def _last_object(pdf: pikepdf.Pdf, data: bytes) -> object:
    numbers = _OBJECT.findall(data, data.rfind(b"endobj", 0, -len(_END_OF_STREAM)) + 1)
    return pdf.get_object(int(numbers[0][0]), int(numbers[0][1])) if numbers else None


@contextmanager
def opened(data: bytes, password: str | None, limits: Limits) -> Iterator[pikepdf.Pdf]:
    import pikepdf

    if len(data) > limits.input_bytes:
        raise FormatError(
            f"the PDF is larger than {limits.input_bytes >> 20} MB: split it or raise "
            "limits.input_bytes"
        )
    cut_off = _is_cut_off(data)
    if cut_off:
        # The rest of the stream may still be decompressed: read it like any other.
        data += _END_OF_STREAM
    try:
        pdf = _opened(data, password or "")
    except pikepdf.PasswordError as error:
        hint = (
            "the password is wrong"
            if password
            else "the PDF is encrypted: check or mask it with --password"
        )
        raise FormatError(hint) from error
    except (pikepdf.PdfError, ValueError, RuntimeError) as error:
        raise FormatError(
            "the file is not a readable PDF: print or save it anew and try again"
        ) from error
    with pdf:
        if cut_off and not is_stream(_last_object(pdf, data)):
            raise FormatError(
                "the PDF is cut off in the middle of its contents: get it whole and try again"
            )
        if len(pdf.pages) > limits.pdf_pages:
            raise FormatError(
                f"the PDF has more than {limits.pdf_pages} pages: split it or raise "
                "limits.pdf_pages"
            )
        yield pdf


def normalized(pdf: pikepdf.Pdf) -> bytes:
    """Return the file written again, so that pdfium need not repair damage in its own way."""
    buffer = io.BytesIO()
    pdf.save(buffer, encryption=False, fix_metadata_version=False)
    return buffer.getvalue()


def page_canvases(pdf: pikepdf.Pdf, budget: Budget) -> Iterator[Canvas]:
    for index, page in enumerate(pdf.pages):
        data = _contents(page.obj, budget)
        if b"BI" in data and _INLINE_PICTURE.search(data):
            # A separate picture can be read and painted over.
            page.externalize_inline_images()
            data = _contents(page.obj, budget)
        resources = _inherited(page.obj, "/Resources")
        yield Canvas(index, f"page {index + 1}", data, resources, None, index, _visible(page.obj))


def _contents(page: pikepdf.Object, budget: Budget) -> bytes:
    contents = page.get("/Contents")
    parts = []
    for stream in list(contents) if is_array(contents) else [contents]:
        if is_stream(stream):
            part = stream_bytes(stream, budget.expanded)
            budget.spend(expanded=len(part))
            parts.append(part)
    return b"\n".join(parts)


def _visible(page: pikepdf.Object) -> Box:
    """Return the visible part of the page."""
    media = numbers(_inherited_box(page, "/MediaBox"), 4) or (0.0, 0.0, 612.0, 792.0)
    crop = numbers(_inherited_box(page, "/CropBox"), 4) or media
    return Box(
        max(min(media[0], media[2]), min(crop[0], crop[2])),
        max(min(media[1], media[3]), min(crop[1], crop[3])),
        min(max(media[0], media[2]), max(crop[0], crop[2])),
        min(max(media[1], media[3]), max(crop[1], crop[3])),
    )


def _inherited_box(page: pikepdf.Object, key: str) -> pikepdf.Object | None:
    for node in _ancestors(page):
        found = node.get(key)
        if is_array(found):
            return found
    return None


def _inherited(page: pikepdf.Object, key: str) -> pikepdf.Object | None:
    for node in _ancestors(page):
        found = node.get(key)
        if is_dictionary(found):
            return found
    return None


def _ancestors(page: pikepdf.Object) -> Iterator[pikepdf.Object]:
    node: object = page
    for _ in range(64):
        if not is_dictionary(node):
            return
        yield node
        node = node.get("/Parent")


def side_canvases(pdf: pikepdf.Pdf, drawn: set[StreamKey], budget: Budget) -> list[Canvas]:
    """Return streams with text that no page reaches: forms, appearances, patterns, glyphs."""
    locations = _annotation_places(pdf)
    form = pdf.Root.get("/AcroForm")
    shared = form.get("/DR") if is_dictionary(form) else None
    glyphs = _glyph_streams(pdf)
    found = []
    for item in pdf.objects:
        if not is_stream(item) or item.objgen in drawn:
            continue
        number = item.objgen
        is_form = name_text(item.get("/Subtype")) == "/Form"
        if not is_form and item.get("/PatternType") != 1 and number not in glyphs:
            continue
        data = stream_bytes(item, budget.expanded)
        if not any(operator in data for operator in _SHOWS_TEXT):
            continue
        budget.spend(expanded=len(data))
        own = item.get("/Resources")
        resources = own if is_dictionary(own) else glyphs.get(number, shared)
        location = locations.get(number, "unused form" if is_form else "pattern or glyph")
        found.append(Canvas(number, location, data, resources, item, None, _EVERYWHERE))
    return found


def _annotation_places(pdf: pikepdf.Pdf) -> dict[ObjectNumber, str]:
    locations = {}
    for index, page in enumerate(pdf.pages):
        annotations = page.obj.get("/Annots")
        for annotation in annotations if is_array(annotations) else ():
            appearances = annotation.get("/AP") if is_dictionary(annotation) else None
            for appearance in appearances.values() if is_dictionary(appearances) else ():
                states = appearance.values() if is_dictionary(appearance) else [appearance]
                for state in states:
                    if is_stream(state):
                        locations[state.objgen] = f"page {index + 1}, annotation"
    return locations


def _glyph_streams(pdf: pikepdf.Pdf) -> dict[ObjectNumber, pikepdf.Object | None]:
    """Return the drawings of Type 3 glyphs, with the resources of their font."""
    found: dict[ObjectNumber, pikepdf.Object | None] = {}
    for item in pdf.objects:
        if is_dictionary(item) and name_text(item.get("/Subtype")) == "/Type3":
            drawings = item.get("/CharProcs")
            for drawing in drawings.values() if is_dictionary(drawings) else ():
                if is_stream(drawing):
                    found[drawing.objgen] = item.get("/Resources")
    return found


def side_document(
    data: bytes, password: str | None, limits: Limits, canvases: list[Canvas]
) -> bytes:
    """Return a PDF with these canvases as its pages, so that pdfium reads them like pages."""
    from pikepdf import Array, Dictionary, Name, Page

    with opened(data, password, limits) as pdf:
        del pdf.pages[:]
        for canvas in canvases:
            number = canvas.key
            if not isinstance(number, tuple):
                continue
            stream = pdf.get_object(number)
            page = Dictionary(
                Type=Name.Page,
                MediaBox=Array([-14400, -14400, 14400, 14400]),
                Contents=stream,
                Resources=_twin(pdf, canvas.resources) or Dictionary(),
            )
            pdf.pages.append(Page(pdf.make_indirect(page)))
        return normalized(pdf)


def _twin(pdf: pikepdf.Pdf, item: pikepdf.Object | None) -> pikepdf.Object | None:
    """Return the same object in another instance of the same file."""
    if item is None:
        return None
    if item.is_indirect:
        return pdf.get_object(item.objgen)
    return _copied(pdf, item)


def _copied(pdf: pikepdf.Pdf, item: pikepdf.Object) -> pikepdf.Object:
    from pikepdf import Array, Dictionary, Object

    def across(value: object) -> object:
        if not isinstance(value, Object):
            return value
        return pdf.get_object(value.objgen) if value.is_indirect else _copied(pdf, value)

    if is_dictionary(item):
        return Dictionary({key: across(value) for key, value in item.items()})
    if is_array(item):
        return Array([across(value) for value in item])
    return item


def hidden_pages(pdf: pikepdf.Pdf, budget: Budget) -> list[Canvas]:
    """Return pages that are still in the file, but no longer in the page tree."""
    shown = {page.obj.objgen for page in pdf.pages}
    found = []
    for item in pdf.objects:
        if (
            is_dictionary(item)
            and name_text(item.get("/Type")) == "/Page"
            and item.objgen not in shown
        ):
            data = _contents(item, budget)
            location = "page that is not shown"
            found.append(
                Canvas(
                    item.objgen,
                    location,
                    data,
                    _inherited(item, "/Resources"),
                    None,
                    None,
                    _EVERYWHERE,
                )
            )
    return found
