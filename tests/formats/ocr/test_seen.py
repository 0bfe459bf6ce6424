"""The words of a picture are known to the following workers, and read again only if it may differ."""

from __future__ import annotations

import io
import math
import time
from typing import TYPE_CHECKING

import pytest
from limits import limited
from PIL import Image, ImageDraw

from dlpctl.files.checking import FileChecker
from dlpctl.formats import ocr
from dlpctl.formats.isolation import messages
from dlpctl.formats.ocr import seen as seen_pictures
from dlpctl.formats.ocr.passes import look, look_sparsely
from dlpctl.formats.ocr.seen import ReadPictures, Seen, SeenWord, recalled
from dlpctl.preflight import checker_for
from dlpctl.processes.schema import decode, encode
from dlpctl.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from played_tesseract import PlayedTesseract
    from workers_here import WorkerHere

    from dlpctl.detect.engine import Detector

MEMORY = 1 << 30
BOX = (0.0, 0.0, 1.0, 1.0)
CORNERS = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))


@pytest.fixture
def runs(tesseract: PlayedTesseract) -> Iterator[list[bool]]:
    """The runs of OCR, which reads a word on each picture: whether each was sparse."""
    made: list[bool] = []

    def words(picture: bytes, *, pages: int = 1, sparse: bool = False) -> list[list[ocr.Word]]:
        made.append(sparse)
        return [[ocr.Word("garden", "1", 100, 100, 120, 40, 95.0)] for _ in range(pages)]

    tesseract(words)
    seen_pictures.keep(ReadPictures(MEMORY))
    yield made
    seen_pictures.keep(None)


def picture(shade: str = "black") -> Image.Image:
    image = Image.new("L", (400, 300), "white")
    ImageDraw.Draw(image).rectangle((100, 100, 220, 140), fill=shade)
    return image


def after(first: Callable[[], object], second: Callable[[], object], runs: list[bool]) -> int:
    """Return the number of runs that the second call makes after the first."""
    first()
    before = len(runs)
    second()
    return len(runs) - before


@pytest.mark.parametrize(
    ("first", "second", "known"),
    [
        (lambda: look(picture()), lambda: look(picture()), True),
        (lambda: look_sparsely(picture()), lambda: look_sparsely(picture()), True),
        (lambda: look(picture()), lambda: look(picture("#202020")), False),
        (lambda: look(picture()), lambda: look(picture(), enlarge=False), False),
        (lambda: look(picture()), lambda: look_sparsely(picture()), False),
        (lambda: look(picture(), until=0.0), lambda: look(picture()), False),
        (lambda: look(picture()), lambda: look(picture(), until=0.0), True),
    ],
    ids=["same", "same, sparse", "pixels", "enlarged", "sparse", "cut by time", "known in time"],
)
def test_a_picture_is_known_by_its_pixels_and_its_setting(first, second, known, runs):
    assert (after(first, second, runs) == 0) is known


def test_a_run_that_took_too_long_is_not_kept(tesseract):
    is_slow = [True, False]

    def words(_: bytes, *, pages: int, **__: bool) -> list[list[ocr.Word]]:
        if is_slow.pop(0) if is_slow else False:
            raise TimeoutError
        return [[ocr.Word("garden", "1", 100, 100, 120, 40, 95.0)]] * pages

    seen_pictures.keep(ReadPictures(MEMORY))
    tesseract(words)
    with limited("dlpctl.formats.ocr._SECONDS", 0.3):
        assert look(picture()).unread
    assert not look(picture()).unread
    seen_pictures.keep(None)


@pytest.mark.parametrize("most", [5_000, 1_000_000])
def test_memory_is_bounded(most: int, runs: list[bool]) -> None:
    kept = ReadPictures(most)
    seen_pictures.keep(kept)
    seen = Seen([SeenWord("a" * 100, "0/0", BOX, CORNERS)], [])
    for number in range(1200):
        recalled(str(number), picture(), math.inf, lambda: seen)
    sent = kept.messages()
    assert 0 < len(sent) <= 1000
    assert sum(len(text) for each in sent for text in each.texts) < most
    recalled("1199", picture(), time.monotonic() + 60, lambda: pytest.fail("read again"))
    huge = Seen([SeenWord("a" * most, "0/0", BOX, CORNERS)], [])
    assert recalled("huge", picture(), math.inf, lambda: huge) is huge
    assert len(kept.messages()) == len(sent)


def test_words_and_unread_areas_survive_a_message() -> None:
    kept, following = ReadPictures(MEMORY), ReadPictures(MEMORY)
    seen = Seen([SeenWord("garden", "0/1", BOX, CORNERS)], [CORNERS, CORNERS])
    kept.add(b"key", seen)
    sent = encode(messages.REPLY, messages.Pictures(kept.messages()))
    following.add_messages(decode(messages.REPLY, sent).pictures)
    assert following.get(b"key") == seen


@pytest.mark.parametrize(("texts", "numbers"), [(1, 11), (1, 13), (2, 12), (0, 4)])
def test_columns_that_do_not_fit_are_refused(texts: int, numbers: int) -> None:
    sent = seen_pictures.ReadPicture(b"", ["a"] * texts, ["0"] * texts, [0.0] * numbers)
    assert not sent.is_consistent


def test_a_copy_is_verified_without_reading_its_pictures_again(
    library: Detector, runs: list[bool], workers_here: type[WorkerHere]
) -> None:
    import docx

    shown, written = io.BytesIO(), io.BytesIO()
    picture().save(shown, "PNG")
    document = docx.Document()
    document.add_paragraph("IBAN DE89 3704 0044 0532 0130 00")
    document.add_picture(shown)
    document.save(written)
    checker = FileChecker(checker_for("VENDOR", None, library, None, None), method=workers_here)
    report = checker.check(written.getvalue(), "a.docx")
    assert report.decision is Decision.ALLOWED_WITH_MASKING
    read = len(runs)
    seen_pictures.keep(None)
    runs.clear()
    look(picture())
    look_sparsely(picture())
    assert read == len(runs)
