"""Names and addresses below labels made for programs: a key of JSON or YAML, a column of a table.

The tagger's knowledge of sentences helps little here, but the label says nearly everything. A value
still has to look like a name or an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from operator import add

from dlpctl.detect.entities.known import Header
from dlpctl.detect.entities.label_keys import (
    ADDRESS_KEYS,
    BESIDE_THINGS,
    COLUMNS_OF_NAMES,
    COLUMNS_OF_OTHERS,
    NAMES_OF_ANYTHING,
    column_key,
    key_of,
    names_person,
)
from dlpctl.detect.entities.label_values import (
    Flags,
    is_address,
    is_full_name,
    is_mail,
    is_name,
    is_persons,
)
from dlpctl.regex import lazy
from dlpctl.texts.tables import Rows, fitting_cells, rows_from, split_row
from dlpctl.types import Category, Finding

SCORE, CELL, _FULL_NAME = 0.85, 0.9, 0.95
_MOST_COLUMNS, _LONGEST_HEADER = 200, 4000
_FIRST = 6
"""The number of values by which a column of labels is noticed."""
_ENOUGH = 0.4
"""The share of a column's values that must look like names or addresses, so that all count."""
_VALUE = lazy(
    r"[\"']?\)?\s?(?:=>|:=|[:=])(?:\s?|[ ]{2,24})(?:\"([^\"\n]{2,120})\"|'([^'\n]{2,120})'"
    r"|([^\W\d_][^\n\"',;{}()<>\[\]=:]{1,60}?(?=$|,|;|[ ]{2}|\t)))"
    r"|(?:</\w{1,16}>\s{0,32}(?:<\w{1,16}>)?<\w{1,16})?>\s?([^\n<>]{2,60})</",
    re.MULTILINE,
)
_GIVEN_NAME = lazy(
    r", [A-ZÀ-Þ][^\W\d_]+(?:[ -][A-ZÀ-Þ][^\W\d_]*\.?){0,2}(?=[ \t]*$|[ ]{2}|\t|[,;(])", re.MULTILINE
)
"""After a surname, in the cell of a form: `Name, Vorname: Muster, Max`."""
_NO_HEADER = lazy(r"[{}<\[\]\\]|[(:]\s*$|\w\(")
"""Characters of source code that do not occur in a row of labels."""
_COLUMNS = COLUMNS_OF_NAMES | ADDRESS_KEYS | COLUMNS_OF_OTHERS
_BARE = 3
"""The group of a value without quotes."""
_BARS = "|│┃║"
_ALIGNED = "  "
"""The blanks that are at least between the cells of aligned columns."""
_ALIGNED_CELL = lazy(r"\S+(?: \S+)*")
_RULE = lazy(r"[-=|:+ \r─-╿]+")
"""Signs, and the lines that boxes are drawn with."""


def field(text: str, label: str, end: int, flags: Flags) -> Finding | None:
    """Return the value after a label that ends at `end`, if it is a name or an address."""
    match = _VALUE.match(text, end)
    if match is None:
        return None
    value = match[match.lastindex or 0]
    start = match.start(match.lastindex or 0)
    given = match.lastindex == _BARE and _GIVEN_NAME.match(text, match.end())
    value = value + given[0] if given else value
    stripped = value.strip()
    start += len(value) - len(value.lstrip())
    type_name = "ADDRESS" if key_of(label) in ADDRESS_KEYS else "PERSON_NAME"
    fits = is_address(stripped) if type_name == "ADDRESS" else is_name(stripped, flags)
    return _finding(type_name, start, start + len(stripped)) if fits else None


