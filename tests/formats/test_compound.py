"""Older Office files: every place of a text, masking in place, and what is refused."""

from __future__ import annotations

import random
import struct
import zlib
from typing import TYPE_CHECKING

import oldoffice as made
import pytest
import xlrd

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.compound.container import Compound
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Edit, Limits, NotThisFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dlpctl.formats.interface import Document
    from dlpctl.formats.spans import ViewEdit

LIMITS = Limits()
ATTACHED = "__attach_version1.0_#00000000"
RICH = b"{\\rtf1 jane.roe@acme.example}"
MESSAGE = made.message(
    {
        "0037001F": "About jane.roe@acme.example",
        "007D001F": "Subject: =?utf-8?q?jane=2Eroe=40acme.example?=\r\n\r\n",
        "1000001E": "Ж jane.roe@acme.example",
        "10130102": b"<p>jane.<b>roe</b>@acme.example</p>",
        "10090102": made.rich_text(RICH),
        "3FDE0003": (1251).to_bytes(4, "little"),
        "8001101F": b"\x2c\0\0\0\4\0\0\0",
        "8001101F-00000000": "jane.roe@acme.example\0",
        "8001101F-00000001": "x\0",
        "80020102": bytes(range(256)) * 3,
        "80030102": "jane.roe@acme.example".encode("utf-16-le"),
    },
    {
        "__recip_version1.0_#00000000": {"3003001F": "jane.roe@acme.example"},
        ATTACHED: {"3707001F": "jane.roe@acme.example.txt", "37010102": b"jane.roe@acme.example"},
        "__attach_version1.0_#00000001/__substg1.0_3701000D": {
            "0037001F": "jane.roe@acme.example",
            "1000001F": "jane.roe@acme.example",
        },
        "__nameid_version1.0": {"00040102": "jane.roe@acme.example".encode("utf-16-le")},
    },
)
VALUE = "jane.roe@acme.example"
CARD = 4111111111111111
WIDE = "utf-16-le"
MASKED = "[E-MAIL]".ljust(len(VALUE))


def masked(data: bytes, name: str, value: str = VALUE) -> tuple[Document, bytes]:
    """Return what a file shows, and its copy without a value."""
    chosen = format_named(name)
    document = chosen.extract(data, LIMITS)
    edits = [
        Edit(number, at, at + len(value), "[E-MAIL]")
        for number, segment in enumerate(document.segments)
        for at in range(len(segment.text))
        if segment.text.startswith(value, at)
    ]
    assert edits, "the value is not shown"
    return document, chosen.mask(data, document, edits, {})


def sheet(records: bytes, head: bytes = b"") -> bytes:
    return made.workbook({"S": records}, head)


def continued(kind: int, *parts: bytes) -> bytes:
    return made.record(kind, parts[0]) + b"".join(made.record(0x3C, part) for part in parts[1:])


