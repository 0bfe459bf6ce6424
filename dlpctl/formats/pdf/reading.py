"""Text of pages as pdfium reads it, with the position of each character."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits
from dlpctl.formats.pdf.matrix import Point

if TYPE_CHECKING:
    import pypdfium2

LINE_HYPHEN = "\ufffe"
"""pdfium's sign for a hyphen at the end of a line; the line break itself is omitted."""
_WIDE = 14_400.0
_SCALE = 1.5
"""Pixels per point of a page as a picture: 108 per inch."""


class Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, point: Point) -> bool:
        return self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top


class Char(NamedTuple):
    """A character that pdfium reads."""

    text: str
    generated: bool
    """Inserted by pdfium: a space or line end that no glyph shows."""
    unmapped: bool
    """True if the font does not define the glyph's meaning."""
    origin: Point


@contextmanager
def opened(data: bytes, password: str | None = None) -> Iterator[pypdfium2.PdfDocument]:
    """Open the document in pdfium, one at a time: pdfium is not thread-safe."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        raise FormatError(
            f"the PDF cannot be opened ({error}): print or save it anew and try again"
        ) from error
    try:
        yield document
    finally:
        document.close()


def picture(data: bytes, page: int, limits: Limits, password: str | None) -> bytes:
    """Return a page, counted from 1, as PNG."""
    with opened(data, password) as document:
        found = document[page - 1]
        width, height = found.get_size()
        scale = min(_SCALE, (limits.pixels / max(width * height, 1.0)) ** 0.5)
        output = io.BytesIO()
        found.render(scale=scale).to_pil().save(output, "PNG", compress_level=3)
        return output.getvalue()


class PageReader:
    """One page, loaded so that pdfium returns all of its text in the order of an unrotated page."""

    def __init__(self, document: pypdfium2.PdfDocument, index: int, *, widen: bool) -> None:
        from pypdfium2 import raw

        self._raw = raw
        page = self._load(document, index)
        if widen or raw.FPDFPage_GetRotation(page) != 0:
            raw.FPDFPage_SetRotation(page, 0)
            raw.FPDFPage_SetMediaBox(page, -_WIDE, -_WIDE, _WIDE, _WIDE)
            raw.FPDFPage_SetCropBox(page, -_WIDE, -_WIDE, _WIDE, _WIDE)
            raw.FPDF_ClosePage(page)
            page = self._load(document, index)
        self._page = page
        self._text = raw.FPDFText_LoadPage(page)
        if not self._text:
            raw.FPDF_ClosePage(page)
            raise FormatError(
                f"the text of page {index + 1} cannot be read: print or save the PDF anew and "
                "try again"
            )
        self.count = max(0, raw.FPDFText_CountChars(self._text))

    def _load(self, document: pypdfium2.PdfDocument, index: int) -> object:
        page = self._raw.FPDF_LoadPage(document.raw, index)
        if not page:
            raise FormatError(
                f"page {index + 1} of the PDF cannot be read: print or save it anew and try again"
            )
        return page

    def close(self) -> None:
        self._raw.FPDFText_ClosePage(self._text)
        self._raw.FPDF_ClosePage(self._page)

    def text(self) -> str | None:
        """Return the text with one character for each that pdfium counts; None if the counts
        differ.
        """
        if not self.count:
            return ""
        size = 2 * self.count + 2
        buffer = (ctypes.c_ushort * size)()
        written = self._raw.FPDFText_GetText(self._text, 0, self.count, buffer)
        text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "replace")
        return text if len(text) == self.count else None

    def text_by_character(self) -> str:
        get = self._raw.FPDFText_GetUnicode
        return "".join([_character(get(self._text, index)) for index in range(self.count)])

    def chars(self, text: str) -> list[Char]:
        """Return every character with its position; `text` is from one of the methods above."""
        raw, page = self._raw, self._text
        x, y = ctypes.c_double(), ctypes.c_double()
        origin, generated, unmapped = (
            raw.FPDFText_GetCharOrigin,
            raw.FPDFText_IsGenerated,
            raw.FPDFText_HasUnicodeMapError,
        )
        found = []
        for index, character in enumerate(text):
            origin(page, index, x, y)
            made_up = character in " \r\n" and generated(page, index) == 1
            found.append(Char(character, made_up, unmapped(page, index) == 1, (x.value, y.value)))
        return found

    def origin(self, index: int) -> Point:
        x, y = ctypes.c_double(), ctypes.c_double()
        self._raw.FPDFText_GetCharOrigin(self._text, index, x, y)
        return (x.value, y.value)

    def angle(self, index: int) -> float:
        """Return the direction of a character's line, in radians counterclockwise."""
        return -max(0.0, float(self._raw.FPDFText_GetCharAngle(self._text, index)))

    def box(self, index: int) -> Box:
        """Return the ink of a character and the area of its line, together."""
        raw = self._raw
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        raw.FPDFText_GetCharBox(self._text, index, left, right, bottom, top)
        loose = raw.FS_RECTF()
        raw.FPDFText_GetLooseCharBox(self._text, index, loose)
        return Box(
            min(left.value, loose.left),
            min(bottom.value, loose.bottom),
            max(right.value, loose.right),
            max(top.value, loose.top),
        )

    def unmapped(self) -> int:
        """Return the number of characters without a known meaning."""
        check = self._raw.FPDFText_HasUnicodeMapError
        return sum(check(self._text, index) == 1 for index in range(self.count))


def _character(code: int) -> str:
    if code == 2:
        return LINE_HYPHEN
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
