"""Tables in any text (CSV, Markdown, fixed columns, HTML and INSERT statements), read as cells with
their headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress
from operator import add

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.headers import DASHED, HeaderWords
from dlpctl.detect.derived.listings import frame_rows, listed_cells
from dlpctl.regex import lazy
from dlpctl.texts.tables import Rows, rows_from, split_row

_LONGEST_CELL = 2048
_USUAL_NAME = 28
"""The most characters that headers have on average; with more, commas are those of prose."""
_BARS = (b"|", DASHED.encode(), *map(str.encode, "│┃║"))
_QUOTED = b'" "'
"""Between cells that are all quoted, as `sqlite3` writes lists of Tcl."""
_DELIMITERS = (_QUOTED, b"\t", *_BARS, b";", b",", b"  ")
_RULE = lazy(rb"(?:[\s|:+=-]|\xe2[\x94\x95][\x80-\xbf])+")
"""A line of signs, or of those that boxes are drawn with."""
_IN_BRACKETS = lazy(rb" \([^()]*\)")
"""A remark of a header, such as the order of the parts of a name."""
_BELOW = {"┃".encode(): "│".encode()}
"""The bars between cells below headers that have heavy ones."""
_TH = lazy(rb"<th\b[^<>]*>(.*?)</th>", re.DOTALL | re.IGNORECASE)
_TR = lazy(
    rb"\s*(?:</?t(?:head|body)\b[^<>]*>\s*)*<tr\b[^<>]*>(.*?)</tr>", re.DOTALL | re.IGNORECASE
)
_TD = lazy(rb"<t[dh]\b[^<>]*>(?:\s*<[^<>]*>)*\s*([^<>]*)")
_TAG = lazy(rb"<[^<>]*>")
_INSERT = lazy(rb"insert\s[^(]*\(.*\)\s*values\s*", re.IGNORECASE | re.DOTALL)
_BARE_INSERT = lazy(rb"insert\s+(?:into\s+)?([^\s(]+)\s*values\s*", re.IGNORECASE)
_COPY = lazy(rb"copy\s+[^\s(]+\s*\((.*)\)\s*from\s+stdin[^\n]*\n", re.IGNORECASE | re.DOTALL)
_DEFINITION = lazy(rb"\s*[`\"\[]?([\w$]+)[^,()]*(?:\([^()]*\)[^,()]*)*([,)])")
_NO_COLUMNS = frozenset(
    (b"primary", b"unique", b"key", b"index", b"constraint", b"foreign", b"check")
)
_CREATE = lazy(rb"(?i)create\s+table(?=\s)[^(]{0,80}?[\s.`\"\[]([\w$]+)[`\"\]]?\s*\(")
_NAME_QUOTES = b'`"[]'
_SQL_VALUE = lazy(rb"\s*(?:N?'((?:[^']|'')*)'|([^,()']*(?:\([^()]*\))?))\s*([,)])")
_SQL_NEXT = lazy(rb"\s*,?\s*\(")
_BLANK_LINE = lazy(rb"[ \t]*\n")
"""The line between rows whose cells are aligned, as PDFs are converted."""
_NUMBERED = lazy(rb"(?:^|(?<=  ))\(?[0-9]{1,2}[.)] ")
"""The number of a box in a form, before its header."""
_COMMA_IN_NAME = lazy(rb"(?<=\w), (?=\w)")
_DIGIT = lazy(rb"[0-9]")
_ALIGNED = lazy(r"\S+(?: \S+)*")
_QUOTES = b"\"'` \t"
_IN_BULK = (b"\t", b";", b",")
_ODD_LAST = lazy(rb"^[\s|:+=-]*$", re.MULTILINE)
"""A last cell that may be a part of a rule, or with which a row ends in tabs that are stripped."""
_FEWEST_COLUMNS = 3
_MOST_AGAIN = 8
"""The rows of a form that may be headers: each is read with all rows below it."""
_NARROW, _LONGEST_ROW = 48, 512
"""The bytes of a row that programs for narrow screens may have wrapped."""
_MANY = 512
"""Cells that are taken together."""


class OpenTable:
    """The header of the last table in a part of a stream, whose rows may go on in the next part."""

    header = b""


def sensitive_cells(
    data: bytes, headers: Iterable[tuple[int, int]], table: OpenTable, words: HeaderWords
) -> Iterator[Cells]:
    """Return the cells below headers that name something sensitive, in the order of the text."""
    table_end = again = below = 0
    if table.header:
        for cells in _rows(data, data.find(b"\n") + 1, table.header, words):
            table_end = max(table_end, cells.end)
            yield cells
        if not table_end:
            table.header = b""
    created = _Created(data, words)
    for header in headers:
        start, end = header
        line = _unframed(data[start:end])
        if start >= table_end:
            again = 0
        elif (
            again == _MOST_AGAIN
            or (start != below and b"  " not in line.strip())
            or not _starts_below(line, words)
        ):  # the row of a table
            continue
        else:
            again += 1
        table_end = below = end
        if bare := _BARE_INSERT.fullmatch(line):
            for cells in _sql_rows(data, end, created.names(_unqualified(bare[1]))):
                table_end = max(table_end, cells.end)
                yield cells
            continue
        if copied := _COPY.fullmatch(line):
            line = b"\t".join(copied[1].split(b","))
        listed = listed_cells(data, header, words)
        if listed is not None:
            table_end = start  # another header may be in its lines
            for cells in listed:
                table_end = max(table_end, cells.end)
                yield cells
            continue
        of_rows = line[:1] != b"<" and not _INSERT.fullmatch(line)
        if _may_name(line) and (not of_rows or _may_go_on(data, end, line)) and words.are_in(line):
            if of_rows:
                table.header = _unwrapped_header(data, start, end, line).rstrip()
                rows = _rows(data, end, table.header, words)
            elif line.endswith(b"</tr>"):
                rows = _marked_up_rows(data, end, line, words)
            elif line[:1] == b"<":
                rows = _marked_up(data, start, end)
            else:
                columns = line[line.index(b"(") + 1 : line.rindex(b")")]
                names = [words.name(column.strip()) for column in columns.split(b",")]
                rows = _sql_rows(data, end, names)
            for cells in rows:
                table_end = max(table_end, cells.end)
                yield cells


def _starts_below(row: bytes, words: HeaderWords) -> bool:
    """Return whether a row of a form has the headers of the next one, as `CPF   RG   Phone`."""
    row = _NUMBERED.sub(b"", row.strip())
    if _DIGIT.search(row):
        return False
    parts = _split(row, _delimiter(row))[1]
    # Cells may be values, of which none is to be remembered.
    names = [words.are_in(bare) for cell in parts if (bare := cell.strip(_QUOTES))]
    return len(names) > 1 and names.count(True) > names.count(False)


def _unqualified(name: bytes) -> bytes:
    """Return the name of a table without that of its schema, and without quotes."""
    return name.rpartition(b".")[2].strip(_NAME_QUOTES)


def _may_name(line: bytes) -> bool:
    return line[:1] == b"<" or len(line) <= _USUAL_NAME * (1 + sum(map(line.count, _DELIMITERS)))


def _may_go_on(data: bytes, position: int, header: bytes) -> bool:
    """Return whether the line after a header has its delimiter, is a rule, or has not come yet."""
    delimiter = _delimiter(header)
    if delimiter == _DELIMITERS[-1] and (blank := _BLANK_LINE.match(data, position)):
        position = blank.end()
    stop = data.find(b"\n", position)
    if stop < 0:
        return True
    line = data[position:stop]
    return delimiter in line or bool(_RULE.fullmatch(line))


def _unwrapped_header(data: bytes, start: int, end: int, line: bytes) -> bytes:
    """Return a line of headers with those above it that a narrow screen wrapped, as the rule below
    it tells.
    """
    stop = data.find(b"\n", end)
    columns = data.count(b"+", end, stop) if _RULE.fullmatch(data, end, max(end, stop)) else 0
    first = start
    while first and data.count(b"|", first, end) < columns and end - first < _LONGEST_ROW:
        first = data.rfind(b"\n", 0, first - 1) + 1
    if first == start or data.count(b"|", first, end) != columns:
        return line
    return data[first:end].replace(b"\n", b" ")


def _unframed(line: bytes) -> bytes:
    """Return a line of a frame without its bars, if only blanks are between its cells."""
    bare = line.strip()
    for bar in _BARS:
        inner = bare[len(bar) : -len(bar)]
        if bare == bar + inner + bar and bar not in inner and b"  " in inner.strip():
            return line.replace(bar, b" " * len(bar))
    return line


def _delimiter(header: bytes) -> bytes:
    bare = _IN_BRACKETS.sub(b"", header.strip().strip(b"|"))
    if b"  " in bare:  # the comma of `Name, first name`
        bare = _COMMA_IN_NAME.sub(b" ", bare)
    return next((each for each in _DELIMITERS if each in bare), b"|")


def _rows(data: bytes, position: int, header: bytes, words: HeaderWords) -> Iterator[Cells]:
    """Return the cells below a line of headers, as long as the lines have as many."""
    delimiter = _delimiter(header)
    _, parts = _split(header, delimiter)
    if delimiter == _DELIMITERS[-1] and not parts[0].strip():
        if _ends_below(data, position, header) and any(map(words.name, header.split())):
            yield from frame_rows(data, position - 1, header, words)
            return
        row = data[position : position + _LONGEST_ROW].partition(b"\n")[0]
        if row[:2].strip() and len(_split(row, delimiter)[1]) < len(parts):  # centered headers
            del parts[0]
            header = header.lstrip()
    names = [words.name(part.strip(_QUOTES)) for part in parts]
    if any(names):
        if (below := _BELOW.get(delimiter)) and data.count(
            below, position, position + _LONGEST_CELL
        ):
            delimiter = below
        columns = _column_starts(header, len(names)) if delimiter == _DELIMITERS[-1] else []
        for parts, starts in _rows_of(data, position, delimiter, len(names), columns):
            yield _named(names * (len(parts) // len(names)), starts, parts)


def _ends_below(data: bytes, position: int, header: bytes) -> bool:
    """Return whether the row below a header ends where it does, but starts elsewhere."""
    line = data[position : position + _LONGEST_ROW].partition(b"\n")[0]
    row = line.decode("utf-8", "ignore").rstrip()
    bare = header.rstrip().decode()
    return len(row) == len(bare) and len(row.lstrip()) != len(bare.lstrip())


def _rows_of(
    data: bytes, position: int, delimiter: bytes, width: int, columns: Sequence[int]
) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield the cells of several rows, and where each is, as long as the lines have as many."""
    cells: list[bytes] = []
    starts: list[int] = []
    lasts = slice(width - 1, None, width)

    def are_cells(rows: Rows[bytes]) -> bool:
        rows.cells[lasts] = [last.rstrip() for last in rows.cells[lasts]]
        return delimiter != b"\t" or not _ODD_LAST.search(b"\n".join(rows.cells[lasts]))

    takes = are_cells if delimiter in _IN_BULK else None
    wrapped = -1
    for rows in rows_from(data, position, delimiter, width, takes):
        if isinstance(rows, Rows):
            yield cells, starts
            yield rows.cells, rows.starts
            cells, starts = [], []
            continue
        first = rows.start if wrapped < 0 else wrapped
        line = data[first : rows.end].replace(b"\n", b" ")
        if delimiter == _DELIMITERS[-1]:
            line = _unframed(line)
        is_between = delimiter == _DELIMITERS[-1] and not data.startswith(b"\n\n", first - 2)
        if not line and is_between:
            continue
        if not _RULE.fullmatch(line):
            offset, parts = _split(line, delimiter)
            cut = _cut(line, columns) if len(parts) != width else []
            wrapped = first if not cut and _may_be_wrapped(line, parts, width) else -1
            if wrapped >= 0:
                continue
            if cut:
                starts += (first + at for at, _ in cut)
                cells += (part for _, part in cut)
            elif len(parts) == width:
                at = first + offset
                for part in parts:
                    starts.append(at)
                    at += len(part) + len(delimiter)
                cells += parts
            else:
                break
            if len(cells) > _MANY:
                yield cells, starts
                cells, starts = [], []
    yield cells, starts