RUNS = struct.pack("<IIHBHI", 1, 1, len(VALUE), 0x0C, 1, 34)
SPOKEN = struct.pack("<HHIHHH", 1, 24, 0, 0, 10, 10) + "jr@ab.exam".encode(WIDE)
PIECE = "Dear jane.roe@", "acme.example\r"
XLS = {
    "label": sheet(made.label(0, 0, f"to {VALUE}")),
    "label in UTF-16": sheet(made.label(0, 0, f"山田 {VALUE}")),
    "shared string": sheet(made.string(0, 0, 1), made.strings(["a", VALUE])),
    "string of no cell": sheet(b"", made.strings(["a", VALUE])),
    "string with styles": sheet(
        made.string(0, 0, 0), made.record(0xFC, RUNS + VALUE.encode() + bytes(4) + SPOKEN)
    ),
    "string in two records": sheet(
        made.string(0, 0, 0),
        continued(
            0xFC,
            struct.pack("<IIHB", 1, 1, len(VALUE), 0) + VALUE[:9].encode(),
            b"\1" + VALUE[9:].encode(WIDE),
        ),
    ),
    "result of a formula": sheet(made.text_formula(0, 0, VALUE)),
    "constant of a formula": sheet(made.formula(0, 0, 1, b"\x17\x15\0" + VALUE.encode())),
    "strings that a formula joins": sheet(
        made.formula(0, 0, 1, b"\x17\x09\0%b\x17\x0c\0%b\x08" % (VALUE[:9].encode(), VALUE[9:].encode()))
    ),
    "header": sheet(made.record(0x14, made.text8(f"&L{VALUE}"))),
    "author of a comment": sheet(made.record(0x1C, bytes(8) + made.text8(VALUE))),
    "comment": sheet(
        continued(0x1B6, bytes(10) + struct.pack("<HHI", len(VALUE), 16, 0), b"\0" + VALUE.encode())
    ),
    "link": sheet(made.record(0x1B8, bytes(32) + f"mailto:{VALUE}\0".encode(WIDE))),
    "name": made.workbook(
        {"S": b""}, made.record(0x18, b"\0\0\0\x15" + bytes(10) + b"\0" + VALUE.encode())
    ),
    "name of a sheet": made.workbook({VALUE: b""}),
    "unknown record": sheet(made.record(0xFFF, b"\1\2" + VALUE.encode() + b"\0")),
    "property": made.workbook(
        {"S": b""}, **{"\5SummaryInformation": made.properties({2: VALUE})}
    ),
    "property in UTF-16": made.workbook(
        {"S": b""}, **{"\5DocumentSummaryInformation": made.properties({15: VALUE}, WIDE)}
    ),
    "text of Excel 95": made.compound(
        {"Book": made.stream(
            {"S": made.record(0x204, struct.pack("<HHHH", 0, 0, 0, 21) + VALUE.encode())},
            version=0x500,
        )}
    ),
    "cache of a pivot table": made.workbook(
        {"S": b""}, **{"_SX_DB_CUR/0001": made.record(0xCD, made.text8(VALUE)) + made.record(10)}
    ),
    "stream of another program": made.workbook({"S": b""}, **{"\1CompObj": VALUE.encode()}),
}  # fmt: skip
DOC = {
    "compressed": made.document([(f"Dear {VALUE}\r", "cp1252")]),
    "UTF-16": made.document([(f"Ж {VALUE}\r", WIDE)]),
    "two pieces": made.document([(PIECE[0], "cp1252"), (PIECE[1], WIDE)], between=b"\0" * 40),
    "footnote": made.document([(f"a\r{VALUE}\rb\r", "cp1252")], [2, 22, 2]),
    "instruction of a field": made.document([(f"\x13 HYPERLINK {VALUE}\x14x\x15\r", "cp1252")]),
    "text of no piece": made.document([("a\r", "cp1252")], between=f"old {VALUE}".encode(WIDE)),
    "text of Word 95": made.old_document(f"Dear {VALUE}\r", charsets=(0, 204, 238)),
    "text of Word 95 in Cyrillic": made.old_document(f"Ж {VALUE}\r", "cp1251", charsets=(0, 204)),
    "property": {
        **made.document([("a\r", "cp1252")]),
        "\5SummaryInformation": made.properties({4: VALUE}),
    },
    "name of a style": {
        **made.document([("a\r", "cp1252")]),
        "0Table": f"\0\1{VALUE}".encode(WIDE),
    },
}
PPT = {
    "text of a slide": made.presentation(made.atom(0xFA8, f"to {VALUE}\rx".encode())),
    "text of a slide in UTF-16": made.presentation(made.atom(0xFA0, f"Ж {VALUE}".encode(WIDE))),
    "target of a link": made.presentation(made.atom(0xFBA, f"mailto:{VALUE}".encode(WIDE))),
    "unknown atom": made.presentation(made.atom(0xFFF, b"\1\2" + VALUE.encode())),
    "last user": made.presentation() | {"Current User": bytes(9) + VALUE.encode()},
}
PLACES = [*((name, data, "xls") for name, data in XLS.items())]
PLACES += [(name, made.compound(streams), "doc") for name, streams in DOC.items()]
PLACES += [(name, made.compound(streams), "ppt") for name, streams in PPT.items()]


@pytest.mark.parametrize(("name", "data", "kind"), PLACES, ids=[place[0] for place in PLACES])
def test_a_value_is_masked_in_every_place(name: str, data: bytes, kind: str) -> None:
    document, copy = masked(data, kind)
    assert document.uninspected == []
    again = format_named(kind).extract(copy, LIMITS)
    assert len(copy) == len(data)
    # A value in two runs is cut off where the first one ends.
    assert any("[E-MAIL" in segment.text for segment in again.segments)
    whole = "\n".join([*(each.text for each in again.segments), copy.decode("latin-1")])
    assert VALUE not in whole
    assert VALUE.encode(WIDE) not in copy
    lengths = sorted(len(segment.text) for segment in document.segments)
    assert sorted(len(segment.text) for segment in again.segments) == lengths


