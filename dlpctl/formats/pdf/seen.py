"""Words that only pixels show, read by OCR from displayed pages and stored pictures."""

from __future__ import annotations

import ctypes
import math
import time
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.formats import ocr
from dlpctl.formats.ocr.passes import look
from dlpctl.formats.ocr.seen import Corners, Seen, SeenWord
from dlpctl.formats.pdf.matrix import Matrix, apply, inverse, multiply
from dlpctl.formats.pdf.objects import is_stream
from dlpctl.formats.pdf.pictures import decoded, size_of
from dlpctl.formats.pictures.barcodes import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor

    import pikepdf
    import pypdfium2
    from PIL.Image import Image

    from dlpctl.formats.interface import Limits
    from dlpctl.formats.pdf.drawing import Picture
    from dlpctl.formats.pdf.source import ObjectNumber

_DOTS_PER_POINT = 200 / 72
_MOST_PIXELS = 12_000_000
_PAGE_PIXELS = 4_000_000
"""The pixels of an A4 page, and the most of a smaller one, whose pictures may have fine letters."""
_BESIDE = 60
"""Pixels around the pictures of a page that are read too, since words may cross their border."""
_SHARE_OF_TIME = 0.6
_SAMPLE, _FINENESS = 80, 12
"""The fields per side in which a picture is compared with the stored one, and their pixels."""
_UNLIKE, _FEW_UNLIKE = 20, 3
"""The difference in shades of unlike fields, and the minimum number of them that hide a word."""
_SEE_THROUGH = 64
"""The opacity of a pixel that a page does not show."""
AT_ONCE = 2
"""The number of pictures that OCR reads at the same time."""
NO_OCR, NO_TIME = "pictures, no OCR", "pictures, no time left for OCR: raise limits.seconds"


class PageSight(NamedTuple):
    """The words on the pictures of a page, with corners in points of the page."""

    words: list[SeenWord]
    unread: list[Corners]


