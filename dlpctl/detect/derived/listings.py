"""Tables as programs print and write them: data frames, whose columns end below their headers,
arrays of rows after an array of their columns, and columns with numbered values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from dlpctl.detect.automaton.gates import MayMatch, all_open
from dlpctl.detect.derived.cellines import FORMS_OF_COPIES
from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.enumerated import ENUMERATED_FORMS
from dlpctl.detect.derived.forms import VALUE, Form, cell_of, keyed_cells
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.labelled import LABELLED_FORMS
from dlpctl.detect.derived.records import RECORD_FORMS
from dlpctl.detect.derived.ruled import RULED_FORMS
from dlpctl.detect.derived.statements import STATEMENT_FORMS
from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.regex import lazy

_LONGEST_GAP = 256
"""The characters that may be between the columns of an array and its first row."""
_TOKEN = lazy(r"\S+")
_LABEL = lazy(r"(\S+(?: \S+)*)\s{2,}")
_NAME = lazy(rb"[\"']([^\"'\n]*)[\"']")
_FIELD = lazy(rb"[\"'](?:name|field|column_?name)[\"']\s*:\s*[\"']([^\"'\n]*)[\"']", re.IGNORECASE)
_OPEN = lazy(rb"[\[(]")
_NEXT_ROW = lazy(rb"\s*\}?\s*,?\s*(?:\{\s*\"\w{1,16}\"\s*:\s*)?[\[(]")
_OF_SERIES = lazy(rb"\S+[ \t]{2,}(\S.*?)\s*")
_LEFT_OUT = b"..."
_LINE_END = ord("\n")
_GOES_ON = b"\\ \r"
"""The end of a header whose table goes on below."""


def _shown(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells of a data frame, each of which ends below the end of its header."""
    header = data[found.start() : data.index(b"\n", found.start())]
    if words.are_in(header):
        yield from frame_rows(data, found.start() + len(header), header, words)


