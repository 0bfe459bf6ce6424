"""OpenDocument, made by hand and by LibreOffice."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import docx
import openpyxl
import pytest

from dlpctl.errors import FormatError
from dlpctl.formats.files import Files, Node

Mask = Callable[[bytes, str], bytes]
Parts = Callable[[bytes], dict[str, bytes]]
Convert = Callable[[bytes, str, str], bytes]
SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"
NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "manifest")
)


def made(
    kind: str,
    body: str,
    parts: dict[str, str | bytes] | None = None,
    family: str = "oasis.opendocument",
) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), f"application/vnd.{family}.{kind}")
        archive.writestr(
            "content.xml",
            f"<office:document-content {NAMES}><office:body>{body}</office:body></office:document-content>",
        )
        for name, contents in (parts or {}).items():
            archive.writestr(name, contents)
    return output.getvalue()


TEXTS = {
    "spans": "<text:p>kept 123-<text:span>45</text:span>-6789 kept</text:p>",
    "a note within a paragraph": f"<text:p>123-45<text:note><text:note-body><text:p>kept {MAIL}</text:p></text:note-body></text:note>-6789</text:p>",
    "an annotation": f"<text:p>kept<office:annotation><creator>{MAIL}</creator><text:p>{SSN}</text:p></office:annotation></text:p>",
    "a deleted paragraph": f"<text:tracked-changes><text:deletion><text:p>{SSN}</text:p></text:deletion></text:tracked-changes><text:p>kept</text:p>",
    "a link": f"<text:p><text:a xmlns:xlink='x' xlink:href='mailto:{MAIL}'>kept</text:a></text:p>",
    "a number that a cell shows in short": "<table:table><table:table-row><table:table-cell><text:p>kept</text:p></table:table-cell></table:table-row>"
    f"<table:table-row><table:table-cell office:value-type='float' office:value='{CARD[0]}.{CARD[1:]}E15'><text:p>4E+15</text:p></table:table-cell>"
    "</table:table-row></table:table>",
    "a field": f"<text:p>kept <text:user-defined text:name='x' office:string-value='{CARD}'>{CARD}</text:user-defined></text:p>",
}  # fmt: skip


@pytest.mark.parametrize("shape", TEXTS)
def test_texts(shape: str, masked: Mask, parts_of: Parts) -> None:
    copy = parts_of(masked(made("text", TEXTS[shape]), "a.odt"))
    assert b"kept" in copy["content.xml"]


def test_an_annotation_is_no_part_of_the_header_that_it_is_beside() -> None:
    row = "<table:table-row><table:table-cell>{}<text:p>{}</text:p></table:table-cell></table:table-row>"
    note = "<office:annotation><text:p>see below</text:p></office:annotation>"
    body = f"<table:table>{row.format(note, 'tax id')}{row.format('', '987654321')}</table:table>"
    with Files() as files:
        document = files.open(made("spreadsheet", body), "a.ods").document
    assert [view.context for view in document.views if view.context] == ["tax id"]


def test_the_settings_of_a_sheet_name_it() -> None:
    entry = '<config-item-map-entry xmlns="config" name="Roe"/>'
    with Files() as files:
        node = files.open(made("spreadsheet", "", {"settings.xml": entry}), "a.ods")
    assert any("Roe" in view.text for view in node.document.views)


def test_a_cell_that_changes_becomes_a_text(masked: Mask, parts_of: Parts) -> None:
    cells = (
        f'<table:table-cell office:value-type="float" office:value="{CARD}"><text:p>4.11E+15</text:p></table:table-cell>'
        f'<table:table-cell table:formula="of:=[.B1]" office:value-type="string" office:string-value="{SSN}">'
        f"<text:p>{SSN}</text:p></table:table-cell>"
        '<table:table-cell office:value-type="float" office:value="5"><text:p>5</text:p></table:table-cell>'
    )
    body = f"<table:table><table:table-row>{cells}</table:table-row></table:table>"
    copy = parts_of(masked(made("spreadsheet", body), "a.ods"))["content.xml"].decode()
    assert copy.count('<table:table-cell office:value-type="string">') == 2
    assert 'office:value="5"' in copy


def test_the_thumbnail_is_removed_with_its_entry(masked: Mask, parts_of: Parts) -> None:
    manifest = (
        f'<manifest:manifest {NAMES}><manifest:file-entry manifest:full-path="Thumbnails/thumbnail.png"/>'
        '<manifest:file-entry manifest:full-path="content.xml"/></manifest:manifest>'
    )
    parts = {"Thumbnails/thumbnail.png": b"x", "META-INF/manifest.xml": manifest}
    copy = parts_of(masked(made("text", f"<text:p>{SSN}</text:p>", parts), "a.odt"))
    assert "Thumbnails/thumbnail.png" not in copy
    assert b"thumbnail" not in copy["META-INF/manifest.xml"]
    assert b"content.xml" in copy["META-INF/manifest.xml"]


def test_a_picture_of_a_chart_that_shows_a_value_is_left_out(masked: Mask, parts_of: Parts) -> None:
    manifest = (
        f'<manifest:manifest {NAMES}><manifest:file-entry manifest:full-path="ObjectReplacements/Object 1"/>'
        '<manifest:file-entry manifest:full-path="content.xml"/></manifest:manifest>'
    )
    parts = {
        "ObjectReplacements/Object 1": b"\0\1\2\3" + MAIL.encode() + b"\0",
        "META-INF/manifest.xml": manifest,
    }
    frame = f"""<draw:frame {OTHER}><draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/></draw:frame>"""
    copy = parts_of(masked(made("text", f"<text:p>{SSN}{frame}</text:p>", parts), "a.odt"))
    assert "ObjectReplacements/Object 1" not in copy
    assert b'"./Object 1"' in copy["content.xml"]
    assert b"image" not in copy["content.xml"]
    assert b"Object 1" not in copy["META-INF/manifest.xml"]


def test_names_of_fonts_are_no_words(read: Callable[[bytes, str], Node]) -> None:
    key = "key_" + "Of24Letters" * 2
    fonts = (
        "<style:font-face xmlns:style='s' style:name='Calibri' style:font-adornments='Georgia Bold'/>"
        f"<style:font-face xmlns:style='s' style:name='{key}'/>"
    )
    node = read(made("text", f"{fonts}<text:p>kept</text:p>"), "a.odt")
    text = "".join(view.text for view in node.document.views)
    assert "Calibri" not in text
    assert "Georgia" not in text
    assert key in text


OTHER = "xmlns:style='s' xmlns:draw='d' xmlns:svg='v'"
STRUCTURES = {
    "a font": "<style:font-face {} style:name='Georgia Bold' svg:font-family='Georgia Bold'/>",
    "text in a font": "<style:text-properties {} style:font-name-asian='Georgia Bold'/>",
    "a polygon": "<draw:polygon {} draw:points='0,0 4111,1111 1111,1111'/>",
    "a path": "<draw:path {} svg:d='M1234 5678l-90-12c4 5 6 7 8.5.5z'/>",
}


@pytest.mark.parametrize("shape", STRUCTURES)
def test_neither_reader_shows_fonts_and_geometry(
    shape: str, files: Files, read: Callable[[bytes, str], Node]
) -> None:
    data = made("text", STRUCTURES[shape].format(OTHER) + "<text:p>kept</text:p>")
    shown = "\n".join(files.read_again("odt", data))
    shown += "\n".join(view.text for view in read(data, "a.odt").document.views)
    assert "kept" in shown
    assert "Georgia" not in shown
    assert "1111" not in shown
    assert "5678" not in shown


PLANTED = [
    (element, attribute, value)
    for value in (SSN, MAIL)
    for element, attribute in (
        ("style:font-face", "style:name"),
        ("style:font-face", "svg:font-family"),
        ("style:text-properties", "style:font-name"),
        ("style:style", "style:name"),
        ("style:style", "style:display-name"),
        ("text:p", "text:style-name"),
        ("draw:polygon", "draw:points"),
        ("draw:path", "svg:d"),
    )
]


@pytest.mark.parametrize(("element", "attribute", "value"), PLANTED)
def test_a_value_in_the_structure_is_masked(
    element: str, attribute: str, value: str, masked: Mask, parts_of: Parts
) -> None:
    tag = f"<{element} {OTHER} {attribute}='{value}'/>"
    copy = parts_of(masked(made("text", f"{tag}<text:p>kept</text:p>"), "a.odt"))["content.xml"]
    assert value.encode() not in copy
    assert b"kept" in copy


def test_the_name_of_a_person_in_that_of_a_style_is_shown_a_second_time(files: Files) -> None:
    data = made("text", f"<style:style {OTHER} style:name='Jane Roe'/>")
    assert "Jane Roe" in "\n".join(files.read_again("odt", data))


def test_an_identifier_that_may_be_a_name_is_shown(read: Callable[[bytes, str], Node]) -> None:
    body = "<text:p xml:id='Wolfram'>kept</text:p><text:p xml:id='list7'/>"
    shown = "\n".join(view.text for view in read(made("text", body), "a.odt").document.views)
    assert "Wolfram" in shown
    assert "list7" not in shown


def test_a_file_of_the_first_openoffice_is_read_alike(read: Callable[[bytes, str], Node]) -> None:
    body = "<text:p>123-<text:span>45</text:span>-6789<text:tab-stop/>kept</text:p>"
    document = read(made("writer", body, family="sun.xml"), "a.sxw").document
    assert document.format == "odt"
    assert any(f"{SSN}\tkept" in view.text for view in document.views)


def test_a_template_of_styles_has_no_content(read: Callable[[bytes, str], Node]) -> None:
    styles = f"<style:style {OTHER} style:name='{SSN}'/>"
    data = made("text-template", "", {"styles.xml": styles})
    document = read(data.replace(b"content.xml", b"another.xml"), "a.ott").document
    assert document.format == "odt"
    assert any(SSN in view.text for view in document.views)


def test_an_encrypted_file_is_refused(read: Callable[[bytes, str], Node]) -> None:
    data = made("text", "", {"META-INF/manifest.xml": "<m><manifest:encryption-data/></m>"})
    with pytest.raises(FormatError, match="encrypted"):
        read(data, "a.odt")


@pytest.mark.slow
def test_texts_of_libreoffice(masked: Mask, converted: Convert) -> None:
    document = docx.Document()
    document.add_paragraph("kept 123-").add_run("45-6789 end").bold = True
    document.core_properties.author = MAIL
    output = io.BytesIO()
    document.save(output)
    data = masked(converted(output.getvalue(), "a.docx", "odt"), "a.odt")
    assert "kept [SSN 1] end" in converted(data, "b.odt", "txt:Text").decode("utf-8-sig")


@pytest.mark.slow
def test_sheets_of_libreoffice(masked: Mask, converted: Convert) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Card", "SSN", "copy", "kept"])
    workbook.active.append([int(CARD), SSN, "=B2", 5])
    output = io.BytesIO()
    workbook.save(output)
    data = masked(converted(output.getvalue(), "a.xlsx", "ods"), "a.ods")
    assert converted(data, "b.ods", "csv").decode().splitlines()[1] == "[CARD],[SSN 1],[SSN 1],5"
