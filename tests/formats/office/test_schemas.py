"""Masked copies have no errors of their schemas that the originals lack: those of Office Open XML,
and the RELAX NG schemas of OpenDocument.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from openpyxl.comments import Comment

audit = pytest.importorskip("openxml_audit", reason="openxml-audit is not installed")

Mask = Callable[[bytes, str], bytes]
SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"
TEXT = f"kept {SSN} and {CARD} of {MAIL}"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_TYPE = "application/vnd.oasis.opendocument"


def saved(document: Any) -> bytes:
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.add_heading(TEXT)
    parts = document.add_paragraph("kept 123-")
    parts.add_run("45").bold = True
    parts.add_run("-6789")
    document.add_table(1, 2).cell(0, 1).text = CARD
    document.sections[0].header.paragraphs[0].text = TEXT
    document.core_properties.author = MAIL
    return saved(document)


def excel() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["card", "kept", "sum"])
    sheet.append([int(CARD), TEXT, "=A2"])
    sheet["A1"].comment = Comment(TEXT, MAIL)
    sheet["B2"].hyperlink = f"mailto:{MAIL}"
    sheet.oddHeader.center.text = TEXT
    book.properties.creator = MAIL
    return saved(book)


def powerpoint() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = TEXT
    slide.placeholders[1].text = TEXT
    slide.notes_slide.notes_text_frame.text = TEXT
    show.core_properties.author = MAIL
    return saved(show)


def open_document(kind: str, body: str) -> bytes:
    names = " ".join(
        f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "text", "table", "manifest")
    )
    dublin = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    parts = {
        "mimetype": f"{_TYPE}.{kind}",
        "content.xml": f'<office:document-content {names} {dublin} office:version="1.3"><office:body>'
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        "meta.xml": f'<office:document-meta {names} {dublin} office:version="1.3"><office:meta>'
        f"<dc:title>{TEXT}</dc:title><dc:creator>{MAIL}</dc:creator></office:meta></office:document-meta>",
        "META-INF/manifest.xml": f'<manifest:manifest {names} manifest:version="1.3">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_TYPE}.{kind}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        '<manifest:file-entry manifest:full-path="meta.xml" manifest:media-type="text/xml"/>'
        "</manifest:manifest>",
    }
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for name, contents in parts.items():
            archive.writestr(name, contents)
    return output.getvalue()


PARAGRAPHS = (
    f"<text:p>kept 123-<text:span>45</text:span>-6789<office:annotation><dc:creator>{MAIL}</dc:creator>"
    f"<text:p>{CARD}</text:p></office:annotation></text:p><text:p>{TEXT}</text:p>"
)
CELLS = (
    f'<table:table table:name="{MAIL}"><table:table-column table:number-columns-repeated="2"/><table:table-row>'
    f'<table:table-cell office:value-type="float" office:value="{CARD}"><text:p>{CARD}</text:p></table:table-cell>'
    f'<table:table-cell office:value-type="string"><text:p>{SSN}</text:p></table:table-cell></table:table-row></table:table>'
)
SAMPLES: dict[str, Callable[[], bytes]] = {
    "a.docx": word,
    "a.xlsx": excel,
    "a.pptx": powerpoint,
    "a.odt": lambda: open_document("text", PARAGRAPHS),
    "a.ods": lambda: open_document("spreadsheet", CELLS),
}


def errors(path: Path, data: bytes) -> Counter[str]:
    """Return the errors of a file, without numbers, which count its cells."""
    path.write_bytes(data)
    is_open = path.suffix in {".odt", ".ods"}
    validator = audit.OdfValidator(relaxng_validation=True) if is_open else audit.OpenXmlValidator()
    found = validator.validate(path).errors
    return Counter(re.sub(r"\d+", "", f"{each.part_uri}: {each.description}") for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_a_masked_copy_is_as_valid_as_its_original(name: str, masked: Mask, tmp_path: Path) -> None:
    data = SAMPLES[name]()
    before = errors(tmp_path / name, data)
    assert not errors(tmp_path / f"masked {name}", masked(data, name)) - before


@pytest.mark.slow
def test_the_validators_see_what_is_not_valid(tmp_path: Path) -> None:
    cells = CELLS.replace("table:table-row>", "table:row>")
    assert errors(tmp_path / "a.ods", open_document("spreadsheet", cells)) - errors(
        tmp_path / "b.ods", open_document("spreadsheet", CELLS)
    )
