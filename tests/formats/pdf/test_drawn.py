"""Values that pages draw: each way in which a PDF hides one from a plain reader."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dlpctl.errors import CannotMaskError
from dlpctl.formats.interface import Edit, Limits
from dlpctl.formats.pdf import FORMAT
from dlpctl.formats.pdf.content import operations
from dlpctl.formats.pdf.drawing import Budget
from dlpctl.formats.pdf.modules import Modules
from dlpctl.formats.pdf.outlines import PATHS
from dlpctl.formats.pdf.source import opened, page_canvases
from dlpctl.formats.pdf.walker import Walker

SSN = "536-90-4399"
CARD = "4111 1111 1111 1111"
EMAIL = "jane.roe@acme-corp.example"


def words(canvas, y, text, size=12, x=72, font="Helvetica"):
    canvas.setFont(font, size)
    canvas.drawString(x, y, text)


def test_a_value_goes_and_the_words_around_it_stay(drawn, check):
    result = check(drawn(lambda c: words(c, 700, f"Her number {SSN} was checked.")))
    assert not result.leaks(SSN)
    assert result.text().split() == ["Her", "number", "was", "checked.", "[SSN]"]


def test_pixels_outside_of_the_boxes_are_identical(drawn, check, rendered):
    import pikepdf
    from PIL import Image, ImageChops, ImageDraw

    def page(canvas):
        for line in range(40):
            words(
                canvas,
                760 - 16 * line,
                f"Line {line} mentions {SSN} gladly, and {EMAIL} too.",
                x=60,
            )
        canvas.line(40, 300, 560, 300)

    data = drawn(page)
    result = check(data)
    before, after = rendered(data), rendered(result.masked)
    # Pixels differ only within boxes: black, white from the label, or a shade between them.
    left = before.crop((0, 0, 120, before.height))
    assert ImageChops.difference(left, after.crop((0, 0, 120, after.height))).getbbox() is None
    covered = Image.new("1", before.size, 0)
    draw = ImageDraw.Draw(covered)
    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        content = pdf.pages[0].Contents.read_bytes().split(b"/Artifact BMC q")[1]
    for line in content.splitlines():
        if line.startswith(b"0 g "):
            numbers = [
                float(word) for word in line.split() if word not in (b"g", b"m", b"l", b"h", b"f")
            ]
            x0, y0, x1, _, _, y1 = numbers[1:7]
            draw.rectangle((2 * x0 - 1, 2 * (842 - y1) - 2, 2 * x1 + 1, 2 * (842 - y0) + 1), fill=1)
    difference = (
        ImageChops.difference(before, after).convert("L").point(lambda value: 255 if value else 0)
    )
    difference.paste(0, mask=covered)
    assert difference.getbbox() is None


def test_a_value_over_a_line_break(drawn, check):
    def page(canvas):
        words(canvas, 700, "This paragraph is long enough to wrap, and the card is 4111 1111")
        words(canvas, 686, "1111 1111, which is all there is to say about it in this place.")

    result = check(drawn(page))
    assert not result.leaks(CARD)
    assert "which is all there is" in result.text()


def test_a_key_of_capitals_over_a_line_break(drawn):
    key = "KEYOFCAPITALS" + "234U567"

    def page(canvas):
        words(canvas, 700, f"the access key of this account is {key[:9]}")
        words(canvas, 686, f"{key[9:]} and the next word of the line")

    document = FORMAT.extract(drawn(page), Limits())
    assert any(key in view.text for view in document.views)


def test_a_value_over_a_page_break_with_a_footer_between(drawn, check):
    def page(number, first, last):
        def draw(canvas):
            words(canvas, 780, "ACME Corporation, confidential report")
            words(canvas, 700, first)
            words(canvas, 100, last)
            words(canvas, 40, f"Page {number} of 3")

        return draw

    data = drawn(
        page(1, "It begins here.", "The card number to be charged is 4111 1111"),
        page(2, "1111 1111 and nothing else.", "Here it ends."),
        page(3, "Appendix.", "Nothing."),
    )
    result = check(data)
    assert CARD in result.values
    assert "and nothing else" in result.text()
    assert "1111 1111" not in result.text()


def test_letter_spaced_text(drawn, check):
    def page(canvas):
        text = canvas.beginText(72, 700)
        text.setFont("Helvetica", 12)
        text.setCharSpace(9)
        text.textLine(EMAIL)
        canvas.drawText(text)

    assert not check(drawn(page)).leaks(EMAIL)


def test_letters_placed_one_by_one_in_any_order(handmade, check):
    made = handmade()
    letters = [
        f"BT /F1 12 Tf 1 0 0 1 {72 + 7 * index} 700 Tm ({letter}) Tj ET"
        for index, letter in enumerate(SSN)
    ]
    made.content("\n".join(letters[1::2] + letters[::2]))
    assert not check(made.save()).leaks(SSN)


def test_a_hyphen_at_the_end_of_a_line(drawn, check):
    def page(canvas):
        words(canvas, 700, "Please write to jane.roe@acme-")
        words(canvas, 686, "corp.example, who will answer.")

    result = check(drawn(page))
    assert not result.leaks(EMAIL)
    assert "who will answer" in result.text()


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_rotated_pages_with_a_crop_box(handmade, check, rotation):
    from pikepdf import Array

    made = handmade()
    made.page.Rotate = rotation
    made.page.CropBox = Array([0, 300, 612, 792])
    made.content(
        f"BT /F1 12 Tf 72 700 Td (See {SSN} here) Tj 0 -14 Td (and 4111 1111) Tj 0 -14 Td (1111 1111 there) Tj"
        f" 0 -500 Td (outside of the crop box: {EMAIL}) Tj ET"
    )
    result = check(made.save())
    assert {SSN, EMAIL} <= result.values
    assert not result.leaks(SSN, EMAIL, CARD)


@pytest.mark.parametrize(
    "matrix",
    [
        "-1 0 0 1 500 400",
        "-1 0 0 -1 500 400",
        "1 0 0 -1 72 400",
        "0.7 0.7 -0.7 0.7 72 72",
        "0 1 -1 0 300 72",
    ],
)
def test_mirrored_turned_and_slanted_text(handmade, check, matrix):
    made = handmade()
    made.content(f"BT /F1 12 Tf {matrix} Tm (before {SSN} after) Tj ET")
    result = check(made.save())
    assert not result.leaks(SSN)
    assert "before" in result.text()
    assert "after" in result.text()


def test_bold_that_is_drawn_twice(drawn, check):
    def page(canvas):
        words(canvas, 700, f"No. {SSN}.")
        words(canvas, 700, f"No. {SSN}.", x=72.3)

    result = check(drawn(page))
    assert not result.leaks(SSN)
    assert result.text().count("No.") == 2


def test_a_form_that_several_pages_share(handmade, check):
    import pikepdf
    from pikepdf import Dictionary

    made = handmade()
    form = made.form(f"BT /F1 12 Tf 10 20 Td (Letterhead {SSN}) Tj ET")
    for _ in range(2):
        made.pdf.pages.append(pikepdf.Page(made.pdf.pages[0]))
    for page in made.pdf.pages:
        page.obj.Resources = Dictionary(Font=made.page.Resources.Font, XObject=Dictionary(Fm=form))
        page.obj.Contents = made.pdf.make_stream(
            b"q 1 0 0 1 50 600 cm /Fm Do Q BT /F1 9 Tf 72 72 Td (Body) Tj ET"
        )
    result = check(made.save())
    assert not result.leaks(SSN)
    assert result.text().count("Letterhead") == 3


def test_a_form_that_nothing_draws(handmade, check):
    from pikepdf import Dictionary

    made = handmade()
    made.page.Resources.XObject = Dictionary(
        Hidden=made.form(f"BT /F1 12 Tf (Old address {EMAIL}) Tj ET")
    )
    result = check(made.save())
    assert EMAIL in result.values
    assert not result.leaks(EMAIL)


def test_text_in_a_tiling_pattern_and_a_soft_mask(handmade, check):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    pattern = made.pdf.make_stream(
        f"BT /F1 8 Tf 5 5 Td ({SSN}) Tj ET".encode(),
        PatternType=1,
        PaintType=1,
        TilingType=1,
        BBox=Array([0, 0, 90, 20]),
        XStep=90,
        YStep=20,
        Resources=Dictionary(Font=made.page.Resources.Font),
    )
    group = made.form(
        f"BT /F1 12 Tf 72 72 Td ({EMAIL}) Tj ET", Group=Dictionary(S=Name.Transparency)
    )
    made.page.Resources.Pattern = Dictionary(P1=pattern)
    made.page.Resources.ExtGState = Dictionary(
        G1=Dictionary(SMask=Dictionary(Type=Name.Mask, S=Name.Luminosity, G=group))
    )
    made.content("/G1 gs /Pattern cs /P1 scn 0 0 200 200 re f")
    assert not check(made.save()).leaks(SSN, EMAIL)


def test_a_font_without_tounicode_is_read_or_reported(drawn, check):
    import pikepdf
    import reportlab
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    pdfmetrics.registerFont(
        TTFont("Vera", str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
    )
    data = drawn(lambda c: words(c, 700, f"Her number {SSN} was checked.", font="Vera"))
    assert not check(data).leaks(SSN)
    buffer = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Dictionary) and "/ToUnicode" in item:
                del item["/ToUnicode"]
                item.Encoding = pikepdf.Dictionary(
                    Type=pikepdf.Name.Encoding,
                    Differences=pikepdf.Array(
                        [0, *[pikepdf.Name(f"/g{code}") for code in range(256)]]
                    ),
                )
        pdf.save(buffer)
    document = FORMAT.extract(buffer.getvalue(), Limits())
    read = any(SSN in segment.text for segment in document.segments)
    assert read or any(
        "does not say what they mean" in part.reason for part in document.uninspected
    )


def test_hidden_text_of_a_scan_is_removed_from_the_pixels_too(handmade, check, rendered):
    import zlib

    from pikepdf import Dictionary, Name

    made = handmade()
    width, height = 306, 396
    image = made.pdf.make_stream(
        zlib.compress(bytes([200]) * (width * height)),
        Type=Name.XObject,
        Subtype=Name.Image,
        Width=width,
        Height=height,
        ColorSpace=Name.DeviceGray,
        BitsPerComponent=8,
        Filter=Name.FlateDecode,
    )
    made.page.Resources.XObject = Dictionary(Scan=image)
    made.content(
        f"q 612 0 0 792 0 0 cm /Scan Do Q BT 3 Tr /F1 12 Tf 72 700 Td (Seen {SSN} here) Tj ET"
    )
    result = check(made.save())
    assert any(
        part.location == "page 1" and "OCR" in part.reason for part in result.document.uninspected
    )
    assert not result.leaks(SSN)
    import pikepdf

    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        samples = pdf.pages[0].Resources.XObject.Scan.read_bytes()
    blackened = [index for index, sample in enumerate(samples) if sample == 0]
    rows = {index // width for index in blackened}
    assert blackened
    assert set(samples) == {0, 200}
    assert max(rows) - min(rows) < 12
    assert 40 <= min(rows) <= 50


def test_a_jpeg_scan_and_a_stencil_are_painted_over(handmade, check):
    import pikepdf
    from pikepdf import Dictionary, Name
    from PIL import Image

    made = handmade()
    buffer = io.BytesIO()
    Image.new("RGB", (306, 396), (250, 240, 200)).save(buffer, "JPEG", quality=90)
    scan = made.pdf.make_stream(
        buffer.getvalue(),
        Type=Name.XObject,
        Subtype=Name.Image,
        Width=306,
        Height=396,
        ColorSpace=Name.DeviceRGB,
        BitsPerComponent=8,
        Filter=Name.DCTDecode,
    )
    stencil = made.pdf.make_stream(
        bytes([0b01010101]) * (39 * 396),
        Type=Name.XObject,
        Subtype=Name.Image,
        Width=306,
        Height=396,
        ImageMask=True,
        BitsPerComponent=1,
    )
    made.page.Resources.XObject = Dictionary(Scan=scan, Ink=stencil)
    made.content(
        "q 612 0 0 792 0 0 cm /Scan Do /Ink Do Q BT 3 Tr /F1 12 Tf 72 700 Td (Seen "
        + SSN
        + " here) Tj ET"
    )
    result = check(made.save())
    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        image = pikepdf.PdfImage(pdf.pages[0].Resources.XObject.Scan).as_pil_image().convert("RGB")
    colors = {color for _, color in image.getcolors(10_000) if min(color) > 5}
    assert image.getpixel((60, 44)) == (0, 0, 0)
    assert all(abs(r - 250) < 3 and abs(g - 240) < 3 and abs(b - 200) < 3 for r, g, b in colors)


def test_the_box_of_a_short_value_does_not_tell_its_length(handmade):
    widths = []
    for value in ("7", "123", "12345"):
        made = handmade()
        made.content(f"BT /F1 12 Tf 72 700 Td (Code) Tj 60 0 Td ({value}) Tj ET")
        data = made.save()
        document = FORMAT.extract(data, Limits())
        at = document.segments[0].text.index(value)
        masked = FORMAT.mask(data, document, [Edit(0, at, at + len(value), "")], {})
        import pikepdf

        with pikepdf.open(io.BytesIO(masked)) as pdf:
            content = pdf.pages[0].Contents.read_bytes()
        box = content.split(b"Artifact BMC q")[1].split(b" h f")[0].split()
        widths.append(round(float(box[5]) - float(box[2]), 1))
    assert len(set(widths)) == 1


def test_type_3_fonts(handmade, check):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    digits = {
        name: str(index)
        for index, name in enumerate(
            ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
        )
    }
    procs = {
        f"/{name}": made.pdf.make_stream(b"600 0 d0 50 0 500 700 re f")
        for name in [*digits, "hyphen", "space"]
    }
    names = ["space", "hyphen", *digits]
    made.page.Resources.Font.T3 = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Font,
            Subtype=Name.Type3,
            FontBBox=Array([0, 0, 600, 700]),
            FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]),
            CharProcs=Dictionary(procs),
            Encoding=Dictionary(
                Type=Name.Encoding, Differences=Array([64, *[Name("/" + name) for name in names]])
            ),
            FirstChar=64,
            LastChar=63 + len(names),
            Widths=Array([600] * len(names)),
            Resources=Dictionary(),
        )
    )
    code = {"-": 65, **{digit: 66 + index for index, digit in enumerate(digits.values())}}
    shown = "".join(chr(code[character]) for character in SSN)
    made.content(f"BT /T3 12 Tf 72 700 Td ({shown}) Tj /F1 12 Tf ( was it) Tj ET")
    result = check(made.save())
    assert SSN in result.values
    assert not result.leaks(SSN)
    assert "was it" in result.text()


def test_text_within_a_type_3_glyph(handmade, check):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    glyph = made.pdf.make_stream(f"600 0 d0 BT /F1 200 Tf ({SSN}) Tj ET".encode())
    made.page.Resources.Font.T3 = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Font,
            Subtype=Name.Type3,
            FontBBox=Array([0, 0, 600, 700]),
            FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]),
            CharProcs=Dictionary(logo=glyph),
            Encoding=Dictionary(Type=Name.Encoding, Differences=Array([65, Name.logo])),
            FirstChar=65,
            LastChar=65,
            Widths=Array([600]),
            Resources=Dictionary(Font=Dictionary(F1=made.page.Resources.Font.F1)),
        )
    )
    made.content("BT /T3 12 Tf 72 700 Td (A) Tj ET")
    assert not check(made.save()).leaks(SSN)


@pytest.mark.parametrize(
    "face", ["HeiseiMin-W3", "STSong-Light", "HYSMyeongJo-Medium", "MSung-Light"]
)
def test_predefined_cjk_cmaps(drawn, check, face):
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont(face))
    result = check(drawn(lambda c: words(c, 700, f"中 {SSN} 文, {EMAIL} 山", font=face)))
    assert {SSN, EMAIL} <= result.values
    assert not result.leaks(SSN, EMAIL)


@pytest.mark.parametrize(
    "cmap", ["90ms-RKSJ-H", "90msp-RKSJ-H", "EUC-H", "UniJIS-UTF16-H", "90ms-RKSJ-V"]
)
def test_predefined_cmaps_with_codes_of_mixed_length(handmade, check, cmap):
    from pikepdf import Array, Dictionary, Name, String

    made = handmade()
    descendant = Dictionary(
        Type=Name.Font,
        Subtype=Name.CIDFontType0,
        BaseFont=Name("/Ryumin-Light"),
        CIDSystemInfo=Dictionary(Registry=String("Adobe"), Ordering=String("Japan1"), Supplement=2),
        DW=1000,
        W=Array([1, Array([278] * 94), 231, 632, 500]),
        FontDescriptor=Dictionary(
            Type=Name.FontDescriptor, FontName=Name("/Ryumin-Light"), Flags=4
        ),
    )
    made.page.Resources.Font.J = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Font,
            Subtype=Name.Type0,
            BaseFont=Name(f"/Ryumin-Light-{cmap}"),
            Encoding=Name("/" + cmap),
            DescendantFonts=Array([descendant]),
        )
    )
    codec = {"E": "euc_jp", "U": "utf-16-be"}.get(cmap[0], "cp932")
    text = f"番号 {SSN} 以上".encode(codec).hex()
    made.content(f"BT /J 12 Tf 300 700 Td <{text}> Tj ET")
    result = check(made.save())
    assert SSN in result.values
    assert not result.leaks(SSN)


def test_text_that_only_other_readers_see(handmade, check):
    """Squeezed to no width, pdfium leaves it out; pypdf and pdfminer give it."""
    made = handmade()
    made.content(
        f"BT /F1 12 Tf 72 700 Td (Plain words) Tj ET BT /F1 12 Tf 0 Tz 72 600 Td (Hidden {SSN}) Tj ET"
        f" BT /F1 0.001 Tf 100 Tz 72 500 Td (Tiny {EMAIL}) Tj ET"
    )
    result = check(made.save())
    assert {SSN, EMAIL} <= result.values
    assert not result.leaks(SSN, EMAIL)


def test_actual_text_is_removed_with_its_glyphs(handmade, check):
    made = handmade()
    made.content(
        f"BT /F1 12 Tf 72 700 Td /Span <</MCID 3 /ActualText ({SSN})>> BDC (see picture) Tj EMC ( and more) Tj ET"
    )
    result = check(made.save())
    assert not result.leaks(SSN)
    assert "and more" in result.text()


def test_operators_that_show_a_line_each(handmade, check):
    made = handmade()
    made.content(
        f"BT /F1 12 Tf 14 TL 72 700 Td (first) Tj ({SSN} second) ' 2 1 (third {EMAIL} end) \" T* [(4111) -250 (1111 1111)"
        " -250 (1111) 30 (fin)] TJ ET"
    )
    result = check(made.save())
    assert not result.leaks(SSN, EMAIL, CARD)
    assert [
        word for word in ("first", "second", "third", "end", "fin") if word not in result.text()
    ] == []


def test_unbalanced_graphics_states_leave_the_boxes_in_place(handmade, check, rendered):
    made = handmade()
    made.content(f"Q Q q 2 0 0 2 10 10 cm q BT /F1 12 Tf 20 300 Td (No {SSN} no) Tj ET")
    data = made.save()
    result = check(data)
    assert not result.leaks(SSN)
    image = rendered(result.masked)
    # The middle of the value, in pixels from the top: the box is there.
    assert image.getpixel(((2 * (10 + 2 * 60)), (2 * (792 - (10 + 2 * 304) - 3)))) != (
        255,
        255,
        255,
    )


def test_strings_with_escapes_and_nested_parentheses(handmade, check):
    made = handmade()
    made.content(
        "BT /F1 12 Tf 72 700 Td (a \\(b\\) (c) \\06536-90-43\\\n99) Tj 0 -20 Td <3533362D39302D34333939> Tj ET"
    )
    result = check(made.save())
    assert not result.leaks(SSN)
    assert "a (b) (c)" in result.text()


def test_a_place_that_cannot_be_located_is_refused(handmade):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    descendant = Dictionary(
        Type=Name.Font,
        Subtype=Name.CIDFontType0,
        BaseFont=Name.Odd,
        DW=1000,
        FontDescriptor=Dictionary(FontName=Name.Odd),
        CIDSystemInfo=Dictionary(Registry=b"Adobe", Ordering=b"Identity", Supplement=0),
    )
    made.page.Resources.Font.X = Dictionary(
        Type=Name.Font,
        Subtype=Name.Type0,
        BaseFont=Name.Odd,
        Encoding=Name("/Unheard-Of-H"),
        DescendantFonts=Array([descendant]),
    )
    made.content(
        f"BT /X 12 Tf 72 700 Td <{SSN.encode('utf-16-be').hex()}> Tj ET BT /F1 9 Tf 72 600 Td (x) Tj ET"
    )
    data = made.save()
    document = FORMAT.extract(data, Limits())
    text = document.segments[0].text
    assert len(text.strip()) > 3
    with pytest.raises(CannotMaskError):
        FORMAT.mask(data, document, [Edit(0, 0, len(text), "")], {})


def test_comments_and_strings_that_no_operator_shows(handmade, check):
    made = handmade()
    made.content(
        f"% made for {SSN}\nBT /F1 12 Tf 72 700 Td (Plain) Tj ({EMAIL}) Xx ET (4111 1111 1111 1111)\n% {SSN}"
    )
    result = check(made.save())
    assert {SSN, EMAIL, CARD} <= result.values
    assert not result.leaks(SSN, EMAIL, CARD)
    assert "Plain" in result.text()


def test_cells_of_a_table_are_separate(drawn):
    def page(canvas):
        for row, cells in enumerate(
            (("Name", "SSN", "Card"), ("Jane Roe", SSN, "4111111111111111"))
        ):
            for column, cell in enumerate(cells):
                words(canvas, 700 - 14 * row, cell, size=10, x=72 + 68 * column)
        words(canvas, 600, "Plain")
        words(canvas, 600, "text", x=72 + 32)
        words(canvas, 500, "SSN")
        words(canvas, 500, SSN, x=272)

    (table,) = (
        view
        for view in FORMAT.extract(drawn(page), Limits()).views
        if view.name == "rows of tables"
    )
    assert table.text == f"Name\tSSN\tCard\nJane Roe\t{SSN}\t4111111111111111\n\nSSN\n{SSN}\n\n"
    assert table.repeats


def test_marks_at_a_point_are_read_and_stay_points(handmade, check, plain):
    made = handmade()
    made.content(
        f"/Note <</Text ({SSN}) /Lang (en-US)>> DP /P <</Lang ({EMAIL}) /MCID 0>> BDC "
        "BT /F1 12 Tf 72 700 Td (Plain) Tj ET EMC"
    )
    result = check(made.save())
    assert {SSN, EMAIL} <= result.values
    assert not result.leaks(SSN, EMAIL)
    assert "Plain" in result.text()
    content = plain(result.masked)
    assert content.count(b" MP") == 1
    assert content.count(b"BDC") + content.count(b"BMC") == content.count(b"EMC")


def test_the_boxes_of_a_form_have_one_character_each(drawn, check):
    def page(canvas):
        words(canvas, 700, "Card")
        for at, digit in enumerate("4539578763621486"):
            canvas.rect(150 + 24 * at, 696, 22, 16)
            words(canvas, 700, digit, x=156 + 24 * at)

    result = check(drawn(page))
    assert result.values == {"4539578763621486"}
    assert not result.leaks("4539578763621486")


def test_a_cell_that_is_wrapped_is_one_cell(drawn):
    def page(canvas):
        for column, cell in enumerate(("Name", "Card", "Phone")):
            words(canvas, 700, cell, x=72 + 120 * column)
        for x, y, line in (
            (72, 680, "Jane Roe"), (192, 680, "4111 1111 1111"), (192, 666, "1111"), (312, 680, "415-555-2671"),
            (72, 640, "John Doe"), (192, 640, "none"), (312, 640, "415-555-0199"),
        ):  # fmt: skip
            words(canvas, y, line, x=x)

    views = {view.name: view for view in FORMAT.extract(drawn(page), Limits()).views}
    table = "Name\tCard\tPhone\nJane Roe\t4111 1111 1111 1111\t415-555-2671\nJohn Doe\tnone\t415-555-0199\n\n"
    assert views["rows of tables"].text == table


def test_a_wrapped_card_in_a_table_is_gone(drawn, check):
    def page(canvas):
        for x, y, line in (
            (72, 700, "Jane Roe"),
            (192, 700, SSN),
            (312, 700, "4111 1111"),
            (312, 686, "1111 1111"),
        ):
            words(canvas, y, line, x=x)

    result = check(drawn(page))
    assert {SSN, CARD} <= result.values
    assert not result.leaks(SSN, CARD)


def test_cells_that_abut_are_cells(drawn, check):
    from reportlab.pdfbase.pdfmetrics import stringWidth

    def rows(canvas):
        for row in range(3):
            x = 40.0
            for cell in ("Unit 6", SSN, "4539 5787 6362 1486", "19 kept"):
                canvas.drawString(x, 700 - 20 * row, cell)
                x += stringWidth(cell, "Helvetica", 12) + 0.5

    result = check(drawn(rows))
    assert {SSN, "4539 5787 6362 1486"} <= result.values
    assert not result.leaks()
    assert "kept" in result.text()


def test_a_text_where_a_column_starts_is_a_cell(drawn):
    from reportlab.pdfbase.pdfmetrics import stringWidth

    rows = [
        ("No", "Mail", "SSN"),
        ("1", "a@b.example", "none"),
        ("hfgd5!", "c@b.example", "x"),
    ]
    start = 72 + stringWidth("hfgd5!", "Helvetica", 12)

    def page(canvas):
        for number, row in enumerate(rows):
            for x, cell in zip((72, start, 312), row, strict=True):
                words(canvas, 700 - 20 * number, cell, x=x)

    views = {view.name: view for view in FORMAT.extract(drawn(page), Limits()).views}
    shown = views["rows of tables"].text.split("\n")
    assert shown[-3] == "hfgd5!\tc@b.example\tx"


def test_the_end_of_a_value_on_the_next_page_is_no_page_number(drawn, check):
    def pages(canvas):
        canvas.drawString(72, 100, "Her card is 4539 5787 6362")
        canvas.showPage()
        canvas.drawString(72, 800, "1486")
        canvas.drawString(72, 780, "and that is all")

    result = check(drawn(pages))
    assert any(value.endswith("1486") for value in result.values)
    assert not result.leaks("4539578763621486")


def test_values_that_narrow_cells_break_are_removed(drawn, check):
    cells = ["jane_van_de", "roe5@kiosko", "post.example", "DE89370400", "4405320130", "00"]

    def page(canvas):
        for number, line in enumerate([*cells, "4539578763", "621486", "all of it is hers"]):
            canvas.drawString(72, 780 - 14 * number, line)

    data = drawn(page)
    found = {value.replace("\n", "") for value in check(data).values}
    assert {"4539578763621486", "jane_van_deroe5@kioskopost.example"} <= found
    views = FORMAT.extract(data, Limits()).views
    assert any("DE89370400440532013000" in view.text for view in views)


def test_an_address_that_its_page_breaks_after_a_sentence(drawn):
    def page(canvas):
        for number, line in enumerate(["all is on the sandbank.", "E-mail:", "jo_roe961@kiosk-bo"]):
            canvas.drawString(72, 780 - 14 * number, line)
        canvas.drawString(72, 738, "x.example")
        canvas.drawString(72, 700, "Ask maren_roe117@")
        canvas.drawString(172, 700, "kiosk-box.example today")

    text = "\n".join(view.text for view in FORMAT.extract(drawn(page), Limits()).views)
    assert "\njo_roe961@kiosk-box.example" in text
    assert " maren_roe117@kiosk-box.example" in text


@pytest.mark.parametrize("meant", ["3456789012", "##########"])
def test_a_font_with_a_wrong_map_is_read_by_ocr(handmade, check, with_ocr, meant):
    made = handmade()
    shown = SSN.translate(str.maketrans("0123456789", meant))
    lines = "\n".join(f"<{48 + at:02x}> <{ord(each):04x}>" for at, each in enumerate(meant))
    lying = f"1 begincodespacerange <00> <ff> endcodespacerange\n10 beginbfchar\n{lines}\nendbfchar"
    made.page.Resources.Font.F1.ToUnicode = made.pdf.make_stream(lying.encode())
    made.content(f"BT /F1 14 Tf 72 700 Td (Her number is {SSN} today) Tj ET")
    data = made.save()
    assert shown in FORMAT.extract(data, Limits()).segments[0].text
    assert SSN in check(data).values


def test_a_ligature_may_be_mapped_to_its_letters(handmade):
    import pikepdf

    made = handmade()
    named = [pikepdf.Name.fi, pikepdf.Name.ff]
    encoding = pikepdf.Dictionary(Differences=[1, *named])
    mapped = "<01> <00660069>\n<02> <00660066>"
    codes = f"1 begincodespacerange <00> <ff> endcodespacerange\n2 beginbfchar\n{mapped}\nendbfchar"
    made.page.Resources.Font.F1.Encoding = encoding
    made.page.Resources.Font.F1.ToUnicode = made.pdf.make_stream(codes.encode())
    made.content("BT /F1 14 Tf 72 700 Td (e\\002ect \\001nal) Tj ET")
    document = FORMAT.extract(made.save(), Limits())
    assert "effect final" in document.segments[0].text
    assert not document.uninspected


def squares(drawn):
    from reportlab.graphics import renderPDF
    from reportlab.graphics.barcode.qr import QrCodeWidget
    from reportlab.graphics.shapes import Drawing

    def page(canvas):
        words(canvas, 780, "Admission for one person")
        code = Drawing(200, 200)
        code.add(QrCodeWidget(f"SSN {SSN} of hers", barWidth=200, barHeight=200))
        renderPDF.draw(code, canvas, 60, 500)

    return drawn(page)


def test_a_code_drawn_in_squares_is_read_and_removed(drawn, check, rendered, with_ocr):
    import zxingcpp

    data = squares(drawn)
    assert zxingcpp.read_barcodes(rendered(data))
    result = check(data)
    assert not result.leaks(SSN)
    assert not zxingcpp.read_barcodes(rendered(result.masked))
    assert "Admission for one person" in " ".join(result.text().split())


def test_a_code_drawn_in_squares_is_not_inspected_without_ocr(drawn):
    assert FORMAT.extract(squares(drawn), Limits()).uninspected


SHAPES = {
    "polygons": "{x} {y} m {right} {y} l {right} {top} l {x} {top} l h f",
    "thick lines": "4 w {x} {middle} m {right} {middle} l S",
    "fine lines": ".5 w {x} {y} m {right} {y} l S",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_a_code_are_told_from_rules(shape):
    modules = Modules()
    for number in range(20):
        x, y = 50 + 4 * number, 60
        path = SHAPES[shape].format(x=x, y=y, right=x + 4, top=y + 4, middle=y + 2)
        for operation in operations(path.encode(), frozenset((*PATHS, b"w"))):
            modules.see(operation, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
            modules.see_words(0.0, 0.0)
    assert modules.count == (0 if shape == "fine lines" else 20)


@pytest.mark.parametrize("shape", ["{x} 60 30 8 re f", "{x} 60 m {end} 60 l {end} 68 l {x} 68 l f"])
def test_boxes_with_words_on_them_are_no_code(handmade, shape):
    made = handmade()
    labels = ((shape.format(x=4 * x, end=4 * x + 30), 4 * x + 1) for x in range(40))
    text = "BT /F1 4 Tf 1 0 0 1 {x} 62 Tm ({x}) Tj ET"
    made.content("\n".join(f"{box} {text.format(x=x)}" for box, x in labels))
    with opened(made.save(), None, Limits()) as pdf:
        (canvas,) = page_canvases(pdf, Budget(*[1 << 20] * 3))
        drawing = Walker(Budget(*[1 << 20] * 3)).walk(canvas.data, canvas.key, canvas.resources)
    assert len(drawing.shows) == 40
    assert drawing.modules.count == 0