def test_what_is_read_aloud_is_shown() -> None:
    document = format_named("xls").extract(XLS["string with styles"], LIMITS)
    texts = next(each.text for each in document.segments if each.location == "texts")
    assert "jr@ab.exam" in texts.split("\n")


def test_numbers_become_zero_and_others_stay() -> None:
    several = struct.pack("<HHHiHiH", 0, 1, 0, CARD % 2**28 << 2 | 2, 0, 7 << 2 | 2, 2)
    data = sheet(
        made.number(0, 0, CARD) + made.record(0xBD, several) + made.packed(1, 0, CARD % 2**28)
        + made.formula(2, 0, CARD, b"\x1f" + struct.pack("<d", CARD)) + made.number(3, 0, 30814, 1)
        + made.number(4, 0, 1.25)
    )  # fmt: skip
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    cells, formulas = document.segments[0], document.segments[1]
    short = CARD % 2**28
    assert cells.text == f"{CARD}\t{short}\t7\n{short}\n{CARD}\n1984-05-12\n1.25"
    assert (formulas.text, document.place_of(0, len(cells.text) - 1)) == (str(CARD), "S!A5")
    edits = [Edit(0, at, at + 16, "*") for at in (0, cells.text.rindex(str(CARD)))]
    edits += [Edit(0, 17, 26, "*"), Edit(1, 0, 16, "*"), Edit(0, 29, 38, "*")]
    copy = chosen.mask(data, document, edits, {})
    assert struct.pack("<d", CARD) not in copy
    read = xlrd.open_workbook(file_contents=copy).sheet_by_index(0)
    values = [read.row_values(row) for row in range(read.nrows)]
    assert values == [[0, 0, 7], [0, "", ""], [0, "", ""], [30814, "", ""], [1.25, "", ""]]


def test_numbers_in_names_and_copies_of_other_files_become_zero() -> None:
    constant = struct.pack("<d", CARD)
    name = made.record(0x18, b"\0\0\0\1\x09" + bytes(9) + b"\0k\x1f" + constant)
    cached = made.record(0x5A, bytes(4) + b"\1" + constant)
    data = made.workbook({"S": b""}, name + cached)
    document = format_named("xls").extract(data, LIMITS)
    segment = document.segments[0]
    assert (segment.text, document.place_of(0)) == (f"{CARD}\n{CARD}", "workbook!A1")
    edits = [Edit(0, 0, 16, "*"), Edit(0, 17, 33, "*")]
    assert constant not in format_named("xls").mask(data, document, edits, {})


def test_cells_know_the_headers_of_their_columns() -> None:
    data = sheet(
        b"".join(made.label(0, at, text) for at, text in enumerate(("SSN", "Note")))
        + made.label(1, 0, "536904399") + made.label(1, 1, "b")
    )  # fmt: skip
    views = format_named("xls").extract(data, LIMITS).views
    assert ("SSN", "536904399") in [(view.context, view.text.strip()) for view in views]
    table = made.document([("x\rSSN\7Note\7\x07536904399\7b\7\7", "cp1252")])
    views = format_named("doc").extract(made.compound(table), LIMITS).views
    assert ("SSN", "536904399") in [(view.context, view.text.strip()) for view in views]


def test_a_document_shows_results_of_fields_and_keeps_its_marks() -> None:
    text = "to \x13 X \x14jane\x15.r\x02oe\r@a\7\7"
    data = made.compound(made.document([(text, "cp1252")]))
    chosen = format_named("doc")
    document = chosen.extract(data, LIMITS)
    assert document.views[1].text == "to jane.roe\n@a\t\n"
    assert document.place_of(0, len(text) - 3) == "text, paragraph 2"
    copy = chosen.mask(data, document, [Edit(0, 8, len(text), "#" * 99)], {})
    assert b"to \x13 X \x14####\x15##\x02##\r##\7\7" in copy