class Cells:
    """The cells of a text's tables, by the labels of their columns."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], str] = {}
        """Start and end of the cells whose content the column's label explains, with their type,
        which is empty for other content.
        """
        self.sure: set[tuple[int, int]] = set()
        """Names of several words, each of which is a known name."""
        self.nameless: list[tuple[int, int]] = []
        """Cells that are mail addresses or initials, and labels within rows."""

    def add_column(self, text: str, key: str, column: list[tuple[int, int]], flags: Flags) -> None:
        """Add the cells that fit the label of their column."""
        type_name, spans = fitting_column(text, key, column, flags)
        self.known.update(dict.fromkeys(spans, type_name))
        if type_name == "PERSON_NAME":
            self.sure.update(fitting_cells(text, spans, partial(is_full_name, flags=flags)))

    def settled(self) -> list[tuple[int, int]]:
        """Return the cells that the tagger need not judge."""
        return sorted([*self.known, *self.nameless])


def cells_of(
    text: str, headers: Iterable[int], opened: Header | None, flags: Flags
) -> tuple[Cells, Header | None]:
    """Return the cells of the tables whose headers contain these positions, and the header of a
    table that may continue after the text.

    The text starts with the rows of the `opened` table.
    """
    cells = Cells()
    reached = -1
    if opened is not None:
        reached = _read(text, 0, opened, cells, flags)
        if reached < 0:
            opened = None
    for at in sorted(headers):
        if at > reached:
            reached, opened = _table(text, at, cells, flags)
    # A part of a text may end within a row.
    return cells, opened if reached >= text.rfind("\n") else None


def _table(text: str, at: int, cells: Cells, flags: Flags) -> tuple[int, Header | None]:
    """Add the cells of the table whose header contains the position `at`, if there is one; return
    the end of the table.
    """
    start = text.rfind("\n", max(0, at - _LONGEST_HEADER), at) + 1
    end = text.find("\n", at, at + _LONGEST_HEADER)
    if end < 0:
        return at, None
    written = text[start:end].rstrip("\r")
    if "=" in written or _NO_HEADER.search(written):  # the most usual one first
        return end, None
    delimiter = max((*",;\t", *_BARS), key=written.count)
    if delimiter not in written:
        delimiter = _ALIGNED
    parts, _ = _split(written, delimiter)
    labels = [label.strip(" \"'*") for label in parts]
    if beside := list(_names_beside(text, start, labels, flags)):
        cells.known.update(dict.fromkeys(beside, "PERSON_NAME"))
        return end, None
    below = end + 1
    if delimiter == _ALIGNED and text.startswith("\n", below):
        below += 1
    if len(parts) < 2 or not _goes_on(text, below, delimiter, len(parts) - 1):
        return end, None
    if not 1 < len(labels) <= _MOST_COLUMNS or not all(map(_is_label, labels)):
        return end, None
    header = Header(delimiter, tuple(map(column_key, labels)))
    before = len(cells.known)
    last = _read(text, end + 1, header, cells, flags)
    if len(cells.known) > before:
        cells.known.update(dict.fromkeys(_label_spans(text, start, labels), ""))
    return max(last, end), header


def _read(text: str, start: int, header: Header, cells: Cells, flags: Flags) -> int:
    """Add the cells of the rows from a position on; return the end of the last one, or -1 if there
    is none.
    """
    columns: dict[int, list[tuple[int, int]]] = {
        number: [] for number, key in enumerate(header.keys) if key in _COLUMNS or names_person(key)
    }
    last = -1
    for texts, starts, end in _rows(text, start, header.delimiter, len(header.keys)):
        last = end
        for number in range(len(header.keys)):
            each = slice(number, None, len(header.keys))
            placed = zip(texts[each], starts[each], strict=True)
            if number in columns:
                columns[number] += [(at, at + len(cell)) for cell, at in placed if cell]
            else:
                cells.nameless += [(at, at + len(cell)) for cell, at in placed if is_mail(cell)]
    is_of_things = not BESIDE_THINGS.isdisjoint(header.keys)
    for number, column in columns.items():
        key = header.keys[number]
        if is_of_things and key in NAMES_OF_ANYTHING:
            cells.known.update(dict.fromkeys(column, ""))
        else:
            cells.add_column(text, key, column, flags)
    return last


def _label_spans(text: str, start: int, labels: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of a header's labels, which are not names."""
    for label in labels:
        if label:
            start = text.index(label, start)
            yield start, start + len(label)
            start += len(label)


def _names_beside(
    text: str, start: int, labels: Sequence[str], flags: Flags
) -> Iterator[tuple[int, int]]:
    """Yield the spans of names in the row of a form, each after the cell with its label."""
    spans = list(_label_spans(text, start, labels))
    for (label, value), span in zip(pairwise(filter(None, labels)), spans[1:], strict=True):
        if (
            names_person(column_key(label))
            and " " in value
            and not _names_column(value)
            and is_name(value, flags)
        ):
            yield span


def _goes_on(text: str, start: int, delimiter: str, count: int) -> bool:
    """Return whether the line after a header has as many cells: after most lines of source code
    that look like a header, it does not.
    """
    stop = text.find("\n", start)
    line = text[start : len(text) if stop < 0 else stop]
    return line.count(delimiter) >= count or _may_be_rule(line, delimiter)


