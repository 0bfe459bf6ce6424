"""Read an unsure line again, alone and with letters of the height that OCR reads best."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING

from dlpctl.formats import ocr

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PIL.Image import Image

    from dlpctl.formats.ocr import Word

Box = tuple[float, float, float, float]
CONFIDENT = 70.0
"""The minimum confidence of a line that counts as read."""
LEAST_TEXT = 3
"""The minimum number of letters and digits of a line that OCR did not invent."""
MOST_LINES = 80
"""The maximum number of lines that are read again; a picture with more is hardly legible."""
HEIGHTS = 36, 60
"""The heights in pixels to which a line is scaled."""
_MARGIN = 20
"""The paper around a line, without which its outer letters are missed."""
_WIDEST = 6000
_LETTERS = re.compile(rb"[^\0]{4,}")
"""The ink of a column that may be a letter; lower ink is a rule, a border or specks."""


def read_again(
    picture: Image, lines: Sequence[tuple[Box, Iterable[Word]]]
) -> list[list[list[Word]]]:
    """Return the confident readings of each line, given as its box and its unsure words.

    Digits decide about values, so a reading counts only if another has the same digits.
    """
    crops = [crop_of(picture, box, height) for box, _ in lines for height in HEIGHTS]
    found = ocr.line_words(file_of([crop for crop, _, _ in crops]), pages=len(crops))
    readings = [
        [moved(word, origin, times) for word in words]
        for words, (_, origin, times) in zip(found, crops, strict=True)
    ]
    count = len(HEIGHTS)
    return [
        agreed(readings[at * count : (at + 1) * count], list(words))
        for at, (_, words) in enumerate(lines)
    ]


def agreed(readings: list[list[Word]], *others: list[Word]) -> list[list[Word]]:
    """Return the confident readings whose digits another one has, too."""
    digits = [_digits(line) for line in (*readings, *others)]
    return [
        line
        for number, line in enumerate(readings)
        if confidence(line) >= CONFIDENT
        and text_length(line) >= LEAST_TEXT
        and digits[number] in digits[:number] + digits[number + 1 :]
    ]


def _digits(line: Iterable[Word]) -> str:
    return "".join(filter(str.isdigit, text_of(line)))


def confidence(line: Iterable[Word]) -> float:
    """Return the confidence of a line, weighted by the length of its words."""
    weights = [(len(word.text), word.confidence) for word in line]
    return sum(length * each for length, each in weights) / max(
        sum(length for length, _ in weights), 1
    )


def box_of(line: Sequence[Word], times: float) -> Box:
    """Return the box of a line in a picture that was enlarged for it."""
    word = joined(line)
    right, bottom = word.left + word.width, word.top + word.height
    return word.left / times, word.top / times, right / times, bottom / times


def joined(line: Sequence[Word]) -> Word:
    """Return a line as a single word, with a box around all of its words."""
    left, top = min(word.left for word in line), min(word.top for word in line)
    right = max(word.left + word.width for word in line)
    bottom = max(word.top + word.height for word in line)
    return line[0]._replace(left=left, top=top, width=right - left, height=bottom - top)


def text_of(line: Iterable[Word]) -> str:
    return " ".join(word.text for word in line)


def text_length(line: Iterable[Word]) -> int:
    """Return the number of letters and digits of a line."""
    return sum(sum(map(str.isalnum, word.text)) for word in line)


def is_long(line: Iterable[Word]) -> bool:
    return text_length(line) >= 2 * LEAST_TEXT


def paper_of(picture: Image) -> int:
    """Return the most frequent shade."""
    shades = picture.histogram()
    return shades.index(max(shades))


def file_of(pictures: Sequence[Image]) -> bytes:
    """Return one file with a page for each picture."""
    output = io.BytesIO()
    first, *more = pictures
    if more:
        # Fax compression, which Pillow keeps from the source file, supports only two shades.
        first.save(output, "TIFF", save_all=True, append_images=more, compression="raw")
    else:
        first.save(output, "PPM")
    return output.getvalue()


def crop_of(
    picture: Image, box: Box, height: int, *, room: bool = True
) -> tuple[Image, tuple[float, float], float]:
    """Return a line on paper, where the crop starts in the picture, and how much it is enlarged.

    `room` adds half the height of the line on each side.
    """
    from PIL import ImageOps
    from PIL.Image import Resampling

    left, top, right, bottom = box
    high = max(bottom - top, 1.0)
    around = high / 2 if room else 0.0
    borders = (
        max(math.floor(left - around), 0),
        max(math.floor(top - around), 0),
        min(math.ceil(right + around), picture.width),
        min(math.ceil(bottom + around), picture.height),
    )
    crop = picture.crop(borders)
    times = min(height / high, _WIDEST / max(crop.width, 1))
    size = max(round(crop.width * times), 1), max(round(crop.height * times), 1)
    shown = ImageOps.expand(crop.resize(size, Resampling.LANCZOS), _MARGIN, fill=paper_of(crop))
    return shown, (borders[0] - _MARGIN / times, borders[1] - _MARGIN / times), times


def has_letters(picture: Image, box: Box) -> bool:
    """Return whether ink in a box is as high as letters: a slanting rule is only lower."""
    from PIL import ImageOps
    from PIL.Image import Transpose

    left, top, right, bottom = map(round, box)
    crop = picture.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
    low, high = crop.getextrema()
    faintest = (high - low) / 3  # type: ignore[operator]
    paper = paper_of(crop)
    ink = crop.point([255 * (abs(shade - paper) > faintest) for shade in range(256)])
    columns = ImageOps.expand(ink, 1, 0).transpose(Transpose.TRANSPOSE)
    return _LETTERS.search(columns.tobytes()) is not None


def moved(word: Word, origin: tuple[float, float], times: float) -> Word:
    """Return a word of a crop at its place in the picture."""
    left, top = (origin[0] + word.left / times, origin[1] + word.top / times)
    right, bottom = left + word.width / times, top + word.height / times
    left, top = math.floor(left), math.floor(top)
    return word._replace(
        left=left, top=top, width=math.ceil(right) - left, height=math.ceil(bottom) - top
    )
