"""A program `tesseract` that a test plays, and a machine without one."""

from __future__ import annotations

import io
import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from PIL import Image

from dlpctl.formats.ocr import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PROGRAM = """#!/bin/sh
cat > "$0.$$"
mkfifo "$0.$$.words"
echo "$$ $*" > "$0.asked"
exec cat "$0.$$.words"
"""
"""Several may run at the same time: a line of a pipe is written at once."""
_HEADER = "header\n"
_LINE, _SPARSE = "--psm 7", "--psm 11"


class Reader(Protocol):
    """Returns the words of each page of a picture."""

    def __call__(self, picture: bytes, /, *, pages: int) -> list[list[Word]]: ...


class PlayedTesseract:
    """A program that passes pictures to the functions of a test and prints the words they return.

    A function that raises `TimeoutError` keeps the program waiting until it is killed.
    """

    def __init__(self, program: Path) -> None:
        self._program = str(program)
        program.write_text(_PROGRAM)
        program.chmod(0o700)
        os.mkfifo(f"{program}.asked")
        self._read: dict[str, Callable[..., list[list[Word]]]] = {}
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __call__(
        self,
        words: Callable[..., list[list[Word]]],
        line_words: Callable[..., list[list[Word]]] | None = None,
    ) -> None:
        """Read pages as `words` does, and single lines as `line_words` does."""
        self._read = {"words": words, "line": line_words or _nothing}

    def close(self) -> None:
        """End the program; raise the error of a function."""
        Path(f"{self._program}.asked").write_text("\n")
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _serve(self) -> None:
        # Its own writing end keeps the pipe open between two runs.
        with Path(f"{self._program}.asked").open("r+b", 0) as asked:
            while line := asked.readline().decode().strip():
                number, _, arguments = line.partition(" ")
                picture = Path(f"{self._program}.{number}").read_bytes()
                try:
                    answer = self._table(arguments, picture)
                except TimeoutError:
                    continue
                except BaseException as error:
                    self._error, answer = error, ""
                Path(f"{self._program}.{number}.words").write_text(_HEADER + answer)

    def _table(self, arguments: str, picture: bytes) -> str:
        pages = _page_count(picture)
        if _LINE in arguments:
            read = self._read["line"](picture, pages=pages)
        else:
            read = self._read["words"](picture, pages=pages, sparse=_SPARSE in arguments)
        return "".join(
            "\t".join(map(str, (5, page, 1, 1, word.line, 1, *word[2:], word.text))) + "\n"
            for page, words in enumerate(read, 1)
            for word in words
        )


def _nothing(_: bytes, *, pages: int) -> list[list[Word]]:
    return [[]] * pages


def _page_count(picture: bytes) -> int:
    with Image.open(io.BytesIO(picture)) as image:
        return int(getattr(image, "n_frames", 1))


@pytest.fixture
def tesseract(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PlayedTesseract]:
    """A program `tesseract` that reads as the test says."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("the program talks to the test through named pipes")
    folder = tmp_path_factory.mktemp("tesseract")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    played = PlayedTesseract(folder / "tesseract")
    yield played
    played.close()


@pytest.fixture(scope="session")
def path_without_tesseract(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The PATH of a machine that has every program except tesseract."""
    folders = []
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        if shutil.which("tesseract", path=str(folder)) is None:
            folders.append(folder)
            continue
        links = tmp_path_factory.mktemp("programs")
        for program in folder.iterdir():
            if program.stem != "tesseract":
                (links / program.name).symlink_to(program)
        folders.append(links)
    return os.pathsep.join(map(str, folders))


@pytest.fixture
def no_tesseract(path_without_tesseract: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which tesseract is not installed."""
    monkeypatch.setenv("PATH", path_without_tesseract)
