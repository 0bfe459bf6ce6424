"""One run of the system's tesseract, where there is one, over a picture as it is.

`ocrpasses` decides which runs a picture needs, `ocrviews` what is searched in their words.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from typing import NamedTuple

from dlpctl.errors import FormatError

MISSING = "tesseract is not installed, so pictures were not read"
_SPARSE = ("--psm", "11")
_WORD_LEVEL = "5"
_SECONDS = 30.0
"""Tesseract takes minutes over noise, and a few seconds over the largest page."""


class OcrTimeoutError(FormatError):
    """A picture takes tesseract too long."""


class Word(NamedTuple):
    """A word, its line, and its box in pixels."""

    text: str
    line: str
    left: int
    top: int
    width: int
    height: int
    confidence: float = 100.0


@cache
def program() -> str | None:
    """Return the path of tesseract, None where it is not installed."""
    return shutil.which("tesseract")


def words(png: bytes, *, sparse: bool = False) -> list[Word]:
    """Return the words of a picture in reading order; `sparse` ignores columns and paragraphs."""
    tesseract = program()
    if tesseract is None:
        raise FormatError(MISSING)
    try:
        result = subprocess.run(
            [tesseract, "stdin", "stdout", *(_SPARSE if sparse else ()), "tsv"],
            input=png,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            # Its threads fight each other: one is as fast.
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise OcrTimeoutError("OCR of a picture takes too long: leave the picture out") from error
    except (subprocess.CalledProcessError, OSError) as error:
        raise FormatError(
            "tesseract failed: run `tesseract --list-langs` to see whether it works"
        ) from error
    found: list[Word] = []
    for row in result.stdout.decode("utf-8", "replace").splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == _WORD_LEVEL and cells[11].strip():
            left, top, width, height = map(int, cells[6:10])
            line, confidence = "/".join(cells[1:5]), float(cells[10])
            word = Word(cells[11], line, left, top, width, height, confidence)
            if found and _goes_on(found[-1], word):
                word = _joined(found.pop(), word)
            found.append(word)
    return found


def _goes_on(last: Word, word: Word) -> bool:
    """Return whether two words are an address: OCR often sees a space before an `@`."""
    if last.line != word.line or not (word.text[:1] == "@" or last.text[-1:] == "@"):
        return False
    return abs(word.left - last.left - last.width) * 2 < max(last.height, word.height)


def _joined(last: Word, word: Word) -> Word:
    left, top = min(last.left, word.left), min(last.top, word.top)
    right = max(last.left + last.width, word.left + word.width)
    bottom = max(last.top + last.height, word.top + word.height)
    return Word(
        last.text + word.text,
        last.line,
        left,
        top,
        right - left,
        bottom - top,
        min(last.confidence, word.confidence),
    )