def frame_rows(data: bytes, position: int, header: bytes, words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells of the rows below a header, after the number of each row if it has one."""
    columns = [(each[0], each.end()) for each in _TOKEN.finditer(header.rstrip(_GOES_ON).decode())]
    indentation = len(header) - len(header.lstrip())
    name = cache(words.name)
    for start, line in _rows_below(data, position, columns[-1][1]):
        first = _TOKEN.search(line)
        is_index = first is not None and first[0].isdigit() and first.end() <= indentation
        index = first.end() if first and is_index else 0
        named = ((name(header.encode()), cell) for header, *cell in _aligned(line, columns, index))
        yield _cells(line, start, named)


def _turned(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells of a data frame whose rows are printed as columns, after their labels."""
    header = data[found.start() : data.index(b"\n", found.start())]
    columns = [(each[0], each.end()) for each in _TOKEN.finditer(header.decode())]
    for start, line in _rows_below(data, found.start() + len(header), columns[-1][1]):
        label = _LABEL.match(line)
        if label is None:
            return
        if name := words.name(label[1].encode()):
            cells = _aligned(line, columns, label.end())
            yield _cells(line, start, ((name, cell) for _, *cell in cells))


def _rows_below(data: bytes, position: int, width: int) -> Iterator[tuple[int, str]]:
    """Yield the start and the text of each line that ends where the last column does."""
    while (position := data.find(b"\n", position) + 1) and position < len(data):
        stop = data.find(b"\n", position)
        line = data[position : stop if stop >= 0 else len(data)].decode()
        if len(line.rstrip()) != width:
            return
        yield position, line


def _aligned(
    line: str, columns: Sequence[tuple[str, int]], first: int
) -> Iterator[tuple[str, int, int]]:
    """Yield the header and the range of each cell; a header of several words has one cell."""
    names = ""
    for name, end in columns:
        names = f"{names} {name}" if names else name
        if line[end : end + 1].strip():
            continue  # the cell goes on
        yield names, first, max(first, end)
        first, names = max(first, end), ""


def _cells(line: str, start: int, named: Iterable[tuple[bytes, Sequence[int]]]) -> Cells:
    """Return the cells of a line that have a name and are not blank."""
    cells = Cells([], [], [])
    for name, (first, last) in named:
        if name and (text := line[first:last].strip()):
            cells.headers.append(name)
            cells.starts.append(start + len(line[: line.index(text, first)].encode()))
            cells.texts.append(text.encode())
    return cells


def _of_series(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells of a column that its name follows."""
    name = words.name(found[1])
    end = found.start() - 1
    starts: list[int] = []
    texts: list[bytes] = []
    while name and end > 0:
        start = data.rfind(b"\n", 0, end) + 1
        row = _OF_SERIES.fullmatch(data, start, end)
        if row:
            starts.append(row.start(1))
            texts.append(row[1])
        elif data[start:end].strip() != _LEFT_OUT:
            break
        end = start - 1
    yield Cells([name] * len(texts), starts[::-1], texts[::-1])


def _listed(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells of the arrays after one that names their columns."""
    name = _FIELD if found[1].lstrip()[:1] == b"{" else _NAME
    names = [words.name(each[1]) for each in name.finditer(found[1])]
    position, limit = found.end(), found.end() + _LONGEST_GAP
    while any(names) and (opened := _OPEN.search(data, position, limit)):
        position = opened.end()
        cells, end = _row(data, position, names)
        while end:
            yield cells
            following = _NEXT_ROW.match(data, end)
            if following is None:
                return
            cells, end = _row(data, following.end(), names)


def _row(data: bytes, position: int, names: Sequence[bytes]) -> tuple[Cells, int]:
    """Return the named cells of an array, and its end; 0 if the array has not as many."""
    cells = Cells([], [], [])
    for number, name in enumerate(names, 1):
        value = VALUE.match(data, position)
        if value is None or (value[4] == b",") != (number < len(names)):
            return cells, 0
        position = value.end()
        cell = cell_of(name, value)
        cells.headers.extend(cell.headers)
        cells.starts.extend(cell.starts)
        cells.texts.extend(cell.texts)
    return cells, position


def _answered(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the value in the line after its name, as answers of Redis and forms have it."""
    name, start = words.name(found[1]), found.end()
    end = data.find(b'"' if data[start - 1 : start] == b'"' else b"\n", start, start + _LONGEST_GAP)
    if name and end > start:
        yield Cells([name], [start], [data[start:end].rstrip()])


# Brackets are escaped in classes, too: each other one is that of a group.
_QUOTED = r"[\"'][^\"'\n\[\]]{1,48}[\"']"
_WORD = r"[^\s,;|<>{}\(\)\[\]\"':=]{1,48}"
_FIELDS = r"\{[^{}\[\]]*\}(?:\s*,\s*\{[^{}\[\]]*\})*"
_NUMBERS = r"[ ]+[0-9]{1,9}(?:[ ]+[0-9]{1,9})+[ ]*\r?\n[^\s0-9]"
_OF_COLUMNS = r"(?:columns|columnnames|column_names|fields|headers?|cols)[\"']?\s{0,4}[:=]\s{0,4}"


_FORMS = (
    Form(
        rf"(?:^|\n){_NUMBERS}",
        _NUMBERS,
        _turned,
        starts_line=True,
    ),
    Form(
        r"\n[0-9]{1,9}[ ]{1,64}[^\s]",
        rf"[ ]+{_WORD}(?:[ ]+{_WORD})*[ ]*\\?\r?\n[0-9]{{1,9}}[ ]",
        _shown,
        starts_line=True,
    ),
    Form(
        ", dtype: ",
        r"Name: ([^\n,]{1,48}), (?:Length: [0-9]+, )?dtype: ",
        _of_series,
        starts_line=True,
    ),
    Form(
        rf"(?i:{_OF_COLUMNS})[\[\(]\s{{0,64}}[\"'{{]",
        rf"{_OF_COLUMNS}[\[\(](\s*(?:{_QUOTED}(?:\s*,\s*{_QUOTED})+|{_FIELDS}))\s*[\]\)]",
        _listed,
    ),
    Form(
        r"[\[(]\s{0,64}[\[(]\s{0,64}[\"'][A-Za-z_\x{C0}-\x{17F}]",
        rf"[\[(]\s{{0,64}}[\[(](\s*{_QUOTED}(?:\s*,\s*{_QUOTED})+)\s*[\])]\s*,",
        _listed,
    ),
    Form(
        r"[\"']\s{0,4}:\s{0,4}\{\s{0,64}[\"']?0[\"']?\s{0,4}:",
        r"[\"']([^\"'\n{}]{1,48})[\"']\s{0,4}:\s{0,4}\{\s*[\"']?0[\"']?\s{0,4}:",
        keyed_cells,
    ),
    Form(
        r"[0-9]\)[ ]\"[^\"\n]{1,48}\"\r?\n[ ]{0,64}[0-9]{1,9}\)[ ]\"",
        r"[0-9]\) \"([^\"\n]{1,48})\"\r?\n[ ]*[0-9]{1,9}\) \"",
        _answered,
    ),
    Form(
        r"form-data;[ ]name=\"[^\"\n]+\"",
        r"form-data; name=\"([^\"\n]{1,48})\"\r?\n(?:content-[^\n]{1,80}\n)?\r?\n",
        _answered,
    ),
    *RECORD_FORMS,
    *STATEMENT_FORMS,
    *ENUMERATED_FORMS,
    *FORMS_OF_COPIES,
)
_GROUPS = _FORMS, (*RULED_FORMS, *LABELLED_FORMS)
GATES = tuple(tuple(form.gate for form in forms) for forms in _GROUPS)
"""Each regex matches wherever a header of its form is; one gate of all has too many states."""


class Listing(tuple[int, int]):
    """The span of the header of a listing, which knows its form."""

    form: Form

    @classmethod
    def of(cls, span: tuple[int, int], form: Form) -> Listing:
        listing = cls(span)
        listing.form = form
        return listing


def listing_headers(data: bytes, may_match: MayMatch = all_open) -> Iterator[Listing]:
    """Yield the headers of listings, form by form: one regex of all forms has so many states that
    RE2 builds them again and again.
    """
    size = len(data)
    opened = (
        forms[number]
        for forms, gate in zip(_GROUPS, GATES, strict=True)
        for number in sorted(may_match(gate, data))
    )
    for form in opened:
        search, position = _search(form), 0
        while (span := search(data, position, size)[0])[0] >= 0:
            start, position = span
            if form.starts_line and start and data[start - 1] != _LINE_END:
                position = start + 1
            else:
                yield Listing.of(span, form)


def listed_cells(
    data: bytes, header: tuple[int, int], words: HeaderWords
) -> Iterator[Cells] | None:
    """Return the cells that belong to a header of a listing; None for any other header."""
    if not isinstance(header, Listing):
        return None
    found = _regex(header.form).match(data, *header)
    return header.form.read(data, found, words) if found else None


@cache
def _regex(form: Form) -> re.Pattern[bytes]:
    return re.compile(form.regex.encode(), re.IGNORECASE)


@cache
def _search(form: Form) -> Find:
    regex = f"^(?:{form.regex})" if form.starts_line else form.regex
    return finders(compile_regex(f"(?mi:{regex})", "listings"))[0]
