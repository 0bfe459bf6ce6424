"""One run of the system's tesseract, if installed, over a picture.

`passes` decides which runs a picture needs, `views` which texts are searched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import NamedTuple

from dlpctl.errors import FormatError

MISSING = "tesseract is not installed, so pictures were not read"
_SPARSE, _LINE = ("--psm", "11"), ("--psm", "7")
_WORD_LEVEL = "5"
_SECONDS = 30.0
"""Tesseract takes minutes for noise, and a few seconds for the largest page."""


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


def program() -> str | None:
    """Return the path of tesseract; None if it is not installed."""
    return shutil.which("tesseract")


def words(picture: bytes, *, pages: int = 1, sparse: bool = False) -> list[list[Word]]:
    """Return the words of each page in reading order; `sparse` ignores columns and paragraphs.

    Most of a run over a small picture is start-up time, so several pictures are best passed as one
    TIFF.
    """
    return _words(picture, pages, _SPARSE if sparse else (), _SECONDS * pages)


def line_words(picture: bytes, *, pages: int = 1) -> list[list[Word]]:
    """Return the words of each page, which shows a single line."""
    return _words(picture, pages, _LINE, _SECONDS)


def _words(picture: bytes, pages: int, layout: tuple[str, ...], seconds: float) -> list[list[Word]]:
    found: list[list[Word]] = [[] for _ in range(pages)]
    for row in _table(picture, layout, seconds).splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == _WORD_LEVEL and cells[11].strip():
            left, top, width, height = map(int, cells[6:10])
            line, confidence = "/".join(cells[1:5]), float(cells[10])
            word = Word(cells[11], line, left, top, width, height, confidence)
            page = found[int(cells[1]) - 1]
            if page and _goes_on(page[-1], word):
                word = _joined(page.pop(), word)
            page.append(word)
    return found


def _table(picture: bytes, layout: tuple[str, ...], seconds: float) -> str:
    """Return tesseract's output as a table of blocks, lines and words."""
    tesseract = program()
    if tesseract is None:
        raise FormatError(MISSING)
    try:
        result = subprocess.run(
            [tesseract, "stdin", "stdout", *layout, "tsv"],
            input=picture,
            capture_output=True,
            check=True,
            timeout=seconds,
            # Its threads block each other: one thread is as fast.
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise OcrTimeoutError("OCR of a picture takes too long: leave the picture out") from error
    except (subprocess.CalledProcessError, OSError) as error:
        raise FormatError(
            "tesseract failed: run `tesseract --list-langs` to see whether it works"
        ) from error
    return result.stdout.decode("utf-8", "replace")


def _goes_on(last: Word, word: Word) -> bool:
    """Return whether two words are an address: OCR often reads a space before an `@`."""
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