def test_bytes_of_no_stream_are_searched_and_cleared() -> None:
    streams = {"Workbook": made.stream({"S": made.label(0, 0, VALUE)})}
    data = made.compound(streams, f"old {VALUE}".encode(), b"Q")
    document, copy = masked(data, "xls")
    assert "old" in next(each.text for each in document.segments if each.location == "unused")
    assert b"old" not in copy
    assert b"QQQ" not in copy


def test_bytes_after_the_name_of_a_stream_are_searched_and_cleared() -> None:
    name = "Workbook\0".encode(WIDE)
    data = SMALL.replace(name + bytes(21), name + VALUE.encode())
    document, copy = masked(data, "xls")
    assert [each.location for each in document.segments if VALUE in each.text] == ["unused"]
    assert copy == format_named("xls").mask(SMALL, document, [], {})


def test_properties_are_removed_with_their_times() -> None:
    data = made.workbook(
        {"S": made.label(0, 0, "a")}, **{"\5SummaryInformation": made.properties({4: "Zoë", 12: 5})}
    )
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    at = [segment.location for segment in document.segments].index("properties")
    assert document.segments[at].text == "Zoë"
    copy = chosen.mask(data, document, [Edit(at, 0, 3, "")], {})
    assert struct.pack("<IQ", 64, 5) in data
    assert struct.pack("<IQ", 64, 0) in copy


def png(size: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"tEXt", b"a\0" + b"x" * size)
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


def test_pictures_are_files_within_the_file() -> None:
    picture = png(9000)
    blip = struct.pack("<HHI", 0x6E00, 0xF01E, 17 + len(picture)) + bytes(17) + picture
    head = continued(0xEB, blip[:8000], blip[8000:])
    data = sheet(made.label(0, 0, "a"), head)
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    child = document.children[0]
    assert (child.data, document.uninspected) == (picture, [])
    copy = chosen.mask(data, document, [], {child.key: png(100)})
    assert chosen.extract(copy, LIMITS).children[0].data.rstrip(b"\0")[-12:] == picture[-12:]
    assert png(100)[:80] in copy
    with pytest.raises(CannotMaskError, match="larger"):
        chosen.mask(data, document, [], {child.key: png(9001)})


def test_a_picture_that_is_not_read_may_be_left_out() -> None:
    blip = struct.pack("<HHI", 0x3D40, 0xF01A, 40) + b"\1" * 40
    data = sheet(b"", made.record(0xEB, blip + png(10)))
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    child = document.children[0]
    assert (child.name, child.data, child.spare) == ("picture1.bin", b"\1" * 40, True)
    copy = chosen.mask(data, document, [], {child.key: None})
    assert b"\1" * 40 not in copy
    assert png(10) in copy


UNINSPECTED = {
    "macros": {"_VBA_PROJECT_CUR/VBA/dir": b"x"},
    "embedded objects": {"MBD01/CONTENTS": b"x"},
    "other parts": {"Other": b"x"},
    "a picture of the first page in an unknown format": {
        "\5SummaryInformation": made.properties({17: b"\xfe\xff\xff\xffPICT"})
    },
    "a package that is cut off": {"\1CompObj": b"PK\3\4"},
}


@pytest.mark.parametrize("reason", UNINSPECTED)
def test_parts_that_are_not_read_are_uninspected(reason: str) -> None:
    data = made.workbook({"S": made.label(0, 0, "a")}, **UNINSPECTED[reason])
    document = format_named("xls").extract(data, LIMITS)
    assert [part.reason for part in document.uninspected] == [reason]


def test_drawings_and_sheets_that_are_not_read_are_uninspected() -> None:
    metafile = made.record(0xEB, struct.pack("<HHI", 0x3D40, 0xF01A, 9))
    unlisted = made.stream({}, unlisted=made.number(0, 0, CARD))
    for stream, reason in (
        (made.stream({}, metafile), "a picture that is cut off"),
        (unlisted, "data that belong to no sheet"),
    ):
        document = format_named("xls").extract(made.compound({"Workbook": stream}), LIMITS)
        assert [part.reason for part in document.uninspected] == [reason]


def thumbnail(number: int, picture: bytes) -> bytes:
    properties = made.properties({17: struct.pack("<iI", -1, number) + picture})
    return made.workbook({"S": made.label(0, 0, "a")}, **{"\5SummaryInformation": properties})


