"""Word: a value is found and removed however it is split or hidden, and the rest
stays unchanged.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import docx
import pytest
from docx.shared import Inches

from dlpctl.formats.files import Node

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
Mask = Callable[[bytes, str], bytes]
Package = Callable[..., bytes]
Parts = Callable[[bytes], dict[str, bytes]]
SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"


def body(*contents: str) -> str:
    return f"<w:document {W}><w:body>{''.join(contents)}</w:body></w:document>"


def paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def deleted(text: str) -> str:
    return f"<w:del w:id='1'><w:r><w:delText>{text}</w:delText></w:r></w:del>"


def inserted(text: str) -> str:
    return f"<w:ins w:id='2'>{run(text)}</w:ins>"


def saved(document: docx.document.Document) -> bytes:
    output = io.BytesIO()
    document.save(output)
    return output.getvalue()


def made_by_python_docx() -> bytes:
    document = docx.Document()
    one = document.add_paragraph("kept text 123-")
    one.add_run("45").bold = True
    one.add_run("-6789 and more kept")
    document.add_paragraph(f"mail {MAIL}", style="List Bullet")
    table = document.add_table(2, 2)
    texts = ("Name", "Card", "kept cell", CARD)
    for cell, text in zip((*table.rows[0].cells, *table.rows[1].cells), texts, strict=True):
        cell.text = text
    document.sections[0].header.paragraphs[0].text = f"header {SSN}"
    document.sections[0].footer.paragraphs[0].text = f"footer {MAIL}"
    document.core_properties.author = MAIL
    document.core_properties.keywords = f"kept {CARD}"
    return saved(document)


def test_runs_tables_headers_footers_and_properties(masked: Mask) -> None:
    copy = docx.Document(io.BytesIO(masked(made_by_python_docx(), "a.docx")))
    assert [one.text for one in copy.paragraphs] == [
        "kept text [SSN 1] and more kept",
        "mail [E-MAIL]",
    ]
    cells = [cell.text for row in copy.tables[0].rows for cell in row.cells]
    assert cells == ["Name", "Card", "kept cell", "[CARD]"]
    assert copy.sections[0].header.paragraphs[0].text == "header [SSN 1]"
    assert copy.core_properties.author == "[E-MAIL]"
    assert copy.core_properties.keywords == "kept [CARD]"


def test_parts_without_a_value_stay_byte_for_byte(masked: Mask, parts_of: Parts) -> None:
    before = made_by_python_docx()
    after = parts_of(masked(before, "a.docx"))
    changed = {name for name, contents in parts_of(before).items() if after.get(name) != contents}
    texts = {"word/document.xml", "word/header1.xml", "word/footer1.xml", "docProps/core.xml"}
    assert changed == texts | {"docProps/thumbnail.jpeg", "_rels/.rels"}
    assert "docProps/thumbnail.jpeg" not in after
    assert b"thumbnail" not in after["_rels/.rels"]


def test_text_around_a_value_stays_byte_for_byte(
    masked: Mask, package: Package, parts_of: Parts
) -> None:
    odd = f"<w:p  w:rsidR='00AB12CD'><w:r ><w:t >a&#65; é</w:t></w:r><!-- x --><w:r><w:t>x {SSN} y</w:t></w:r></w:p>"
    data = package("docx", body(odd))
    after = parts_of(masked(data, "a.docx"))["word/document.xml"].decode()
    assert after == parts_of(data)["word/document.xml"].decode().replace(SSN, "[SSN 1]")


SPLIT = [
    (paragraph(run("a 123"), run("-45-"), run("6789 b")), "a [SSN 1] b"),
    (paragraph(run("a 123"), "<w:r><w:noBreakHyphen/></w:r>", run("45-6789 b")), "a [SSN 1] b"),
    (
        paragraph(run("a 123-45-67"), "<w:bookmarkStart w:id='1' w:name='x'/>", run("89")),
        "a [SSN 1]",
    ),
    (paragraph(run("a 12&#51;-45-6789 &amp; b")), "a [SSN 1] & b"),
    (paragraph("<w:r><w:t><![CDATA[a 123-45-6789 < b]]></w:t></w:r>"), "a [SSN 1] < b"),
    (
        paragraph(
            run("a "),
            "<w:sdt><w:sdtContent>",
            run("123-45"),
            "</w:sdtContent></w:sdt>",
            run("-6789"),
        ),
        "a [SSN 1]",
    ),
    (
        paragraph(
            run("a "), "<w:smartTag w:element='x'>", run("123-45"), "</w:smartTag>", run("-6789")
        ),
        "a [SSN 1]",
    ),
    (
        paragraph(
            run("a 123-45-678"), "<w:r><w:sym w:font='Symbol' w:char='F039'/></w:r>", run(" b")
        ),
        "a [SSN 1] b",
    ),
    (
        paragraph("<w:r><w:sym w:font='Symbol' w:char='F031'/></w:r>", run("23-45-6789 b")),
        "[SSN 1] b",
    ),
    (
        paragraph(run("jane.roe@acme"), run(".example"), "<w:r><w:br/></w:r>", run(SSN)),
        "[E-MAIL]\n[SSN 1]",
    ),
]


@pytest.mark.parametrize(("contents", "text"), SPLIT)
def test_whatever_splits_a_value(contents: str, text: str, masked: Mask, package: Package) -> None:
    copy = docx.Document(io.BytesIO(masked(package("docx", body(contents)), "a.docx")))
    nodes = [node for node in copy.element.body.iter() if node.tag.endswith(("}t", "}br"))]
    assert "".join(node.text or "" if node.tag.endswith("}t") else "\n" for node in nodes) == text


TRACKED = [
    paragraph(run("123-4"), inserted("5-6789"), run(" kept")),
    paragraph(run("123-45"), deleted("XX"), run("-6789 kept")),
    paragraph(deleted(SSN), run("kept")),
    paragraph(run("123"), deleted("-45-6789"), inserted(" kept")),
    paragraph("<w:moveFrom w:id='1'>", run(SSN), "</w:moveFrom>", run("kept")),
    paragraph(
        run("123-4"), "<w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t></w:r>", run("5-6789 kept")
    ),
    "<w:p><w:pPr><w:rPr><w:del w:id='1'/></w:rPr></w:pPr><w:r><w:t>123-45</w:t></w:r></w:p>"
    + paragraph(run("-6789 kept")),
]


@pytest.mark.parametrize("contents", TRACKED)
def test_tracked_changes_accepted_or_rejected(
    contents: str, masked: Mask, package: Package, parts_of: Parts
) -> None:
    copy = parts_of(masked(package("docx", body(contents)), "a.docx"))["word/document.xml"].decode()
    assert "kept" in copy
    assert not any(piece in copy for piece in ("5-6789", "-6789", "123-4"))


def test_runs_that_touch_are_read_apart(
    read: Callable[[bytes, str], Node], package: Package
) -> None:
    moved = f"<w:moveFrom w:id='2'>{run('Call')}</w:moveFrom>"
    hidden = f"<w:r><w:rPr><w:vanish/></w:rPr><w:t>{SSN}</w:t></w:r>"
    contents = [
        paragraph(run("Was "), deleted(SSN), moved, run("kept")),
        paragraph(run("See"), hidden, run("Next")),
        paragraph(run("Card "), deleted(CARD), inserted(CARD), run("then")),
        paragraph(run("Call "), deleted("+49 152 6739894"), inserted("+49 152 6739892")),
        paragraph(run("kept "), run("whole")),
    ]
    views = read(package("docx", body(*contents)), "a.docx").document.views
    apart = f"Was {SSN} Call kept\nSee {SSN} Next\nCard {CARD}, {CARD} then\n"
    apart += "Call +49 152 6739894, +49 152 6739892\n"
    assert any(view.text == apart for view in views)


def test_the_name_of_a_reviser_is_masked(masked: Mask, package: Package) -> None:
    contents = paragraph(f"<w:ins w:id='1' w:author='{MAIL}'>", run("kept"), "</w:ins>")
    assert MAIL.encode() not in masked(package("docx", body(contents)), "a.docx")


def test_fields_and_links(masked: Mask, package: Package, parts_of: Parts) -> None:
    field = (
        "<w:r><w:fldChar w:fldCharType='begin'/></w:r>"
        "<w:r><w:instrText xml:space='preserve'> HYPERLINK \"mailto:jane.</w:instrText></w:r>"
        "<w:r><w:instrText>roe@acme.example\" </w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r>"
    )
    contents = paragraph(
        run("kept "), field, run("write"), "<w:r><w:fldChar w:fldCharType='end'/></w:r>"
    )
    simple = f"<w:p><w:fldSimple w:instr=' AUTHOR {MAIL} '>{run('kept')}</w:fldSimple></w:p>"
    target = f"mailto:{MAIL}?subject={SSN}"
    link = f'<Relationship Id="rId9" Type="x/hyperlink" Target="{target}" TargetMode="External"/>'
    copy = parts_of(masked(package("docx", body(contents, simple), relations=link), "a.docx"))
    masked_target = 'Target="mailto:%5BE-MAIL%5D?subject=%5BSSN%201%5D"'
    assert masked_target in copy["word/_rels/document.xml.rels"].decode()
    assert "kept </w:t>" in copy["word/document.xml"].decode()


def test_text_boxes_are_separate_from_the_paragraph_around_them(
    masked: Mask, package: Package, parts_of: Parts
) -> None:
    inner = f"<w:txbxContent>{paragraph(run('box ' + MAIL))}</w:txbxContent>"
    box = f"<w:r><w:pict><v:textbox xmlns:v='urn:v'>{inner}</v:textbox></w:pict></w:r>"
    data = package("docx", body(paragraph(run("123-45"), box, run("-6789 kept"))))
    text = parts_of(masked(data, "a.docx"))["word/document.xml"].decode()
    assert "<w:t>[SSN 1]</w:t>" in text
    assert "box [E-MAIL]" in text


def test_alternative_texts_and_content_controls(masked: Mask, package: Package) -> None:
    named = f"<wp:docPr xmlns:wp='urn:wp' id='1' name='p' descr='of {MAIL}' title='{SSN}'/>"
    control = f"<w:sdt><w:sdtPr><w:alias w:val='card {CARD}'/></w:sdtPr></w:sdt>"
    masked(package("docx", body(paragraph(f"<w:drawing>{named}</w:drawing>"), control)), "a.docx")


EVERYWHERE = {
    "word/comments.xml": f"<w:comments {W}><w:comment w:author='{MAIL}'>{paragraph(run(SSN))}</w:comment></w:comments>",
    "word/footnotes.xml": f"<w:footnotes {W}>{paragraph(run('123-'), run('45-6789'))}</w:footnotes>",
    "word/people.xml": f"<w15:people xmlns:w15='u'><w15:person w15:author='{MAIL}'/></w15:people>",
    "word/settings.xml": f"<w:settings {W}><w:docVar w:name='n' w:val='{CARD}'/></w:settings>",
    "word/glossary/document.xml": f"<w:glossaryDocument {W}>{paragraph(run(SSN))}</w:glossaryDocument>",
    "word/charts/chart1.xml": f"<c:strCache xmlns:c='u'><c:pt><c:v>{MAIL}</c:v></c:pt></c:strCache>",
    "word/charts/chart2.xml": f"<c:numCache xmlns:c='u'><c:pt><c:v>{CARD}</c:v></c:pt></c:numCache>",
    "word/diagrams/data1.xml": "<a:p xmlns:a='v'><a:r><a:t>123-45</a:t></a:r><a:r><a:t>-6789</a:t></a:r></a:p>",
    "customXml/item1.xml": f"<person ssn='{SSN}' n='1'><card>{CARD}</card></person>",
    "customXml/item2.xml": f"<person><field name='{MAIL}'>kept</field></person>",
    "docProps/custom.xml": f"<P xmlns:vt='u'><property name='ssn'><vt:lpwstr>{SSN}</vt:lpwstr></property></P>",
    "docProps/app.xml": f"<Properties><Company>{MAIL}</Company><Pages>1</Pages></Properties>",
    "word/styles.xml": f"<w:styles {W}><w:style><w:name w:val='Of {MAIL}'/></w:style></w:styles>",
    "word/numbering.xml": f"<w:numbering {W}><w:lvl>{SSN}</w:lvl></w:numbering>",
    "word/fontTable.xml": f"<w:fonts {W}><!-- {SSN} --></w:fonts>",
    "word/webSettings.xml": f"<w:webSettings {W}><![CDATA[{MAIL}]]></w:webSettings>",
    "word/theme/theme1.xml": f"<?xml version='1.0'?><?note {CARD}?><a:theme xmlns:a='u'/>",
    "word/theme/theme2.xml": "<a:theme xmlns:a='u' name='jane.roe&#64;acme.example'/>",
    "word/remark.xml": f"<!-- {SSN} --><x/>",
    "word/instruction.xml": f"<?note {MAIL}?><x/>",
    "word/wide.xml": "<?xml version='1.0' encoding='UTF-16'?><a><b>123-45-6789</b></a>".encode(
        "utf-16"
    ),
    "word/afchunk.html": f"<p>kept 123-<b>45</b>-6789 {MAIL}",
    "word/afchunk.txt": f"kept {CARD}",
}


@pytest.mark.parametrize("part", EVERYWHERE)
def test_every_part_is_read(part: str, masked: Mask, package: Package) -> None:
    masked(package("docx", body(paragraph(run("kept"))), {part: EVERYWHERE[part]}), "a.docx")


NAMED = {
    "docProps/custom.xml": "<P xmlns:vt='u'><property name='Passport'><vt:lpwstr>kept</vt:lpwstr></property></P>",
    "customXml/item1.xml": "<a><field name='Passport'><value>kept</value></field></a>",
    "customXml/item2.xml": "<a><field u:name='Passport' xmlns:u='u'>kept</field></a>",
    "word/settings.xml": f"<w:settings {W}><w:docVar w:name='Passport' w:val='kept'/></w:settings>",
}


def control(properties: str, contents: str) -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{contents}</w:sdtContent></w:sdt>"


def filled_field(begin: str, instruction: str) -> str:
    begins = f"<w:r><w:fldChar w:fldCharType='begin'>{begin}</w:fldChar><w:instrText>{instruction}</w:instrText></w:r>"
    separate, end = (
        f"<w:r><w:fldChar w:fldCharType='{role}'/></w:r>" for role in ("separate", "end")
    )
    return paragraph(begins, separate, run("ke"), run("pt"), end)


NAMED |= {
    f"word/header{number}.xml": f"<w:hdr {W}>{contents}</w:hdr>"
    for number, contents in enumerate(
        (
            control("<w:alias w:val='Passport'/>", paragraph(run("kept"))),
            paragraph(run("x "), control("<w:tag w:val='Passport'/>", run("kept"))),
            filled_field(
                "<w:ffData><w:name w:val='T1'/><w:helpText w:val='Passport'/></w:ffData>",
                "FORMTEXT",
            ),
            filled_field("", ' MERGEFIELD "Passport" '),
            paragraph(f"<w:fldSimple w:instr='DOCPROPERTY Passport'>{run('kept')}</w:fldSimple>"),
        )
    )
}


@pytest.mark.parametrize("part", NAMED)
def test_a_name_that_is_stored_beside_a_value_labels_it(
    part: str, read: Callable[[bytes, str], Node], package: Package
) -> None:
    document = read(package("docx", body(), {part: NAMED[part]}), "a.docx").document
    assert any(re.search(r"Passport( value)?: kept", view.text) for view in document.views)
    assert not any("Passport: " in segment.text for segment in document.segments)


def test_what_asks_for_a_value_is_none(
    read: Callable[[bytes, str], Node], package: Package
) -> None:
    asking = control("<w:alias w:val='Name'/><w:showingPlcHdr/>", paragraph(run("Click here")))
    document = read(package("docx", body(asking)), "a.docx").document
    assert not any("Name: " in view.text for view in document.views)


def test_a_number_among_the_properties_becomes_a_text(
    masked: Mask, package: Package, parts_of: Parts
) -> None:
    custom = f"<P xmlns:vt='u'><property name='card'><vt:i8>{CARD}</vt:i8></property></P>"
    copy = parts_of(masked(package("docx", body(), {"docProps/custom.xml": custom}), "a.docx"))
    assert b"<vt:lpwstr>[CARD]</vt:lpwstr>" in copy["docProps/custom.xml"]


def test_spaces_beside_a_mask_are_kept(masked: Mask, package: Package) -> None:
    runs = paragraph(
        run("kept"),
        f"<w:r><w:t xml:space='preserve'> {SSN} x</w:t></w:r>",
        run("123-45-"),
        run("6789 y"),
    )
    copy = docx.Document(io.BytesIO(masked(package("docx", body(runs)), "a.docx")))
    assert copy.paragraphs[0].text == "kept [SSN 1] x[SSN 1] y"
    assert b'<w:t xml:space="preserve"> y' in copy.part.blob


def test_a_document_within_a_document_is_masked_too(
    masked: Mask, package: Package, parts_of: Parts
) -> None:
    inner = package("docx", body(paragraph(run(f"inner {SSN}"))))
    copy = parts_of(masked(package("docx", body(), {"word/embeddings/x.docx": inner}), "a.docx"))
    assert b"inner [SSN 1]" in parts_of(copy["word/embeddings/x.docx"])["word/document.xml"]


def test_an_unread_picture_is_reported(
    read: Callable[[bytes, str], Node], package: Package
) -> None:
    node = read(
        package("docx", body(), {"word/media/image1.emf": b"\1\0\0\0" + bytes(200)}), "a.docx"
    )
    assert [part.location for part in node.uninspected()] == ["image1.emf > content"]


def test_columns_of_tables_are_labelled_by_their_headers(
    read: Callable[[bytes, str], Node],
) -> None:
    document = docx.Document()
    table = document.add_table(4, 2)
    for at, text in enumerate(
        ("Report", "", "Name", "Account", "a", "100200300", "b", "100200301")
    ):
        table.cell(*divmod(at, 2)).text = text
    views = read(saved(document), "a.docx").document.views
    assert [view.text.split() for view in views if view.context == "Account"] == [
        ["100200300", "100200301"]
    ]


def test_structure_is_not_taken_for_content(read: Callable[[bytes, str], Node]) -> None:
    document = docx.Document()
    document.add_paragraph("kept").paragraph_format.left_indent = Inches(1.23456)
    node = read(saved(document), "a.docx")
    text = "\n".join(segment.text for segment in node.document.segments)
    assert not any(name in text for name in ("914400", "schemas.openxmlformats", "Times New Roman"))


def test_places_name_part_and_paragraph(
    read: Callable[[bytes, str], Node], package: Package
) -> None:
    document = read(
        package("docx", body(paragraph(run("a")), paragraph(run("b")))), "a.docx"
    ).document
    assert document.place_of(0, 2) == "word/document.xml, paragraph 2"


def test_comments_of_the_zip_are_read_and_masked(masked: Mask, package: Package) -> None:
    output = io.BytesIO(package("docx", body(paragraph(run(SSN)))))
    with zipfile.ZipFile(output, "a") as archive:
        archive.comment = f"made by {MAIL}".encode()
    assert MAIL.encode() not in masked(output.getvalue(), "a.docx")


@pytest.mark.slow
def test_libreoffice_reads_what_is_left(
    masked: Mask, converted: Callable[[bytes, str, str], bytes]
) -> None:
    text = converted(masked(made_by_python_docx(), "a.docx"), "a.docx", "txt:Text").decode(
        "utf-8-sig"
    )
    assert "kept text [SSN 1] and more kept" in text
    assert not any(value in text for value in (SSN, CARD, MAIL))
