"""The texts for detectors, joined from pages for each way in which a value may be split."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dlpctl.formats.interface import Piece, Segment, View
from dlpctl.formats.wraps import goes_on

_BREAK = re.compile(r"[ \t]*[\r\n]+[ \t]*")
_IN_ADDRESS = re.compile(r"(?<=\w@) (?=[a-z0-9][\w-]*\.)")
"""A space that pdfium assumes where letters of an address are drawn apart."""
_MOVED = frozenset(".,;:!?")
_MARGIN_LINES = 3
_REACH = 160
"""The number of characters on each side of a page break that are joined."""

Parts = list[Piece | str]


class Line(NamedTuple):
    start: int
    end: int


class PageView(NamedTuple):
    """A page, for the views that continue across pages."""

    segment: int
    soft_hyphens: list[int]
    """The positions of hyphens at line ends, where pdfium joined the lines."""


def lines_of(text: str) -> list[Line]:
    lines = []
    position = 0
    for match in _BREAK.finditer(text):
        lines.append(Line(position, match.start()))
        position = match.end()
    lines.append(Line(position, len(text)))
    return [line for line in lines if text[line.start : line.end].strip()]


def build(
    pages: Sequence[PageView], others: Sequence[int], segments: Sequence[Segment]
) -> list[View]:
    """Return all views of a document except those in content order, which need the glyphs."""
    reading: Parts = []
    for page in pages:
        reading += [Piece(page.segment, 0, len(segments[page.segment].text)), "\n"]
    views = [View("reading order", reading, segments)] if pages else []
    lines = [lines_of(segments[page.segment].text) for page in pages]
    for name, glue in (("lines joined by a space", " "), ("lines joined", "")):
        parts: Parts = []
        for page, page_lines in zip(pages, lines, strict=True):
            _join(parts, segments[page.segment].text, page, page_lines, glue)
        if parts:
            views.append(View(name, parts, segments))
    broken = _page_breaks(pages, lines, segments)
    if broken:
        views.append(View("page breaks", broken, segments))
    views += [
        View(
            segments[index].location,
            [Piece(index, 0, len(segments[index].text))],
            segments,
            segments[index].context,
        )
        for index in others
    ]
    return views


def _join(parts: Parts, text: str, page: PageView, lines: list[Line], glue: str) -> None:
    """Join the lines that may continue in the next line."""
    gaps = () if glue else (found.start() for found in _IN_ADDRESS.finditer(text))
    joints = sorted({*page.soft_hyphens, *gaps})
    if len(lines) < 2 and not joints:
        return
    texts = [text[line.start : line.end] for line in lines]
    hyphens = iter([*joints, len(text) + 1])
    hyphen = next(hyphens)
    for number, line in enumerate(lines):
        start = line.start
        if glue and text[start] in _MOVED and text[start + 1 : start + 2].isalnum():
            # Text that runs from right to left shows the end of its sentence first.
            start += 1
        while hyphen < line.start:
            hyphen = next(hyphens)
        while hyphen < line.end:
            # The other views have the hyphen; here, the word is joined.
            parts += (
                [Piece(page.segment, start, hyphen)]
                if glue == ""
                else [Piece(page.segment, start, hyphen + 1)]
            )
            start = hyphen + 1
            hyphen = next(hyphens)
        parts.append(Piece(page.segment, start, line.end))
        parts.append(glue if goes_on(texts, number, glue) else "\n")


def _page_breaks(
    pages: Sequence[PageView], lines: list[list[Line]], segments: Sequence[Segment]
) -> Parts:
    """Return the last line of each page with the first of the next, without headers and footers."""
    if len(pages) < 2:
        return []

    def words(page: PageView, line: Line) -> str:
        return re.sub(r"[0-9]+", "#", segments[page.segment].text[line.start : line.end]).strip()

    margins = Counter(
        text
        for page, page_lines in zip(pages, lines, strict=True)
        for text in {
            words(page, line) for line in page_lines[:_MARGIN_LINES] + page_lines[-_MARGIN_LINES:]
        }
    )

    def furniture(page: PageView, line: Line) -> bool:
        text = words(page, line)
        return re.fullmatch(
            r"(?i)(?:page|seite|p\.)?\W*#(?:\s*(?:/|of|von)\s*#)?\W*", text
        ) is not None or (margins[text] > max(1, len(pages) // 3) and len(text) > 3)

    parts: Parts = []
    for before, after, ending, beginning in zip(pages, pages[1:], lines, lines[1:], strict=False):
        lasts, firsts = ending[-_MARGIN_LINES:][::-1], beginning[:_MARGIN_LINES]
        # What looks like a page number may be the end of a value.
        joints = dict.fromkeys(
            (last, first)
            for last in (lasts[:1] + [line for line in lasts if not furniture(before, line)][:1])
            for first in (firsts[:1] + [line for line in firsts if not furniture(after, line)][:1])
        )
        for last, first in joints:
            tail = Piece(before.segment, max(last.start, last.end - _REACH), last.end)
            head = Piece(after.segment, first.start, min(first.end, first.start + _REACH))
            for glue in (" ", ""):
                parts += [tail, glue, head, "\n"]
    return parts
