"""Rows of letters are recognized by their shapes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageDraw, ImageFont

from dlpctl.formats.ocr.passes import look
from dlpctl.formats.ocr.rows import rows_of_letters

if TYPE_CHECKING:
    from limits import Limiter
    from played_tesseract import PlayedTesseract


NOISE = Random(4).randbytes(500 * 300)


def written(turn: float = 0.0, text: str = "Refund to 4111 1111 1111 1111") -> Image.Image:
    picture = Image.new("L", (500, 120), 250)
    font = ImageFont.load_default(24)
    ImageDraw.Draw(picture).text((20, 40), text, fill=10, font=font)
    return picture.rotate(turn, Image.Resampling.BICUBIC, expand=True, fillcolor=250)


def drawn(name: str) -> Image.Image:
    picture = Image.new("L", (500, 300), 250)
    draw = ImageDraw.Draw(picture)
    for x in range(20, 460, 40):
        if name == "icons":
            draw.ellipse((x, 20, x + 24, 44), outline=10, width=3)
        elif name == "bars":
            draw.rectangle((x, 290 - x // 2, x + 20, 290), fill=10)
        elif name == "columns":
            draw.rectangle((x, 150, x + 28, 200 + x % 50), fill=10)
        elif name == "dashes":
            draw.line((x, 100, x + 25, 100), fill=10, width=3)
        else:
            draw.line((x, 20, 500 - x, 280), fill=10)
    return picture


@pytest.mark.parametrize("turn", [0, 8, -12, 90, 270])
def test_a_row_of_letters_is_found(turn: float) -> None:
    assert rows_of_letters(written(turn))


@pytest.mark.parametrize(
    "text", ["4111  1111  1111  1111  and  412  55", "412-55-4321  415-56-4322"]
)
def test_a_row_may_have_gaps_between_words(text: str) -> None:
    assert rows_of_letters(written(text=text))


def test_a_row_that_is_struck_through_is_found() -> None:
    picture = written()
    ImageDraw.Draw(picture).line((10, 56, 490, 56), fill=10, width=2)
    assert rows_of_letters(picture)


@pytest.mark.parametrize("name", ["icons", "bars", "columns", "dashes", "rays", "noise"])
def test_a_drawing_has_no_letters(name: str) -> None:
    picture = Image.frombytes("L", (500, 300), NOISE) if name == "noise" else drawn(name)
    assert not rows_of_letters(picture)


def test_letters_that_ocr_does_not_see_are_not_inspected(tesseract: PlayedTesseract) -> None:
    tesseract(lambda _, *, pages=1, **__: [[]] * pages, lambda _, *, pages=1, **__: [[]] * pages)
    assert look(written()).unread


def test_a_picture_of_many_rows_is_not_inspected_itself(
    limit: Limiter, tesseract: PlayedTesseract
) -> None:
    limit("dlpctl.formats.ocr.passes._MOST_BOXES", 2)
    tesseract(lambda _, *, pages=1, **__: [[]] * pages, lambda _, *, pages=1, **__: [[]] * pages)
    (corners,) = look(written()).unread
    assert corners == ((0, 0), (500, 0), (500, 120), (0, 120))