class Sight:
    """Reads the pages and pictures of one document by OCR, several of them at the same time."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._data = data
        self._limits = limits
        self._until = time.monotonic() + _SHARE_OF_TIME * limits.seconds
        # A separate document: reading the text turns the pages of the other one.
        self._document: pypdfium2.PdfDocument | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._shown: set[ObjectNumber] = set()
        """The stored pictures that a page shows unchanged, or that need not be read."""
        self._laid_out: set[frozenset[tuple[ObjectNumber, Matrix]]] = set()
        """The pictures of the pages that were read, with their places."""

    def close(self) -> None:
        if self._readers is not None:
            self._readers.shutdown(cancel_futures=True)
        if self._document is not None:
            self._document.close()

    def obstacle(self) -> str:
        """Return the reason why nothing can be read; empty if there is none."""
        if ocr.program() is None:
            return NO_OCR
        return NO_TIME if time.monotonic() > self._until else ""

    def on_page(
        self, pdf: pikepdf.Pdf, index: int, pictures: Sequence[Picture]
    ) -> Callable[[], PageSight]:
        """Start reading the pictures of a page; return a function that returns their words.

        Text above a stored picture would make both hard to read, and is known already.
        """
        page = self._page(index)
        try:
            if all(each.source is not None for each in pictures):
                _hide_text(page)
            image = draw(page, self._limits, _fineness(pictures))
            to_page = page_matrix(page, image.size)
        finally:
            page.close()
        self._note_shown(pdf, image.convert("L"), to_page, pictures)
        matrices = [picture.matrix for picture in pictures]
        box = _box_of(matrices, to_page, image.size)
        read = self._start(image.crop(box), enlarge=False)
        from_box = multiply((1.0, 0.0, 0.0, 1.0, float(box[0]), float(box[1])), to_page)

        def words() -> PageSight:
            seen = read()
            moved = (_moved(word, from_box) for word in seen.words)
            unread = (_moved_corners(corners, from_box) for corners in seen.unread)
            return PageSight(
                [word for word in moved if _on_any(word.corners, matrices)],
                [corners for corners in unread if _on_any(corners, matrices)],
            )

        return words

    def _page(self, index: int) -> pypdfium2.PdfPage:
        import pypdfium2

        if self._document is None:
            self._document = pypdfium2.PdfDocument(self._data)
        return self._document[index]

    def has_code(self, index: int) -> bool:
        """Return whether a page shows a code, drawn or as a picture."""
        page = self._page(index)
        try:
            return bool(codes(draw(page, self._limits).convert("L")))
        finally:
            page.close()

    def _start(self, picture: Image, *, enlarge: bool) -> Callable[[], Seen]:
        from concurrent.futures import ThreadPoolExecutor

        if self._readers is None:
            self._readers = ThreadPoolExecutor(AT_ONCE)
        return self._readers.submit(look, picture, enlarge=enlarge, until=self._until).result

    def _note_shown(
        self, pdf: pikepdf.Pdf, page: Image, to_page: Matrix, pictures: Sequence[Picture]
    ) -> None:
        """Record the stored pictures that the page shows unchanged, neither covered nor clipped."""
        from PIL.Image import Resampling, Transform

        to_pixels = inverse(to_page)
        for source, matrix, _ in pictures:
            if source is None or to_pixels is None or source.objgen in self._shown:
                continue
            stored = decoded(pdf, source)
            if stored is None:
                continue
            a, b, c, d, e, f = multiply(matrix, to_pixels)
            # From a pixel of the sample, whose rows run down, to a pixel of the page.
            side = _SAMPLE * _FINENESS
            coefficients = a / side, -c / side, c + e, b / side, -d / side, d + f
            sample = page.transform(
                (side, side), Transform.AFFINE, coefficients, Resampling.BILINEAR, fillcolor=127
            ).resize((_SAMPLE, _SAMPLE), Resampling.BOX)
            alpha = source.get("/SMask")
            visible: Image | None = stored.convert("L")
            if is_stream(alpha):
                visible = _through(decoded(pdf, alpha), stored.convert("L"))
            if visible and _alike(sample, visible.resize((_SAMPLE, _SAMPLE), Resampling.BOX)):
                self._shown.update(each.objgen for each in (source, alpha) if is_stream(each))

    def in_picture(self, pdf: pikepdf.Pdf, source: pikepdf.Object) -> Callable[[], Seen] | None:
        """Start reading a stored picture; return a function that returns its words, in its unit
        square; None if it is damaged.
        """
        stored = decoded(pdf, source)
        if stored is None:
            return None
        read = self._start(stored, enlarge=True)
        to_unit = (1 / stored.width, 0.0, 0.0, -1 / stored.height, 0.0, 1.0)

        def words() -> Seen:
            seen = read()
            return Seen(
                [_moved(word, to_unit) for word in seen.words],
                [_moved_corners(corners, to_unit) for corners in seen.unread],
            )

        return words

    def is_repeated(self, pictures: Sequence[Picture]) -> bool:
        """Return whether a page before has the same pictures at the same places."""
        if any(each.source is None for each in pictures):
            return False
        layout = frozenset(
            (each.source.objgen, each.matrix) for each in pictures if each.source is not None
        )
        repeated = layout in self._laid_out
        self._laid_out.add(layout)
        return repeated

    def skip(self, pictures: Sequence[Picture]) -> None:
        """Read no words in these pictures."""
        self._shown.update(each.source.objgen for each in pictures if each.source is not None)

    def is_shown(self, source: pikepdf.Object) -> bool:
        return source.objgen in self._shown


def draw(page: pypdfium2.PdfPage, limits: Limits, fineness: float = 0.0) -> Image:
    """Return a page as OCR reads it and as a flattened copy shows it.

    A small page has up to `fineness` dots per point.
    """
    width, height = page.get_size()
    area = max(width * height, 1.0)
    finest = max(_DOTS_PER_POINT, min(fineness, math.sqrt(_PAGE_PIXELS / area)))
    scale = min(finest, math.sqrt(min(limits.pixels, _MOST_PIXELS) / area))
    image: Image = page.render(scale=scale).to_pil()
    return image


def _hide_text(page: pypdfium2.PdfPage) -> None:
    from pypdfium2 import raw

    for text in page.get_objects(filter=(raw.FPDF_PAGEOBJ_TEXT,)):
        raw.FPDFTextObj_SetTextRenderMode(text.raw, raw.FPDF_TEXTRENDERMODE_INVISIBLE)


def page_matrix(page: pypdfium2.PdfPage, size: tuple[int, int]) -> Matrix:
    """Return the matrix from pixels of a drawn page to the page."""
    from pypdfium2 import raw

    def point(across: int, down: int) -> tuple[float, float]:
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDF_DeviceToPage(page, 0, 0, *size, 0, across, down, x, y)
        return x.value, y.value

    (e, f), (ax, ay), (cx, cy) = point(0, 0), point(size[0], 0), point(0, size[1])
    wide, high = size
    return (ax - e) / wide, (ay - f) / wide, (cx - e) / high, (cy - f) / high, e, f


def _fineness(pictures: Sequence[Picture]) -> float:
    """Return the dots per point of the finest picture."""
    return max(
        (
            size_of(each.source)[0] / max(math.hypot(*each.matrix[:2]), 1.0)
            for each in pictures
            if each.source is not None
        ),
        default=0.0,
    )


def _box_of(
    matrices: Sequence[Matrix], to_page: Matrix, size: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Return the box around all pictures, in pixels of the drawn page."""
    to_pixels = inverse(to_page)
    drawn = 0, 0, *size
    if to_pixels is None:
        return drawn
    corners = [
        apply(multiply(matrix, to_pixels), x, y)
        for matrix in matrices
        for x, y in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    ]
    xs, ys = zip(*corners, strict=True)
    left, top = (max(math.floor(min(axis)) - _BESIDE, 0) for axis in (xs, ys))
    right = min(math.ceil(max(xs)) + _BESIDE, size[0])
    bottom = min(math.ceil(max(ys)) + _BESIDE, size[1])
    return (left, top, right, bottom) if left < right and top < bottom else drawn


