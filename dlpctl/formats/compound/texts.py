"""Texts at known bytes of a stream, and their replacement by texts of the same size."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dlpctl.errors import CannotMaskError
from dlpctl.formats.encoding import Edit
from dlpctl.formats.office.reading import LeafRanges, Reading, Spot, ViewPlan, portions
from dlpctl.regex import lazy

WIDE, NARROW = "utf-16-le", "latin-1"
_READABLE = {
    NARROW: lazy(rb"(?:[\t\x20-\x7e]|(?<=[A-Za-z])[\xc0-\xff]|[\xc0-\xff](?=[A-Za-z])){6,}"),
    # Latin letters, Greek, Cyrillic, Hebrew, Arabic, Thai and Kana.
    WIDE: lazy(
        rb"(?:[\t\x20-\x7e\xa0-\xff]\0|(?<=[A-Za-z]\0)[\x00-\x7f]\x01|[\x86-\xce]\x03"
        rb"|[\x10-\x51]\x04|[\xd0-\xf4]\x05|[\x20-\x6f]\x06|[\x01-\x5b]\x0e|[\x41-\xff]\x30){6,}"
    ),
}
"""The patterns of readable texts in the encodings of older Office files."""
_FEWEST = 4
"""The fewest letters and digits of a text that nothing announces."""
_CONTROLS = dict.fromkeys(range(32), " ") | {9: "\t", 10: "\n", 11: "\n", 12: "\n", 13: "\n"}
_BLANK = " "
_PAGES = {1200: WIDE, 10000: "mac-roman", 32768: "mac-roman", 32769: "cp1252", 65001: "utf-8"}


class Run(NamedTuple):
    """Bytes of a stream that are characters in one encoding."""

    at: int
    size: int
    codec: str


class ByteTexts:
    """Collects the texts of a stream, with the bytes of each."""

    def __init__(self, data: bytes, controls: dict[int, str] | None = None) -> None:
        """`controls` shows the control characters, each as one character."""
        self._data = data
        self._controls = controls or _CONTROLS
        self._texts: list[str] = []
        self._codecs: dict[str, int] = {}
        self._starts, self._ends, self._length = array("q"), array("q"), 0
        self._froms, self._tos, self._numbers = array("q"), array("q"), array("q")
        self.firsts = array("q")
        """The offset of each text."""

    def add(self, runs: Iterable[Run]) -> str:
        """Add a text, and return it."""
        self.firsts.append(self._length)
        parts: list[str] = []
        for at, size, codec in runs:
            text = self._data[at : at + size].decode(codec, "replace").translate(self._controls)
            self._starts.append(self._length)
            self._length += len(text)
            self._ends.append(self._length)
            self._froms.append(at)
            self._tos.append(at + size)
            self._numbers.append(self._codecs.setdefault(codec, len(self._codecs)))
            parts.append(text)
        found = "".join(parts)
        self._texts.append(found)
        self._length += 1
        return found

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the stream that are texts."""
        return zip(self._froms, self._tos, strict=True)

    def reading(self, layer: str) -> Reading:
        """Return the texts, each in a line."""
        text = "\n".join(self._texts)
        return Reading(layer, text, plans=[ViewPlan(layer, [(0, len(text))])])

    def spot(
        self, part: str, layer: str, label: str, unit: str = "", starts: array[int] | None = None
    ) -> Spot:
        """Return the anchor of the texts; `starts` are the starts of units other than texts."""
        ways = LeafRanges(
            self._starts, self._ends, self._froms, self._tos, self._numbers, tuple(self._codecs)
        )
        return Spot(part, layer, label, starts or self.firsts, unit, ways=ways)


def codec_of_page(page: int) -> str:
    """Return the codec of a code page; Western for one that is unknown."""
    if page in _PAGES:
        return _PAGES[page]
    try:
        return codecs.lookup(f"cp{page}").name
    except LookupError:
        return "cp1252"


def readable_runs(data: bytes, known: Iterable[tuple[int, int]] = ()) -> list[Run]:
    """Return the readable texts outside of the ranges that are known."""
    rest = bytearray(data)
    for start, end in known:
        rest[start:end] = bytes(end - start)
    runs = [
        Run(found.start(), found.end() - found.start(), codec)
        for codec, pattern in _READABLE.items()
        for found in pattern.finditer(rest)
        if sum(map(str.isalnum, found[0].decode(codec))) >= _FEWEST
    ]
    return sorted(runs)


def write(copy: bytearray, spot: Spot, text: str, edits: Sequence[Edit]) -> None:
    """Write edits of a segment to the bytes of its stream."""
    ways = spot.ways
    assert ways is not None
    starts, ends = ways.starts, ways.ends
    changed = portions(starts, lambda index: ends[index] - starts[index], edits)
    for index, found in changed.items():
        codec = ways.names[ways.element_numbers[index]]
        start, end = ways.froms[index], ways.tos[index]
        original = bytes(copy[start:end]).decode(codec, "replace")
        if len(original) != ends[index] - starts[index]:
            raise CannotMaskError("this is not what was read from the file: read it again")
        for edit in found:
            low = start + _size(original[: edit.start], codec, start, end)
            high = start + _size(original[: edit.end], codec, start, end)
            masked = _over(original[edit.start : edit.end], edit.replacement)
            copy[low:high] = fitted(masked, high - low, codec)


def _size(text: str, codec: str, start: int, end: int) -> int:
    """Return the number of bytes of the characters before a position."""
    size = len(text.encode(codec, "replace"))
    if size > end - start:
        raise CannotMaskError("a text of the file is not in its encoding")
    return size


def _over(text: str, replacement: str) -> str:
    """Return a replacement as long as the text, in which control characters keep their places."""
    characters = iter(replacement)
    return "".join(
        each if each < _BLANK and each != "\t" else next(characters, _BLANK) for each in text
    )


def fitted(text: str, size: int, codec: str) -> bytes:
    """Return a replacement in the size of what it replaces: cut off, or with blanks after it."""
    written = text.encode(codec, "replace")[:size].decode(codec, "ignore").encode(codec)
    blank = _BLANK.encode(codec)
    return (written + blank * size)[:size]
