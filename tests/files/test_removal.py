"""Parts that cannot be inspected are removed from a masked copy if possible, and block it
otherwise.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageDraw

from dlpctl.detect.engine import Detector
from dlpctl.files.checking import FileChecker
from dlpctl.formats import ocr
from dlpctl.formats.isolation import messages
from dlpctl.preflight import checker_for
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from played_tesseract import PlayedTesseract
    from workers_here import WorkerHere

    from dlpctl.files.report import FileReport

SCRIBBLE = (60, 60, 560, 100)


def unreadable(picture: bytes, *, pages: int, **_: bool) -> list[list[ocr.Word]]:
    """See a line wherever dark strokes are, and be sure of no letter of it."""
    found = []
    with Image.open(io.BytesIO(picture)) as image:
        for page in range(pages):
            image.seek(page)
            dark = image.convert("L").point([255] * 90 + [0] * 166)
            box = dark.getbbox()
            is_bar = box and dark.crop(box).histogram()[0] == 0
            found.append(line(box) if box and not is_bar else [])
    return found


def line(box: tuple[int, int, int, int]) -> list[ocr.Word]:
    left, top, right, bottom = box
    width = (right - left) // 4
    return [
        ocr.Word(text, "1", left + width * at, top, width, bottom - top, 40.0)
        for at, text in enumerate(["Hcr", "nunber", "iz", "I2E45"])
    ]


@pytest.fixture(autouse=True)
def unreadable_writing(tesseract: PlayedTesseract) -> None:
    tesseract(unreadable, unreadable)


@pytest.fixture
def check(library: Detector, workers_here: type[WorkerHere]) -> Callable[..., FileReport]:
    checker = checker_for("VENDOR", None, library, None, None)

    def check(data: bytes, name: str, on_uninspected: str = "block") -> FileReport:
        wanted = "block" if on_uninspected == "block" else "warn"
        files = FileChecker(checker, method=workers_here, on_uninspected=wanted)  # type: ignore[arg-type]
        return files.check(data, name)

    return check


def scribbled(kind: str = "PNG") -> bytes:
    image = Image.new("RGB", (900, 300), "white")
    draw = ImageDraw.Draw(image)
    for x in range(SCRIBBLE[0], SCRIBBLE[2], 8):
        draw.line((x, SCRIBBLE[1], x + 6, SCRIBBLE[3]), fill="black", width=3)
    draw.rectangle((700, 200, 800, 280), fill="#b0b0b0")
    return encoded(image, kind)


def encoded(image: Image.Image, kind: str) -> bytes:
    output = io.BytesIO()
    image.save(output, kind)
    return output.getvalue()


def pdf_of(picture: bytes) -> bytes:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(450, 150))
    canvas.drawImage(ImageReader(io.BytesIO(picture)), 0, 0, width=450, height=150)
    canvas.save()
    return buffer.getvalue()


def zipped(**members: bytes) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name.replace("__", "."), contents)
    return output.getvalue()


FILES = {
    "a.png": scribbled,
    "a.tif": lambda: scribbled("TIFF"),
    "a.pdf": lambda: pdf_of(scribbled()),
    "a.zip": lambda: zipped(a__png=scribbled(), b__txt=b"kept\n"),
}


def shown(data: bytes, name: str) -> Image.Image:
    if name.endswith(".pdf"):
        import pypdfium2

        page = pypdfium2.PdfDocument(data)[0]
        return page.render(scale=2).to_pil().convert("L")  # type: ignore[no-any-return]
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.read("b.txt") == b"kept\n"
            data = archive.read("a.png")
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("L")


@pytest.mark.parametrize("name", FILES)
def test_a_line_that_ocr_cannot_read_is_painted_over(
    name: str, check: Callable[..., FileReport]
) -> None:
    report = check(FILES[name](), name)
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    assert "what could not be inspected" in report.summary
    assert not report.coverage.not_inspected
    assert any("OCR cannot read" in note for note in report.coverage.remarks)
    picture = shown(report.masked, name)
    assert len(set(picture.crop(SCRIBBLE).tobytes())) == 1
    assert picture.getpixel((750, 240)) == 0xB0


@pytest.mark.parametrize("name", FILES)
def test_files_with_uninspected_parts_are_returned_to_users_who_accept_them(
    name: str, check: Callable[..., FileReport]
) -> None:
    data = FILES[name]()
    report = check(data, name, "warn")
    assert report.masked == data
    assert report.coverage.not_inspected


def test_a_part_that_cannot_be_removed_blocks(check: Callable[..., FileReport]) -> None:
    data = zipped(a__png=scribbled(), b__bin=b"\x93\x01\x02\x03" * 400)
    report = check(data, "a.zip")
    assert report.decision is Decision.BLOCKED
    assert report.masked is None


def test_a_picture_on_which_writing_stays_is_blocked(
    library: Detector, workers_here: type[WorkerHere]
) -> None:
    class Forgetful(workers_here):  # type: ignore[valid-type, misc]
        def ask(self, request: messages.Request, seconds: float) -> object:
            if isinstance(request, messages.Mask):
                return messages.Copy(request.data)
            return super().ask(request, seconds)

    checker = checker_for("VENDOR", None, library, None, None)
    report = FileChecker(checker, method=Forgetful).check(scribbled(), "a.png")
    assert report.decision is Decision.BLOCKED
    assert "OCR cannot read" in report.summary


def test_a_part_that_programs_make_anew_goes_if_it_cannot_be_inspected(
    check: Callable[..., FileReport],
) -> None:
    names = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    text = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    body = "<office:text><text:p>kept</text:p></office:text>"
    content = f"<office:document-content {names} {text}><office:body>{body}</office:body></office:document-content>"
    parts = {
        "mimetype": b"application/vnd.oasis.opendocument.text",
        "content.xml": content.encode(),
        "ObjectReplacements/Object 1": b"VCLMTF\x01\0\x31\0\0\0\x01\0" * 40,
        "layout-cache": b"\x01\0\x01\x93\xff\xe8\x03\0\0P\x09" * 40,
    }
    report = check(zipped(**parts), "a.odt")
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    with zipfile.ZipFile(io.BytesIO(report.masked)) as archive:
        assert archive.namelist() == ["mimetype", "content.xml"]
        assert b"kept" in archive.read("content.xml")