def _moved(word: SeenWord, matrix: Matrix) -> SeenWord:
    return word._replace(corners=_moved_corners(word.corners, matrix))


def _moved_corners(corners: Corners, matrix: Matrix) -> Corners:
    first, second, third, fourth = (apply(matrix, *corner) for corner in corners)
    return first, second, third, fourth


def _through(alpha: Image | None, stored: Image) -> Image | None:
    """Return a picture on white as its soft mask shows it; None if the mask may hide words."""
    import PIL.Image

    if alpha is None:
        return None
    opaque = alpha.convert("L").resize(stored.size)
    hidden = opaque.point([255] * _SEE_THROUGH + [0] * (256 - _SEE_THROUGH))
    shades = [shade for shade, count in enumerate(stored.histogram(hidden)) if count]
    if shades and shades[-1] - shades[0] >= _UNLIKE:
        return None
    return PIL.Image.composite(stored, PIL.Image.new("L", stored.size, 255), opaque)


def _alike(sample: Image, stored: Image) -> bool:
    from PIL import ImageChops

    differing = ImageChops.difference(sample, stored).histogram()[_UNLIKE:]
    return sum(differing) < _FEW_UNLIKE


def _on_any(corners: Corners, pictures: Sequence[Matrix]) -> bool:
    for matrix in pictures:
        back = inverse(matrix)
        if back is None:
            continue
        within = [apply(back, *corner) for corner in corners]
        if all(
            min(each[axis] for each in within) < 1 and max(each[axis] for each in within) > 0
            for axis in (0, 1)
        ):
            return True
    return False