def test_a_copy_may_lack_damaged_properties() -> None:
    data = made.workbook({"S": b""}, **{"\5SummaryInformation": b"\1damaged"})
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    (child,) = document.children
    assert (child.data, child.spare) == (b"\0\1damaged", True)
    assert any("damaged" in segment.text for segment in document.segments)
    assert b"damaged" not in chosen.mask(data, document, [], {child.key: None})


@pytest.mark.parametrize(
    ("number", "name", "start", "picture"),
    [
        (8, "thumbnail.bmp", b"BM", struct.pack("<IiiHH6I", 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0)),
        (14, "thumbnail.emf", b"\1\0\0\0", b"\1\0\0\0 EMF"),
        (3, "thumbnail.wmf", b"\1\0", bytes(8) + b"\1\0\x09\0"),
    ],
)
def test_a_picture_of_the_first_page_is_a_file_that_no_copy_has(
    number: int, name: str, start: bytes, picture: bytes
) -> None:
    data = thumbnail(number, picture)
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    child = document.children[0]
    assert (child.name, child.data[: len(start)], child.spare) == (name, start, True)
    copy = chosen.mask(data, document, [], {child.key: None})
    assert picture not in copy
    again = chosen.extract(copy, LIMITS)
    assert (again.children, again.uninspected) == ([], [])


def test_a_short_word_in_a_formula_is_shown() -> None:
    """Shorter than other data, it would remain where the same name is masked in a cell."""
    document, copy = masked(sheet(made.formula(0, 0, 1, b"\x17\x05\0Filip")), "xls", "Filip")
    assert document.uninspected == []
    assert b"Filip" not in copy


def test_a_package_in_a_presentation_is_a_file() -> None:
    """PowerPoint 2007 marks its record as a container of records."""
    package = b"PK\3\4" + b"\xff" * 9 + b"PK\5\6" + bytes(18)
    data = made.compound(made.presentation(made.atom(0x428, package, 0xF)))
    assert [each.data for each in format_named("ppt").extract(data, LIMITS).children] == [package]


def test_a_copy_of_a_presentation_lacks_its_objects() -> None:
    contents = b"\1" + VALUE.encode()
    atoms = made.atom(0xFA8, b"kept"), made.atom(0x1011, contents), made.atom(0x1011, b"")
    data = made.compound(made.presentation(*atoms))
    chosen = format_named("ppt")
    document = chosen.extract(data, LIMITS)
    (child,) = document.children
    assert (child.data, child.spare) == (b"\0" + contents, True)
    copy = chosen.mask(data, document, [], {child.key: None})
    assert (contents in copy, b"kept" in copy) == (False, True)
    assert chosen.extract(copy, LIMITS).children == []


def test_the_cells_of_a_table_on_a_slide_are_rows() -> None:
    def shape(top: int, text: str) -> bytes:
        anchor = made.atom(0xF00F, struct.pack("<4i", 5, top, 6, 7))
        return made.atom(0xF004, anchor + made.atom(0xFA8, text.encode()) * bool(text), 0xF)

    cells = shape(8, "SSN") + shape(8, "MRN") + shape(9, "") + shape(9, "1")
    other = made.atom(0xF004, made.atom(0xFA8, b"Apart"), 0xF)
    data = made.compound(made.presentation(made.atom(0xF003, cells, 0xF), other))
    views = format_named("ppt").extract(data, LIMITS).views
    (table,) = (each.text for each in views if each.name == "slides: rows of tables")
    assert table.split("\n")[-2:] == ["SSN\tMRN", "\t1"]


