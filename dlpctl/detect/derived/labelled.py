"""Tables with their headers on the left: the label of each row, and a value in each other cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import Form
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy
from dlpctl.texts.tables import split_row

_LABEL = r"[^\s!-@\[-`{-~][^\n:(){}\[\]<>=\"',;|\t/]{1,40}"
_BAR = "(?:│|┃|║)"
_ANY_LABEL = r"[^\s!-@\[-`{-~][^\n:(){}\[\]<>=\"',;|\t/]+"
"""Any label, for gates: counted characters make large ones."""
_APART = rf"(?:[,;][^\s,;]|\t|[ ]*(?:\||{_BAR}))"
_FIRST_ROW = rf"(?:[\t,;|\" ]|{_BAR})*{_LABEL}\"?{_APART}[^\n]*(?:[,;|\t]|{_BAR})[^\n]*\n[^\n]"
_TO_VALUE = r"(?:[\])]?[ ]?:{0,2}[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]{0,16}|[ ]::[ ])"
_SIGN = r"[!#$%&*+?@^~]"
"""A sign of passwords: others below a label are told from words without their label."""
_REST = r"[^\s\"'<>(){}\[\],;:=/]"
_DELIMITERS = (b"|", *map(str.encode, "│┃║"), b"\t", b";", b",")
_FIRST_CELL = lazy(rb"(?m)^[\t,;|\" ]*([^\n,;|\t\"0-9][^\n,;|\t\"]{0,40})")
_QUOTES = b"\"' \t\r"
_RULE = lazy(rb"(?:[\s|:+=-]|\xe2[\x94\x95][\x80-\xbf])*")
_DIGIT, _LETTER = lazy(rb"[0-9]"), lazy(rb"[A-Za-z\x80-\xff]")
_WORDS = HeaderWords()
_FEWEST_LABELS = 2
_MOST_ROWS, _LONGEST_ROW, _LONGEST_LABEL = 32, 4096, 42

_Row = list[tuple[int, bytes]]
"""The cells of a row that are not blank, and where each is."""


def _labelled(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values of rows with labels, if several of these name something sensitive, whatever
    the reader looks for.
    """
    start = found.start(1)
    end = data.find(b"\n\n", start, start + _LONGEST_ROW)
    labels = _FIRST_CELL.findall(data, start, end if end >= 0 else start + _LONGEST_ROW)
    if not _WORDS.are_in(b"\n".join(labels)):
        return
    rows = islice(_rows(data, start), _MOST_ROWS)
    labelled = [row for row in rows if _are_headers(row[:1]) and not _are_headers(row[1:])]
    if len(labelled) < _FEWEST_LABELS:
        return
    for (_, label), *values in labelled:
        name = words.name(label)
        shapes = {(bool(_DIGIT.search(text)), bool(_LETTER.search(text))) for _, text in values}
        if name and len(shapes) == 1:
            starts, texts = zip(*values, strict=True)
            yield Cells([name] * len(values), [*starts], [*texts])


def _are_headers(cells: Iterable[tuple[int, bytes]]) -> bool:
    """Return whether a cell names something sensitive; cells may be values, of which none is to be
    remembered.
    """
    return any(
        len(text) <= _LONGEST_LABEL and not _DIGIT.search(text) and _WORDS.are_in(text)
        for _, text in cells
    )


def _rows(data: bytes, position: int) -> Iterator[_Row]:
    """Yield the rows of a table from its first one on."""
    delimiter, width = b"", 0
    while position < len(data):
        stop = data.find(b"\n", position)
        stop = stop if stop >= 0 else len(data)
        line = data[position : min(stop, position + _LONGEST_ROW)]
        delimiter = delimiter or next((each for each in _DELIMITERS if each in line), b",")
        parts = _parts(line, delimiter)
        row = [
            (position + at + text.index(bare), bare)
            for at, text in parts
            if (bare := text.strip(_QUOTES))
        ]
        if not _RULE.fullmatch(line):
            width = width or len(parts)
            if len(parts) != width or not row:
                return
            yield row
        elif not line.strip():
            return
        position = stop + 1


def _parts(line: bytes, delimiter: bytes) -> _Row:
    """Return the cells of a line as they are written."""
    parts: _Row = []
    at = 0
    for part in split_row(line, delimiter):
        parts.append((at, part))
        at += len(part) + len(delimiter)
    return parts


def _below(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the value in the line below its label, or after two colons."""
    name = words.name(found[1])
    if name and _DIGIT.search(found[2]):
        yield Cells([name], [found.start(2)], [found[2]])


LABELLED_FORMS = (
    Form(
        rf"(?:^|\n)(?:[\t,;|\" ]|{_BAR})*{_ANY_LABEL}\"?{_APART}[^\n]*(?:[,;|\t]|{_BAR})",
        rf"(?:\A|[^\n,;|\t]*\n|[0-9;,\t]*\r?\n)({_FIRST_ROW})",
        _labelled,
        starts_line=True,
    ),
    Form(
        rf"(?:\n[ \t]*|::[ ])[0-9A-Za-z]+{_SIGN}{_REST}+[ \t\r]*(?:\n|$)",
        rf"(?:[ ]{{0,16}}(?:[-*+]|@item)[ ]|[ ]{{0,32}})[\[(*_/]{{0,4}}({_LABEL}){_TO_VALUE}"
        rf"([0-9A-Za-z]{{4,64}}{_SIGN}{_REST}{{1,64}})[ \t]*(?:\r?\n|$)",
        _below,
        starts_line=True,
    ),
)
"""The forms of rows with labels: a first row, at the start of the text or below another line."""
