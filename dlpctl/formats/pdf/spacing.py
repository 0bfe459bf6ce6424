"""Words with spaced letters: `1 2 3 - 4 5` is one word if all gaps are alike."""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from dlpctl.formats.interface import Piece
from dlpctl.formats.pdf.matrix import apply, inverse

if TYPE_CHECKING:
    from dlpctl.formats.pdf.align import Alignment
    from dlpctl.formats.pdf.glyphs import GlyphAt, Glyphs
    from dlpctl.formats.pdf.views import Parts

_SPACED = re.compile(r"(?<!\S)\S(?: {1,3}\S){4,}(?!\S)")
_LINE = 0.3
_SAME_LINE_REACH = 4.0
_REACH = 40
"""The number of letters on each side of a line break that are joined."""


def is_spaced(text: str) -> bool:
    return _SPACED.search(text) is not None


def joined(alignment: Alignment, segment: int) -> Parts:
    """Return the page in content order with the letters of each word joined."""
    chars: list[list[int]] = [[] for _ in alignment.glyphs]
    for char, owners in enumerate(alignment.by_char):
        for owner in owners[:1]:
            chars[owner].append(char)
    parts: Parts = []
    lines: list[Parts] = []
    for line in _lines(alignment.glyphs):
        words: Parts = []
        visible = [gap for index, gap in line[1:] if alignment.glyphs[index].text.strip()]
        usual = max(0.0, median(visible)) if visible else 0.0
        pending = False
        for number, (index, gap) in enumerate(line):
            if not alignment.glyphs[index].text.strip():
                pending = True
                continue
            if number and (pending or gap > 1.6 * usual + 0.12):
                words.append(" ")
            pending = False
            words += [Piece(segment, char, char + 1) for char in chars[index]]
        lines.append(words)
        parts += [*words, "\n"]
    for before, after in pairwise(lines):
        parts += [*before[-_REACH:], *after[:_REACH], "\n"]
    return parts


def _lines(glyphs: Glyphs) -> list[list[tuple[int, float]]]:
    """Return glyphs by line, each with the gap before it in units of the em."""
    lines: list[list[tuple[int, float]]] = []
    before: GlyphAt | None = None
    for index, glyph in enumerate(glyphs):
        back = inverse(before.frame) if before is not None else None
        if before is not None and back is not None:
            x, y = apply(back, *glyph.origin)
            gap = x - before.advance
            if abs(y) < _LINE and -0.5 < gap < _SAME_LINE_REACH:
                lines[-1].append((index, gap))
                before = glyph
                continue
        lines.append([(index, 0.0)])
        before = glyph
    return lines