SMALL = made.workbook({"S": b""})
LETTER = made.document([("a\r", "cp1252")])
LONG = made.document([("a" * 2_000, "cp1252")])
SAME_BYTES = struct.pack("<BI4I", 2, 40, 0, 2_000, 4_000, 6_000) + LONG["1Table"][-8:] * 3
REFUSED = {
    "pieces of the text have bytes in common": made.compound(LONG | {"1Table": SAME_BYTES}),
    "its cells show more than 200 times its size": made.workbook(
        {"S": b"".join(made.string(row, 0, 0) for row in range(1_100))}, made.strings(["a" * 8_000])
    ),
    "encrypted": made.workbook({"S": b""}, made.record(0x2F, bytes(6))),
    "a sheet of the file is cut off": made.compound({"Workbook": made.record(0x809, bytes(16))}),
    "two sheets of the file have one position": made.workbook(
        {"S": b""}, made.record(0x85, bytes(6) + made.text8("T", "<B"))
    ),
    "unknown version": made.compound({"Workbook": made.stream({}, version=0x400)}),
    "the file is damaged": made.compound(LETTER | {"WordDocument": LETTER["WordDocument"][:90]}),
    "texts of the file are cut off": made.workbook(
        {"S": b""}, made.record(0xFC, struct.pack("<II", 9, 9))
    ),
    "file is cut off": SMALL[:400],
    "compound file of unknown version": SMALL[:26] + b"\x09\0" + SMALL[28:],
    "sectors of the file are damaged": SMALL[:48] + struct.pack("<I", 9) + SMALL[52:],
    "the file is encrypted": made.compound(made.document([("a\r", "cp1252")], flags=0x300)),
    "an old version of Word": made.compound(made.old_document("a\r", flags=4)),
    "fonts of several code pages": made.compound(
        made.old_document("é\r", charsets=(0, 204, 238)),
    ),
    "a part of the document is missing": made.compound({"WordDocument": LETTER["WordDocument"]}),
    "order of the texts is damaged": made.compound(LETTER | {"1Table": b"\3" * 40}),
    "slides of the file are cut off": made.compound(
        {"PowerPoint Document": b"\x0f" + bytes(3) + b"\x40" * 4}
    ),
    "file is encrypted": made.compound(made.presentation(made.atom(0x2F14, b""))),
    "PowerPoint 95": made.compound({"PowerPoint Document": made.atom(1, b"")}),
    "texts of the document are cut off": made.compound(made.document([("a\r", "cp1252")], [9])),
}


def kind_of(data: bytes) -> str:
    return next(
        name for name in ("xls", "doc", "ppt", "msg") if format_named(name).sniff(data, f"a.{name}")
    )


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_read_is_refused(words: str) -> None:
    name = kind_of(REFUSED[words])
    with pytest.raises(FormatError, match=words):
        format_named(name).extract(REFUSED[words], LIMITS)


def test_other_compound_files_are_of_another_format() -> None:
    data = made.compound({"Quill": b"x"})
    for name in ("xls", "doc", "ppt", "msg"):
        assert not format_named(name).sniff(data, "a.pub")
        with pytest.raises(NotThisFormatError):
            format_named(name).extract(data, LIMITS)
    # The directory may follow the start of the file that a scan reads.
    assert format_named("xls").sniff(SMALL[:512], "a.xls")


def test_a_value_in_the_name_of_a_stream_is_refused() -> None:
    with pytest.raises(CannotMaskError, match="name of a part"):
        masked(made.workbook({"S": b""}, **{f"{VALUE}/x": b""}), "xls")


def test_a_copy_may_lack_macros_and_objects() -> None:
    others = {"_VBA_PROJECT_CUR/VBA/dir": b"macro", "MBD1/a": b"object", "Zz": b"", "A": b"other"}
    data = made.workbook({"S": made.label(0, 0, "kept")}, **others)
    chosen = format_named("xls")
    document = chosen.extract(data, LIMITS)
    keys = [child.key for child in document.children]
    assert keys == ["macros", "embedded objects", "other parts"]
    assert [part.location for part in document.uninspected] == keys
    copy = chosen.mask(data, document, [], {"macros": None, "embedded objects": None})
    assert (b"macro" in copy, b"object" in copy, b"other" in copy) == (False, False, True)
    assert "_VBA".encode(WIDE) not in copy
    again = chosen.extract(copy, LIMITS)
    assert [child.key for child in again.children] == ["other parts"]
    assert xlrd.open_workbook(file_contents=copy).sheet_by_index(0).row_values(0) == ["kept"]


@pytest.mark.parametrize(
    "data",
    [
        XLS["string in two records"],
        made.compound(DOC["two pieces"]),
        made.compound(PPT["text of a slide"]),
        MESSAGE,
    ],
)
def test_damaged_files_have_a_clear_result(data: bytes) -> None:
    chance = random.Random(7)
    kind = kind_of(data)
    for _ in range(100):
        copy = bytearray(data)
        for _ in range(chance.choice((1, 4, 40))):
            copy[chance.randrange(512, len(copy))] = chance.randrange(256)
        try:
            document = format_named(kind).extract(bytes(copy), LIMITS)
            edits = [Edit(0, 0, len(document.segments[0].text), "*")] if document.segments else []
            format_named(kind).mask(bytes(copy), document, edits, {})
        except (FormatError, CannotMaskError):
            pass


