"""Bombs, damage and limits: each a clear result, never an unhandled error."""

from __future__ import annotations

import io
import random
import zlib
from contextlib import suppress

import pytest

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Edit, Limits
from dlpctl.formats.pdf import FORMAT

SSN = "536-90-4399"


def test_forms_that_multiply_are_stopped_by_the_walker(handmade):
    from pikepdf import Dictionary

    made = handmade()
    form = made.form("BT /F1 9 Tf (x) Tj ET")
    for _ in range(8):
        outer = made.form("/Fm Do " * 10)
        outer.Resources.XObject = Dictionary(Fm=form)
        form = outer
    made.page.Resources.XObject = Dictionary(Fm=form)
    made.content("/Fm Do")
    with pytest.raises(FormatError, match="limits"):
        FORMAT.extract(made.save(), Limits())


def test_forms_that_nest_too_deep(handmade):
    from pikepdf import Dictionary

    made = handmade()
    form = made.form("BT /F1 9 Tf (x) Tj ET")
    for _ in range(60):
        outer = made.form("/Fm Do")
        outer.Resources.XObject = Dictionary(Fm=form)
        form = outer
    made.page.Resources.XObject = Dictionary(Fm=form)
    made.content("/Fm Do")
    with pytest.raises(FormatError, match="deep"):
        FORMAT.extract(made.save(), Limits())


def test_a_form_that_draws_itself(handmade, check):
    from pikepdf import Dictionary

    made = handmade()
    form = made.form(f"BT /F1 9 Tf ({SSN}) Tj ET /Fm Do")
    form.Resources.XObject = Dictionary(Fm=form)
    made.page.Resources.XObject = Dictionary(Fm=form)
    made.content("/Fm Do")
    assert not check(made.save()).leaks(SSN)


def test_a_stream_that_expands_beyond_the_limit(handmade):
    from pikepdf import Array, Name

    made = handmade()
    bomb = zlib.compress(zlib.compress(b"0 0 m " * 10_000_000))
    made.page.Contents = made.pdf.make_stream(b"")
    made.page.Contents.write(bomb, filter=Array([Name.FlateDecode, Name.FlateDecode]))
    with pytest.raises(FormatError, match="limit"):
        FORMAT.extract(made.save(), Limits(expanded_bytes=20 << 20))


def test_too_many_pages_and_too_large(drawn):
    data = drawn(*[lambda canvas: canvas.drawString(9, 9, "x")] * 3)
    with pytest.raises(FormatError, match="pages"):
        FORMAT.extract(data, Limits(pdf_pages=2))
    with pytest.raises(FormatError, match="larger"):
        FORMAT.extract(data, Limits(input_bytes=100))


@pytest.mark.parametrize(
    "content",
    [
        b"[[[[[[" * 5000,
        b"<<" * 5000,
        b"(" * 50_000,
        b"1 " * 50_000 + b"Tj",
        b"q " * 50_000 + b"BT (x) Tj",
        b"BI /W 9 ID \x00\x01\x02 no end",
        b"BT /F1 1e999 Tf 1e300 0 0 1e300 1e308 1e308 Tm (x) Tj ET",
        b"BT /F1 12 Tf -- .- +-1.2.3 Td (x) Tj /Nope 1 Tf (y) Tj ET",
        b"BT /F1 12 Tf <4 Tj [(a] TJ ET /Fm Do /G gs /P /Q BDC",
        b"0 0 0 0 0 0 cm BT /F1 12 Tf (x) Tj ET",
    ],
)
def test_invalid_content(handmade, content):
    made = handmade()
    made.content(content)
    with suppress(FormatError):
        assert FORMAT.extract(made.save(), Limits()).format == "pdf"


@pytest.mark.parametrize(
    "data",
    [b"", b"%PDF-1.7", b"%PDF-1.4\n%%EOF", b"x" * 5000, b"%PDF-1.7\ntrailer <</Root 1 0 R>>"],
)
def test_files_other_than_pdf(data):
    with pytest.raises(FormatError):
        FORMAT.extract(data, Limits())
    with pytest.raises(FormatError):
        FORMAT.read_again(data, Limits())


def test_objects_on_one_line_are_read():
    data = (
        b"%PDF-1.0\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj "
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/MediaBox[0 0 99 99]/Note(seen)>>endobj trailer<</Size 4/Root 1 0 R>>"
    )
    assert "seen" in {segment.text for segment in FORMAT.extract(data, Limits()).segments}


def test_mutations_give_a_result_or_a_format_error(drawn, handmade):
    from pikepdf import Dictionary

    made = handmade()
    made.content(f"BT /F1 12 Tf 72 700 Td [({SSN}) -20 (more)] TJ ET")
    made.pdf.trailer.Info = made.pdf.make_indirect(Dictionary(Title=SSN))
    sources = [drawn(lambda canvas: canvas.drawString(72, 700, SSN)), made.save()]
    chance = random.Random(7)
    masked_ones = 0
    for turn in range(60):
        data = bytearray(sources[turn % 2])
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(data))
            kind = chance.randrange(3)
            if kind == 0:
                data[at] = chance.randrange(256)
            elif kind == 1:
                del data[at : at + chance.randrange(1, 40)]
            else:
                data[at:at] = data[chance.randrange(len(data)) :][: chance.randrange(1, 40)]
        raw = bytes(data)
        try:
            document = FORMAT.extract(raw, Limits())
            edits = [
                Edit(index, 0, len(segment.text), "")
                for index, segment in enumerate(document.segments)
                if SSN in segment.text
            ]
            masked = FORMAT.mask(raw, document, edits, {})
            texts = FORMAT.read_again(masked, Limits())
        except FormatError:
            continue
        assert not any(SSN in text for text in texts)
        masked_ones += bool(edits)
    assert masked_ones > 10


def test_the_password_is_in_no_error(handmade):
    import pikepdf

    made = handmade()
    buffer = io.BytesIO(made.save(encryption=pikepdf.Encryption(owner="o", user="u")))
    with pytest.raises(FormatError) as caught:
        FORMAT.extract(buffer.getvalue(), Limits(), "not-the-password")
    assert "not-the-password" not in str(caught.value)


@pytest.mark.parametrize(
    "section",
    [
        "1 beginbfrange <0000> <ffff> <0041> endbfrange ",
        "1 begincodespacerange <00> <ff> endcodespacerange ",
    ],
)
def test_a_map_of_codes_that_repeats_them(handmade, section):
    made = handmade()
    made.page.Resources.Font.F1.ToUnicode = made.pdf.make_stream(section.encode() * 300)
    made.content("BT /F1 9 Tf (x) Tj ET")
    with pytest.raises(FormatError, match="damaged"):
        FORMAT.extract(made.save(), Limits())
