"""The headers of tables, and rows in which a value takes several cells: a group of its digits, or
one character, in each.

A view shows such a row with its header in one line, as a person reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dlpctl.regex import lazy

Span = tuple[int, int]
Rows = Mapping[tuple[int, int], Sequence[Sequence[Span]]]
"""The texts of each cell, by the numbers of table and row."""
_APART, _END = "\t", "\n"
_GROUPS = lazy(
    r"(?:\A|\t)(?:[0-9]{4}(?:\t[0-9]{4}){3}|3[47][0-9]{2}\t[0-9]{6}\t|[0-9]{3}\t[0-9]{2}\t[0-9]{4}"
    r"|[A-Z]{2}[0-9]{2}(?:\t[0-9A-Z]{4}){2}|\+[0-9]{1,3}\t\(?[0-9])"
)
HEADER_WITHIN = 20
"""The number of rows among which the header of a table is."""
_CHARACTERS = lazy(r"(?:\A|\t)[^\t](?:\t[^\t]?){8}")


def rows_of_groups(rows: Rows, text: str) -> Iterator[Span | str]:
    """Yield the parts of a view of the rows with such values, each table below its header."""
    shown = -1
    for (table, row), cells in rows.items():
        texts = ["".join(text[start:end] for start, end in cell).strip() for cell in cells]
        if not has_groups(_APART.join(texts)):
            continue
        if table != shown:
            shown = table
            yield _END
            if row:
                yield from _line(rows.get((table, 0), []), text)
        yield from _line(cells, text)


def has_groups(line: str) -> bool:
    """Return whether a row, with tabs between its cells, has such a value."""
    return bool(_GROUPS.search(line) or _CHARACTERS.search(line))


def is_header(text: str) -> bool:
    """Return whether the first cell of a column labels the others: words, and no value."""
    return (
        0 < len(text) <= 64
        and "@" not in text
        and sum(map(str.isdigit, text)) < 4
        and any(map(str.isalpha, text))
    )


def header_row(rows: Mapping[int, Sequence[str]]) -> int | None:
    """Return the first row that labels the rows below, given the texts of the first rows."""
    widest = max(map(len, rows.values()), default=0)
    for row, texts in rows.items():
        headers = {text for text in map(str.strip, texts) if is_header(text)}
        if len(texts) * 2 > widest and len(headers) * 2 > len(texts):
            return row
    return None


def labelled_rows(rows: Rows, text: str) -> Iterator[Span | str]:
    """Yield the parts of a view of the first rows of tables, in which the first cell of a row may
    label all others: a table may have its headers on the left.
    """
    for (_, row), (first, *others) in rows.items():
        label = " ".join(text[start:end] for start, end in first).strip()
        if row < HEADER_WITHIN and len(others) > 1 and is_header(label):
            for cell in others:
                yield from first
                yield ": "
                yield from cell
                yield _END * 2


def _line(cells: Sequence[Sequence[Span]], text: str) -> Iterator[Span | str]:
    before = 0
    for cell in cells:
        parts = [span for start, end in cell if (span := _stripped(text, start, end))]
        size = sum(end - start for start, end in parts)
        if before and not (before == 1 and size <= 1):
            yield _APART
        yield from parts
        before = size or before
    yield _END


def _stripped(text: str, start: int, end: int) -> Span | None:
    """Return a span without the blanks around its text; None without any text."""
    shown = text[start:end]
    start += len(shown) - len(shown.lstrip())
    end = start + len(shown.strip())
    return (start, end) if start < end else None