def sizes_of(compound: Compound, storage: str) -> dict[bytes, int]:
    """Return the listed size of each property of a storage."""
    table = compound.read(f"{storage}__properties_version1.0")
    return {
        table[at : at + 4]: int.from_bytes(table[at + 8 : at + 12], "little")
        for at in range(8 if storage else 32, len(table), 16)
    }


def test_all_of_a_message_is_masked(find: Callable[[Document], Iterator[ViewEdit]]) -> None:
    """A masked text is as long as it should be, and the message lists its size."""
    with Files() as files:
        node = files.open(MESSAGE, "a.msg")
        copy = files.masked(node, find, removing=True)
        again = files.open(copy, "a.msg")
    names = ["headers.eml", "body.txt", "body.html", "body.rtf", "property-8002.bin"]
    names += ["jane.roe@acme.example.txt", "body.txt"]
    assert [child.name for child in node.children] == names
    assert not list(again.uninspected())
    shown = [each.text for file in again.walk() for each in file.document.segments]
    assert not [text for text in shown if VALUE in text or "roe" in text]
    compound = Compound(copy, LIMITS)
    assert compound.read("__substg1.0_1000001E") == "Ж [E-MAIL]".encode("cp1251")
    assert compound.read("__substg1.0_10090102")[8:] == b"MELA" + bytes(4) + b"{\\rtf1 [E-MAIL]}"
    sizes = sizes_of(compound, "")
    assert sizes[b"\x1f\0\x37\0"] == len("About [E-MAIL]\0".encode(WIDE))
    assert sizes[b"\x02\1\x13\x10"] == compound.streams["__substg1.0_10130102"].size
    assert b"\x02\1\2\x80" not in sizes
    assert compound.read("__substg1.0_8001101F")[0] == len("[E-MAIL]\0".encode(WIDE))
    assert sizes_of(compound, f"{ATTACHED}/")[b"\x02\1\1\x37"] == len("[E-MAIL]")


def test_a_message_with_no_other_body_keeps_its_rich_text() -> None:
    packed = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")
    for data, text in (
        (packed, b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"),
        (struct.pack("<II4sI", 12 + len(RICH), len(RICH), b"MELA", 0) + RICH, RICH),
    ):
        document = format_named("msg").extract(made.message({"10090102": data}), LIMITS)
        assert [(child.data, child.spare) for child in document.children] == [(text, False)]
    with pytest.raises(FormatError, match="rich text of the message is damaged"):
        format_named("msg").extract(made.message({"10090102": bytes(40)}), LIMITS)
    for packed in (made.rich_text(RICH), struct.pack("<II4sI", 0, len(RICH), b"MELA", 0) + RICH):
        with pytest.raises(FormatError, match="rich text"):
            format_named("msg").extract(made.message({"10090102": packed + b"hidden" * 4}), LIMITS)


@pytest.mark.parametrize("stream", ["Package", "CONTENTS", "\1Ole10Native"])
def test_objects_in_a_message_are_searched_and_not_inspected(stream: str) -> None:
    message = Compound(made.message({}, {ATTACHED: {"3707001F": "a.bin"}}), LIMITS)
    streams = {path: message.read(path) for path in message.streams}
    streams[f"{ATTACHED}/__substg1.0_3701000D/{stream}"] = b"\1\2" + f"mail {VALUE} ".encode() * 9
    with Files() as files:
        node = files.open(made.compound(streams), "a.msg")
        assert any(VALUE in view.text for each in node.walk() for view in each.document.views)
        assert list(node.uninspected())


def test_large_copies_have_all_sectors() -> None:
    """The table of sectors of a large file has a list of its own."""
    data = made.message({"0037001F": VALUE}, {ATTACHED: {"37010102": b""}})
    key = f"{ATTACHED}/__substg1.0_37010102:file:"
    large = random.Random(1).randbytes(9 << 20)
    document = format_named("msg").extract(data, LIMITS)
    copy = format_named("msg").mask(data, document, [], {key: large})
    assert Compound(copy, LIMITS).read(key.removesuffix(":file:")) == large
