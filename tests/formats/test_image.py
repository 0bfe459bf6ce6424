"""Pictures: with tesseract, words are found and painted over; metadata are removed; without it,
pictures are reported as not inspected.
"""

from __future__ import annotations

import io
import shutil
import struct
from itertools import chain, repeat
from typing import TYPE_CHECKING

import pytest
import zxingcpp
from PIL import Image, ImageDraw, ImageFont, ImageSequence
from PIL.PngImagePlugin import PngInfo

from dlpctl.errors import FormatError
from dlpctl.formats import ocr
from dlpctl.formats.discovery import format_named
from dlpctl.formats.files import Files
from dlpctl.formats.interface import Document, Edit, Limits, Segment
from dlpctl.formats.ocr.ink import colored_ink, flattened, slope_of, without_boxes
from dlpctl.formats.ocr.lines import has_letters
from dlpctl.formats.ocr.passes import look
from dlpctl.formats.ocr.spaced import read_spaced
from dlpctl.formats.recognition import recognize
from dlpctl.formats.spans import ViewEdit, edits_of
from dlpctl.formats.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from played_tesseract import PlayedTesseract

SSN, MAIL = "123-45-6789", "jane.roe@acme.example"
LIMITS = Limits()
with_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="tesseract is not installed"
)


def picture(kind: str, text: str = "") -> bytes:
    image = Image.new("RGB", (800, 160), "white")
    ImageDraw.Draw(image).text((20, 50), text, fill="black", font=ImageFont.load_default(40))
    output = io.BytesIO()
    options: dict[str, object] = {}
    if kind == "PNG":
        options["pnginfo"] = PngInfo()
        options["pnginfo"].add_text("Author", MAIL)
    elif kind in {"JPEG", "WEBP", "AVIF", "TIFF", "BigTIFF"}:
        exif = Image.Exif()
        exif[0x13B] = MAIL
        options["exif"] = exif
    if kind == "BigTIFF":
        kind, options["big_tiff"] = "TIFF", True
    image.save(output, kind, **options)
    return output.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF", "TIFF", "BigTIFF"])
def test_metadata_is_found_and_gone(
    kind: str, find: Callable[[Document], list[ViewEdit]], no_tesseract: None
) -> None:
    chosen = format_named("image")
    data = picture(kind)
    assert recognize(data, "a.bin") is chosen
    document = chosen.extract(data, LIMITS)
    assert {part.location for part in document.uninspected} == {"picture"}
    edits = edits_of(document, find(document))
    assert edits
    masked = chosen.mask(data, document, edits, {})
    assert MAIL.encode() not in masked
    assert not list(find(chosen.extract(masked, LIMITS)))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF"])
def test_where_a_picture_was_taken_is_found_and_gone(kind: str, no_tesseract: None) -> None:
    chosen = format_named("image")
    exif = Image.Exif()
    exif[0x110] = "camera"
    exif[0x8825] = {1: "S", 2: (48.0, 51.0, 29.6), 3: "E", 4: (2.0, 17.0, 40.2)}
    output = io.BytesIO()
    Image.new("RGB", (64, 64)).save(output, kind, exif=exif)
    document = chosen.extract(output.getvalue(), LIMITS)
    (at,) = (n for n, each in enumerate(document.segments) if each.text.startswith("GPS"))
    assert document.segments[at].text == "GPS: -48.858222, 2.294500"
    copy = chosen.mask(output.getvalue(), document, [Edit(at, 5, 15, "")], {})
    assert not any(each.text.startswith("GPS") for each in chosen.extract(copy, LIMITS).segments)


def test_an_avif_file_has_nothing_but_pixels(no_tesseract: None) -> None:
    chosen = format_named("image")
    output = io.BytesIO()
    Image.new("RGBA", (64, 64), (9, 9, 9, 99)).save(output, "AVIF")
    plain = output.getvalue()
    box = b"\0\0\0\x0cfreewas "

    def beside(data: bytes) -> list[str]:
        read = chosen.extract(data, LIMITS).uninspected
        return [part.reason for part in read if part.is_removable]

    assert not beside(plain)
    named = plain.replace(b"Color\0", b"Roe 7\0")
    at = plain.index(b"mdat")
    size = int.from_bytes(plain[at - 4 : at]) + 4
    longer = plain[: at - 4] + size.to_bytes(4) + plain[at:] + b"was "
    assert all(map(beside, (plain + box, named, longer)))
    document = chosen.extract(plain + box, LIMITS)
    copy = chosen.mask(plain + box, document, [Edit(len(document.segments) - 1, 0, 1, "")], {})
    assert not beside(copy)
    assert b"was " not in copy