def _may_be_wrapped(line: bytes, parts: Sequence[bytes], width: int) -> bool:
    """Return whether the row in a line, or in several ones so far, may go on in the next line."""
    is_open = line.count(b'"') % 2 and any(part.startswith(b'"') for part in parts)
    return (1 < len(parts) < width or bool(is_open)) and _NARROW <= len(line) <= _LONGEST_ROW


def _named(names: Sequence[bytes], starts: Sequence[int], parts: Sequence[bytes]) -> Cells:
    """Return the cells with a name, without quotes, apart from empty ones."""
    texts = [part.strip(_QUOTES) for part in parts]
    kept = [bool(name and text) for name, text in zip(names, texts, strict=True)]
    bare_starts = map(add, starts, map(bytes.find, parts, texts))
    return Cells(*(list(compress(each, kept)) for each in (names, bare_starts, texts)))


def _split(line: bytes, delimiter: bytes) -> tuple[int, list[bytes]]:
    """Return where the first cell of a line starts, and the cells as they are written."""
    bare = line.rstrip()
    position = 0
    if delimiter in _BARS:
        outer = _BARS[2] if delimiter == _BARS[1] else delimiter
        position = len(bare) - len(bare.lstrip(b" \t").removeprefix(outer))
        bare = bare.removesuffix(outer)[position:]
    if delimiter == _QUOTED:
        return position, bare.split(delimiter)
    return position, _aligned(bare) if delimiter.isspace() and len(delimiter) > 1 else split_row(
        bare, delimiter
    )


