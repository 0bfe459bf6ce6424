"""PDF: read by pdfium and from the content streams, masked by glyph, read again by pypdf."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.encoding import decode
from dlpctl.formats.interface import Children, Document, Edits, Limits, NotThisFormatError
from dlpctl.formats.metadata import is_without_metadata
from dlpctl.regex import lazy

_WITHIN = 1024
"""The maximum number of junk bytes before the header that readers of PDF skip."""
_BOM_AND_BLANKS = b"\xef\xbb\xbf \t\r\n"
_HEADER = lazy(rb"%PDF-[0-9]")
_OBJECT = lazy(rb"[0-9]\s+[0-9]+\s+obj\b")


class PdfFormat:
    """The PDF format. Its modules are slow to import, so they are imported on demand."""

    name = "pdf"
    extensions = (".pdf", ".ai")
    metadata = ".*metadata"
    text_start = rb"%PDF-"
    text_start_within = _WITHIN + 5
    flattened = "flattened pdf"

    def sniff(self, head: bytes, name: str) -> bool:
        """Return whether a PDF starts here, or after junk that readers of PDF skip."""
        if head.find(b"%PDF-", 0, _WITHIN + 5) < 0:
            return False
        header = _HEADER.search(head, 0, _WITHIN + 6)
        if header is None:
            return head.startswith(b"%PDF-")
        # A program that writes PDF contains the header too, but no objects.
        return not self.has_preamble(head) or _OBJECT.search(head, header.end()) is not None

    def has_preamble(self, data: bytes) -> bool:
        """Return whether anything but white space precedes the header."""
        return not data[:_WITHIN].lstrip(_BOM_AND_BLANKS).startswith(b"%PDF-")

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        from dlpctl.formats.pdf.extract import Extraction

        try:
            with _readable():
                return Extraction(data, limits, password).run()
        except FormatError as error:
            if not self.has_preamble(data) or decode(data) is None:
                raise
            raise NotThisFormatError(error.message) from error

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        from dlpctl.formats.pdf.mask import Masking
        from dlpctl.formats.pdf.model import PdfDocument

        if not isinstance(document, PdfDocument):
            raise CannotMaskError("the document was not read by the PDF format")
        is_clean = is_without_metadata(self.metadata, document, edits)
        with _readable():
            return Masking(data, document, edits, children, drops_metadata=is_clean).run()

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        from dlpctl.formats.pdf import second

        return second.read(data, limits)

    def picture(self, data: bytes, page: int, limits: Limits, password: str | None = None) -> bytes:
        """Return a page, counted from 1, as PNG."""
        from dlpctl.formats.pdf import reading

        with _readable():
            return reading.picture(data, page, limits, password)


class FlattenedPdfFormat(PdfFormat):
    """A PDF read from pictures of its pages; its copy consists of these, with the words below."""

    name = PdfFormat.flattened
    text_start = b""
    flattened = ""
    is_redrawn = True

    def sniff(self, head: bytes, name: str) -> bool:
        """Return False: only users choose it."""
        return False

    def has_preamble(self, data: bytes) -> bool:
        """Return False: pictures of pages do not include what precedes them."""
        return False

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        from dlpctl.formats.pdf.extract import Extraction
        from dlpctl.formats.pdf.flatten import flatten

        with _readable():
            flattened = flatten(data, password, limits, exact=True)
            document = Extraction(flattened.data, limits, None, flattened.of_text).run()
        document.format, document.drawn = self.name, flattened.data
        document.remarks.append(flattened.remark)
        return document

    def mask(self, data: bytes, document: Document, edits: Edits, children: Children) -> bytes:
        from dlpctl.formats.pdf.flatten import flatten
        from dlpctl.formats.pdf.model import PdfDocument

        if not isinstance(document, PdfDocument):
            raise CannotMaskError("the document was not read by the PDF format")
        masked = super().mask(document.drawn, document, edits, children)
        with _readable():
            # Masks and their words become a part of the pictures.
            return flatten(masked, None, document.limits, exact=False).data


@contextmanager
def _readable() -> Iterator[None]:
    """Turn the errors that damaged files cause in the libraries into a `FormatError`."""
    import pikepdf

    collecting = gc.isenabled()
    # There are millions of small tuples and no cycles: collection would take a third of the time
    # and find nothing.
    gc.disable()
    try:
        yield
    except (
        pikepdf.PdfError,
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        RuntimeError,
    ) as error:
        raise FormatError(
            f"the PDF is damaged ({type(error).__name__}): print or save it anew and try again"
        ) from error
    finally:
        if collecting:
            gc.enable()


FORMAT = PdfFormat()
FORMATS = (FORMAT, FlattenedPdfFormat())
