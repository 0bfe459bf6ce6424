"""EMF and WMF: texts of records are found and masked, and unreadable parts are removed."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from dlpctl.errors import FormatError
from dlpctl.formats.discovery import format_named
from dlpctl.formats.interface import Document, Edit, Limits
from dlpctl.formats.recognition import recognize
from dlpctl.formats.spans import ViewEdit, edits_of
from dlpctl.formats.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

SSN, MAIL = "123-45-6789", "jane.roe@acme.example"
LIMITS = Limits()


def emf_record(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, 8 + len(body)) + body


def emf(*records: bytes, description: str = "") -> bytes:
    words = description.encode("utf-16-le")
    words += bytes(-len(words) % 4)
    body = b"".join(records) + emf_record(14, struct.pack("<III", 0, 16, 20))
    size = 88 + len(words)
    header = struct.pack("<II4i4i", 1, size, 0, 0, 400, 100, 0, 0, 8000, 2000) + b" EMF"
    header += struct.pack("<IIIHH", 0x10000, size + len(body), len(records) + 2, 1, 0)
    header += struct.pack("<III", len(description), 88, 0) + struct.pack("<4i", 1000, 800, 300, 200)
    return header + words + body


def emf_text(text: str, kind: int = 84, options: int = 0) -> bytes:
    raw = text.encode("utf-16-le" if kind == 84 else "cp1252")
    body = bytes(16) + struct.pack("<Iff", 1, 1.0, 1.0)
    body += struct.pack("<iiIII4iI", 5, 5, len(text), 76, options, 0, 0, 0, 0, 0)
    return emf_record(kind, body + raw)


def emf_small(text: str) -> bytes:
    head = struct.pack("<iiIIIff", 1, 1, len(text), 0x300, 1, 1.0, 1.0)
    return emf_record(108, head + text.encode("cp1252"))


def emf_plus(kind: int, body: bytes, flags: int = 0) -> bytes:
    body += bytes(-len(body) % 4)
    plus = struct.pack("<HHII", kind, flags, 12 + len(body), len(body)) + body
    return emf_record(70, struct.pack("<I", 4 + len(plus)) + b"EMF+" + plus)


def plus_string(text: str) -> bytes:
    head = struct.pack("<III4f", 0, 0, len(text), 0, 0, 100, 20)
    return emf_plus(0x401C, head + text.encode("utf-16-le"))


def wmf_record(kind: int, body: bytes) -> bytes:
    body += bytes(len(body) % 2)
    return struct.pack("<IH", 3 + len(body) // 2, kind) + body


def wmf(*records: bytes) -> bytes:
    body = b"".join(records) + wmf_record(0, b"")
    placeable = b"\xd7\xcd\xc6\x9a" + struct.pack("<HhhhhHIH", 0, 0, 0, 400, 100, 96, 0, 0)
    return placeable + struct.pack("<HHHIHIH", 1, 9, 0x300, 9 + len(body) // 2, 0, 99, 0) + body


def wmf_text(text: str) -> bytes:
    raw = text.encode("cp1252")
    return wmf_record(
        0x0521, struct.pack("<H", len(raw)) + raw + bytes(len(raw) % 2) + struct.pack("<hh", 5, 5)
    )


def wmf_placed(text: str) -> bytes:
    return wmf_record(0x0A32, struct.pack("<hhHH", 5, 5, len(text), 0) + text.encode("cp1252"))


TEXTS = {
    "wide": emf(emf_text(f"kept {SSN} end")),
    "narrow": emf(emf_text(f"kept {SSN} end", 83)),
    "small": emf(emf_small(f"kept {SSN} end")),
    "a letter a record": emf(*map(emf_text, f"kept {SSN} end")),
    "EMF+": emf(plus_string(f"kept {SSN} end")),
    "a description": emf(emf_text("kept "), description=f"Draw\0{MAIL}\0\0"),
    "WMF": wmf(wmf_text("kept "), wmf_placed(f"{MAIL} end")),
}


@pytest.mark.parametrize("shape", TEXTS)
def test_texts_are_masked_in_their_records(
    shape: str, find: Callable[[Document], list[ViewEdit]]
) -> None:
    data = TEXTS[shape]
    chosen = recognize(data, "a.bin")
    assert chosen.name == "metafile"
    document = chosen.extract(data, LIMITS)
    assert not document.uninspected
    masked = chosen.mask(data, document, edits_of(document, find(document)), {})
    assert len(masked) == len(data)
    after = "".join(segment.text for segment in chosen.extract(masked, LIMITS).segments)
    assert "kept " in after
    assert SSN not in after
    assert MAIL not in after
    assert verify(masked, "a.emf", [SSN, MAIL], find, replacements=["[SSN]", "[MAIL]"]).clean


def test_lines_of_a_narrow_box_are_joined() -> None:
    data = emf(*map(emf_text, ("Key", "AB12CD34EF56", "7890", "word")))
    *_, joined = recognize(data, "a.emf").extract(data, LIMITS).views
    assert joined.text.split("\n") == ["Key", "AB12CD34EF567890", "word", ""]


UNREADABLE = {
    "pixels": emf(emf_text("kept"), emf_record(81, bytes(100))),
    "pixels of EMF+": emf(emf_plus(0x4008, bytes(400), 0x0500)),
    "a comment": emf(emf_record(70, struct.pack("<I", 40) + SSN.encode() * 4)),
    "an unknown record": emf(emf_record(110, SSN.encode())),
    "numbers of glyphs": emf(emf_text(SSN, options=0x10)),
    "many curves": emf(emf_record(85, bytes(5000))),
    "bytes after the end": emf() + SSN.encode(),
    "an escape of WMF": wmf(wmf_record(0x0626, SSN.encode() * 4)),
    "pixels of WMF": wmf(wmf_record(0x0F43, bytes(60))),
    "an unknown record of WMF": wmf(wmf_record(0x0777, SSN.encode())),
}


@pytest.mark.parametrize("shape", UNREADABLE)
def test_a_drawing_that_cannot_be_read_becomes_a_blank_one(shape: str) -> None:
    data = UNREADABLE[shape]
    chosen = format_named("metafile")
    document = chosen.extract(data, LIMITS)
    (part,) = document.uninspected
    assert part.is_removable
    edit = Edit(part.segment, 0, len(document.segments[part.segment].text), "")
    masked = chosen.mask(data, document, [edit], {})
    again = chosen.extract(masked, LIMITS)
    assert not again.segments
    assert not again.uninspected
    assert SSN.encode() not in masked
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(masked)) as after:
        assert before.format == after.format
        assert before.size == after.size


def test_a_drawing_of_starview_loses_its_actions() -> None:
    scale = struct.pack("<HI", 1, 27) + bytes(27)
    header = struct.pack("<I", 0) + scale + struct.pack("<iiI", 4000, 1000, 2)
    data = b"VCLMTF" + struct.pack("<HI", 1, len(header)) + header
    text, size = SSN.encode("utf-16-le"), len(SSN)
    spaced = struct.pack("<iiI", 10, 10, size) + text + struct.pack("<HHI", 0, size, size)
    spaced += bytes(4 * size) + struct.pack("<H", size) + text
    comment = struct.pack("<H", 9) + b"XTEXT_EOC" + bytes(8)
    readable = data + struct.pack("<HHI", 113, 2, len(spaced)) + spaced
    actions = readable + struct.pack("<HHI", 512, 1, len(comment)) + comment
    chosen = recognize(data, "a.bin")
    document = chosen.extract(actions, LIMITS)
    assert [segment.text for segment in document.segments] == [SSN] * 2
    assert not document.uninspected
    edits = [Edit(number, 0, size, "*" * size) for number in range(2)]
    assert chosen.mask(actions, document, edits, {}) == actions.replace(
        text, ("*" * size).encode("utf-16-le")
    )
    for hidden in (
        actions + SSN.encode(),
        actions[:-8] + SSN.encode()[:8],
        readable + struct.pack("<HHI", 118, 1, len(comment)) + comment,
    ):
        document = chosen.extract(hidden, LIMITS)
        (part,) = document.uninspected
        edit = Edit(part.segment, 0, 1, "")
        assert chosen.mask(hidden, document, [edit], {}) == data[:-4] + bytes(4)


@pytest.mark.parametrize("data", [TEXTS["wide"], TEXTS["WMF"]])
def test_damage_is_refused(data: bytes) -> None:
    chosen = format_named("metafile")
    refused = 0
    for at in range(60, len(data) - 4):
        with pytest.raises(FormatError):
            chosen.extract(data[:at], LIMITS)
        try:
            chosen.extract(data[:at] + b"\xff\xff\xff\x7f" + data[at + 4 :], LIMITS)
        except FormatError:
            refused += 1
    assert refused >= 9, "records are this long, and larger than the file with such a size"