def _aligned(line: bytes) -> list[bytes]:
    """Return cells that two blanks or more separate; further blanks go with the cell before."""
    parts: list[bytes] = []
    for part in line.split(b"  "):
        if part.strip() or not parts:
            parts.append(part)
        else:
            parts[-1] += b"  " + part
    return parts


def _column_starts(header: bytes, width: int) -> list[int]:
    """Return where the columns start, in characters, if they are enough to tell rows from prose."""
    starts = [found.start() for found in _ALIGNED.finditer(header.decode())]
    if header.startswith(_DELIMITERS[-1]):  # the first cell is empty
        starts.insert(0, 0)
    return starts if len(starts) == width >= _FEWEST_COLUMNS else []


def _cut(line: bytes, columns: Sequence[int]) -> list[tuple[int, bytes]]:
    """Return the cells of a line below their headers, whose values may fill their columns, and
    where each is; none if a value is across two columns.
    """
    text = line.decode()
    fits = columns and columns[-1] < len(text)
    if not fits or any(text[start - 1 : start].strip() for start in columns if start):
        return []
    bounds = zip(columns, (*columns[1:], None), strict=True)
    return [(len(text[:start].encode()), text[start:end].encode()) for start, end in bounds]


class _Created:
    """The tables that statements of a text create; each is read once, when rows are inserted."""

    def __init__(self, data: bytes, words: HeaderWords) -> None:
        self._data = data
        self._words = words
        self._names: dict[bytes, list[bytes]] = {}

    def names(self, table: bytes) -> list[bytes]:
        """Return the header of each column; none if no column needs one."""
        if table not in self._names:
            names = [self._words.name(column) for column in self._columns(table)]
            self._names[table] = names if any(names) else []
        return self._names[table]

    def _columns(self, table: bytes) -> Iterator[bytes]:
        position = self._definitions.get(table.lower())
        while position is not None and (found := _DEFINITION.match(self._data, position)):
            if found[1].lower() not in _NO_COLUMNS:
                yield found[1]
            position = found.end() if found[2] == b"," else None

    @cached_property
    def _definitions(self) -> dict[bytes, int]:
        """The place after the opening bracket of each statement, by the name of its table."""
        return {found[1].lower(): found.end() for found in _CREATE.finditer(self._data)}


