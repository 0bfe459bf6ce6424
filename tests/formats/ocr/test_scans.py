"""Scans are read without the grain of their paper, and large ones at half their size."""

from __future__ import annotations

import io
from random import Random
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFont

from dlpctl.formats.ocr import Word
from dlpctl.formats.ocr.passes import look
from dlpctl.formats.ocr.scans import without_grain

if TYPE_CHECKING:
    from limits import Limiter
    from played_tesseract import PlayedTesseract

NOISE = Image.frombytes("L", (300, 200), Random(4).randbytes(300 * 200))
TEXT = "Refund to 4111 1111 1111 1111"


def scanned(size: tuple[int, int], *, ink: int = 10, grain: bool = True) -> Image.Image:
    picture = Image.new("L", size, 220)
    for top in range(100, size[1] - 100, 100):
        ImageDraw.Draw(picture).text((40, top), TEXT, ink, ImageFont.load_default(50))
    if not grain:
        return picture
    noise = Image.new("L", size)
    for left in range(0, size[0], NOISE.width):
        for top in range(0, size[1], NOISE.height):
            noise.paste(NOISE, (left, top))
    return ImageChops.add(picture, noise.point(lambda shade: shade // 8), 1, -16)


@pytest.mark.parametrize(
    ("grain", "most", "least", "widths"),
    [
        (True, 45, 13, [400]),
        (True, 45, 12, [400, 136]),
        (True, 12, 12, [400, 800]),
        (False, 45, 13, [800]),
    ],
    ids=["large letters", "a line of small letters", "small letters", "no grain"],
)
def test_a_large_scan_is_read_at_half_its_size_where_its_letters_are_large(
    grain: bool,
    most: int,
    least: int,
    widths: list[int],
    limit: Limiter,
    tesseract: PlayedTesseract,
) -> None:
    limit("dlpctl.formats.ocr.scans._LARGE", 400_000)
    shown: list[int] = []

    def words(data: bytes, *, pages: int, sparse: bool) -> list[list[Word]]:
        if sparse:
            return [[]] * pages
        with Image.open(io.BytesIO(data)) as file:
            shown.append(file.width)
        boxes = [(15, top, 350, most) for top in range(45, 250, 50)]
        return [
            [
                Word(TEXT, str(box[1]), *(number * shown[-1] // 400 for number in box), 95.0)
                for box in (*boxes, (15, 205, 60, least))
            ]
        ] * pages

    tesseract(words)
    seen = look(scanned((800, 600), grain=grain), enlarge=False)
    assert shown[: len(widths)] == widths
    assert (800 in shown) == (800 in widths)
    if grain and most == 45:
        assert seen.words[0].corners[0] == (30, 90)
    if widths == [400, 136]:
        left, top = seen.words[6].corners[0]
        assert abs(left - 30) < 30
        assert abs(top - 400) < 30


def test_faint_letters_that_only_half_the_size_shows_are_not_inspected(
    limit: Limiter, tesseract: PlayedTesseract
) -> None:
    limit("dlpctl.formats.ocr.scans._LARGE", 400_000)

    def words(data: bytes, *, pages: int, sparse: bool) -> list[list[Word]]:
        with Image.open(io.BytesIO(data)) as file:
            if sparse or file.width != 400:
                return [[]] * pages
        sure = [Word(TEXT, str(top), 15, top, 350, 45, 95.0) for top in range(45, 200, 50)]
        return [[*sure, Word(TEXT, "faint", 15, 275, 330, 20, 40.0)]] * pages

    tesseract(words)
    picture = scanned((800, 600))
    draw = ImageDraw.Draw(picture)
    draw.text((40, 545), TEXT, 196, ImageFont.load_default(40))
    assert look(picture, enlarge=False).unread


def test_grain_is_no_ink() -> None:
    even = without_grain(scanned((600, 400)))
    assert even.crop((0, 0, 600, 90)).getextrema()[0] == even.crop((0, 0, 600, 90)).getextrema()[1]
    assert even.crop((40, 100, 560, 160)).getextrema()[0] < 30


def test_faint_letters_and_stripes_are_no_grain() -> None:
    faint, striped = scanned((600, 400), ink=200), scanned((600, 400), grain=False)
    for top in range(0, 400, 4):
        ImageDraw.Draw(striped).line((0, top, 600, top), fill=190)
    for picture in (faint, striped, NOISE):
        assert without_grain(picture).tobytes() == picture.tobytes()
