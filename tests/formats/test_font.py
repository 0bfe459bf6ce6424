"""Fonts: the texts of their makers are read and masked; what is not read is reported."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import pytest

from dlpctl.errors import CannotMaskError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.fonttables import obfuscated
from dlpctl.formats.interface import Document, Edit, Limits, NotThisFormatError

FONT = format_named("font")
MAIL = "jane.roe@acme-corp.example"
GUID = "12345678-9ABC-DEF0-1234-56789ABCDEF0"


def names(texts: dict[int, str]) -> bytes:
    """Return a table of names for both platforms."""
    records, storage = b"", b""
    for platform, codec in ((1, "mac-roman"), (3, "utf-16-be")):
        for number, text in texts.items():
            raw = text.encode(codec)
            records += struct.pack(">6H", platform, 0, 0, number, len(raw), len(storage))
            storage += raw
    return struct.pack(">3H", 0, 2 * len(texts), 6 + len(records)) + records + storage


def sfnt(tables: dict[bytes, bytes]) -> bytes:
    at = 12 + 16 * len(tables)
    entries = body = b""
    for tag, contents in tables.items():
        entries += struct.pack(">4s3L", tag, 0, at + len(body), len(contents))
        body += contents + bytes(-len(contents) % 4)
    return struct.pack(">4s4H", b"\0\1\0\0", len(tables), 0, 0, 0) + entries + body


def woff(tables: dict[bytes, bytes], metadata: bytes = b"") -> bytes:
    at = 44 + 20 * len(tables)
    entries = body = b""
    for tag, contents in tables.items():
        packed = zlib.compress(contents)
        packed = packed if len(packed) < len(contents) else contents
        entries += struct.pack(">4s4L", tag, at + len(body), len(packed), len(contents), 0)
        body += packed + bytes(-len(packed) % 4)
    packed = zlib.compress(metadata) if metadata else b""
    header = (b"wOFF", b"\0\1\0\0", at + len(body) + len(packed), len(tables), 0, 0, 1, 0)
    notes = (at + len(body) if metadata else 0, len(packed), len(metadata), 0, 0)
    return struct.pack(">4s4sLHHLHH5L", *header, *notes) + entries + body + packed


def woff2(tables: dict[bytes, bytes]) -> bytes:
    brotli = pytest.importorskip("brotli")
    entries = b"".join(
        (b"\xff" if tag == b"glyf" else b"\x3f")
        + tag
        + bytes((128 | len(each) >> 7, len(each) & 127))
        for tag, each in tables.items()
    )
    packed = brotli.compress(b"".join(tables.values()))
    header = (b"wOF2", b"\0\1\0\0", 0, len(tables), 0, 0, len(packed), 1, 0, 0, 0, 0, 0, 0)
    return struct.pack(">4s4sLHHLLHH5L", *header) + entries + packed


TABLES = {
    b"head": bytes(54),
    b"glyf": b"\1\2" * 40,
    b"name": names({0: f"Made by {MAIL}", 1: "Jane Roe Sans", 13: "A licence, free of charge"}),
}


def read(data: bytes) -> Document:
    return FONT.extract(data, Limits())


def masked(data: bytes) -> bytes:
    document = read(data)
    edits = [
        Edit(number, at, at + len(MAIL), "[EMAIL]")
        for number, segment in enumerate(document.segments)
        if (at := segment.text.find(MAIL)) >= 0
    ]
    assert edits
    return FONT.mask(data, document, edits, {})


@pytest.mark.parametrize("made", [sfnt, woff])
def test_names_are_masked_for_both_platforms(made) -> None:
    data = made(TABLES)
    document = read(data)
    texts = [view.text.split("\n")[0] for view in document.views]
    assert texts == [f"Made by {MAIL}"]  # neither the typeface nor its licence
    assert not document.uninspected
    copy = masked(data)
    assert not any(MAIL in text for text in FONT.read_again(copy, Limits()))
    assert copy[:4] == data[:4]
    assert read(copy).segments[0].text == "Made by [EMAIL]"


def test_another_library_reads_the_masked_font() -> None:
    from pathlib import Path

    import reportlab
    from PIL import ImageFont

    data = (Path(reportlab.__file__).parent / "fonts" / "Vera.ttf").read_bytes()
    document = read(data)
    (licence,) = {segment.text for segment in document.segments if "BITSTREAM" in segment.text}
    edits = [
        Edit(number, 0, 9, "x")
        for number, each in enumerate(document.segments)
        if each.text == licence
    ]
    copy = FONT.mask(data, document, edits, {})
    before, after = (ImageFont.truetype(io.BytesIO(each), 20) for each in (data, copy))
    assert before.getmask("Vera").getbbox() == after.getmask("Vera").getbbox()
    assert sum(struct.unpack(f">{len(copy) // 4}L", copy)) & 0xFFFFFFFF == 0xB1B0AFBA


def test_texts_beside_the_names() -> None:
    with_notes = masked(woff(TABLES, f"<m>{MAIL}</m>".encode()))
    assert not any(MAIL in text for text in FONT.read_again(with_notes, Limits()))
    copy = masked(sfnt(TABLES | {b"name": TABLES[b"name"] + f"  {MAIL}".encode()}))
    assert MAIL.encode() not in copy
    with pytest.raises(CannotMaskError, match="glyphs"):
        masked(sfnt({b"head": bytes(54), b"glyf": MAIL.encode()}))


def test_names_of_woff_2_are_read_but_not_written() -> None:
    data = woff2(TABLES)
    assert MAIL in read(data).segments[0].text
    with pytest.raises(CannotMaskError, match="TrueType"):
        masked(data)


@pytest.mark.parametrize(
    "data", [sfnt(TABLES | {b"SVG ": b"<svg/>"}), sfnt(TABLES) + b"more", woff(TABLES) + b"more"]
)
def test_what_is_not_read_is_reported(data: bytes) -> None:
    assert read(data).uninspected


def test_a_damaged_font_is_no_font() -> None:
    for data in (sfnt(TABLES)[:-90], woff(TABLES)[:60], woff2(TABLES)[:-9]):
        with pytest.raises(NotThisFormatError):
            read(data)


def overlapping_tables() -> bytes:
    entries = struct.pack(">4s3L", b"glyf", 0, 0, 1 << 16) * 4000
    return struct.pack(">4s4H", b"OTTO", 4000, 0, 0, 0) + entries + bytes(1 << 16)


def overlapping_names() -> bytes:
    records = b"".join(struct.pack(">6H", 3, 0, 0, 0, 60_000, at) for at in range(4000))
    return sfnt({b"name": struct.pack(">3H", 0, 4000, 6 + len(records)) + records + bytes(65_000)})


@pytest.mark.parametrize("make", [overlapping_tables, overlapping_names])
def test_a_small_font_does_not_expand_to_gigabytes(make: Callable[[], bytes]) -> None:
    with pytest.raises(NotThisFormatError):
        FONT.extract(make(), Limits())


def test_obfuscated_fonts_of_xps() -> None:
    name = f"Resources/{GUID}.odttf"
    hidden = obfuscated(name, sfnt(TABLES))
    assert hidden[:4] != sfnt(TABLES)[:4]
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr(name, hidden)
    archives = format_named("zip")
    document = archives.extract(output.getvalue(), Limits())
    (child,) = document.children
    assert MAIL in read(child.data).segments[0].text
    copy = archives.mask(output.getvalue(), document, [], {child.key: masked(child.data)})
    with zipfile.ZipFile(io.BytesIO(copy)) as archive:
        written = obfuscated(name, archive.read(name))
    assert written[:4] == b"\0\1\0\0"
    assert MAIL.encode() not in written
