"""Brings together the characters that pdfium reads and the glyphs that the content streams show."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field

from dlpctl.formats.pdf.drawing import Drawing
from dlpctl.formats.pdf.glyphs import GlyphAt, glyphs_of, separator
from dlpctl.formats.pdf.reading import LINE_HYPHEN, Char

_HYPHENS = frozenset("-\u00ad\u2010\u2011\u2012\u2013\u2212\x02" + LINE_HYPHEN)
_CELL = 4.0
_WORD_GAP = 180.0


class _Folding(dict[int, str]):
    """Text as both readers give it: without white space, case and compatibility forms."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _HYPHENS:
            folded = "-"
        elif character.isspace() or code < 32:
            folded = ""
        else:
            folded = "".join(unicodedata.normalize("NFKC", character).casefold().split())
        self[code] = folded
        return folded


_FOLDING = _Folding()


class _Widths(dict[str, int]):
    """The number of characters that a text folds to."""

    def __missing__(self, text: str) -> int:
        width = self[text] = len(fold(text))
        return width


_WIDTHS = _Widths()


def fold(text: str) -> str:
    return text.translate(_FOLDING)


def all_glyphs(drawing: Drawing) -> list[GlyphAt]:
    return [glyph for index, show in enumerate(drawing.shows) for glyph in glyphs_of(show, index)]


def same_order(text: str, drawing: Drawing) -> bool:
    """Return whether both readers see the same characters in the same order."""
    return fold("".join([show.text for show in drawing.shows])) == fold(text)


def near(glyph: GlyphAt) -> float:
    """Return how far from a glyph's origin a character may be and still be that glyph."""
    return 0.12 * math.hypot(glyph.frame[2], glyph.frame[3]) + 0.05


@dataclass(slots=True)
class Alignment:
    """The glyphs that show each character."""

    glyphs: list[GlyphAt]
    by_char: list[list[int]]
    """The glyphs of each character: none for one that pdfium made up, several for bold."""
    by_glyph: list[list[int]]
    """The reverse; empty where both readers see the same order, and nobody asks."""


def align_in_order(text: str, drawing: Drawing) -> Alignment:
    """For pages where `same_order` holds: no geometry needed."""
    glyphs = all_glyphs(drawing)
    owners: list[int] = []
    for index, glyph in enumerate(glyphs):
        width = _WIDTHS[glyph.text]
        if width == 1:
            owners.append(index)
        elif width:
            owners += [index] * width
    by_char: list[list[int]] = []
    position = 0
    for character in text:
        width = _WIDTHS[character]
        by_char.append(
            owners[position : position + 1]
            if width == 1
            else sorted(set(owners[position : position + width]))
        )
        position += width
    return Alignment(glyphs, by_char, [])


def align_by_place(chars: list[Char], drawing: Drawing) -> Alignment:
    """Align by the glyphs' origins: each glyph gets the characters there that read the same."""
    glyphs = all_glyphs(drawing)
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
        # A ligature is several characters at one place: take all of them.
        chosen = same if len(wanted) > 1 else _closest(same or close, chars, glyph)
        by_glyph[index] = sorted(chosen)
        # pdfium may give a glyph more than once, as when a form draws itself.
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
    """The page in the order of its content stream, in the words of its fonts."""

    text: str = ""
    starts: list[int] = field(default_factory=list)
    """The position in the text at which each glyph starts."""

    def glyph_at(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


def content_text(drawing: Drawing, glyphs: list[GlyphAt]) -> ContentText:
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