def _sql_rows(data: bytes, position: int, names: Sequence[bytes]) -> Iterator[Cells]:
    """Return the values of an INSERT statement by the names of their columns."""
    while names and (found := _SQL_NEXT.match(data, position)):
        position = found.end()
        for name in names:
            value = _SQL_VALUE.match(data, position)
            if value is None:
                return
            position = value.end()
            first, last = value.span(1) if value[1] is not None else value.span(2)
            if name and first < last:
                yield Cells([name], [first], [data[first:last]])
            if value[3] == b")":
                break


def _marked_up_rows(data: bytes, position: int, line: bytes, words: HeaderWords) -> Iterator[Cells]:
    """Return the cells of a table of HTML below a row of headers."""
    names = [words.name(_TAG.sub(b"", found[1]).strip()) for found in _TH.finditer(line)]
    while any(names) and (row := _TR.match(data, position)):
        position = row.end()
        cells = [found.span(1) for found in _TD.finditer(data, *row.span(1))]
        if len(cells) == len(names):
            starts, ends = zip(*cells, strict=True)
            yield _named(names, starts, list(map(data.__getitem__, map(slice, starts, ends))))


def _marked_up(data: bytes, start: int, end: int) -> Iterator[Cells]:
    """Return the element of HTML after one that names it."""
    first = data.index(b">", start) + 1
    header = data[first : data.index(b"<", first)].strip(_QUOTES + b":\r\n")
    stop = data.find(b"<", end, end + _LONGEST_CELL)
    value = data[end:stop].rstrip() if stop > 0 else b""
    if value:
        yield Cells([header], [end], [value])
