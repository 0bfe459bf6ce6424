"""Tables of words, a row for each, as programs write them that read pages (`pdftotext -tsv`,
`tesseract tsv`).

A value of several words is in several rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dlpctl.formats.placed import PlacedText
from dlpctl.regex import lazy

_PLACE = ("left", "top", "width", "height")
_WORD = "text"
_NO_WORD = "###"
"""The start of rows for pages, blocks and lines."""
_ROW = lazy(r"[^\r\n]+")
_NUMBER = lazy(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")


def has_words(headers: Sequence[str]) -> bool:
    """Return whether the rows of a table are the words of pages."""
    return headers[-1:] == [_WORD] and {*_PLACE} <= {*headers}


def placed_words(source: str, headers: Sequence[str], delimiter: str) -> Iterator[PlacedText]:
    """Yield the words, each at the height of its line."""
    columns = [headers.index(name) for name in _PLACE]
    line = 0.0
    for row in islice(_ROW.finditer(source), 1, None):
        cells = row[0].split(delimiter, len(headers) - 1)
        if len(cells) < len(headers):
            continue
        left, top, width, height = (_number(cells[column]) for column in columns)
        word = cells[-1]
        if word.startswith(_NO_WORD) or not word.strip():
            line = top
        else:
            reach = left + width + height
            yield PlacedText(row.end() - len(word), row.end(), left, line, 0.0, reach)


def _number(cell: str) -> float:
    return float(cell) if _NUMBER.fullmatch(cell) else 0.0
