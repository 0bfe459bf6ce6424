"""Tables in any text: CSV, Markdown, fixed columns, HTML and INSERT statements, read as cells with
their headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy
from dlpctl.tables import split_row

_LONGEST_CELL = 2048
_USUAL_NAME = 28
"""The most characters that headers have on average; with more, commas are those of prose."""
_DELIMITERS = (b"\t", b"|", b";", b",", b"  ")
_RULE = lazy(rb"[\s|:+=-]+")
_INSERT = lazy(rb"insert\s+into\s[^(]*\(.*\)\s*values\s*", re.IGNORECASE | re.DOTALL)
_BARE_INSERT = lazy(rb"insert\s+into\s+([^\s(]+)\s*values\s*", re.IGNORECASE)
_COPY = lazy(rb"copy\s+[^\s(]+\s*\((.*)\)\s*from\s+stdin[^\n]*\n", re.IGNORECASE | re.DOTALL)
_DEFINITION = lazy(rb"\s*[`\"\[]?([\w$]+)[^,()]*(?:\([^()]*\)[^,()]*)*([,)])")
_NO_COLUMNS = frozenset(
    (b"primary", b"unique", b"key", b"index", b"constraint", b"foreign", b"check")
)
_SQL_VALUE = lazy(rb"\s*(?:N?'((?:[^']|'')*)'|([^,()']*(?:\([^()]*\))?))\s*([,)])")
_SQL_NEXT = lazy(rb"\s*,?\s*\(")
_QUOTES = b"\"'` \t"
_new = tuple.__new__


class Cell(NamedTuple):
    header: bytes
    start: int
    end: int


class OpenTable:
    """The header of the last table in a part of a stream, whose rows may go on in the next part."""

    header = b""


def sensitive_cells(
    data: bytes, headers: Iterable[tuple[int, int]], table: OpenTable, words: HeaderWords
) -> Iterator[Cell]:
    """Return the cells below headers that name something sensitive, in the order of the text."""
    place = 0
    if table.header:
        for cell in _rows(data, data.find(b"\n") + 1, table.header, words):
            place = cell.end
            yield cell
        if not place:
            table.header = b""
    created: dict[bytes, bytes] = {}
    for start, end in headers:
        if start < place:  # the row of a table that was read
            continue
        line = data[start:end]
        place = end
        if bare := _BARE_INSERT.fullmatch(line):
            name = bare[1].strip(b'`"[]')
            if name not in created:
                created[name] = _created_columns(data, name)
            line = b"insert into it (%b) values" % created[name]
        elif copied := _COPY.fullmatch(line):
            line = b"\t".join(copied[1].split(b","))
        of_rows = line[:1] != b"<" and not _INSERT.fullmatch(line)
        if words.are_in(line) and _may_name(line) and (not of_rows or _may_go_on(data, end, line)):
            if of_rows:
                table.header = line.rstrip()
                rows = _rows(data, end, table.header, words)
            elif line[:1] == b"<":
                rows = _marked_up(data, start, end)
            else:
                rows = _sql_rows(data, end, line, words)
            for cell in rows:
                place = max(place, cell.end)
                yield cell


def _may_name(line: bytes) -> bool:
    return line[:1] == b"<" or len(line) <= _USUAL_NAME * (1 + sum(map(line.count, _DELIMITERS)))


def _may_go_on(data: bytes, place: int, header: bytes) -> bool:
    """Return whether the line after a header has its delimiter, is a rule, or has not come yet."""
    stop = data.find(b"\n", place)
    if stop < 0:
        return True
    line = data[place:stop]
    return _delimiter(header) in line or bool(_RULE.fullmatch(line))


def _delimiter(header: bytes) -> bytes:
    return next((each for each in _DELIMITERS if each in header.strip(b"|")), b"|")


def _rows(data: bytes, place: int, header: bytes, words: HeaderWords) -> Iterator[Cell]:
    """Return the cells below a line of headers, as long as the lines have as many."""
    delimiter = _delimiter(header)
    _, parts = _split(header, delimiter)
    names = [words.name(part.strip(_QUOTES)) for part in parts]
    while any(names) and place < len(data):
        stop = data.find(b"\n", place)
        stop = len(data) if stop < 0 else stop
        line = data[place:stop]
        if not _RULE.fullmatch(line):
            offset, parts = _split(line, delimiter)
            if len(parts) != len(names):
                return
            first = place + offset
            for name, part in zip(names, parts, strict=True):
                if name and (inner := part.strip(_QUOTES)):
                    start = first + part.find(inner)
                    yield _new(Cell, (name, start, start + len(inner)))
                first += len(part) + len(delimiter)
        elif not line:
            return
        place = stop + 1


def _split(line: bytes, delimiter: bytes) -> tuple[int, list[bytes]]:
    """Return where the first cell of a line starts, and the cells as they are written."""
    bare = line.rstrip()
    place = 0
    if delimiter == b"|":
        place = len(bare) - len(bare.lstrip(b" \t").removeprefix(b"|"))
        bare = bare.removesuffix(b"|")[place:]
    return place, split_row(bare, delimiter) if len(delimiter) == 1 else _aligned(bare)


def _aligned(line: bytes) -> list[bytes]:
    """Return cells that two blanks or more separate; further blanks go with the cell before."""
    parts: list[bytes] = []
    for part in line.split(b"  "):
        if part.strip() or not parts:
            parts.append(part)
        else:
            parts[-1] += b"  " + part
    return parts


def _created_columns(data: bytes, table: bytes) -> bytes:
    """Return the columns of a table, joined by commas, from the statement that creates it."""
    statement = rb"(?i)create\s+table(?=\s)[^(]{0,80}?[\s.`\"\[]%b[`\"\]]?\s*\(" % re.escape(table)
    found = re.search(statement, data)
    columns: list[bytes] = []
    while found and (found := _DEFINITION.match(data, found.end())):
        if found[1].lower() not in _NO_COLUMNS:
            columns.append(found[1])
        if found[2] == b")":
            break
    return b",".join(columns)


def _sql_rows(data: bytes, place: int, statement: bytes, words: HeaderWords) -> Iterator[Cell]:
    """Return the values of an INSERT statement by the names of their columns."""
    listed = statement[statement.index(b"(") + 1 : statement.rindex(b")")]
    names = [words.name(column.strip()) for column in listed.split(b",")]
    while found := _SQL_NEXT.match(data, place):
        place = found.end()
        for name in names:
            value = _SQL_VALUE.match(data, place)
            if value is None:
                return
            place = value.end()
            first, last = value.span(1) if value[1] is not None else value.span(2)
            if name and first < last:
                yield Cell(name, first, last)
            if value[3] == b")":
                break


def _marked_up(data: bytes, start: int, end: int) -> Iterator[Cell]:
    """Return the element of HTML after one that names it."""
    header = data[data.index(b">", start) + 1 : data.index(b"</", start)].strip(_QUOTES + b":")
    stop = data.find(b"<", end, end + _LONGEST_CELL)
    value = data[end:stop].rstrip() if stop > 0 else b""
    if value:
        yield Cell(header, end, end + len(value))
