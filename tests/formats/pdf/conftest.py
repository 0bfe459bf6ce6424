"""Hand-made and generated PDFs, a plain detector, and judges that share no code with the format."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from dlpctl.formats.interface import Document, Edit, Limits
from dlpctl.formats.pdf import FORMAT

_PATTERNS = {
    "SSN": re.compile(r"(?<!\d)\d{3}[-\s]+\d{2}[-\s]+\d{4}(?!\d)"),
    "CARD": re.compile(r"(?<!\d)4\d{3}(?:[- \r\n]*\d{4}){3}(?!\d)"),
    "EMAIL": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
}


def squeezed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


@dataclass
class Result:
    """One document before and after."""

    document: Document
    edits: list[Edit]
    masked: bytes
    values: set[str] = field(default_factory=set)

    def leaks(self, *more: str) -> list[tuple[str, str]]:
        """Return the values that each judge still sees: those found, and those that the test
        planted.
        """
        return leaks_in(self.masked, self.values | set(more))

    def text(self) -> str:
        return pypdf_text(self.masked)


def pypdf_text(data: bytes) -> str:
    import pypdf

    return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)


def pdfminer_text(data: bytes) -> str:
    from pdfminer.high_level import extract_text

    return extract_text(io.BytesIO(data))


def plain_bytes(data: bytes) -> bytes:
    """The file with nothing compressed, neither streams nor objects."""
    import pikepdf

    buffer = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as pdf:
        pdf.save(
            buffer,
            compress_streams=False,
            fix_metadata_version=False,
            stream_decode_level=pikepdf.StreamDecodeLevel.generalized,
            object_stream_mode=pikepdf.ObjectStreamMode.disable,
        )
    return buffer.getvalue()


def leaks_in(data: bytes, values: set[str]) -> list[tuple[str, str]]:
    plain = plain_bytes(data)
    judges = {
        "pypdf": pypdf_text(data),
        "pdfminer": pdfminer_text(data),
        "first reader": "\n".join(
            segment.text for segment in FORMAT.extract(data, Limits()).segments
        ),
        "second reader": "\n".join(FORMAT.read_again(data, Limits())),
        "bytes": plain.decode("latin-1"),
        "wide bytes": plain.decode("utf-16-be", "replace")
        + plain[1:].decode("utf-16-be", "replace"),
    }
    if tool := shutil.which("pdftotext"):
        done = subprocess.run(
            [tool, "-", "-"], input=data, capture_output=True, timeout=300, check=False
        )
        judges["pdftotext"] = done.stdout.decode("utf-8", "replace")
    found = []
    for judge, text in judges.items():
        haystack = squeezed(text)
        found += [(judge, value) for value in values if squeezed(value) in haystack]
    return found


def find_edits(document: Document) -> tuple[list[Edit], set[str]]:
    """Return the findings of a plain detector in the views, as edits that do not overlap."""
    values: set[str] = set()
    raw: list[Edit] = []
    for view in document.views:
        for label, pattern in _PATTERNS.items():
            for match in pattern.finditer(view.text):
                values.add(match[0])
                for index, piece in enumerate(view.pieces_of(match.start(), match.end())):
                    raw.append(
                        Edit(
                            piece.segment,
                            piece.start,
                            piece.end,
                            f"[{label}]" if index == 0 else "",
                        )
                    )
    edits: list[Edit] = []
    for edit in sorted(set(raw), key=lambda edit: (edit.segment, edit.start, -edit.end)):
        last = edits[-1] if edits else None
        if last is not None and last.segment == edit.segment and edit.start < last.end:
            edits[-1] = last._replace(end=max(last.end, edit.end))
        else:
            edits.append(edit)
    return edits, values


@pytest.fixture(autouse=True)
def without_ocr(request: pytest.FixtureRequest) -> None:
    """As on a machine without tesseract, but for the tests of OCR itself."""
    if "with_ocr" not in request.fixturenames:
        request.getfixturevalue("no_tesseract")


@pytest.fixture
def with_ocr() -> None:
    if shutil.which("tesseract") is None:
        pytest.skip("tesseract is not installed")


@pytest.fixture
def check() -> Callable[..., Result]:
    """Extract, detect, mask."""

    def run(
        data: bytes, password: str | None = None, children: dict[str, bytes | None] | None = None
    ) -> Result:
        document = FORMAT.extract(data, Limits(), password)
        edits, values = find_edits(document)
        return Result(document, edits, FORMAT.mask(data, document, edits, children or {}), values)

    return run


@pytest.fixture
def leaks() -> Callable[[bytes, set[str]], list[tuple[str, str]]]:
    return leaks_in


@pytest.fixture
def plain() -> Callable[[bytes], bytes]:
    return plain_bytes


@pytest.fixture
def drawn() -> Callable[..., bytes]:
    """A PDF that reportlab draws: `draw(canvas)` for each page."""

    def build(*draw: Callable[[Any], None], **settings: Any) -> bytes:
        from reportlab.pdfgen.canvas import Canvas

        buffer = io.BytesIO()
        canvas = Canvas(buffer, pageCompression=0, **settings)
        for each in draw:
            each(canvas)
            canvas.showPage()
        canvas.save()
        return buffer.getvalue()

    return build


@dataclass
class Handmade:
    """A one-page PDF in pikepdf, ready to be spoiled."""

    pdf: Any
    page: Any

    def content(self, text: str | bytes) -> None:
        raw = text.encode("latin-1") if isinstance(text, str) else text
        self.page.Contents = self.pdf.make_stream(raw)

    def form(self, text: str, **entries: Any) -> Any:
        from pikepdf import Array, Dictionary, Name

        return self.pdf.make_stream(
            text.encode("latin-1"),
            Type=Name.XObject,
            Subtype=Name.Form,
            BBox=Array([0, 0, 600, 800]),
            Resources=Dictionary(Font=self.page.Resources.Font),
            **entries,
        )

    def save(self, **settings: Any) -> bytes:
        buffer = io.BytesIO()
        self.pdf.save(buffer, fix_metadata_version=False, **settings)
        return buffer.getvalue()


@pytest.fixture
def handmade() -> Callable[[], Handmade]:
    def build() -> Handmade:
        import pikepdf
        from pikepdf import Dictionary, Name

        pdf = pikepdf.new()
        pdf.add_blank_page(page_size=(612, 792))
        page = pdf.pages[0].obj
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        page.Resources = Dictionary(Font=Dictionary(F1=pdf.make_indirect(font)))
        made = Handmade(pdf, page)
        made.content("BT /F1 12 Tf 72 700 Td (Nothing to see) Tj ET")
        return made

    return build


@pytest.fixture
def rendered() -> Callable[..., Any]:
    """A page as a Pillow image."""

    def render(data: bytes, page: int = 0, scale: float = 2.0) -> Any:
        import pypdfium2

        document = pypdfium2.PdfDocument(data)
        try:
            return document[page].render(scale=scale, may_draw_forms=False).to_pil().convert("RGB")
        finally:
            document.close()

    return render


@pytest.fixture
def updated() -> Callable[[bytes, Callable[[Any], None]], bytes]:
    """The file with an update appended, as editors do: the earlier state stays in front."""

    def update(data: bytes, change: Callable[[Any], None]) -> bytes:
        import pypdf

        reader = pypdf.PdfReader(io.BytesIO(data))
        writer = pypdf.PdfWriter(reader, incremental=True)
        change(writer)
        buffer = io.BytesIO()
        writer.write(buffer)
        assert buffer.getvalue().startswith(data)
        return buffer.getvalue()

    return update


def words_kept(before: str, after: str) -> float:
    """The share of words of one text that another still has, in order of lines."""
    from collections import Counter

    old, new = Counter(before.split()), Counter(after.split())
    return sum(min(count, new[word]) for word, count in old.items()) / max(1, sum(old.values()))


@pytest.fixture
def kept() -> Callable[[str, str], float]:
    return words_kept
