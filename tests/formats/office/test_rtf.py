"""Rich Text: control words, code pages and groups are resolved; everything else stays."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
import pytest

from dlpctl.errors import CannotMaskError
from dlpctl.formats.files import Files, Node
from dlpctl.formats.interface import Document
from dlpctl.formats.spans import ViewEdit

Mask = Callable[[bytes, str], bytes]
SSN, CARD, MAIL = "123-45-6789", "4111111111111111", "jane.roe@acme.example"
HEAD = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\info{\author kept author}}"

SHAPES = {
    "plain": (rf"\pard kept {SSN} end\par", r"\pard kept [SSN 1] end\par"),
    "formatting within": (r"kept 123-{\b 45}-67\i 89\i0  end", r"kept [SSN 1]{\b }\i \i0  end"),
    "a line break in the source": ("kept 123-45\n-6789 end", "kept [SSN 1]\n end"),
    "bytes in hexadecimal": (r"kept \'3123-45-6789 end", r"kept [SSN 1] end"),
    "unicode": (r"kept 123-45-\u54?789 end", r"kept [SSN 1] end"),
    "unicode without stand-ins": (r"\uc0 kept 123-45-\u54 789 end", r"\uc0 kept [SSN 1] end"),
    "a hyphen that does not break": (r"kept 123\_45-6789 end", r"kept [SSN 1] end"),
    "a word that ends at the value": (r"kept\b" + "\n" + SSN + " end", "kept\\b\n[SSN 1] end"),
    "a field": (rf'{{\field{{\*\fldinst HYPERLINK "mailto:{MAIL}"}}{{\fldrslt kept}}}}', None),
    "a property": (rf"{{\info{{\title {CARD}}}}}kept", None),
    "a footnote": (
        rf"kept 123-45{{\footnote note {MAIL}}}-6789",
        r"kept [SSN 1]{\footnote note [E-MAIL]}",
    ),
    "a deletion": (r"kept 123{\deleted X}-45-6789", None),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_replaced_in_place(shape: str, masked: Mask) -> None:
    before, after = SHAPES[shape]
    copy = masked(f"{HEAD}{before}}}".encode(), "a.rtf").decode()
    assert copy.startswith(HEAD)
    assert "kept" in copy[len(HEAD) :]
    if after is not None:
        assert copy == f"{HEAD}{after}}}"


def test_letters_of_the_code_page_are_read(read: Callable[[bytes, str], Node]) -> None:
    data = rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8 \u26085?\u26412? \bullet}"
    assert read(data, "a.rtf").document.segments[0].text == "При 日本 \u2022\n"


def test_pictures_are_not_inspected(read: Callable[[bytes, str], Node]) -> None:
    data = rb"{\rtf1 kept {\pict\pngblip 89504e470d0a1a0a}}"
    node = read(data, "a.rtf")
    assert node.document.segments[0].text == "kept \n"
    assert [part.reason for part in node.uninspected()] == [
        "picture: only its strings were searched"
    ]


def test_embedded_objects_cannot_be_masked(
    files: Files, find: Callable[[Document], list[ViewEdit]]
) -> None:
    data = (
        r"{\rtf1 kept {\object{\*\objdata " + f"see {MAIL} there".encode().hex() + "}}}"
    ).encode()
    with pytest.raises(CannotMaskError, match="embedded"):
        files.masked(files.open(data, "a.rtf"), find)


@pytest.mark.slow
def test_libreoffice_reads_what_is_left(
    masked: Mask, converted: Callable[[bytes, str, str], bytes]
) -> None:
    document = docx.Document()
    document.add_paragraph("kept é 123-").add_run("45-6789 end").bold = True
    output = io.BytesIO()
    document.save(output)
    data = masked(converted(output.getvalue(), "a.docx", "rtf"), "a.rtf")
    assert "kept é [SSN 1] end" in converted(data, "b.rtf", "txt:Text").decode("utf-8-sig")
