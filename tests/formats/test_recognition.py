"""Recognition: `scan` reads as plain text exactly the files that no format reads better."""

from __future__ import annotations

import io
import itertools
import tarfile
import zipfile
from collections.abc import Callable

import PIL.Image
import pytest

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import formats
from dlpctl.formats.files import Files
from dlpctl.formats.interface import BINARY
from dlpctl.formats.recognition import is_source_text, readings, recognize
from tests.formats.conftest import SAMPLES

JUNK = [
    b"", b"junk\n", b"\xef\xbb\xbf", b" \n", b"\0\0\0\0", b"\r\n\r\n", b"#!/bin/sh\n", b"%!PS\n", b"x" * 1000,
    b"\xff\xfe", b"<html>", b"{", b"PK", b"GIF89a", b"%PDF-1.4\n", b"BM",
]  # fmt: skip
NAMES = ["x", "a.py", "a.txt"]
RTF = rb"{\rtf1\ansi kept text}"


def picture(kind: str) -> bytes:
    output = io.BytesIO()
    PIL.Image.new("RGB", (40, 40), "white").save(output, kind)
    return output.getvalue()


def pdf(*, compressed: bool = True) -> bytes:
    import pikepdf

    with pikepdf.new() as made:
        made.add_blank_page()
        output = io.BytesIO()
        made.save(output, compress_streams=compressed)
    return output.getvalue()


def archive() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.txt", "kept text " * 20)
    return output.getvalue()


DISGUISED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "pdf after junk": ("pdf", lambda: b"junk\n" * 100 + pdf()),
    "pdf of text after junk": ("pdf", lambda: b"junk\n" + pdf(compressed=False).replace(b"\xbf\xf7\xa2\xfe", b"")),
    "rtf with a byte order mark": ("rtf", lambda: b"\xef\xbb\xbf" + RTF),
    "rtf after blanks": ("rtf", lambda: b" \r\n" + RTF),
    "webp": ("image", lambda: picture("WEBP")),
    "tiff": ("image", lambda: picture("TIFF")),
    "zip in parts": ("zip", lambda: b"PK\x07\x08" + archive()),
    "zip after text": ("zip", lambda: b"#!/bin/sh\n" + archive()),
    "zip after much text": ("zip", lambda: b"#!/bin/sh\n" * 10_000 + archive()),
    "empty zip": ("zip", lambda: b"PK\x05\x06" + b"\0" * 18),
}  # fmt: skip


def chosen(data: bytes, name: str) -> str:
    """The format, or nothing where the file is refused."""
    try:
        return recognize(data, name).name
    except FormatError:
        return ""


@pytest.mark.parametrize("name", ["a.zip", "a.tar"])
def test_an_archive_that_starts_with_a_pdf_is_an_archive(name: str) -> None:
    output = io.BytesIO()
    contents = pdf()
    if name == "a.zip":
        with zipfile.ZipFile(output, "w") as zipped:
            zipped.writestr("a.pdf", contents)
    else:
        with tarfile.open(fileobj=output, mode="w") as packed:
            member = tarfile.TarInfo("a.pdf")
            member.size = len(contents)
            packed.addfile(member, io.BytesIO(contents))
    assert recognize(output.getvalue(), name).name == name[2:]
    assert recognize(b"junk\n" + contents, name).name == "pdf"


def test_the_quick_check_passes_only_what_plain_text_shows() -> None:
    shows_all = {found.name for found in formats() if getattr(found, "shows_all", False)}
    passed = 0
    for sample, junk in itertools.product(SAMPLES, JUNK):
        data = junk + sample.make()
        for name in (sample.name, *NAMES):
            if is_source_text(data, name):
                assert chosen(data, name) in shows_all, (sample.name, junk)
                passed += 1
    assert passed > len(SAMPLES)


NAMED = [found for found in formats() if getattr(found, "extensions", ())]


@pytest.mark.parametrize("found", NAMED, ids=lambda found: found.name)
def test_the_quick_check_knows_the_names_that_need_a_format(found: object) -> None:
    for extension in getattr(found, "extensions", ()):
        name = f"a{extension}"
        for text in (
            b"From: a\n\nb\n",
            b"a,b\n1,2\n",
            b"{}\n",
            b"words\n",
            b"BMwords",
            b"GIF89a" + b"a" * 90,
        ):
            if is_source_text(text, name):
                assert getattr(recognize(text, name), "shows_all", False), (name, text)