def test_what_pillow_cannot_decode_is_refused() -> None:
    data = b"DDS " + struct.pack("<7I44x8I", 124, 0x1007, 9, 9, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0)
    with pytest.raises(FormatError, match="damaged"):
        format_named("image").extract(data + bytes(99), LIMITS)


def frames(kind: str, *sizes: tuple[int, int], texts: tuple[str, ...] = ()) -> bytes:
    made = []
    for number, size in enumerate(sizes):
        image = Image.new("L", size, 200 + number)  # frames that are equal would be merged
        text = texts[number] if number < len(texts) else ""
        ImageDraw.Draw(image).text((20, 50), text, fill=0, font=ImageFont.load_default(40))
        made.append(image)
    output = io.BytesIO()
    options = {"duration": 50} if kind in {"GIF", "PNG", "WEBP"} else {}
    made[0].save(output, kind, save_all=True, append_images=made[1:], **options)
    return output.getvalue()


ANIMATED = ["GIF", "PNG", "WEBP", "TIFF"]


@pytest.mark.parametrize("kind", ANIMATED)
def test_frames_are_judged_one_by_one(kind: str, no_tesseract: None) -> None:
    data = frames(kind, *[(100, 100)] * 12)
    limits = Limits(pixels=10_000)
    document = format_named("image").extract(data, limits)
    assert [part.location for part in document.uninspected] == ["picture"]
    assert format_named("image").read_again(data, limits)
    with pytest.raises(
        FormatError, match=r"a frame of more than 0\.009999 megapixels: raise limits"
    ):
        format_named("image").extract(data, Limits(pixels=9_999))


@pytest.mark.usefixtures("no_tesseract")
def test_a_later_frame_is_judged_too() -> None:
    """The pages of a TIFF have sizes of their own: the first one says nothing of the others."""
    data = frames("TIFF", (10, 10), (300, 300))
    document = format_named("image").extract(data, LIMITS)
    assert [part.location for part in document.uninspected] == ["picture"]
    with pytest.raises(FormatError, match="a frame of more than"):
        format_named("image").extract(data, Limits(pixels=50_000))


def test_a_frame_that_repeats_another_is_read_once(tesseract: PlayedTesseract) -> None:
    shown: list[bytes] = []

    def words(picture: bytes, *, pages: int = 1, sparse: bool = False) -> list[list[ocr.Word]]:
        del sparse
        shown.append(picture)
        return [[] for _ in range(pages)]

    tesseract(words)

    def runs(frames: int) -> int:
        before = len(shown)
        page = Image.new("L", (100, 100), 200)
        page.putpixel((50, 50), 0)
        output = io.BytesIO()
        page.save(output, "TIFF", save_all=True, append_images=[page] * (frames - 1))
        format_named("image").extract(output.getvalue(), LIMITS)
        return len(shown) - before

    once = runs(1)
    assert once
    assert runs(6) == once


def test_a_picture_that_many_folders_hold_is_read_once() -> None:
    data = frames("GIF", (30, 30))
    with Files() as files:
        first = files.open(data, "a.gif")
        assert files.open(data, "b.gif").document is first.document


@with_tesseract
def test_words_of_every_frame_are_painted_over(find: Callable[[Document], list[ViewEdit]]) -> None:
    data = frames("GIF", (800, 160), (800, 160), texts=("first kept", f"Number {SSN}"))
    with Files(Limits(pixels=800 * 160)) as files:
        node = files.open(data, "a.gif")
        masked = files.masked(node, find)
    with Image.open(io.BytesIO(masked)) as image:
        assert getattr(image, "n_frames", 1) == 2
    assert verify(masked, "a.gif", [SSN], find).clean


def segment(marker: int, contents: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(contents) + 2).to_bytes(2, "big") + contents


JPEG_NOTES = {
    "XMP": segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><dc:creator>%s</dc:creator></x:xmpmeta>" % MAIL.encode()),
    "IPTC": segment(0xED, b"Photoshop 3.0\x008BIM\x04\x04\0\0" + (len(MAIL) + 5).to_bytes(4, "big") + b"\x1c\x02\x50"
                    + len(MAIL).to_bytes(2, "big") + MAIL.encode()),
    "comment": segment(0xFE, MAIL.encode()),
    "an unknown application's": segment(0xEB, b"Scanner\0" + MAIL.encode()),
}  # fmt: skip