def _may_be_rule(line: str, delimiter: str) -> bool:
    """Return whether a line is a rule below a header or a row, as Markdown and psql draw it."""
    return (delimiter in _BARS or delimiter == _ALIGNED) and bool(_RULE.fullmatch(line))


def _split(line: str, delimiter: str) -> tuple[list[str], list[int]]:
    """Return the cells of a line, and where each starts in it."""
    if delimiter == _ALIGNED:
        found = list(_ALIGNED_CELL.finditer(line))
        return [each[0] for each in found], [each.start() for each in found]
    cells = split_row(line, delimiter)
    return cells, list(accumulate((len(cell) + 1 for cell in cells), initial=0))[:-1]


def fitting_column(
    text: str, key: str, cells: list[tuple[int, int]], flags: Flags
) -> tuple[str, list[tuple[int, int]]]:
    """Return the type of a column's values, and the cells with such values."""
    if key in COLUMNS_OF_OTHERS:
        return "", cells
    if key in ADDRESS_KEYS:
        fitting = fitting_cells(text, cells, is_address)
        return "ADDRESS", fitting if len(fitting) >= _ENOUGH * len(cells) else []
    if any(_names_column(text[slice(*cell)]) for cell in cells[:_FIRST]):
        return "", []  # the labels of a form
    fitting = fitting_cells(text, cells, partial(is_name, flags=flags))
    speaking = len(fitting)
    if not names_person(key):  # "name" is also a label of things
        speaking = len(fitting_cells(text, fitting, partial(is_persons, flags=flags)))
        if not speaking:
            return "", cells
    return "PERSON_NAME", fitting if speaking >= _ENOUGH * len(cells) else []


def _names_column(label: str) -> bool:
    key = column_key(label)
    return key in _COLUMNS or names_person(key)


def _is_label(label: str) -> bool:
    return (
        len(label) <= 40
        and (not label or label[0].isalpha())
        and len(label.split()) <= 4
        and ": " not in label
    )


def _rows(
    text: str, start: int, delimiter: str, count: int
) -> Iterator[tuple[list[str], list[int], int]]:
    """Yield the cells of rows and their positions, without quotes and blanks, up to the first line
    that is not a row; return the end of the last row.
    """
    takes = _all if delimiter in ",;\t" else None
    for rows in rows_from(text, start, delimiter, count, takes):
        if isinstance(rows, Rows):
            yield *_bare(rows.cells, rows.starts), rows.end
            continue
        line = text[rows.start : rows.end]
        if not line and delimiter == _ALIGNED and not text.startswith("\n\n", rows.start - 2):
            continue
        if not _may_be_rule(line, delimiter):
            cells, starts = _split(line.rstrip("\r"), delimiter)
            if line.count(delimiter) < count - 1 or (delimiter == _ALIGNED and len(cells) != count):
                return
            # Delimiters within quotes may leave fewer cells than columns.
            missing = count - len(cells)
            starts = [rows.start + each for each in [*starts, *[len(line)] * missing][:count]]
            yield *_bare([*cells, *[""] * missing][:count], starts), rows.end


def _all(_rows: Rows[str]) -> bool:
    return True


def _bare(cells: list[str], starts: list[int]) -> tuple[list[str], list[int]]:
    """Return cells without the blanks and quotes around them, and the start of each."""
    bare = [cell.strip() for cell in cells]
    for at, cell in enumerate(bare):
        if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "\"'":
            bare[at] = cell[1:-1].strip()
    return bare, list(map(add, starts, map(str.find, cells, bare)))


def joined(found: Iterable[Finding], cells: Cells) -> list[Finding]:
    """Return the findings with those of the tables, and without findings in other columns."""
    if not cells.known:
        return list(found)
    kept = cells_found(cells)
    spans = sorted(cells.known)
    next_cell = 0
    for finding in sorted(found, key=lambda finding: finding.start):
        while next_cell < len(spans) and spans[next_cell][1] <= finding.start:
            next_cell += 1
        if next_cell == len(spans) or spans[next_cell][0] >= finding.end:
            kept.append(finding)
    return sorted(kept, key=lambda finding: (finding.start, finding.end))


def cells_found(cells: Cells) -> list[Finding]:
    return [
        _finding(type_name, *span, _FULL_NAME if span in cells.sure else CELL)
        for span, type_name in cells.known.items()
        if type_name
    ]


def _finding(type_name: str, start: int, end: int, score: float = SCORE) -> Finding:
    return Finding(
        type_name,
        Category.PII,
        start,
        end,
        score,
        "address" if type_name == "ADDRESS" else "person-name",
    )
