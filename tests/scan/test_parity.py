"""`scan` and `check` read a file in the same way, or `scan` reports what it did not inspect."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pikepdf
import PIL.Image
import pytest

from dlpctl.detect.allow import AllowList
from dlpctl.detect.engine import Detector
from dlpctl.errors import FormatError
from dlpctl.formats.discovery import formats
from dlpctl.formats.files import Files
from dlpctl.scan.content import Examiner
from dlpctl.scan.recognized import recognized
from dlpctl.scan.results import Result, Skip, Why
from dlpctl.scan.scanner import Scan
from dlpctl.scan.selection import Selection
from tests.formats.conftest import SAMPLES

BADGE = "AC-12345678"
REPORTED = {Why.UNREADABLE, Why.UNINSPECTED, Why.BINARY}


@pytest.fixture(scope="module")
def files() -> Iterator[Files]:
    with Files() as opened:
        yield opened


def scanned(detector: Detector, name: str, data: bytes) -> tuple[list[Result], list[Skip]]:
    Path(name).write_bytes(data)
    found = list(Scan(Examiner(detector, 0.5, AllowList()), Selection()).files([name]))
    return [one for one in found if isinstance(one, Result)], [
        one for one in found if isinstance(one, Skip)
    ]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
@pytest.mark.parametrize("junk", [b"", b"junk\n", b"\xef\xbb\xbf", b"\0"])
def test_scan_reads_what_check_reads(
    badges: Detector,
    files: Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sample: object,
    junk: bytes,
) -> None:
    monkeypatch.chdir(tmp_path)
    name, data = getattr(sample, "name"), junk + getattr(sample, "make")()  # noqa: B009
    shows_all = {found.name for found in formats() if getattr(found, "shows_all", False)}
    _, skips = scanned(badges, name, data)
    reported = {one.why for one in skips} & REPORTED
    try:
        checked = files.open(data, name)
    except FormatError:
        assert reported
        return
    content = recognized(data, name)
    if not reported:
        assert content.format == checked.document.format or (
            (content.is_text or content.in_process) and checked.document.format in shows_all
        )
    assert bool(list(checked.uninspected())) <= bool(reported)


def hidden_in_pdf() -> bytes:
    with pikepdf.new() as made:
        made.add_blank_page()
        made.docinfo["/Subject"] = BADGE
        output = io.BytesIO()
        made.save(output, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return output.getvalue()


def hidden_in_picture(kind: str) -> bytes:
    output = io.BytesIO()
    image = PIL.Image.new("RGB", (8, 8), "white")
    exif = image.getexif()
    exif[0x010E] = BADGE
    image.save(output, kind, exif=exif)
    return output.getvalue()


def hidden_in_zip() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.txt", f"{BADGE}\n" * 30)
    return output.getvalue()


HIDDEN: dict[str, tuple[str, Callable[[], bytes]]] = {
    "pdf after junk": ("a.pdf", lambda: b"junk\n" * 50 + hidden_in_pdf()),
    "pdf after junk, by another name": ("notes.txt", lambda: b"junk\n" * 50 + hidden_in_pdf()),
    "rtf with a byte order mark": ("a.rtf", lambda: b"\xef\xbb\xbf{\\rtf1 AC-12{\\b 34}5678 }"),
    "webp": ("a.webp", lambda: hidden_in_picture("WEBP")),
    "spanned zip": ("a.zip", lambda: b"PK\x07\x08" + hidden_in_zip()),
    "zip after text": ("run.sh", lambda: b"#!/bin/sh\n" * 9000 + hidden_in_zip()),
    "mail without a suffix": (
        "mail",
        lambda: (
            b"From: a@b.example\nTo: c@d.example\nSubject: x\nDate: y\nMIME-Version: 1.0\n"
            b"Content-Transfer-Encoding: base64\n\n" + b"QUMtMTIzNDU2Nzg=\n"
        ),
    ),
}


@pytest.mark.parametrize("what", HIDDEN)
def test_what_only_the_format_shows_is_found(
    badges: Detector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    name, make = HIDDEN[what]
    results, _ = scanned(badges, name, make())
    assert {one.type for one in results} == {"BADGE"}


def test_a_picture_named_as_a_bitmap_is_opened(
    badges: Detector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = io.BytesIO()
    PIL.Image.new("RGB", (8, 8)).save(output, "BMP")
    assert scanned(badges, "a.bmp", output.getvalue()) == ([], [])
    assert scanned(badges, "a.dat", output.getvalue()) == ([], [])