@pytest.mark.parametrize("kind", JPEG_NOTES)
def test_every_note_in_a_jpeg_is_found_and_gone(
    kind: str, find: Callable[[Document], list[ViewEdit]], no_tesseract: None
) -> None:
    output = io.BytesIO()
    Image.new("RGB", (60, 60), "white").save(output, "JPEG")
    data = output.getvalue()[:2] + JPEG_NOTES[kind] + output.getvalue()[2:]
    chosen = format_named("image")
    document = chosen.extract(data, LIMITS)
    edits = edits_of(document, find(document))
    assert edits
    assert MAIL.encode() not in chosen.mask(data, document, edits, {})


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_text_after_the_end_is_found(
    kind: str, find: Callable[[Document], list[ViewEdit]], no_tesseract: None
) -> None:
    document = format_named("image").extract(picture(kind) + SSN.encode(), LIMITS)
    assert len(list(find(document))) == 2


def test_strings_of_pixels_are_apart(no_tesseract: None) -> None:
    pixels = b"DL: 123456789012".ljust(32, b"\x80") + b"D12345678 1234"
    image = Image.frombytes("L", (48, 16), pixels.ljust(768, b"\x80"))
    output = io.BytesIO()
    image.save(output, "BMP")
    assert not format_named("image").extract(output.getvalue(), LIMITS).views
    output = io.BytesIO()
    image.save(output, "TIFF")
    document = format_named("image").extract(output.getvalue(), LIMITS)
    (view,) = document.views
    assert view.text.rstrip() == "DL: 123456789012\n\n\nD12345678 1234"


def test_a_dot_needs_no_reader(no_tesseract: None) -> None:
    output = io.BytesIO()
    Image.new("L", (1, 1)).save(output, "GIF")
    assert not format_named("image").extract(output.getvalue(), LIMITS).uninspected


@with_tesseract
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_words_are_painted_over(kind: str, find: Callable[[Document], list[ViewEdit]]) -> None:
    data = picture(kind, f"Number {SSN} kept")
    with Files() as files:
        node = files.open(data, f"a.{kind.lower()}")
        masked = files.masked(node, find)
        words = " ".join(segment.text for segment in files.open(masked, "a").document.segments)
    assert "Number" in words
    assert "kept" in words
    assert verify(masked, "a", [SSN, MAIL], find).clean
    assert not verify(data, "a", [SSN], lambda _: []).clean
    before, after = (Image.open(io.BytesIO(each)).convert("RGB") for each in (data, masked))
    assert before.size == after.size
    if kind != "JPEG":
        assert before.crop((0, 0, 150, 160)).tobytes() == after.crop((0, 0, 150, 160)).tobytes()


