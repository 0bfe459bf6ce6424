"""The words of pictures as OCR reads them, and those of the pictures that a process has read.

Rounds of masking and their verification read mostly the same pictures. A worker keeps what it read,
and the parent passes it to the following workers. A hijacked worker gains nothing by this: it could
return an empty document at once.
"""

from __future__ import annotations

import time
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from PIL.Image import Image

Point = tuple[float, float]
Corners = tuple[Point, Point, Point, Point]
_MOST_PICTURES = 1000
_WORD_BYTES = 800
"""The memory that a word takes besides its text."""
_OF_WORD, _OF_UNREAD = 12, 8
"""The numbers of a word, which are its box and corners, and of an area that was not read."""


class SeenWord(NamedTuple):
    """A word of a picture."""

    text: str
    line: str
    """Identifies the word's line among those of all passes."""
    box: tuple[float, float, float, float]
    """Left, top, right and bottom as read; comparable only within one pass."""
    corners: Corners
    """The corners in pixels of the picture, clockwise from the start of the word's top."""


class Seen(NamedTuple):
    """The words of a picture, and the areas that were not read."""

    words: list[SeenWord]
    unread: list[Corners]
    """Lines of writing that no pass could read."""


class ReadPicture(NamedTuple):
    """The words of one picture, as a message."""

    key: bytes
    """The hash of the settings and the pixels."""
    texts: list[str]
    lines: list[str]
    numbers: list[float]

    @property
    def is_consistent(self) -> bool:
        rest = len(self.numbers) - _OF_WORD * len(self.texts)
        return len(self.texts) == len(self.lines) and rest >= 0 and not rest % _OF_UNREAD


class ReadPictures:
    """The words of the latest pictures, within a limit of memory."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._seen: dict[bytes, Seen] = {}

    def get(self, key: bytes) -> Seen | None:
        return self._seen.get(key)

    def add(self, key: bytes, seen: Seen) -> None:
        if key in self._seen or _size(seen) > self._most:
            return
        self._seen[key] = seen
        self._bytes += _size(seen)
        while self._bytes > self._most or len(self._seen) > _MOST_PICTURES:
            oldest = self._seen.pop(next(iter(self._seen)))
            self._bytes -= _size(oldest)

    def messages(self) -> list[ReadPicture]:
        return [
            ReadPicture(
                key,
                [word.text for word in seen.words],
                [word.line for word in seen.words],
                _numbers(seen),
            )
            for key, seen in self._seen.items()
        ]

    def add_messages(self, pictures: Iterable[ReadPicture]) -> None:
        for key, texts, lines, numbers in pictures:
            words, end = [], len(texts) * _OF_WORD
            starts = range(0, end, _OF_WORD)
            for at, text, line in zip(starts, texts, lines, strict=True):
                left, top, right, bottom, *points = numbers[at : at + _OF_WORD]
                words.append(SeenWord(text, line, (left, top, right, bottom), _corners(points)))
            unread = [
                _corners(numbers[at : at + _OF_UNREAD])
                for at in range(end, len(numbers), _OF_UNREAD)
            ]
            self.add(key, Seen(words, unread))


class _Kept:
    """The pictures that this process has read, if it keeps them: a worker does."""

    pictures: ReadPictures | None = None


def keep(pictures: ReadPictures | None) -> None:
    """From now on, keep what this process reads on pictures."""
    _Kept.pictures = pictures


def recalled(setting: str, picture: Image, until: float, read: Callable[[], Seen]) -> Seen:
    """Return what was read on the same pixels with the same setting, or read it now.

    What time may have cut short is not kept, nor is an error.
    """
    kept = _Kept.pictures
    if kept is None:
        return read()
    head = f"{setting} {picture.mode} {picture.size} ".encode()
    key = sha256(head + picture.tobytes()).digest()
    seen = kept.get(key)
    if seen is None:
        seen = read()
        if time.monotonic() < until:
            kept.add(key, seen)
    return seen


def _numbers(seen: Seen) -> list[float]:
    words = (chain(word.box, *word.corners) for word in seen.words)
    unread = (chain(*corners) for corners in seen.unread)
    return [float(number) for number in chain(*words, *unread)]


def _corners(numbers: Sequence[float]) -> Corners:
    ax, ay, bx, by, cx, cy, dx, dy = numbers
    return (ax, ay), (bx, by), (cx, cy), (dx, dy)


def _size(seen: Seen) -> int:
    texts = sum(len(word.text) for word in seen.words)
    return texts + _WORD_BYTES * (1 + len(seen.words) + len(seen.unread))
