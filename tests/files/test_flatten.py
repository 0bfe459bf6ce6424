"""With `flatten=True`, a PDF that cannot be masked in place becomes pictures of its pages."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, OutlineItem, String
from PIL import Image

from dlpctl.detect.automaton.cache import Cache
from dlpctl.detect.engine import Detector
from dlpctl.files.checking import FileChecker
from dlpctl.formats.files import Files
from dlpctl.formats.ocr import Word
from dlpctl.preflight import checker_for
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from played_tesseract import PlayedTesseract
    from workers_here import WorkerHere

    from dlpctl.files.report import FileReport

TOOLS = ("tesseract", "pdftotext", "pdftoppm", "mutool", "qpdf")
VALUE = "jane.roe@example.com"
WIDE, HIGH = 420, 300


@pytest.fixture
def check(library: Detector, workers_here: type[WorkerHere]) -> Callable[..., FileReport]:
    checker = checker_for("VENDOR", None, library, "redact", None)

    def check(data: bytes, name: str = "a.pdf", *, flatten: bool = True) -> FileReport:
        return FileChecker(checker, method=workers_here, flatten=flatten).check(data, name)

    return check


@pytest.fixture
def with_tools() -> None:
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        pytest.skip(f"{', '.join(missing)} not installed")


def pdf(*contents: str, change: Callable[[Any], None] = lambda _: None) -> bytes:
    made = pikepdf.new()
    known = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
    without_widths = Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name.Unknown)
    for content in contents:
        page = made.add_blank_page(page_size=(WIDE, HIGH)).obj
        page.Resources = Dictionary(Font=Dictionary(F=known, U=without_widths))
        page.Contents = made.make_stream(content.encode())
    change(made)
    output = io.BytesIO()
    made.save(output)
    return output.getvalue()


def attach(made: pikepdf.Pdf) -> None:
    made.attachments["a.bin"] = pikepdf.AttachedFileSpec(made, os.urandom(2_000), filename="a.bin")


def decorate(made: pikepdf.Pdf) -> None:
    page = made.pages[0].obj
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 9, 9]))
    page.Annots = Array([made.make_indirect(link)])
    made.Root.PageLabels = Dictionary(Nums=Array([0, Dictionary(S=Name.r, St=3)]))
    made.Root.OpenAction = Dictionary(S=Name.JavaScript, JS=String("app.alert(1)"))
    made.docinfo["/Author"] = "somebody"
    with made.open_outline() as outline:
        outline.root.append(OutlineItem("Chapter", 0))


def texts_of(file: Path) -> dict[str, str]:
    import pypdf
    from pdfminer.high_level import extract_text

    def run(*command: str) -> str:
        return subprocess.run(
            [*command], capture_output=True, check=True, timeout=300, text=True
        ).stdout

    return {
        "poppler": run("pdftotext", str(file), "-"),
        "mupdf": run("mutool", "draw", "-q", "-F", "txt", str(file)),
        "pypdf": "\n".join(page.extract_text() for page in pypdf.PdfReader(file).pages),
        "pdfminer": extract_text(file),
    }


def picture_of(file: Path) -> Image.Image:
    drawn = subprocess.run(
        ["pdftoppm", "-r", "72", "-png", "-singlefile", str(file)],
        capture_output=True,
        check=True,
        timeout=300,
    ).stdout
    return Image.open(io.BytesIO(drawn)).convert("L")


def has_keys(item: object) -> bool:
    return isinstance(item, pikepdf.Dictionary | pikepdf.Stream)


@pytest.mark.usefixtures("with_tools")
def test_parts_that_pages_do_not_show_are_gone(
    check: Callable[..., FileReport], tmp_path: Path
) -> None:
    data = pdf(
        "BT /F 14 Tf 10 55 Td (Please answer soon to) Tj ET "
        f"BT /F 14 Tf 10 30 Td ({VALUE}) Tj ET "
        "BT /F 14 Tf 180 5 Td (covered) Tj ET 175 0 80 20 re f",
        change=lambda made: (attach(made), decorate(made)),
    )
    assert check(data, flatten=False).decision is Decision.BLOCKED
    report = check(data)
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    assert report.verified is not None
    assert report.pages == (1,)
    removed, flattened = report.coverage.remarks
    assert removed.startswith("Removed from the copy: 1 part not inspected")
    assert flattened.endswith("lost: links, bookmarks, actions, attachments.")
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(report.masked)
    subprocess.run(["qpdf", "--check", copy], check=True, capture_output=True, timeout=300)
    for reader, text in texts_of(copy).items():
        assert {"Please", "answer", "soon"} <= set(text.split()), reader
        assert not any(gone in text for gone in ("jane", "example", "covered")), reader
    shown = picture_of(copy)
    assert shown.size == (WIDE, HIGH)
    assert shown.crop((100, HIGH - 40, 130, HIGH - 30)).getextrema()[1] < 16
    with pikepdf.open(copy) as document:
        assert set(document.Root.keys()) == {"/Type", "/Pages", "/PageLabels"}
        assert document.pages[0].label == "iii"
        assert not document.docinfo
        types = {str(each.get("/Subtype", "")) for each in document.objects if has_keys(each)}
    assert types <= {"", "/Image", "/Type3"}


@pytest.mark.slow
@pytest.mark.usefixtures("with_tools")
def test_what_cannot_be_masked_in_place_is_drawn(
    check: Callable[..., FileReport], tmp_path: Path
) -> None:
    def turn(made: pikepdf.Pdf) -> None:
        made.pages[1].obj.Rotate = 90
        made.pages[1].obj.CropBox = Array([0, 0, 200, HIGH])

    data = pdf(
        f"BT /U 14 Tf 10 30 Td (This goes to {VALUE}) Tj ET",
        "BT /F 14 Tf 0 1 -1 0 60 20 Tm (turned words) Tj 0 -300 Td (beside) Tj ET "
        "BT /F 14 Tf 0.87 0.5 -0.5 0.87 90 40 Tm (a slanted line) Tj ET",
        change=turn,
    )
    reason = check(data, flatten=False).summary
    assert "cannot be masked" in reason
    report = check(data)
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    assert report.masked is not None
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(report.masked)
    for reader, text in texts_of(copy).items():
        assert {"This", "goes", "turned", "words"} <= set(text.split()), reader
        assert not any(gone in text for gone in ("jane", "example", "beside")), reader
    with pikepdf.open(copy) as document:
        assert [float(side) for side in document.pages[1].mediabox] == [0, 0, HIGH, 200]


@pytest.mark.usefixtures("no_tesseract")
def test_a_copy_without_masks_is_drawn_too(workers_here: type[WorkerHere]) -> None:
    data = pdf("BT /F 14 Tf 10 30 Td (Nothing to see) Tj ET", change=attach)
    with Files(method=workers_here) as files:
        node = files.open(data, "a.pdf", flattening=True)
        copy = files.masked(node, lambda _: [])
    with pikepdf.open(io.BytesIO(copy)) as document:
        assert not document.attachments
        assert "/Image" in [
            str(each.get("/Subtype")) for each in document.objects if has_keys(each)
        ]


def test_a_page_of_nothing_but_text_is_read_by_ocr_only_in_the_copy(
    check: Callable[..., FileReport], tesseract: PlayedTesseract
) -> None:
    shown: list[bytes] = []

    def words(picture: bytes, *, pages: int, sparse: bool) -> list[list[Word]]:
        if not sparse:
            shown.append(picture)
        return [[]] * pages

    tesseract(words)
    data = pdf("BT /F 14 Tf 10 30 Td (Nothing to see) Tj ET", change=attach)
    assert check(data, flatten=False).decision is Decision.BLOCKED
    assert not shown
    assert check(data).decision is Decision.ALLOWED_WITH_MASKING
    assert shown


def test_a_policy_still_blocks(check: Callable[..., FileReport]) -> None:
    key = f"AKIA{os.urandom(16).hex().upper().translate(str.maketrans('0189', 'QRST'))[:16]}"
    data = pdf(f"BT /F 14 Tf 10 30 Td (aws_access_key_id = {key}) Tj ET", change=attach)
    report = check(data)
    assert report.decision is Decision.BLOCKED
    assert "flattening" not in report.summary


@pytest.mark.usefixtures("no_tesseract")
def test_pages_that_cannot_be_read_are_blocked_with_both_reasons(
    check: Callable[..., FileReport],
) -> None:
    report = check(pdf("BT /F 14 Tf 10 30 Td (Nothing) Tj ET", change=attach))
    assert report.decision is Decision.BLOCKED
    assert "1 part not inspected" in report.summary
    assert "flattening does not help: 1 page not inspected: pictures, no OCR" in report.summary


def test_text_that_only_a_picture_would_have_blocks(check: Callable[..., FileReport]) -> None:
    def fill(made: pikepdf.Pdf) -> None:
        resources = made.pages[0].obj.Resources
        pattern = made.make_stream(
            b"BT /F 14 Tf 5 10 Td (tile) Tj ET",
            PatternType=1,
            PaintType=1,
            TilingType=1,
            BBox=Array([0, 0, 100, 30]),
            XStep=100,
            YStep=30,
            Resources=resources,
        )
        resources.Pattern = Dictionary(P=pattern)
        attach(made)

    report = check(pdf("/Pattern cs /P scn 0 0 400 200 re f", change=fill))
    assert report.decision is Decision.BLOCKED
    assert "flattening does not help: a pattern shows text" in report.summary


def test_a_file_that_stays_blocked_is_not_drawn(
    damaged_names: None, compiled_cache: Path, workers_here: type[WorkerHere]
) -> None:
    checker = checker_for("VENDOR", None, Detector(cache=Cache(compiled_cache)), "redact", None)
    file = pdf("BT /F 14 Tf 10 30 Td (Nothing) Tj ET", change=attach)
    report = FileChecker(checker, method=workers_here, flatten=True).check(file, "a.pdf")
    assert report.decision is Decision.BLOCKED
    assert "names and addresses were not inspected" in report.summary
    assert "flattening" not in report.summary


def test_other_formats_are_not_drawn(check: Callable[..., FileReport]) -> None:
    report = check(os.urandom(2_000), "a.bin")
    assert report.decision is Decision.BLOCKED
    assert "flattening" not in report.summary
