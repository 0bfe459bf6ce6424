"""With `metadata="clean"`, a copy tells nothing of who made a file, with what, and where."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import docx
import openpyxl
import pikepdf
import pytest
from PIL import Image
from PIL.ExifTags import Base
from PIL.PngImagePlugin import PngInfo

from dlpctl.files.checking import FileChecker
from dlpctl.preflight import checker_for
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from workers_here import WorkerHere

    from dlpctl.detect.engine import Detector
    from dlpctl.files.choices import Metadata
    from dlpctl.files.report import FileReport

# No finding: only the setting removes it.
AUTHOR = "qx47-workstation"
ODF = "urn:oasis:names:tc:opendocument:xmlns"


@pytest.fixture
def check(library: Detector, workers_here: type[WorkerHere]) -> Callable[..., FileReport]:
    checker = checker_for("VENDOR", None, library, None, None)

    def check(data: bytes, name: str, metadata: Metadata) -> FileReport:
        return FileChecker(checker, method=workers_here, metadata=metadata).check(data, name)

    return check


def word() -> bytes:
    document = docx.Document()
    document.add_paragraph("Nothing to see here.")
    document.core_properties.author = AUTHOR
    return saved(document.save)


def workbook(rows: int = 1) -> bytes:
    book = openpyxl.Workbook()
    for row in range(rows):
        book.active.append([f"jane.doe{row}@example.com"])
    book.properties.creator = AUTHOR
    return saved(book.save)


def open_document() -> bytes:
    def part(root: str, body: str) -> str:
        return f'<office:{root} xmlns:office="{ODF}:office:1.0" xmlns:dc="d" xmlns:text="{ODF}:text:1.0">{body}</office:{root}>'

    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="text/xml"/>'
        for name in ("/", "content.xml", "meta.xml")
    )
    return zipped(
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        (
            "content.xml",
            part("document-content", "<office:body><text:p>Nothing.</text:p></office:body>"),
        ),
        ("meta.xml", part("document-meta", f"<dc:creator>{AUTHOR}</dc:creator>")),
        (
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{ODF}:manifest:1.0">{entries}</manifest:manifest>',
        ),
    )


def pdf() -> bytes:
    document = pikepdf.new()
    document.add_blank_page()
    document.docinfo["/Author"] = AUTHOR
    document.docinfo["/CreationDate"] = "D:20261124120000Z"
    with document.open_metadata() as metadata:
        metadata["dc:creator"] = [AUTHOR]
    return saved(document.save)


def png() -> bytes:
    info = PngInfo()
    info.add_text("Author", AUTHOR)
    return saved(lambda file: Image.new("RGB", (50, 40), "red").save(file, "PNG", pnginfo=info))


def jpeg() -> bytes:
    exif = Image.Exif()
    exif[Base.Artist], exif[Base.Orientation] = AUTHOR, 6
    return saved(lambda file: Image.new("RGB", (50, 40), "red").save(file, "JPEG", exif=exif))


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    output = io.BytesIO()
    save(output)
    return output.getvalue()


def zipped(*members: tuple[str, str | bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, contents in members:
            archive.writestr(name, contents)
    return output.getvalue()


MADE = {
    "a.docx": word,
    "a.xlsx": workbook,
    "a.odt": open_document,
    "a.pdf": pdf,
    "a.png": png,
    "a.jpg": jpeg,
}


def test_copies_have_no_metadata_and_open(check: Callable[..., FileReport]) -> None:
    everything = zipped(*((name, make()) for name, make in MADE.items()))
    report = check(everything, "all.zip", "clean")
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    (note,) = report.coverage.remarks
    for place in ("a.docx > docProps/core.xml", "a.odt > meta.xml", "a.pdf > metadata"):
        assert place in note
    with zipfile.ZipFile(io.BytesIO(report.masked)) as archive:
        copies = {name: archive.read(name) for name in archive.namelist()}
    assert copies.keys() == MADE.keys()
    for name in ("a.docx", "a.xlsx", "a.odt"):
        with zipfile.ZipFile(io.BytesIO(copies[name])) as archive:
            assert not any(
                AUTHOR.encode() in archive.read(part)
                or b"docProps" in archive.read(part)
                or b"meta.xml" in archive.read(part)
                or part.startswith("docProps/")
                for part in archive.namelist()
            )
    assert docx.Document(io.BytesIO(copies["a.docx"])).paragraphs[0].text == "Nothing to see here."
    assert openpyxl.load_workbook(io.BytesIO(copies["a.xlsx"])).active["A1"].value
    with pikepdf.open(io.BytesIO(copies["a.pdf"])) as document:
        assert not document.docinfo
        assert "/Metadata" not in document.Root
    with Image.open(io.BytesIO(copies["a.png"])) as image:
        assert not image.info
    with Image.open(io.BytesIO(copies["a.jpg"])) as image:
        assert dict(image.getexif()) == {Base.Orientation: 6}


def test_a_long_table_loses_its_properties(check: Callable[..., FileReport]) -> None:
    report = check(workbook(12_000), "a.xlsx", "clean")
    assert report.masked is not None
    with zipfile.ZipFile(io.BytesIO(report.masked)) as archive:
        assert not any(part.startswith("docProps/") for part in archive.namelist())


def test_metadata_without_findings_stays_by_default(check: Callable[..., FileReport]) -> None:
    made = word()
    report = check(made, "a.docx", "keep")
    assert report.decision is Decision.ALLOWED
    assert report.masked == made
