"""Words that only pixels show: scans, photographs, stamps. They are read by OCR from the page as a
viewer shows it.
"""

from __future__ import annotations

import ctypes
import io
import math
import time
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats import ocr
from dlpctl.formats.pdf.matrix import apply, inverse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pypdfium2

    from dlpctl.formats.interface import Limits
    from dlpctl.formats.pdf.matrix import Matrix
    from dlpctl.formats.pdf.reading import Box

_DOTS_PER_POINT = 200 / 72
_MOST_PIXELS = 12_000_000
_SHARE_OF_TIME = 0.6
NO_OCR, NO_TIME = "pictures, no OCR", "pictures, no time left for OCR: raise limits.seconds"


class SeenWord(NamedTuple):
    """A word, its line, and its box on the page."""

    text: str
    line: str
    box: Box


class Sight:
    """Looks at the pages of one document."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data = data
        self._pixels = min(limits.pixels, _MOST_PIXELS)
        self._until = time.monotonic() + _SHARE_OF_TIME * limits.seconds
        # A document of its own: to read its text, pages of the other one are turned.
        self._document: pypdfium2.PdfDocument | None = None

    def close(self) -> None:
        if self._document is not None:
            self._document.close()

    def words(self, index: int, pictures: Sequence[Matrix]) -> list[SeenWord] | str:
        """The words on the pictures of a page, or why they cannot be read."""
        if ocr.program() is None:
            return NO_OCR
        if time.monotonic() > self._until:
            return NO_TIME
        import pypdfium2

        if self._document is None:
            self._document = pypdfium2.PdfDocument(self._data)
        page = self._document[index]
        try:
            return [word for word in self._read(page) if _on_any(word.box, pictures)]
        finally:
            page.close()

    def _read(self, page: pypdfium2.PdfPage) -> Iterable[SeenWord]:
        width, height = page.get_size()
        scale = min(_DOTS_PER_POINT, math.sqrt(self._pixels / max(width * height, 1.0)))
        image = page.render(scale=scale).to_pil().convert("L")
        buffer = io.BytesIO()
        image.save(buffer, "PNG", compress_level=1)
        for word in ocr.words(buffer.getvalue()):
            corners = (
                _on_page(page, image.size, word.left, word.top),
                _on_page(page, image.size, word.left + word.width, word.top + word.height),
            )
            yield SeenWord(word.text, word.line, _around(*corners))


def _on_page(
    page: pypdfium2.PdfPage, size: tuple[int, int], across: int, down: int
) -> tuple[float, float]:
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDF_DeviceToPage(page, 0, 0, *size, 0, across, down, x, y)
    return x.value, y.value


def _around(one: tuple[float, float], other: tuple[float, float]) -> Box:
    from dlpctl.formats.pdf.reading import Box

    (left, right), (bottom, top) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return Box(left, bottom, right, top)


def _on_any(box: Box, pictures: Sequence[Matrix]) -> bool:
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    for matrix in pictures:
        back = inverse(matrix)
        if back is None:
            continue
        within = [apply(back, *corner) for corner in corners]
        if all(
            min(one[axis] for one in within) < 1 and max(one[axis] for one in within) > 0
            for axis in (0, 1)
        ):
            return True
    return False
