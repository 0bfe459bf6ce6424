"""Files made to mislead or to exhaust the reader: each is refused with the reason."""

from __future__ import annotations

import io
import random
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from PIL import Image

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files, Node
from dlpctl.formats.interface import Document, Limits
from dlpctl.formats.recognition import readings
from dlpctl.formats.spans import ViewEdit

Package = Callable[..., bytes]
Read = Callable[[bytes, str], Node]
SSN = "123-45-6789"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DOCUMENT = f"<w:document {W}><w:body><w:p><w:r><w:t>{SSN}</w:t></w:r></w:p></w:body></w:document>"


def with_entry(data: bytes, name: str, contents: str) -> bytes:
    output = io.BytesIO(data)
    with warnings.catch_warnings(), zipfile.ZipFile(output, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(name, contents)
    return output.getvalue()


REFUSED: dict[str, tuple[str, Callable[[Package], bytes]]] = {
    "a document type": ("document type", lambda make: make("docx", "<!DOCTYPE x [<!ENTITY a 'b'>]>" + DOCUMENT)),
    "a document type in a far part": (
        "document type",
        lambda make: make("docx", DOCUMENT, {"docProps/app.xml": "<!DOCTYPE a><a/>"}),
    ),
    "a part that is no XML": ("not well-formed", lambda make: make("docx", DOCUMENT + "<")),
    "a part in no encoding": (
        "encoding",
        lambda make: make("docx", DOCUMENT, {"word/x.xml": b"<?xml version='1.0'?><a>\xff\xfe</a>"}),
    ),
    "a part twice": ("two parts", lambda make: with_entry(make("docx", DOCUMENT), "word/document.xml", "<x/>")),
    "a part twice but for case": ("two parts", lambda make: with_entry(make("docx", DOCUMENT), "Word/Document.xml", "<x/>")),
    "a bomb": ("raise limits", lambda make: make("docx", DOCUMENT, {"word/x.xml": "<a>" + " " * (9 << 20) + "</a>"})),
    "too many parts": ("raise limits", lambda make: make("docx", DOCUMENT, {f"x/{n}.txt": "" for n in range(300)})),
    "nesting": ("nests deeper", lambda make: make("docx", DOCUMENT, {"word/x.xml": "<a>" * 5000 + "</a>" * 5000})),
    "a binary workbook": ("save it as .xlsx", lambda make: make(
        "docx", DOCUMENT, types={"word/document.xml": "application/vnd.ms-excel.sheet.binary.macroEnabled.main"},
    )),
    "cut off": ("damaged", lambda make: make("docx", DOCUMENT)[:-40]),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused_with_the_reason(what: str, package: Package) -> None:
    reason, make = REFUSED[what]
    data = make(package)
    found = format_named("docx")
    with pytest.raises(FormatError, match=reason) as refused:
        found.extract(data, Limits(entries=200, expanded_bytes=20 << 20))
    assert SSN not in refused.value.message


def test_the_format_follows_from_the_content_types(package: Package) -> None:
    data = package("docx", DOCUMENT)
    assert readings(data, "a.xlsx")[0].name == "docx"
    assert readings(data, "a")[0].name == "docx"
    other = package("docx", DOCUMENT).replace(b"[Content_Types].xml", b"[Content-Types].xml")
    assert readings(other, "a.docx")[0].name == "zip"


def test_bytes_between_the_parts_are_read_and_dropped(
    read: Read, files: Files, find: Callable[[Document], Iterable[ViewEdit]], package: Package
) -> None:
    data = package("docx", DOCUMENT)
    at = data.index(b"PK\x01\x02")
    hidden = f"hidden {SSN} here".encode()
    end = data.index(b"PK\x05\x06")
    moved = int.from_bytes(data[end + 16 : end + 20], "little") + len(hidden)
    data = (
        data[:at]
        + hidden
        + data[at:end]
        + data[end : end + 16]
        + moved.to_bytes(4, "little")
        + data[end + 20 :]
    )
    node = read(data, "a.docx")
    assert any("between parts" in child.name for child in node.document.children)
    assert SSN.encode() not in files.masked(node, find)


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["docx", "xlsx"])
def test_some_mutated_files(
    kind: str, package: Package, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    contents = {
        "docx": DOCUMENT,
        "xlsx": '<workbook xmlns="u"><sheets><sheet name="a" sheetId="1"/></sheets></workbook>',
    }[kind]
    sheet = f'<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>{SSN}</v></c></row></sheetData></worksheet>'
    types = {"xl/worksheets/sheet1.xml": "x.worksheet+xml"}
    original = package(kind, contents, {"xl/worksheets/sheet1.xml": sheet}, types)
    chosen = format_named(kind)
    outcomes: Counter[str] = Counter()
    for seed in range(150):
        chance = random.Random(seed)
        with zipfile.ZipFile(io.BytesIO(original)) as archive:
            members = {name: bytearray(archive.read(name)) for name in archive.namelist()}
        for _ in range(chance.randint(1, 2)):
            part = members[chance.choice(list(members))]
            at = chance.randrange(len(part))
            part[at : at + chance.randrange(3)] = chance.choice(
                (b"", b"<", b"&", b"\0", b"\xff", b"/", b"9", *([b"8", b"a", b" "] * 5))
            )
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w") as archive:
            for name, changed in members.items():
                archive.writestr(name, bytes(changed))
        try:
            document = chosen.extract(output.getvalue(), Limits())
            copy = chosen.mask(output.getvalue(), document, _edits(document, find), {})
            assert not _edits(chosen.extract(copy, Limits()), find)
            outcomes["masked"] += 1
        except FormatError:
            outcomes["refused"] += 1
    assert outcomes["masked"] > 30 < outcomes["refused"], outcomes


def _edits(document: Document, find: Callable[[Document], Iterable[ViewEdit]]) -> list[object]:
    from dlpctl.formats.spans import edits_of

    return list(edits_of(document, find(document)))


def test_a_part_that_no_program_reads_may_be_any_file(
    package: Package, files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    node = files.open(package("docx", DOCUMENT, {"21401.xml": f"== {SSN} <a>"}), "a.docx")
    assert not list(node.uninspected())
    with zipfile.ZipFile(io.BytesIO(files.masked(node, find))) as copy:
        assert SSN.encode() not in copy.read("21401.xml")
        assert b"== " in copy.read("21401.xml")


REMOVED = {
    "macros": ("word/vbaProject.bin", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 4),
    "settings of a printer": ("word/printerSettings/printerSettings1.bin", bytes(range(256)) * 4),
    "an object": (
        "word/embeddings/o.bin",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 4,
    ),
    "a recording": ("word/media/media1.mp4", b"\0\0\0\x18ftypmp42" + bytes(range(256)) * 4),
    "a picture": ("word/media/image1.png", b"\x89PNG\r\n\x1a\n" + SSN.encode() * 9),
    "a metafile": ("word/media/image1.emf", b"\1\0\0\0" + bytes(range(256)) * 4),
    "an old metafile": ("word/media/image1.wmf", b"\xd7\xcd\xc6\x9a" + bytes(range(256)) * 4),
    "an unknown picture": ("word/media/image1.pict", bytes(range(256)) * 4),
}


@pytest.mark.parametrize("kind", REMOVED)
def test_an_unreadable_part_is_removed_from_the_copy(
    kind: str,
    package: Callable[..., bytes],
    files: Files,
    find: Callable[[Document], Iterable[ViewEdit]],
    parts_of: Callable[[bytes], dict[str, bytes]],
) -> None:
    name, contents = REMOVED[kind]
    text = "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>kept</w:t></w:r></w:p></w:body></w:document>"
    target = name.removeprefix("word/")
    parts = {
        name: contents,
        "word/_rels/vbaProject.bin.rels": "<Relationships/>",
    }
    relation = f'<Relationship Id="rId9" Type="x/{kind}" Target="{target}"/>'
    node = files.open(package("docx", text, parts, relations=relation), "a.docx")
    assert [part.is_removable for part in node.uninspected()] == [True]
    copy = files.masked(node, find, removing=True)
    assert not list(files.open(copy, "a.docx").uninspected())
    after = parts_of(copy)
    assert contents not in after.values()
    assert b"kept" in after["word/document.xml"]
    named = target.encode() in after["word/_rels/document.xml.rels"]
    assert named == (name in after) == (kind != "macros")
    assert ("word/_rels/vbaProject.bin.rels" in after) == (kind != "macros")
    if "metafile" in kind:
        assert format_named("metafile").sniff(after[name], "")
    if "picture" in kind:
        with Image.open(io.BytesIO(after[name])) as shown:
            assert shown.size == (1, 1)


SIGNATURES = {"docx": "_xmlsignatures/sig1.xml", "odt": "META-INF/documentsignatures.xml"}


@pytest.mark.parametrize("kind", SIGNATURES)
def test_the_loss_of_a_signature_is_reported(
    kind: str, package: Package, files: Files, find: Callable[[Document], Iterable[ViewEdit]]
) -> None:
    made = package("docx", DOCUMENT)
    if kind == "odt":
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            archive.writestr("content.xml", f"<a xmlns:text='t'><text:p>{SSN}</text:p></a>")
        made = output.getvalue()
    assert not files.open(made, f"a.{kind}").document.remarks
    node = files.open(with_entry(made, SIGNATURES[kind], "<Signature/>"), f"a.{kind}")
    assert ["signature" in remark for remark in node.document.remarks] == [True]
    with zipfile.ZipFile(io.BytesIO(files.masked(node, find))) as copy:
        assert SIGNATURES[kind] not in copy.namelist()
