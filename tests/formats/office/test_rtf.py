"""Rich Text: control words, code pages and groups are resolved; everything else stays."""

from __future__ import annotations

import io
from collections.abc import Callable

import docx
import PIL.Image
import pytest

from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Node
from dlpctl.formats.interface import Limits
from dlpctl.formats.office.zipped import BLANK_PICTURE

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
    "text around hidden text": (r"kept 123{\v X}-45-6789", None),
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


def test_the_mark_of_a_paragraph_is_no_part_of_its_cell(read: Callable[[bytes, str], Node]) -> None:
    data = rb"{\rtf1 {{\pard a\par}\cell}{{\pard b\par}\cell}\row\cell c\cell\row}"
    assert read(data, "a.rtf").document.segments[0].text == "a\tb\t\n\tc\t\n\n"


def picture(width: int) -> bytes:
    output = io.BytesIO()
    PIL.Image.new("RGB", (width, 30), "white").save(output, "PNG")
    return output.getvalue()


@pytest.mark.parametrize(
    ("group", "name", "start"),
    [
        (rb"{\*\shppict{\pict{\*\picprop{\sp{\sn x}{\sv alt}}}\pngblip %s}}" % picture(9).hex().encode(), "picture1.png", b"\x89PNG"),
        (b"{\\pict\\jpegblip\\bin9 \xff\xd8\xff{}}\\12}", "picture1.jpg", b"\xff\xd8\xff{}}\\12"),
        (rb"{\pict\wmetafile8\picw1 0100 09000003}", "picture1.wmf", b"\1\0\x09\0\0\3"),
        (rb"{\pict\dibitmap0 %s}" % (b"28" + b"00" * 43), "picture1.bmp", b"BM"),
        (rb"{\pict\dibitmap0 28}", "picture1.bin", b"\x28"),
        (rb"{\object{\*\objdata 0105}}", "object1.bin", b"\1\5"),
    ],
)  # fmt: skip
def test_pictures_and_objects_are_files(group: bytes, name: str, start: bytes) -> None:
    chosen = format_named("rtf")
    data = rb"{\rtf1 kept " + group + b" end}"
    document = chosen.extract(data, Limits())
    (child,) = document.children
    assert (child.name, child.data[: len(start)], child.spare) == (name, start, True)
    assert "alt" in document.segments[0].text or b"alt" not in group
    copy = chosen.mask(data, document, [], {child.key: picture(7)})
    again = chosen.extract(copy, Limits())
    assert again.segments[0].text == document.segments[0].text
    assert again.children[0].data.endswith(picture(7))
    copy = chosen.mask(data, document, [], {child.key: None})
    left = [(each.name, each.data) for each in chosen.extract(copy, Limits()).children]
    assert left == ([] if "object" in name else [("picture1.png", BLANK_PICTURE)])


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
