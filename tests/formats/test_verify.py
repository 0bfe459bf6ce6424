"""The verifier finds every value that masking left: in every spelling, by every reader, at every
depth.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import zipfile
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from dlpctl.formats.residues import StrictMatcher
from dlpctl.formats.verify import Verifier, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dlpctl.formats.interface import Document
    from dlpctl.formats.spans import ViewEdit
    from dlpctl.formats.worker import Method

SSN, MAIL = "123-45-6789", "jane.roe@acme.example"


def nothing(_: Document) -> list[ViewEdit]:
    return []


def zipped(name: str, data: bytes) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return output.getvalue()


def deleted_row() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript("PRAGMA secure_delete = OFF; CREATE TABLE t (a TEXT)")
        database.executemany(
            "INSERT INTO t VALUES (?)", [(f"row {number} {MAIL}",) for number in range(50)]
        )
        database.execute("DELETE FROM t")
        database.commit()
        return database.serialize()


NAME = "Élodie Müller-Straße"

LEAKING: dict[str, tuple[str, bytes]] = {
    "plain": ("a.txt", f"x {MAIL} y".encode()),
    "other case": ("a.txt", MAIL.upper().encode()),
    "utf-16 in a binary": ("a.bin", b"\0\1\2\3" + MAIL.encode("utf-16-le") + b"\xff\xfe\1"),
    "utf-16-be in a binary": ("a.bin", b"\0\1\2\3" + MAIL.encode("utf-16-be") + b"\xff\xfe\1"),
    "hexadecimal": ("a.txt", MAIL.encode().hex().upper().encode()),
    "percent": ("a.txt", MAIL.replace("@", "%40").encode()),
    "all percent": ("a.txt", "".join(f"%{byte:02X}" for byte in MAIL.encode()).encode()),
    "json escapes": ("a.txt", "".join(f"\\u{ord(char):04x}" for char in MAIL).encode()),
    "html entities": ("a.txt", "".join(f"&#{ord(char)};" for char in MAIL).encode()),
    "base64": ("a.txt", base64.b64encode(f"to {MAIL} from".encode())),
    "base64 of mixed case": ("a.txt", base64.b64encode(f"to {NAME} from".encode())),
    "hexadecimal of mixed case": ("a.txt", NAME.encode().hex().encode()),
    "other case beyond ascii": ("a.txt", NAME.lower().encode()),
    "mixed case in a binary": ("a.bin", b"\0\1\2\3" + NAME.encode("utf-16-le") + b"\xff\xfe\1"),
    "after a character that grows": ("a.txt", f"İİİ {NAME}".encode()),
    "base64, shifted": ("a.txt", base64.b64encode(f"to: {MAIL} from".encode())),
    "digits grouped otherwise": ("a.txt", b"ssn 123 45 6789"),
    "digits not grouped": ("a.txt", b"ssn 123456789."),
    "json value": ("a.json", json.dumps({"a": f"\u2028{MAIL}"}).encode()),
    "xml across tags": ("a.xml", b"<?xml version='1.0'?><r>jane.<b>roe</b>@acme.example</r>"),
    "xml attribute by entities": ("a.xml", b"<?xml version='1.0'?><r a='jane&#46;roe&#64;acme.example'/>"),
    "html script": ("a.html", f"<html><script>var a = '{MAIL}'</script>".encode()),
    "html comment": ("a.html", f"<html><!-- {MAIL} -->".encode()),
    "yaml over two lines": ("a.yaml", b"a: >\n  ssn 123-45-\n  6789\n"),
    "csv cell": ("a.csv", f"a,b\n1,{MAIL}\n".encode()),
    "member of a zip": ("a.zip", zipped("a.txt", MAIL.encode())),
    "name in a zip": ("a.zip", zipped(f"{MAIL}.txt", b"x")),
    "zip in a zip": ("a.zip", zipped("a.zip", zipped("a.txt", MAIL.encode()))),
    "after a gz": ("a.gz", gzip.compress(b"x") + MAIL.encode()),
    "base64 body of a mail": ("a.eml", b"MIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n" + base64.encodebytes(MAIL.encode())),
    "encoded word of a mail": ("a.eml", b"MIME-Version: 1.0\nSubject: =?utf-8?b?" + base64.b64encode(MAIL.encode()) + b"?=\n\nx"),
    "deleted row": ("a.db", deleted_row()),
    "text before a zip": ("a.txt", MAIL.encode() + zipped("a.txt", b"x")),
    "not to be read at all": ("a.zip", b"PK\3\4 damaged"),
}  # fmt: skip


@pytest.mark.parametrize("what", LEAKING)
def test_a_leak_is_caught_without_detection(what: str) -> None:
    name, data = LEAKING[what]
    result = verify(data, name, [SSN, MAIL, NAME], nothing)
    assert not result.clean
    assert "0 of" not in result.summary()
    assert all(MAIL not in leak.shown_by for leak in result.leaks)


def workbook(*rows: Sequence[str | int]) -> bytes:
    book, output = Workbook(), io.BytesIO()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    for row in rows:
        sheet.append(row)
    book.save(output)
    return output.getvalue()


def parquet(*cells: str) -> bytes:
    output = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"a": cells}), output)
    return output.getvalue()


def rows_of(row: str, cell: str, *cells: Sequence[str]) -> str:
    return "".join(row.format("".join(cell.format(each) for each in line)) for line in cells)


def word(*cells: Sequence[str]) -> bytes:
    import docx

    document, output = docx.Document(), io.BytesIO()
    table = document.add_table(0, len(cells[0]))
    for line in cells:
        for cell, text in zip(table.add_row().cells, line, strict=True):
            cell.text = text
    document.save(output)
    return output.getvalue()


def slides(*cells: Sequence[str]) -> bytes:
    import pptx

    show, output = pptx.Presentation(), io.BytesIO()
    shapes = show.slides.add_slide(show.slide_layouts[6]).shapes
    table = shapes.add_table(len(cells), len(cells[0]), 0, 0, 999, 999).table
    for row, line in enumerate(cells):
        for column, text in enumerate(line):
            table.cell(row, column).text = text
    show.save(output)
    return output.getvalue()


def open_document(kind: str, *cells: Sequence[str]) -> bytes:
    spaces = "".join(f" xmlns:{each}='urn:oasis:{each}'" for each in ("office", "text", "table"))
    table = rows_of(
        "<table:table-row>{}</table:table-row>",
        "<table:table-cell><text:p>{}</text:p></table:table-cell>",
        *cells,
    )
    content = f"<office:document-content{spaces}><table:table>{table}</table:table></office:document-content>"
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr("content.xml", content)
    return output.getvalue()


def page(*cells: Sequence[str]) -> bytes:
    table = rows_of("<tr>{}</tr>", "<td><b>{}</b></td>", *cells)
    return f"<!DOCTYPE html><html><table>{table}</table></html>".encode()


def database(*cells: Sequence[str]) -> bytes:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute(f"CREATE TABLE t ({', '.join(f'c{n}, gap{n}' for n in range(len(cells[0])))})")
        for line in cells:
            values = [value for cell in line for value in (cell, "x")]
            made.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(values))})", values)
        made.commit()
        return made.serialize()


TABLES: dict[str, Callable[..., bytes]] = {
    "a.docx": word,
    "a.pptx": slides,
    "a.ods": partial(open_document, "spreadsheet"),
    "a.odt": partial(open_document, "text"),
    "a.html": page,
    "a.sqlite": database,
}


@pytest.mark.parametrize("name", TABLES)
def test_the_digits_of_cells_of_a_table_are_no_number(name: str) -> None:
    for cells in ([["40948", "40949"]], [["40948"], ["40949"]], [["a", "40948"], ["40949", "b"]]):
        assert verify(TABLES[name](*cells), name, ["(409) 484-0949"], nothing).clean


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("cell", ["no. 40948 40949", "no. 409-4840949", "4094840949"])
def test_the_digits_of_one_cell_of_a_table_are_a_number(name: str, cell: str) -> None:
    assert not verify(TABLES[name](["x", cell]), name, ["(409) 484-0949"], nothing).clean


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.xlsx", workbook([40948, 40949])),
        ("a.xlsx", workbook(["a", 40948], [40949, "b"])),
        ("a.xlsx", workbook(["no. 40948", "40949"])),
        ("a.xlsx", workbook([40948, "x"], ["x", 40949])),
        ("a.csv", b"a,b\nx,40948\n40949,y\n"),
        ("a.csv", b"a,b\r\nx,40948\r\n40949,y\r\n"),
        ("a.tsv", b"a\tb\n40948\t40949\n"),
        ("a.parquet", parquet("40948", "40949")),
    ],
)
def test_the_digits_of_several_cells_are_no_number(name: str, data: bytes) -> None:
    assert verify(data, name, ["(409) 484-0949"], nothing).clean


@pytest.mark.parametrize("cell", ["no. 40948 40949", "no. 409-484\n0949", "4094840949"])
def test_the_digits_of_one_cell_are_a_number(cell: str) -> None:
    files = {
        "a.xlsx": workbook(["x", cell], [1, 2]),
        "a.csv": f'a,b\nx,"{cell}"\n'.encode(),
        "a.parquet": parquet("x", cell.replace("\n", " ")),
    }
    for name, data in files.items():
        assert not verify(data, name, ["(409) 484-0949"], nothing).clean


def test_a_file_without_the_values_is_clean() -> None:
    result = verify(b"nothing of it, 123-45-678 or 0123-45-67890", "a.txt", [SSN, MAIL], nothing)
    assert result.clean
    assert result.summary() == "re-read by two extractors and as bytes, 0 of 2 values remain"


def test_detection_finds_leaks_that_are_not_listed_values(
    find: Callable[[Document], list[ViewEdit]],
) -> None:
    assert not verify(b"other@acme.example", "a.txt", [], find).clean


def test_a_replacement_that_looks_like_a_value_is_no_leak(
    find: Callable[[Document], list[ViewEdit]],
) -> None:
    assert verify(
        b"write to xxx@acme.example now", "a.txt", [MAIL], find, replacements=["xxx@acme.example"]
    ).clean


def test_uninspected_parts_are_counted() -> None:
    result = verify(b"Rar!\x1a\x07\x01\x00", "a.rar", [SSN], nothing)
    assert result.clean
    assert result.summary().endswith(
        "1 part not inspected: RAR archive: only its strings were searched, for secrets"
    )


def test_many_values_in_much_text() -> None:
    matcher = StrictMatcher(f"name{number}@acme.example" for number in range(5_000))
    assert not matcher.in_text("someone@acme.example " * 10_000)
    assert matcher.in_text("someone@acme.example " * 10_000 + "name77@acme.example")


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.bin"])
def test_a_word_counts_as_it_is_written_or_in_capitals(name: str) -> None:
    for text, clean in (
        ("its sunshine period", True),
        ("of Sunshines and outSunshine", True),
        ("Ms. Sunshine", False),
        ("MS. SUNSHINE", False),
    ):
        data = (b"\0\1\2\3" if name == "a.bin" else b"") + text.encode()
        with Verifier("text") as verifier:
            assert verifier.verify(data, name, [], nothing, words=["Sunshine"]).clean is clean


@pytest.mark.parametrize(
    "encode",
    [
        lambda word: word.encode().hex().upper(),
        lambda word: "".join(f"\\u{ord(char):04x}" for char in word),
        lambda word: "".join(f"&#{ord(char)};" for char in word),
        lambda word: base64.b64encode(f"to {word}".encode()).decode(),
        lambda word: word.encode("utf-16-le").decode(),
    ],
)
def test_a_word_after_an_encoding_is_found_as_it_is_written(encode: Callable[[str], str]) -> None:
    matcher = StrictMatcher([], ["Sunshine"])
    assert matcher.in_bytes(encode("Sunshine").encode())
    assert not matcher.in_bytes(encode("sunshine").encode())


def test_base64_of_the_start_of_a_value_is_not_a_leak() -> None:
    for before in (b"", b"a", b"ab", b"abc"):
        matcher = StrictMatcher(["1234567893"])
        assert not matcher.in_bytes(base64.b64encode(before + b"1234567890 and more"))
        assert matcher.in_bytes(base64.b64encode(before + b"1234567893 and more"))
        assert matcher.in_bytes(base64.b64encode(before + b"1234567893"))


def test_spans_of_values() -> None:
    assert list(StrictMatcher([SSN]).spans("a 123 45 6789 b 1123-45-6789")) == [(2, 13)]
    assert list(StrictMatcher(["Jane  Roe"]).spans("JANE\nROE, Jane Roes")) == [(0, 8)]
    assert StrictMatcher(["abc", "123"]).too_short == 2
    assert list(StrictMatcher(["ΝΙΚΟΣ"]).spans("Νικος in İzmir, ΝΙΚΟΣ")) == [(0, 5), (16, 21)]
    assert list(StrictMatcher([], ["Strauß"]).spans("Strauß, STRAUSS, strauß")) == [(0, 6), (8, 15)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_both_readers_work_concurrently_or_in_turn(method: Method) -> None:
    with Verifier("gzip", None, method) as verifier:
        result = verifier.verify(gzip.compress(MAIL.encode()), "a.txt.gz", [MAIL], nothing)
        assert {leak.shown_by for leak in result.leaks} == {
            "the first reader",
            "the second reader",
            "a search of the bytes",
        }
    with Verifier("gzip", None, method) as verifier:
        assert verifier.verify(gzip.compress(b"other"), "a.txt.gz", [MAIL], nothing).clean
    with Verifier("gzip", None, method) as verifier:
        result = verifier.verify(b"\x1f\x8b\x08" + b"\xff" * 50, "a.txt.gz", [MAIL], nothing)
        assert [leak.shown_by for leak in result.leaks] == [
            "it cannot be read again: the gzip file is damaged"
        ]


def test_a_copy_that_became_another_format_is_read_as_that() -> None:
    with Verifier("sqlite") as verifier:
        assert verifier.verify(b"not a database", "a.txt", [MAIL], nothing).clean
        assert not verifier.verify(MAIL.encode(), "a.txt", [MAIL], nothing).clean
