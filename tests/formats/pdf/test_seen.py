"""Pages that are pictures: with tesseract, they are read by OCR and painted over; without it, they
are reported as not inspected.
"""

from __future__ import annotations

import io
import re
import zlib
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageDraw, ImageFont

from dlpctl.formats import ocr
from dlpctl.formats.interface import Limits
from dlpctl.formats.pdf import FORMAT

if TYPE_CHECKING:
    from played_tesseract import PlayedTesseract

SSN = "536-90-4399"


def scan(lines: list[str], turn: int = 0) -> Image.Image:
    image = Image.new("RGB", (1240, 700), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((80, 80 + 90 * number), line, fill="black", font=ImageFont.load_default(40))
    return image.rotate(turn, expand=True)


def scanned(image: Image.Image, turn: int = 0, strips: int = 1, text: str = "") -> bytes:
    """A page that shows the picture, in strips as scanners store it."""
    import pikepdf
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    width, height = image.width * 0.4, image.height * 0.4
    canvas = Canvas(buffer, pagesize=(width, height))
    for number in range(strips):
        top, bottom = (image.height * (number + more) // strips for more in (0, 1))
        strip = image.crop((0, top, image.width, bottom))
        canvas.drawImage(
            ImageReader(strip), 0, height - bottom * 0.4, width=width, height=(bottom - top) * 0.4
        )
    if text:
        canvas.drawString(20, 20, text)
    canvas.save()
    with pikepdf.open(buffer) as pdf:
        pdf.pages[0].obj.Rotate = turn
        turned = io.BytesIO()
        pdf.save(turned)
    return turned.getvalue()


def seen_words(data: bytes) -> str:
    document = FORMAT.extract(data, Limits())
    return next((view.text for view in document.views if view.name == "words on pictures"), "")


LINES = ["Dear customer, this is kept", f"Number {SSN} of the file", "Yours sincerely, kept too"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(lambda: scanned(scan(LINES)), id="upright"),
        pytest.param(lambda: scanned(scan(LINES, 90), 90), id="turned", marks=pytest.mark.slow),
        pytest.param(
            lambda: scanned(scan(LINES), strips=9),
            id="in strips that cut lines",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_scan_is_read_and_painted_over(data, check, with_ocr, rendered):
    original = data()
    result = check(original)
    assert not result.document.uninspected
    assert result.values == {SSN}
    words = seen_words(result.masked)
    assert "kept" in words
    assert "sincerely" in words
    assert not re.search(r"\d{3}-|-\d{4}", words)
    # What is left of the picture alone, without the box above it.
    import pikepdf

    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        content = pdf.pages[0].Contents.read_bytes()
        pdf.pages[0].Contents = pdf.make_stream(content[: content.rindex(b"/Artifact BMC")])
        bare = io.BytesIO()
        pdf.save(bare)
    assert "4399" not in seen_words(bare.getvalue())
    before, after = rendered(original), rendered(result.masked)
    line = (0, before.height * 4 // 5, before.width, before.height)
    if before.width > before.height:
        assert before.crop(line).tobytes() == after.crop(line).tobytes()


def test_text_beside_a_picture_is_no_word_of_the_picture(check, with_ocr):
    data = scanned(scan(["A caption of the picture"]).crop((0, 0, 1240, 300)), text="beside")
    assert not check(data).document.uninspected
    assert "caption" in seen_words(data)


def test_without_ocr_it_is_not_inspected(check):
    document = check(scanned(scan(LINES))).document
    assert [part.reason for part in document.uninspected] == ["pictures, no OCR"]


def test_time_for_ocr_is_limited(with_ocr):
    document = FORMAT.extract(scanned(scan(LINES)), Limits(seconds=0.0))
    assert ["raise limits.seconds" in part.reason for part in document.uninspected] == [True]


HIDDEN = {
    "covered": "q {0} 0 0 {1} 0 0 cm /{2} Do Q 1 g 0 0 2000 2000 re f",
    "clipped away": "q 0 0 9 9 re W n {0} 0 0 {1} 0 0 cm /{2} Do Q",
    "off the page": "q {0} 0 0 {1} 3000 0 cm /{2} Do Q",
    "not used": "",
}


@pytest.mark.parametrize(
    "way",
    [way if way == "covered" else pytest.param(way, marks=pytest.mark.slow) for way in HIDDEN],
)
def test_a_picture_that_no_page_shows_is_masked_where_it_is_stored(way, check, with_ocr):
    import pikepdf

    with pikepdf.open(io.BytesIO(scanned(scan(LINES)))) as pdf:
        page = pdf.pages[0].obj
        (name,) = page.Resources.XObject.keys()
        width, height = (float(each) for each in list(page.MediaBox)[2:])
        page.Contents = pdf.make_stream(HIDDEN[way].format(width, height, name[1:]).encode())
        buffer = io.BytesIO()
        pdf.save(buffer)
    result = check(buffer.getvalue())
    assert result.values == {SSN}
    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        (image,) = pdf.pages[0].Resources.XObject.values()
        shown = FORMAT.extract(scanned(pikepdf.PdfImage(image).as_pil_image()), Limits())
    words = " ".join(segment.text for segment in shown.segments)
    assert "4399" not in words
    assert "sincerely" in words


def test_an_inline_picture_is_painted_over(check, with_ocr):
    import pikepdf

    jpeg = io.BytesIO()
    scan(LINES).convert("L").save(jpeg, "JPEG")
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page(page_size=(500, 300))
        start = b"q 496 0 0 280 0 0 cm BI /W 1240 /H 700 /CS /G /BPC 8 /F /DCT ID "
        page.obj.Contents = pdf.make_stream(start + jpeg.getvalue() + b"\nEI Q")
        buffer = io.BytesIO()
        pdf.save(buffer)
    result = check(buffer.getvalue())
    assert result.values == {SSN}
    assert "4399" not in seen_words(result.masked)


def letters_as_shapes(y: int) -> str:
    """A line of 40 shapes as high as letters, each with a hole, as programs write outlines."""
    return "".join(
        f"{x} {y} m {x} {y + 9} {x + 6} {y + 9} {x + 6} {y} c h "
        f"{x + 2} {y + 2} m {x + 3} {y + 4} {x + 4} {y + 2} y h f*\n"
        for x in range(60, 460, 10)
    )


@pytest.mark.parametrize("way", ["on the page", "in a form", "turned"])
def test_letters_as_shapes_go_with_their_box(way, handmade, check, tesseract):
    import pikepdf
    from pikepdf import Array, Dictionary, Name

    def words(data: bytes, *, pages: int = 1, **_: bool) -> list[list[ocr.Word]]:
        with Image.open(io.BytesIO(data)) as shown:
            gray = shown.convert("L")
            times = gray.width / 612
            top = round((792 - 710) * times)
            line = gray.crop((0, top, gray.width, round((792 - 698) * times)))
            is_there = line.histogram()[0] > 500
        box = round(60 * times), top, round(200 * times), round(12 * times)
        return [[ocr.Word(SSN, "1", *box, 95.0)] if is_there else [] for _ in range(pages)]

    tesseract(words)
    made = handmade()
    rules = "40 600 m 580 600 l S 40 695 540 30 re S\n"
    shapes = letters_as_shapes(700) + letters_as_shapes(650)
    if way == "in a form":
        form = Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 612, 792]))
        made.page.Resources.XObject = Dictionary(Fm=made.pdf.make_stream(shapes.encode(), form))
        shapes = "q 1 0 0 1 0 0 cm /Fm Do Q\n"
    elif way == "turned":
        shapes = f"q 0.5 0 0 0.5 0 0 cm 2 0 0 2 0 0 cm n {shapes} Q\n"
    made.content(rules + shapes)
    result = check(made.save())
    assert result.values == {SSN}
    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        page = pdf.pages[0]
        forms = [page.Resources.XObject.Fm] if way == "in a form" else []
        operations = [
            each for part in (page, *forms) for each in pikepdf.parse_content_stream(part)
        ]
    starts = [
        tuple(map(round, map(float, each.operands)))
        for each in operations
        if str(each.operator) == "m"
    ]
    assert not [x for x, y in starts if y in (700, 702) and x <= 262]
    assert len([x for x, y in starts if y in (700, 702)]) == 2 * 19
    assert len([x for x, y in starts if y in (650, 652)]) == 2 * 40
    assert (40, 600) in starts
    assert [40, 695, 540, 30] in [
        list(map(round, map(float, each.operands)))
        for each in operations
        if str(each.operator) == "re"
    ]


@pytest.fixture
def seen_sizes(tesseract: PlayedTesseract) -> list[tuple[int, int]]:
    """The sizes of what OCR is given; it reads a number where the picture is not white."""
    sizes: list[tuple[int, int]] = []

    def words(picture: bytes, *, pages: int = 1, sparse: bool = False) -> list[list[ocr.Word]]:
        with Image.open(io.BytesIO(picture)) as image:
            sizes.append(image.size)
            striped = image.convert("L").point([255] * 99 + [0] * 157)
            box = striped.getbbox()
            is_mask = box is not None and striped.crop(box).histogram()[255] > 0.8 * (
                (box[2] - box[0]) * (box[3] - box[1])
            )
        if box is None or is_mask or sparse:
            return [[] for _ in range(pages)]
        left, top, right, bottom = box
        place = left, top, right - left, bottom - top
        return [[ocr.Word(SSN, "1", *place, 95.0)] for _ in range(pages)]

    tesseract(words)
    return sizes


def stripes(mode: str = "RGB", size: tuple[int, int] = (1200, 600)) -> Image.Image:
    image = Image.new(mode, size, "white")
    width, height = size
    for x in range(width // 4, width // 2, width // 60):
        across = (x, height // 2, x + width // 120, height * 9 // 16)
        ImageDraw.Draw(image).rectangle(across, fill="black")
    return image


def test_pictures_that_pages_repeat_are_read_once(seen_sizes, drawn):
    from reportlab.lib.utils import ImageReader

    logo = ImageReader(stripes())
    page = [lambda canvas: canvas.drawImage(logo, 50, 700, 200, 100)]
    FORMAT.extract(drawn(*page), Limits())
    once = len(seen_sizes)
    FORMAT.extract(drawn(*page * 3), Limits())
    assert len(seen_sizes) == 2 * once


def test_a_small_page_is_drawn_as_fine_as_its_picture(seen_sizes):
    import pikepdf

    with pikepdf.open(io.BytesIO(scanned(stripes()))) as pdf:
        page = pdf.pages[0]
        page.obj.MediaBox = [0, 0, 48, 24]
        content = page.Contents.read_bytes()
        page.Contents = pdf.make_stream(b"q .1 0 0 .1 0 0 cm " + content + b" Q")
        small = io.BytesIO()
        pdf.save(small)
    FORMAT.extract(small.getvalue(), Limits())
    assert seen_sizes[0][0] > 1000


@pytest.mark.parametrize("mode", ["RGB", "P", "RGBA"])
def test_a_masked_picture_is_not_read_apart_from_its_page(mode, seen_sizes, check):
    image = stripes()
    if mode == "P":
        image = image.quantize(16)
    if mode == "RGBA":
        image.putalpha(image.convert("L").point(lambda shade: 255 - shade))
    result = check(scanned(image))
    assert result.values == {SSN}
    del seen_sizes[:]
    assert not FORMAT.extract(result.masked, Limits()).uninspected
    assert image.size not in seen_sizes


def test_the_pixels_of_a_poster_are_no_text_for_the_second_reader(handmade):
    made = handmade()
    pixels = zlib.compress(bytes(9000 * 9000), 1)
    import pikepdf

    poster = made.pdf.make_stream(
        pixels, Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Image, Width=9000, Height=9000,
        ColorSpace=pikepdf.Name.DeviceGray, BitsPerComponent=8, Filter=pikepdf.Name.FlateDecode,
    )  # fmt: skip
    made.page.Resources.XObject = pikepdf.Dictionary(Im=poster)
    texts = list(FORMAT.read_again(made.save(), Limits()))
    assert any("Nothing to see" in text for text in texts)
