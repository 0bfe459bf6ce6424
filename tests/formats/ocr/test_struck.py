"""Words that are struck through are read without the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageOps

from dlpctl.formats.ocr import Word
from dlpctl.formats.ocr.passes import look
from dlpctl.formats.ocr.struck import without_strikes

if TYPE_CHECKING:
    from played_tesseract import PlayedTesseract


def written(rule: int | None = None, thickness: int = 2) -> Image.Image:
    picture = Image.new("L", (500, 120), 250)
    draw = ImageDraw.Draw(picture)
    draw.text((20, 40), "Refund to 4111 1111 1111 1111", fill=10, font=ImageFont.load_default(24))
    if rule is not None:
        draw.line((10, rule, 490, rule), fill=10, width=thickness)
    return picture


@pytest.mark.parametrize("dark", [False, True])
def test_a_rule_through_letters_is_taken_out(dark: bool) -> None:
    struck = ImageOps.invert(written(56)) if dark else written(56)
    unstruck = without_strikes(struck)
    assert unstruck is not None
    before, after = (
        sum(ImageChops.difference(each, written()).histogram()[100:])
        for each in (written(56), unstruck.picture)
    )
    assert 4 * after < before


@pytest.mark.parametrize("name", ["nothing", "below", "table", "block"])
def test_a_rule_that_crosses_no_letters_stays(name: str) -> None:
    picture = written(80 if name == "below" else None)
    draw = ImageDraw.Draw(picture)
    if name == "table":
        for x in range(10, 490, 96):
            draw.rectangle((x, 20, x + 96, 90), outline=10, width=2)
    elif name == "block":
        draw.rectangle((10, 90, 490, 110), fill=10)
    assert without_strikes(picture) is None


@pytest.mark.parametrize(
    ("again", "thickness", "unread"),
    [(["4111 1111"] * 2, 2, 0), (["4111 1117", "4111 1177"], 2, 1), (["4111 1111"] * 2, 5, 1)],
    ids=["alike", "other digits", "a thick rule"],
)
def test_digits_that_are_struck_through_have_to_read_alike(
    again: list[str], thickness: int, unread: int, tesseract: PlayedTesseract
) -> None:
    def words(_: bytes, *, pages: int, sparse: bool) -> list[list[Word]]:
        texts = ["Refund to 1111 1111 1111"] * (pages - 1) + ["Refund to 4111 1111 1111"]
        sizes = [3 * (pages > 2 and number > 0) or 1 for number in range(pages)]
        return [
            [] if sparse else [Word(text, "1", *(each * size for each in (20, 40, 400, 24)), 95.0)]
            for text, size in zip(texts, sizes, strict=True)
        ]

    def line_words(_: bytes, *, pages: int) -> list[list[Word]]:
        return [[Word(text, "1", 20, 20, 400, 30, 95.0)] for text in again[:pages]]

    tesseract(words, line_words)
    assert len(look(written(56, thickness)).unread) == unread
