"""HEIC pictures: each of their pictures is read, and what is beside the pixels can be removed.

`phone.heic` is built as phones build theirs: a picture of two tiles, which shows `Invoice for the
chairs`, a thumbnail of an earlier state, which shows `draft of May`, the position in Exif and a
photographer's address in XMP.
"""

from __future__ import annotations

import io
import shutil
from contextlib import suppress
from pathlib import Path

import pi_heif
import pytest

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats import ocr
from dlpctl.formats.discovery import format_named
from dlpctl.formats.image import Picture
from dlpctl.formats.interface import Document, Edit, Limits
from dlpctl.formats.pictures.kinds import BESIDE
from dlpctl.formats.recognition import recognize

LIMITS = Limits()
PHONE = Path(__file__).with_name("phone.heic").read_bytes()
ILOC = b"iloc\x01\0\0\0\x44"
POSITION, MAIL = "GPS: 48.858222, 2.294500", "jane.roe@example.com"


@pytest.fixture
def chosen(no_tesseract: None) -> Picture:
    return format_named("image")


def reasons(document: Document) -> list[str]:
    return [part.reason for part in document.uninspected if part.reason != ocr.MISSING]


def pixels(data: bytes) -> bytes:
    return pi_heif.open_heif(io.BytesIO(data)).to_pillow().tobytes()


def test_notes_of_a_photo_are_found_and_gone(chosen: Picture) -> None:
    assert recognize(PHONE, "a.bin") is chosen
    document = chosen.extract(PHONE, LIMITS)
    assert not reasons(document)
    texts = [segment.text for segment in document.segments]
    assert POSITION in texts
    assert any(MAIL in text for text in texts)
    copy = chosen.mask(PHONE, document, [Edit(texts.index(POSITION), 5, 24, "")], {})
    assert not any(segment.text.strip() for segment in chosen.extract(copy, LIMITS).segments)
    assert MAIL.encode() not in copy
    assert pixels(copy) == pixels(PHONE)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_words_of_a_thumbnail_are_read_and_not_painted_over() -> None:
    chosen = format_named("image")
    document = chosen.extract(PHONE, LIMITS)
    words = [segment.text for segment in document.segments]
    assert {"Invoice", "chairs", "draft", "May"} <= {*words}
    with pytest.raises(CannotMaskError, match="save it as JPEG or PNG"):
        chosen.mask(PHONE, document, [Edit(words.index("draft"), 0, 5, "")], {})


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(PHONE + b"\0\0\0\x0cfreewas ", id="text in a free box"),
        pytest.param(PHONE + b"\0\0\0\x08udta", id="an unknown box"),
        pytest.param(PHONE.replace(b"application/rdf+xml", b"application/xxx+xml"), id="a note"),
        pytest.param(PHONE.replace(b"\0\x06\0\0mime", b"\0\x06\0\0uri "), id="an unknown item"),
        pytest.param(PHONE.replace(b"ispe", b"clap"), id="pixels that are not shown"),
        pytest.param(PHONE.replace(ILOC, ILOC[:8] + b"\x40"), id="ranges without a length"),
        pytest.param(PHONE.replace(b"\0\x04\0\0hvc1", b"\0\x04\0\0av01"), id="another codec"),
    ],
)
def test_a_file_with_more_than_pictures_is_not_inspected(other: bytes, chosen: Picture) -> None:
    assert other != PHONE
    document = None
    with suppress(FormatError):  # it cannot be decoded either
        document = chosen.extract(other, LIMITS)
    assert document is None or BESIDE in reasons(document)
