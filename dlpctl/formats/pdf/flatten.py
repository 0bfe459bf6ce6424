"""Draw a PDF anew: each page is a picture with its words as invisible text, and nothing else."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.pdf import canvas as canvases
from dlpctl.formats.pdf import layer, reading, source
from dlpctl.formats.pdf.drawing import Budget
from dlpctl.formats.pdf.edit import number_text
from dlpctl.formats.pdf.legible import legible_pictures, reason_to_look
from dlpctl.formats.pdf.mask import saved
from dlpctl.formats.pdf.matrix import inverse, multiply
from dlpctl.formats.pdf.objects import is_array, is_dictionary, name_text, number
from dlpctl.formats.pdf.seen import draw, page_matrix
from dlpctl.formats.pdf.walker import Walker

if TYPE_CHECKING:
    import pikepdf
    import pypdfium2
    from PIL.Image import Image

    from dlpctl.formats.interface import Limits
    from dlpctl.formats.pdf.canvas import CanvasText
    from dlpctl.formats.pdf.layer import Word

_QUALITY = 85
_LOST = {
    "/AcroForm": "forms",
    "/Outlines": "bookmarks",
    "/StructTreeRoot": "tags",
    "/OCProperties": "layers",
    "/EmbeddedFiles": "attachments",
    "/JavaScript": "scripts",
    "/OpenAction": "actions",
    "/AA": "actions",
    "/Metadata": "metadata",
}
"""Parts that pictures cannot keep, by the key of the catalog or of its names."""


class Flattened(NamedTuple):
    data: bytes
    lost: tuple[str, ...]
    """The kinds of parts that only the original has."""
    of_text: frozenset[int]
    """The pages that show only text."""

    @property
    def remark(self) -> str:
        """The sentence for the report."""
        lost = f"; lost: {', '.join(self.lost)}" if self.lost else ""
        return f"Flattened: each page is a picture with its words as invisible text{lost}."


class _Page(NamedTuple):
    """A page as it is shown."""

    picture: Image
    size: tuple[float, float]
    words: list[Word]
    is_of_text: bool
    """True if the picture shows nothing but text that can be read without it."""


def flatten(data: bytes, password: str | None, limits: Limits, *, exact: bool) -> Flattened:
    """Return the file with pictures as its pages; `exact` ones are stored without loss."""
    import pikepdf

    budget = Budget(limits.expanded_bytes, limits.pdf_glyphs, limits.pdf_invocations)
    with source.opened(data, password, limits) as pdf, pikepdf.new() as flat:
        lost = tuple(dict.fromkeys(_lost(pdf)))
        # Annotations and fields become a part of the drawing, so that their text is read with it.
        pdf.generate_appearance_streams()
        pdf.flatten_annotations("screen")
        fonts = layer.Fonts(flat)
        of_text: list[int] = []
        for index, page in enumerate(_pages(pdf, budget, limits)):
            _add(flat, page, fonts, exact=exact)
            if page.is_of_text:
                of_text.append(index)
            if unit := number(pdf.pages[index].obj.get("/UserUnit")):
                flat.pages[index].obj.UserUnit = unit
        if "/PageLabels" in pdf.Root:
            labels = [(index, page.label) for index, page in enumerate(pdf.pages)]
            flat.Root.PageLabels = pikepdf.Dictionary(
                Nums=pikepdf.Array(
                    part
                    for index, label in labels
                    for part in (index, pikepdf.Dictionary(P=pikepdf.String(label)))
                )
            )
        return Flattened(saved(flat), lost, frozenset(of_text))


def _lost(pdf: pikepdf.Pdf) -> Iterator[str]:
    for page in pdf.pages:
        annotations = page.obj.get("/Annots")
        for each in annotations if is_array(annotations) else ():
            subtype = name_text(each.get("/Subtype")) if is_dictionary(each) else ""
            if subtype != "/Widget":
                yield "links" if subtype == "/Link" else "comments"
    for holder in (pdf.Root, pdf.Root.get("/Names")):
        if is_dictionary(holder):
            yield from (name for key, name in _LOST.items() if key in holder)


def _pages(pdf: pikepdf.Pdf, budget: Budget, limits: Limits) -> Iterator[_Page]:
    """Yield the pages one by one, each drawn and read."""
    readable = source.normalized(pdf)
    walker = Walker(budget)
    drawn: set[object] = set()
    # Reading the text turns the pages of its document.
    with reading.opened(readable) as texts, reading.opened(readable) as pictures:
        if not len(texts) == len(pictures) == len(pdf.pages):
            raise FormatError("two readers do not agree on the pages")
        for index, canvas in enumerate(source.page_canvases(pdf, budget)):
            found = canvases.read(walker, canvas, texts, index)
            try:
                drawn.update(found.drawing.streams)
                yield _page(found, pictures, index, limits)
            finally:
                found.close()
    if any(
        canvas.is_glyph or "/PatternType" in canvas.stream
        for canvas in source.side_canvases(pdf, drawn, budget)
        if canvas.stream is not None
    ):
        raise FormatError("a pattern shows text that can be neither searched nor masked")


def _page(found: CanvasText, pictures: pypdfium2.PdfDocument, index: int, limits: Limits) -> _Page:
    with closing(pictures[index]) as page:
        size: tuple[float, float] = page.get_size()
        picture = draw(page, limits)
        to_pixels = inverse(page_matrix(page, picture.size))
    if to_pixels is None:
        raise FormatError(f"{found.canvas.location}: the page has no area")
    words = layer.words_of(found, picture.convert("L"), to_pixels)
    to_points = (size[0] / picture.width, 0.0, 0.0, -size[1] / picture.height, 0.0, size[1])
    to_sheet = multiply(to_pixels, to_points)
    moved = [word._replace(frame=multiply(word.frame, to_sheet)) for word in words]
    is_of_text = not (legible_pictures(found) or reason_to_look(found) or found.drawing.trouble)
    return _Page(picture, size, moved, is_of_text)


def _add(flat: pikepdf.Pdf, page: _Page, fonts: layer.Fonts, *, exact: bool) -> None:
    from pikepdf import Dictionary

    sheet = flat.add_blank_page(page_size=page.size).obj
    resources = Dictionary(XObject=Dictionary(Page=_stored(flat, page.picture, exact=exact)))
    if page.words:
        resources.Font = Dictionary(fonts.of(page.words))
    sheet.Resources = resources
    wide, high = (number_text(side) for side in page.size)
    shown = b"q %s 0 0 %s 0 0 cm /Page Do Q\n" % (wide, high)
    sheet.Contents = flat.make_stream(shown + layer.content(page.words))


def _stored(flat: pikepdf.Pdf, picture: Image, *, exact: bool) -> pikepdf.Object:
    """Return a picture as an object: without loss, or as JPEG if that is smaller."""
    from pikepdf import Dictionary, Name, Stream

    picture = _without_colors(picture)
    data, filter_name = zlib.compress(picture.tobytes()), Name.FlateDecode
    if not exact:
        output = io.BytesIO()
        picture.save(output, "JPEG", quality=_QUALITY)
        if output.tell() < len(data):
            data, filter_name = output.getvalue(), Name.DCTDecode
    stored = Stream(
        flat,
        data,
        Dictionary(
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=picture.width,
            Height=picture.height,
            ColorSpace=Name.DeviceGray if picture.mode == "L" else Name.DeviceRGB,
            BitsPerComponent=8,
            Filter=filter_name,
        ),
    )
    return flat.make_indirect(stored)


def _without_colors(picture: Image) -> Image:
    """Return a picture in shades of gray if it has no colors."""
    from PIL import ImageChops

    picture = picture.convert("RGB")
    gray = picture.convert("L")
    return picture if ImageChops.difference(picture, gray.convert("RGB")).getbbox() else gray
