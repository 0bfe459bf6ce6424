"""Pictures of only pixels: read, painted over, and written without other content."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops

from dlpctl.errors import CannotMaskError
from dlpctl.formats import ocr
from dlpctl.formats.discovery import format_named
from dlpctl.formats.interface import Edit, Limits
from dlpctl.formats.recognition import recognize

if TYPE_CHECKING:
    from played_tesseract import PlayedTesseract

SSN = "536-90-4399"
LIMITS = Limits()
BOX = (60, 20, 200, 40)
KINDS = {
    "ICO": ".ico", "PPM": ".ppm", "XBM": ".xbm", "PCX": ".pcx", "SGI": ".sgi", "DDS": ".dds",
    "JPEG2000": ".jp2", "TGA": ".tga", "SUN": ".ras",
}  # fmt: skip


@pytest.fixture(autouse=True)
def seen_words(tesseract: PlayedTesseract) -> None:
    """OCR sees a value in a box wherever something is dark there."""

    def words(data: bytes, *, pages: int = 1, **_: bool) -> list[list[ocr.Word]]:
        with Image.open(io.BytesIO(data)) as shown:
            times = max(shown.width // 256, 1)
            box = tuple(times * each for each in BOX)
            upright = shown.width > shown.height
            low, high = shown.convert("L").crop(box).getextrema()
            dark = upright and low < 60 and high > 200  # type: ignore[operator]
        left, top, right, bottom = box
        word = ocr.Word(SSN, "1", left, top, right - left, bottom - top)
        return [[word] if dark else [] for _ in range(pages)]

    tesseract(words)


def drawn(mode: str = "RGB") -> Image.Image:
    image = Image.new("RGB", (256, 64), "white")
    for x in range(BOX[0], BOX[2], 4):
        for y in range(BOX[1], BOX[3]):
            image.putpixel((x, y), (0, 0, 0))
    image.paste((0, 0, 255), (220, 40, 250, 60))
    return image.convert(mode)


def encoded(kind: str) -> bytes:
    if kind == "SUN":
        rows = drawn().tobytes("raw", "BGR", 256 * 3, 1)
        return struct.pack(">8I", 0x59A66A95, 256, 64, 24, len(rows), 1, 0, 0) + rows
    output = io.BytesIO()
    options = {"sizes": [(256, 64)]} if kind == "ICO" else {}
    drawn("1" if kind == "XBM" else "RGB").save(output, kind, **options)
    return output.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_painted_over_and_nothing_else_changes(kind: str) -> None:
    data = encoded(kind)
    chosen = recognize(data, f"a{KINDS[kind]}")
    assert chosen.name == "image"
    document = chosen.extract(data, LIMITS)
    assert not document.uninspected
    (found,) = [number for number, each in enumerate(document.segments) if each.text == SSN]
    masked = chosen.mask(data, document, [Edit(found, 0, len(SSN), "")], {})
    after = chosen.extract(masked, LIMITS)
    assert not after.uninspected
    assert SSN not in [segment.text for segment in after.segments]
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(masked)) as copy:
        assert before.format == copy.format
        changed = ImageChops.difference(before.convert("RGB"), copy.convert("RGB")).getbbox()
    assert changed is not None
    assert all(abs(edge - other) <= 4 for edge, other in zip(changed, BOX, strict=True))


@pytest.mark.parametrize("kind", [*KINDS, "ICNS"])
def test_content_beside_the_pixels_is_removed_from_the_copy(kind: str) -> None:
    data = encoded(kind) + b"\n/* " + SSN.encode() + b" */\n"
    chosen = format_named("image")
    document = chosen.extract(data, LIMITS)
    (part,) = document.uninspected
    assert part.is_removable
    masked = chosen.mask(data, document, [Edit(part.segment, 0, 1, "")], {})
    assert SSN.encode() not in masked
    assert not chosen.extract(masked, LIMITS).uninspected


def test_a_comment_is_removed_and_pixels_stay() -> None:
    data = b"P3\n# " + SSN.encode() + b"\n2 1\n255\n1 2 3 250 251 252\n"
    chosen = recognize(data, "a")
    document = chosen.extract(data, LIMITS)
    (part,) = document.uninspected
    masked = chosen.mask(data, document, [Edit(part.segment, 0, 1, "")], {})
    assert masked == b"P6\n2 1\n255\n\1\2\3\xfa\xfb\xfc"


def test_deep_colors_are_not_cut_to_eight_bits() -> None:
    output = io.BytesIO()
    Image.new("I;16", (30, 30), 40_000).save(output, "PPM")
    data = output.getvalue()
    chosen = format_named("image")
    assert not chosen.extract(data, LIMITS).uninspected
    document = chosen.extract(data + SSN.encode(), LIMITS)
    edit = Edit(document.uninspected[0].segment, 0, 1, "")
    assert chosen.mask(data + SSN.encode(), document, [edit], {}) == data


XPM = b'/* XPM */\nstatic char *a[] = {\n"4 2 2 1",\n"a c #000000",\n"b c #ffffff",\n"abab",\n"bbaa"};\n'


def test_the_source_of_an_xpm_is_read_to_its_end() -> None:
    chosen = recognize(XPM, "a.xpm")
    assert not chosen.extract(XPM, LIMITS).uninspected
    for old, new in (
        (b"};", b"};\n/* " + SSN.encode() + b"\n*/"),
        (b'"bbaa"', b'"bbaa",\n"' + SSN.encode() + b'"'),
        (b'"abab"', b'"abab' + SSN.encode() + b'"'),
    ):
        assert chosen.extract(XPM.replace(old, new), LIMITS).uninspected
    for old, new in (
        (b"};", b"};\n/* " + SSN.encode() + b" */"),
        (b"c #ffffff", b"c #ffffff s " + SSN.encode()),
    ):
        document = chosen.extract(XPM.replace(old, new), LIMITS)
        assert any(SSN in view.text for view in document.views)


@pytest.mark.parametrize(
    "colors",
    [
        (b"s night m black c #000000000000", b"c #FFF"),
        (b"m white c black", b"c Gray100"),
        (b"c None", b"g4 white"),
    ],
)
def test_colors_of_an_xpm_have_many_spellings(colors: tuple[bytes, bytes]) -> None:
    source = XPM.replace(b"c #000000", colors[0]).replace(b"c #ffffff", colors[1])
    commented = source.replace(b'"abab"', b'/* pixels */\n"abab"').replace(b"2 1", b"2 1 0 0")
    assert not format_named("image").extract(commented, LIMITS).uninspected


def test_a_kind_that_cannot_be_written_is_not_masked() -> None:
    chosen = format_named("image")
    rows = b"".join(b'"%s",\n' % (b"ab" * 128) for _ in range(64))
    data = (
        b'/* XPM */\nstatic char *a[] = {\n"256 64 2 1",\n"a c #000000",\n"b c #ffffff",\n%s};\n'
        % rows
    )
    document = chosen.extract(data, LIMITS)
    found = [number for number, each in enumerate(document.segments) if each.text == SSN]
    with pytest.raises(CannotMaskError, match="PNG"):
        chosen.mask(data, document, [Edit(found[0], 0, 1, "")], {})