@with_tesseract
def test_a_screenshot_with_small_letters_is_read(
    find: Callable[[Document], list[ViewEdit]],
) -> None:
    image = Image.new("RGB", (560, 70), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(13)
    draw.text((10, 10), f"Send it to {MAIL} today", fill="black", font=font)
    draw.text((10, 40), f"The number is {SSN} as before", fill="#444", font=font)
    output = io.BytesIO()
    image.save(output, "PNG")
    with Files() as files:
        node = files.open(output.getvalue(), "a.png")
        views = node.document.views
        found = {views[hit.view].text[hit.start : hit.end] for hit in find(node.document)}
        assert found == {MAIL, SSN}
        masked = files.masked(node, find)
    assert verify(masked, "a.png", [SSN, MAIL], find).clean
    after = Image.open(io.BytesIO(masked)).convert("RGB")
    assert image.crop((0, 0, 40, 70)).tobytes() == after.crop((0, 0, 40, 70)).tobytes()


def test_a_space_before_an_at_sign_is_no_space(tesseract: PlayedTesseract) -> None:
    rows = (
        ("jane.roe", 10, 80, 1),
        ("@acme.example", 94, 120, 1),
        ("or", 220, 20, 1),
        ("@bob", 300, 40, 1),
        ("@x", 342, 20, 2),
    )
    tesseract(
        lambda *_, **__: [
            [ocr.Word(text, str(line), left, 5, width, 20) for text, left, width, line in rows]
        ]
    )
    (words,) = ocr.words(encoded(Image.new("L", (8, 8))))
    assert [word.text for word in words] == ["jane.roe@acme.example", "or", "@bob", "@x"]
    assert (words[0].left, words[0].width, words[0].height) == (10, 204, 20)


def test_a_line_that_runs_downward_starts_at_its_top(tesseract: PlayedTesseract) -> None:
    line = [ocr.Word("SSN", "1", 20, 4, 10, 24), ocr.Word("536", "1", 20, 32, 10, 24)]
    tesseract(lambda *_, pages, **__: [line] * pages)
    first, second = look(Image.linear_gradient("L").resize((60, 60)), enlarge=False).words
    corners = [(round(x), round(y)) for x, y in first.corners]
    assert corners == [(30, 4), (30, 28), (20, 28), (20, 4)]
    assert second.box[0] - first.box[2] == 4


@pytest.mark.parametrize(
    ("size", "notes", "times"), [(28, 0, 1), (28, 1, 2), (28, 3, 2), (12, 0, 2)]
)
def test_only_pictures_with_small_letters_are_enlarged(
    size: int, notes: int, times: int, tesseract: PlayedTesseract
) -> None:
    image = Image.new("RGB", (1240, 1400), "white")
    draw = ImageDraw.Draw(image)
    for line in range(30):
        text = "quick brown foxes jump over lazy dogs at midnight"
        draw.text((60, 40 + 40 * line), text, font=ImageFont.load_default(size), fill="black")
    for line in range(notes):
        text = "a footnote in small letters says more about all of this and where to read on"
        draw.text((60, 1300 + 20 * line), text, font=ImageFont.load_default(11), fill="black")
    output = io.BytesIO()
    image.save(output, "PNG")
    shown: list[list[int]] = []

    def words(png: bytes, *, pages: int = 1, sparse: bool = False) -> list[list[ocr.Word]]:
        del sparse
        shown.append([each.width for each in ImageSequence.Iterator(Image.open(io.BytesIO(png)))])
        return [[] for _ in range(pages)]

    tesseract(words)
    format_named("image").extract(output.getvalue(), LIMITS)
    assert shown[0] == [1240 * each for each in range(1, times + 1)]


def read_as(tesseract: PlayedTesseract, *scales: list[str]) -> Document:
    """Return a picture whose lines tesseract reads so, at each scale: letters of 18 pixels are
    read at two scales, and those of 60 at one.
    """
    read = iter(scales)

    def words(_: bytes, *, pages: int, sparse: bool) -> list[list[ocr.Word]]:
        if sparse:
            return [[] for _ in range(pages)]
        return [
            [
                ocr.Word(text, str(line), 20 + 70 * at, 10 + 40 * line, 60, 20, 95.0)
                for line, words in enumerate(next(read))
                for at, text in enumerate(words.split())
            ]
            for _ in range(pages)
        ]

    tesseract(words)
    image = Image.new("L", (1600, 700), "white")
    font = ImageFont.load_default(60 if len(scales) == 1 else 18)
    for line in range(3):
        ImageDraw.Draw(image).text((40, 40 + 200 * line), "letters " * 6, "black", font)
    return format_named("image").extract(encoded(image), LIMITS)


UNSURE = "SSN 123-45-6780 of hers"


def line_of(text: str, top: int, confidence: float, times: float = 1.0) -> list[ocr.Word]:
    width = round(100 * times)
    return [
        ocr.Word(word, str(top), round((20 + 120 * at) * times), top, width, 20, confidence)
        for at, word in enumerate(text.split())
    ]


def test_a_skewed_picture_is_straightened_even_if_what_ocr_reads_of_it_is_sure(
    find: Callable[[Document], list[ViewEdit]], tesseract: PlayedTesseract
) -> None:
    sure = line_of("The first of many lines is sure", 10, 95.0)
    read = chain([sure], repeat([*sure, *line_of(f"SSN {SSN} of hers", 40, 95.0)]))

    def words(_: bytes, *, pages: int, sparse: bool) -> list[list[ocr.Word]]:
        return [[]] * pages if sparse else [next(read)] * pages

    tesseract(words)
    page = written(["A line that is sure"] * 3).rotate(-5, expand=True, fillcolor="white")
    document = format_named("image").extract(encoded(page), LIMITS)
    assert SSN in values_in(document, find(document))


@pytest.mark.parametrize(
    ("readings", "confidence", "height", "unread"),
    [
        ([f"SSN {SSN} of hers"] * 2, 90.0, 20, 0),
        ([f"SSN {SSN} of hers"] * 2, 60.0, 20, 1),
        (["SSN 123-45-6789 of hers", "SSN 123-45-6739 of hers"], 90.0, 20, 1),
        ([UNSURE] * 2, 40.0, 2, 0),
    ],
    ids=["sure", "still unsure", "other digits", "a rule"],
)
def test_an_unsure_line_is_read_again_alone(
    readings: list[str],
    confidence: float,
    height: int,
    unread: int,
    find: Callable[[Document], list[ViewEdit]],
    tesseract: PlayedTesseract,
) -> None:
    sure = 10, 45, 80

    def words(_: bytes, *, pages: int, sparse: bool) -> list[list[ocr.Word]]:
        read = [word for top in sure for word in line_of("A line that is sure", top, 95.0)]
        return [[] if sparse else [*read, *line_of(UNSURE, 104, 40.0)] for _ in range(pages)]

    def line_words(_: bytes, *, pages: int = 1) -> list[list[ocr.Word]]:
        scales = zip(readings, (1.8, 3.0), strict=True)
        return [line_of(text, 40, confidence, times) for text, times in scales][:pages]

    tesseract(words, line_words)
    image = Image.new("RGB", (700, 160), "white")
    for x in range(20, 600, 10):
        for top in sure:  # high enough to be read at one scale
            ImageDraw.Draw(image).rectangle((x, top, x + 4, top + 19), fill="black")
        ImageDraw.Draw(image).rectangle((x, 104, x + 4, 103 + height), fill="black")
    document = format_named("image").extract(encoded(image), LIMITS)
    assert len(document.uninspected) == unread
    if not unread and height > 2:
        assert SSN in values_in(document, find(document))


def values_in(document: Document, edits: Iterable[ViewEdit]) -> set[str]:
    return {document.views[edit.view].text[edit.start : edit.end] for edit in edits}


def test_a_value_misread_at_one_scale_is_found_at_the_other(
    find: Callable[[Document], list[ViewEdit]], tesseract: PlayedTesseract
) -> None:
    seen = ["write to jane.roe@acme.exarnpie", "SSN 123-45-6789"], [f"write to {MAIL}", "SSN 1Z3"]
    document = read_as(tesseract, *seen)
    assert {SSN, MAIL} <= values_in(document, find(document))


@pytest.mark.parametrize(
    ("seen", "value"),
    [
        ("mail jane. roe@acme.example please", MAIL),
        ("mail jane.roe@acme .example please", MAIL),
        ("SSN 123- 45-6789 of hers", SSN),
        ("SSN 123 -45-6789 of hers", SSN),
        ("SSN 123-4 5-6789 of hers", SSN),
    ],
)
def test_spaces_that_ocr_sees_within_a_value_are_left_out(
    seen: str,
    value: str,
    find: Callable[[Document], list[ViewEdit]],
    tesseract: PlayedTesseract,
) -> None:
    document = read_as(tesseract, [seen])
    assert value in values_in(document, find(document))


def written(
    lines: list[str],
    size: tuple[int, int] = (1000, 300),
    ink: str = "black",
    paper: str = "white",
) -> Image.Image:
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        place = (40, 40 + 70 * number)
        draw.text(place, line, fill=ink, font=ImageFont.load_default(36))
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    output = io.BytesIO()
    image.save(output, kind, **options)
    return output.getvalue()


def in_boxes(sentence: str = "Her number, and this line is kept") -> Image.Image:
    image = Image.new("RGB", (1100, 300), "white")
    draw = ImageDraw.Draw(image)
    for number, letter in enumerate(SSN):
        left = 40 + 36 * number
        draw.rectangle((left, 40, left + 32, 84), outline="#777777")
        draw.text((left + 8, 46), letter, fill="black", font=ImageFont.load_default(28))
    draw.text((40, 120), sentence, "black", ImageFont.load_default(28))
    return image


def see_through(image: Image.Image) -> Image.Image:
    image = image.convert("RGBA")
    image.putalpha(0)
    return image


def chart() -> Image.Image:
    image = Image.new("L", (1200, 900), 255)
    draw = ImageDraw.Draw(image)
    draw.rectangle((300, 60, 1150, 500), outline=0, width=3)
    for number, label in enumerate((f"Number {SSN}", "Sales that are kept", "Sales of others")):
        draw.text((220, 80 + 140 * number), f"{80 - 40 * number}", 0, ImageFont.load_default(32))
        written_on = Image.new("L", (400, 400))
        ImageDraw.Draw(written_on).text((10, 180), label, 255, ImageFont.load_default(32))
        image.paste(0, (220 + 300 * number, 470), written_on.rotate(40))
    return image.convert("RGB")


LETTER = [f"Her number is {SSN} today", "and this line is kept", "as it was before"]
ODD = {
    "on its side": lambda: encoded(written(LETTER).rotate(90, expand=True)),
    "upside down": lambda: encoded(written(LETTER).rotate(180)),
    "askew": lambda: encoded(written(LETTER).rotate(8, expand=True, fillcolor="white")),
    "faint": lambda: encoded(written(LETTER, ink="#f2f2f2")),
    "across the page": lambda: encoded(written(LETTER).rotate(30, expand=True, fillcolor="white")),
    "as light as its paper": lambda: encoded(written(LETTER, ink="#dc3c3c", paper="#289640")),
    "in boxes": lambda: encoded(in_boxes()),
    "see-through": lambda: encoded(see_through(written(LETTER))),
    "as labels of a chart": lambda: encoded(chart()),
}


@with_tesseract
@pytest.mark.parametrize(
    "shape",
    [
        shape if shape in {"on its side", "faint"} else pytest.param(shape, marks=pytest.mark.slow)
        for shape in ODD
    ],
)
def test_words_are_read_however_they_are_shown(
    shape: str, find: Callable[[Document], list[ViewEdit]]
) -> None:
    data = ODD[shape]()
    with Files() as files:
        node = files.open(data, "a.png")
        assert not list(node.uninspected())
        masked = files.masked(node, find)
    before, after = (Image.open(io.BytesIO(each)).convert("RGB") for each in (data, masked))
    assert before.tobytes() != after.tobytes()
    document = format_named("image").extract(masked, LIMITS)
    assert not list(find(document))
    assert "kept" in " ".join(segment.text for segment in document.segments)


@pytest.mark.parametrize(
    ("clear", "ink", "runs"),
    [("white", "white", True), ("black", "white", True), ("black", "black", False)],
)
def test_words_on_clear_paper_are_read_on_black_if_white_does_not_show_them(
    clear: str, ink: str, runs: bool, tesseract: PlayedTesseract
) -> None:
    page = Image.new("RGBA", (400, 100), clear)
    page.putalpha(0)
    ImageDraw.Draw(page).text((20, 30), f"Number {SSN}", ink, ImageFont.load_default(30))
    dark: list[bool] = []

    def words(data: bytes, *, pages: int, **_: bool) -> list[list[ocr.Word]]:
        with Image.open(io.BytesIO(data)) as shown:
            dark.append(shown.convert("L").getpixel((0, 0)) == 0)
        return [[]] * pages

    tesseract(words)
    format_named("image").extract(encoded(page), LIMITS)
    assert any(dark) == runs


@with_tesseract
def test_writing_across_other_writing_is_read_or_not_inspected() -> None:
    page = written(LETTER * 3, (1000, 700))
    stamp = Image.new("L", page.size)
    ImageDraw.Draw(stamp).text((150, 320), f"Mail {MAIL}", 70, ImageFont.load_default(56))
    page.paste("#c07070", mask=stamp.rotate(33))
    document = format_named("image").extract(encoded(page), LIMITS)
    assert document.uninspected or "@acme" in " ".join(each.text for each in document.segments)


@pytest.mark.parametrize("kind", ["QRCode", "DataMatrix", "PDF417", "Aztec", "Code128"])
def test_a_code_is_read_and_painted_over(
    kind: str, find: Callable[[Document], list[ViewEdit]], tesseract: PlayedTesseract
) -> None:
    tesseract(lambda _, *, pages, sparse: [[]] * pages)
    code = zxingcpp.create_barcode(f"Mail {MAIL} of hers", getattr(zxingcpp.BarcodeFormat, kind))
    drawn = memoryview(code.to_image(scale=3))
    page = Image.new("L", (1800, 600), 255)
    page.paste(Image.frombytes("L", drawn.shape[::-1], bytes(drawn)), (60, 60))
    image = format_named("image")
    for shown in (page, page.rotate(90, expand=True)):
        data = encoded(shown)
        document = image.extract(data, LIMITS)
        masked = image.mask(data, document, edits_of(document, find(document)), {})
        assert zxingcpp.read_barcodes(shown)
        assert not zxingcpp.read_barcodes(Image.open(io.BytesIO(masked)))


def test_the_slope_of_lines_is_measured() -> None:
    upright = written(LETTER).convert("L")
    assert not slope_of(upright).angle
    assert slope_of(chart().convert("L")) == (-40, False)
    for angle in (-40, -20, 30):
        slanting = upright.rotate(angle, expand=True, fillcolor=255)
        assert slope_of(slanting) == (-angle, True)
    page = Image.new("L", (4000, 1600), 255)
    page.paste(slanting, (2800, 600))
    assert abs(slope_of(page).angle + angle) < 2


def test_a_slanting_rule_has_no_letters() -> None:
    page = Image.new("L", (400, 60), 255)
    ImageDraw.Draw(page).line((10, 20, 390, 32), fill=0, width=2)
    assert not has_letters(page, (0, 0, 400, 60))
    ImageDraw.Draw(page).text((100, 36), "no", 0, ImageFont.load_default(14))
    assert has_letters(page, (0, 0, 400, 60))


def test_boxes_around_letters_are_left_out() -> None:
    assert without_boxes(written(LETTER).convert("L")) is None
    boxed = in_boxes().convert("L")
    unboxed = without_boxes(boxed)
    assert unboxed is not None
    # The sides of the first box, and its letter.
    assert boxed.getpixel((40, 50)) == 0x77
    assert unboxed.crop((38, 38, 46, 86)).getextrema() == (255, 255)
    assert unboxed.crop((47, 47, 66, 80)).tobytes() == boxed.crop((47, 47, 66, 80)).tobytes()


@pytest.mark.parametrize("second", [SSN, "never", SSN.replace("1", "7")])
def test_letters_in_boxes_count_as_read_if_ocr_agrees(
    second: str, tesseract: PlayedTesseract
) -> None:
    sizes: list[tuple[int, int]] = []

    def line_words(data: bytes, *, pages: int) -> list[list[ocr.Word]]:
        found = []
        with Image.open(io.BytesIO(data)) as file:
            for page, text in zip(range(pages), (SSN, second), strict=True):
                file.seek(page)
                sizes.append(file.size)
                found.append([ocr.Word(text, "1", 20, 20, file.width - 40, file.height - 40)])
        return found

    tesseract(line_words, line_words)
    unboxed = without_boxes(in_boxes().convert("L"))
    assert unboxed is not None
    spaced, sentence = read_spaced(unboxed, [(46, 47, 420, 76), (40, 124, 480, 150)])
    assert sentence is None
    if second != SSN:
        assert spaced == []
        return
    assert spaced is not None
    (word,) = spaced[0]
    assert word.left < 60
    assert word.left + word.width > 420
    # The letters were moved together.
    assert sizes[0][0] < word.width


@pytest.mark.parametrize(
    ("readings", "unread"),
    [(("seen as it went",) * 3, 0), (("seen as it went", "soon as it went", "seen as it wont"), 1)],
)
def test_a_line_that_reads_alike_at_two_scales_is_no_line_of_single_letters(
    readings: tuple[str, ...], unread: int, tesseract: PlayedTesseract
) -> None:
    picture = in_boxes(sentence="")

    def words(data: bytes, *, pages: int, sparse: bool) -> list[list[ocr.Word]]:
        with Image.open(io.BytesIO(data)) as file:
            scales = []
            for page in range(pages):
                file.seek(page)
                scales.append(round(file.width / picture.width))
        return [
            [] if sparse else [ocr.Word(readings[times - 1], "1", *box, 95.0)]
            for times in scales
            for box in [(46 * times, 47 * times, 374 * times, 29 * times)]
        ]

    tesseract(words, lambda _, *, pages: [[]] * pages)
    assert len(look(picture).unread) == unread


def test_ink_that_differs_in_color_alone_is_seen() -> None:
    assert colored_ink(written(LETTER)) is None
    assert colored_ink(written(LETTER, ink="#a02020")) is None
    assert colored_ink(written(LETTER, ink="#dc3c3c", paper="#289640")) is not None


@with_tesseract
def test_a_thumbnail_in_metadata_is_read_and_removed(
    find: Callable[[Document], list[ViewEdit]],
) -> None:
    exif = segment(0xE1, b"Exif\0\0" + encoded(written(LETTER), "JPEG"))
    plain = encoded(Image.new("RGB", (200, 100), "#88aacc"), "JPEG")
    with Files() as files:
        masked = files.masked(files.open(plain[:2] + exif + plain[2:], "a.jpg"), find)
    assert masked == plain


def test_a_masked_picture_is_still_turned_by_its_orientation(
    find: Callable[[Document], list[ViewEdit]], no_tesseract: None
) -> None:
    exif = Image.Exif()
    exif[0x112], exif[0x13B] = 6, MAIL
    data = encoded(Image.new("RGB", (60, 40), "white"), "JPEG", exif=exif)
    chosen = format_named("image")
    document = chosen.extract(data, LIMITS)
    masked = chosen.mask(data, document, edits_of(document, find(document)), {})
    with Image.open(io.BytesIO(masked)) as image:
        assert dict(image.getexif()) == {0x112: 6}


@pytest.mark.parametrize(
    ("heights", "confidence", "places"),
    [
        ([30] * 4, 95.0, set()),
        ([30] * 4, 40.0, {"picture"}),
        ([16, 34], 40.0, {"picture"}),
        ([16, 60], 40.0, set()),
    ],
)
def test_lines_that_ocr_sees_and_cannot_read_are_not_inspected(
    heights: list[int], confidence: float, places: set[str], tesseract: PlayedTesseract
) -> None:
    line = [
        ocr.Word(text, "1", 40 + 150 * at, 40, 120, height, confidence)
        for at, (text, height) in enumerate(
            zip(["Hcr", "nunber", "iz", "I2E45"], heights, strict=False)
        )
    ]
    picture = Image.new("RGB", (700, 140), "white")
    for word in line:
        font = ImageFont.load_default(word.height)
        ImageDraw.Draw(picture).text((word.left, word.top), word.text, "black", font)
    tesseract(*[lambda _, *, pages, **__: [line] * pages] * 2)
    document = format_named("image").extract(encoded(picture), LIMITS)
    assert {part.location for part in document.uninspected} == places
    assert all(part.is_removable for part in document.uninspected)


DEEP: dict[str, tuple[str, str, float, float]] = {
    "16 bits, dark on less dark": ("I;16", "PNG", 40.0, 20_000.0),
    "16 bits in TIFF": ("I;16", "TIFF", 200.0, 5_000.0),
    "32 bits": ("I", "TIFF", 90_000.0, 1_000_000.0),
    "from 0 to 1": ("F", "TIFF", 1 / 255, 0.0),
    "below 0": ("F", "TIFF", 1.0, -500.0),
}


@with_tesseract
@pytest.mark.parametrize("way", DEEP)
def test_words_in_many_shades_are_read_and_painted_over(
    way: str, find: Callable[[Document], list[ViewEdit]]
) -> None:
    mode, kind, scale, offset = DEEP[way]
    image = Image.new("L", (800, 120), "white")
    font = ImageFont.load_default(40)
    ImageDraw.Draw(image).text((20, 40), f"Number {SSN}", fill="black", font=font)
    shades = image.convert("F").point(lambda shade: shade * scale + offset)
    data = encoded(shades if mode == "F" else shades.convert("I").convert(mode), kind)
    chosen = format_named("image")
    document = chosen.extract(data, LIMITS)
    edits = edits_of(document, find(document))
    assert edits
    masked = chosen.mask(data, document, edits, {})
    assert SSN not in " ".join(each.text for each in chosen.extract(masked, LIMITS).segments)
    assert chosen.mask(data, document, [], {}) != masked


def test_shades_that_alpha_has_darkened_are_read() -> None:
    entry = b"\x52\x01\x03\x00\x01\x00\x00\x00"
    apart = encoded(Image.new("LA", (60, 60)), "TIFF")
    data = apart.replace(entry + b"\x02", entry + b"\x01")
    assert Image.open(io.BytesIO(data)).mode == "La"
    assert not format_named("image").extract(data, LIMITS).uninspected


def test_shades_that_are_no_numbers_are_refused() -> None:
    image = Image.new("F", (60, 60), float("nan"))
    with pytest.raises(FormatError, match="no numbers"):
        format_named("image").extract(encoded(image, "TIFF"), LIMITS)


@pytest.mark.parametrize("compression", ["group3", "group4", "tiff_ccitt", "jpeg", "tiff_lzw"])
def test_a_fax_is_read_in_several_passes(compression: str, tesseract: PlayedTesseract) -> None:
    seen: list[int] = []

    def words(data: bytes, *, pages: int = 1, **_: bool) -> list[list[ocr.Word]]:
        with Image.open(io.BytesIO(data)) as shown:
            seen.append(getattr(shown, "n_frames", 1))
        return [[ocr.Word("Hcr", "1", 40, 40, 120, 30, 40.0)] for _ in range(pages)]

    tesseract(words)
    fax = written(LETTER).convert("L" if compression == "jpeg" else "1")
    format_named("image").extract(encoded(fax, "TIFF", compression=compression), LIMITS)
    assert max(seen) > 1


def test_digits_that_ocr_takes_for_letters_are_read_as_meant() -> None:
    from dlpctl.formats.ocr.seen import SeenWord
    from dlpctl.formats.ocr.views import add_words

    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    words = [
        SeenWord(text, "0/0", (30.0 * at, 0.0, 30.0 * at + 20.0, 20.0), corners)
        for at, text in enumerate(["IBAN", "DEO7", "I234", "OSLO", "jane@acmecom"])
    ]
    segments: list[Segment] = []
    views = list(add_words("words", words, segments, lambda _, text: Segment(text, "")))
    assert views[0].text == "IBAN DEO7 I234 OSLO jane@acmecom"
    assert views[-1].text == "IBAN DE07 1234 OSLO jane@acme.com"


@pytest.mark.parametrize(("paper", "ink"), [("#7299cf", "black"), ("#203040", "white")])
def test_strokes_are_separated_from_the_boxes_that_they_are_in(paper: str, ink: str) -> None:
    picture = Image.new("L", (300, 200), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((40, 60, 260, 120), fill=paper)
    draw.rectangle((100, 80, 103, 100), fill=ink)
    strokes = flattened(picture)
    assert strokes.getpixel((101, 90)) < 9
    assert {strokes.getpixel(beside) for beside in ((45, 90), (150, 63), (255, 117))} == {255}
