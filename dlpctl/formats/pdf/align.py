"""Match the characters that pdfium reads to the glyphs that the content streams show."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import overload

from dlpctl.formats.pdf.drawing import Drawing
from dlpctl.formats.pdf.glyphs import GlyphAt, Glyphs, separator
from dlpctl.formats.pdf.lazy import Lazy
from dlpctl.formats.pdf.reading import LINE_HYPHEN, Char

_HYPHENS = frozenset("-\u00ad\u2010\u2011\u2012\u2013\u2212\x02" + LINE_HYPHEN)
_CELL = 4.0
_WORD_GAP = 180.0


def _folded(code: int) -> str:
    character = chr(code)
    if character in _HYPHENS:
        return "-"
    if character.isspace() or code < 32:
        return ""
    return "".join(unicodedata.normalize("NFKC", character).casefold().split())


_FOLDING = Lazy(_folded)


def fold(text: str) -> str:
    """Return a text without white space, case and compatibility forms, which the two readers treat
    differently.
    """
    return text.translate(_FOLDING)


_WIDTHS = Lazy[str, int](lambda text: len(fold(text)))
"""The number of characters that a text folds to."""


def same_order(text: str, drawing: Drawing) -> bool:
    """Return whether both readers see the same characters in the same order."""
    return fold("".join([show.text for show in drawing.shows])) == fold(text)


def near(glyph: GlyphAt) -> float:
    """Return the maximum distance of a character from a glyph's origin at which the two match."""
    return 0.12 * math.hypot(glyph.frame[2], glyph.frame[3]) + 0.05


@dataclass(slots=True)
class Alignment:
    """The glyphs that show each character."""

    glyphs: Glyphs
    by_char: Sequence[list[int]]
    """The glyphs of each character: none for one that pdfium inserted, several for bold."""
    by_glyph: list[list[int]]
    """The characters of each glyph; empty if both readers see the same order, where it is not
    needed.
    """


class OwnersInOrder(Sequence[list[int]]):
    """The glyphs of each character of a page on which both readers see the same order."""

    def __init__(self, text: str, drawing: Drawing, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._chars = [0, *accumulate(map(_WIDTHS.__getitem__, text))]
        """The length of the folded text before each character, and of the complete text."""
        self._shows = [0, *accumulate(len(fold(show.text)) for show in drawing.shows)]
        self._owners: dict[int, list[int]] = {}

    def chars_of(self, show: int) -> Iterator[tuple[int, GlyphAt]]:
        """Yield the characters that an operator shows, each with its first glyph."""
        chars, (first, last) = self._chars, self._shows[show : show + 2]
        glyphs = [glyph for glyph in self._glyphs.of_show(show) for _ in range(_WIDTHS[glyph.text])]
        for char in range(bisect_left(chars, first), bisect_left(chars, last)):
            if chars[char] < chars[char + 1]:
                yield char, glyphs[chars[char] - first]

    def __len__(self) -> int:
        return len(self._chars) - 1

    @overload
    def __getitem__(self, number: int) -> list[int]: ...
    @overload
    def __getitem__(self, number: slice) -> list[list[int]]: ...
    def __getitem__(self, number: int | slice) -> list[int] | list[list[int]]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        return sorted({self._owner(at) for at in range(*self._chars[number : number + 2])})

    def _owner(self, position: int) -> int:
        """Return the glyph that shows a character of the folded text."""
        show = bisect_right(self._shows, position) - 1
        owners = self._owners.get(show)
        if owners is None:
            first = self._glyphs.first[show]
            owners = self._owners[show] = [
                index
                for index, glyph in enumerate(self._glyphs.of_show(show), first)
                for _ in range(_WIDTHS[glyph.text])
            ]
        return owners[position - self._shows[show]]


def align_in_order(text: str, drawing: Drawing) -> Alignment:
    """Align by order, without geometry, where `same_order` is true."""
    glyphs = Glyphs(drawing.shows)
    return Alignment(glyphs, OwnersInOrder(text, drawing, glyphs), [])


def align_by_place(chars: list[Char], drawing: Drawing) -> Alignment:
    """Align by the glyphs' origins: each glyph gets the characters there with the same text."""
    glyphs = Glyphs(drawing.shows)
    grid: dict[tuple[int, int], list[int]] = {}
    for index, char in enumerate(chars):
        if not char.generated:
            grid.setdefault(
                (int(char.origin[0] // _CELL), int(char.origin[1] // _CELL)), []
            ).append(index)
    by_char: list[list[int]] = [[] for _ in chars]
    by_glyph: list[list[int]] = [[] for _ in glyphs]
    for index, glyph in enumerate(glyphs):
        x, y = glyph.origin
        tolerance = near(glyph)
        reach = min(8, int(tolerance // _CELL) + 1)
        column, row = int(x // _CELL), int(y // _CELL)
        close = [
            char
            for i in range(column - reach, column + reach + 1)
            for j in range(row - reach, row + reach + 1)
            for char in grid.get((i, j), ())
            if math.hypot(chars[char].origin[0] - x, chars[char].origin[1] - y) <= tolerance
        ]
        wanted = fold(glyph.text)
        same = [
            char
            for char in close
            if wanted and fold(chars[char].text) and fold(chars[char].text) in wanted
        ]
        # A ligature is several characters at one position: take all of them.
        chosen = same if len(wanted) > 1 else _closest(same or close, chars, glyph)
        by_glyph[index] = sorted(chosen)
        # pdfium may return a glyph more than once, as when a form draws itself.
        for owned in {*chosen, *same}:
            by_char[owned].append(index)
    return Alignment(glyphs, by_char, by_glyph)


def _closest(candidates: list[int], chars: list[Char], glyph: GlyphAt) -> list[int]:
    if not candidates:
        return []
    x, y = glyph.origin
    return [
        min(
            candidates,
            key=lambda char: math.hypot(chars[char].origin[0] - x, chars[char].origin[1] - y),
        )
    ]


@dataclass(slots=True)
class ContentText:
    """The text of a page in the order of its content stream, as its fonts define it."""

    text: str = ""
    starts: list[int] = field(default_factory=list)
    """The position in the text at which each glyph starts."""

    def glyph_at(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


def content_text(drawing: Drawing, glyphs: Glyphs) -> ContentText:
    parts: list[str] = []
    content = ContentText()
    length = 0
    before = -1
    last_item = 0
    for glyph in glyphs:
        gap = ""
        show = drawing.shows[glyph.show]
        if glyph.show != before:
            if before >= 0:
                gap = separator(drawing.shows[before], show)
            before, last_item = glyph.show, glyph.item
        elif glyph.item != last_item:
            numbers = [
                item for item in show.items[last_item : glyph.item] if isinstance(item, float)
            ]
            gap = " " if sum(numbers) < -_WORD_GAP and not show.font.vertical else ""
            last_item = glyph.item
        parts += (gap, glyph.text)
        length += len(gap)
        content.starts.append(length)
        length += len(glyph.text)
    content.text = "".join(parts)
    return content