@pytest.mark.parametrize("what", DISGUISED)
@pytest.mark.parametrize("name", ["x", "a.txt"])
def test_a_disguised_file_is_recognized_by_its_content(what: str, name: str) -> None:
    expected, make = DISGUISED[what]
    assert not is_source_text(make(), name)
    assert recognize(make(), name).name == expected


def test_a_bitmap_is_known_by_its_name_or_its_header() -> None:
    assert recognize(picture("BMP"), "a").name == "image"
    assert recognize(b"BM damaged", "a.bmp").name == "image"
    assert recognize(b"BM is short for something", "a").name == "text"


def test_the_samples_are_recognized_as_their_formats() -> None:
    for sample in SAMPLES:
        assert recognize(sample.make(), sample.name).name == sample.format


def test_the_start_of_a_large_file_and_its_end_are_enough() -> None:
    data = b"a line\n" * 20_000 + archive()
    assert recognize(data[:70_000], "a", data[-70_000:]).name == "zip"
    assert recognize(data[:70_000], "a").name == "text"


@pytest.mark.parametrize(
    "source",
    [
        b'HEADER = b"%PDF-1.7"\nKEY = 1\n',
        b'write("%PDF-1.4\\n1 0 obj << >> endobj")\nprint(2)\n',
        b"# parses %PDF- headers\n",
    ],
)
def test_a_program_that_writes_pdf_is_text(source: bytes) -> None:
    with Files() as files:
        node = files.open(source, "write.py")
    assert node.document.format == "text"
    assert "".join(segment.text for segment in node.document.segments) == source.decode()


def test_text_before_a_pdf_is_read_too() -> None:
    with Files() as files:
        node = files.open(b"jane.roe@acme.example\n" + pdf(), "a.pdf")
    assert node.document.format == "pdf"
    assert any("jane.roe" in segment.text for other in node.others for segment in other.segments)


@pytest.mark.parametrize("encoding", ["iso2022_jp", "iso2022_kr", "euc_kr", "cp932", "utf-8-sig"])
def test_text_of_any_encoding_passes_the_quick_check(encoding: str) -> None:
    text = "이름 김철수\n" * 3 if "kr" in encoding else "山田太郎さん\n" * 3
    assert is_source_text(text.encode(encoding), "a")
    assert recognize(text.encode(encoding), "a").name == "text"


PRINTER = (
    "Printer of Jane".encode("utf-16-le").ljust(64, b"\0") + b"\1\4\0\6" + bytes(range(150)) * 2
)


def test_settings_of_a_printer_keep_no_spreadsheet_back() -> None:
    with Files() as files:
        node = files.open(PRINTER, "xl/printerSettings/printerSettings1.bin")
        assert node.document.format == "office part"
        assert not list(node.uninspected())
        assert "Printer of Jane" in "".join(segment.text for segment in node.document.segments)
        for data, name in ((PRINTER, "a.bin"), (bytes(range(256)), "printerSettings1.bin")):
            assert files.open(data, name).document.format == BINARY


def test_zeros_are_no_text() -> None:
    with Files() as files:
        node = files.open(b"\0" * 4096, "a")
        assert node.document.format == BINARY
        assert not list(node.uninspected())
        for name in ("a.png", "a.pdf", "a.docx"):
            (part,) = files.open(b"\0\0\0", name).uninspected()
            assert "not what the name says" in part.reason
            assert not list(files.open(b"", name).uninspected())


def test_binary_data_after_much_text_is_named() -> None:
    data = b"a line of text\n" * 5000
    with Files() as files:
        assert not list(files.open(data, "a.txt").uninspected())
        assert not list(files.open(data + "é".encode("cp1252") * 9, "a.txt").uninspected())
        (gap,) = files.open(data + picture("JPEG") + bytes(range(256)) * 40, "a.txt").uninspected()
    assert gap.reason == "binary data after text"


def test_two_files_in_one_are_refused() -> None:
    with pytest.raises(FormatError, match="two files in one"):
        readings(pdf() + archive(), "a.pdf")
