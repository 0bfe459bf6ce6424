"""Tables of words, a row for each, as programs write them that read pages (`pdftotext -tsv`,
`tesseract tsv`).

A view shows the lines of the page, since a value of several words is in several rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dlpctl.formats.interface import APART, Piece
from dlpctl.regex import lazy

_LINE_COLUMNS = ("page_num", "block_num", "par_num", "line_num")
_WORD = "text"
_NO_WORD = "###"
"""The start of rows for pages, blocks and lines."""
_ROW = lazy(r"[^\r\n]+")


def has_words(headers: Sequence[str]) -> bool:
    """Return whether the rows of a table are the words of pages."""
    return headers[-1:] == [_WORD] and {*_LINE_COLUMNS} <= {*headers}


def lines_of_words(source: str, headers: Sequence[str], delimiter: str) -> Iterator[Piece | str]:
    """Yield the words of each line with blanks between them, as the parts of a view."""
    columns = [headers.index(name) for name in _LINE_COLUMNS]
    before: list[str] = []
    for row in islice(_ROW.finditer(source), 1, None):
        cells = row[0].split(delimiter, len(headers) - 1)
        if len(cells) < len(headers) or cells[-1].startswith(_NO_WORD) or not cells[-1].strip():
            continue
        line = [cells[column] for column in columns]
        if before:
            same = sum(1 for old, new in zip(before, line, strict=True) if old == new)
            yield " " if same == len(line) else "\n" if line[0] == before[0] else APART
        before = line
        yield Piece(0, row.end() - len(cells[-1]), row.end())
