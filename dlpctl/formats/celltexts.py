"""Spreadsheets as text, SYLK and DIF: each cell is a record, so that a label is in another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dlpctl.formats.continuous import Continuous
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import Segment, View
from dlpctl.formats.markuptables import Cell, views_of_cells
from dlpctl.formats.source import Readable, Resolved, TextFormat, Token
from dlpctl.regex import lazy

_SYLK_START = rb"ID;P[A-Z0-9]*(?:;[A-Z0-9]*)*\r?\n(?:[BCFOPW]|N[NUEVL]);[A-Z]"
_DIF_START = rb"TABLE[ ]*\r?\n0,1[ ]*\r?\n"
_RECORD = lazy(r"^[CF](?=;)", re.MULTILINE)
_FIELD = lazy(r";([A-Z])(\"(?:[^\"\r\n]|\"(?!;(?!;)|[\r\n]|\Z))*+\"|(?:;;|[^;\r\n])*+)")
_SYLK_ESCAPE = lazy(r";;|\x1b :")
_DIF_DATA = lazy(r"^DATA[ ]*\r?\n0,0[ ]*\r?\n[^\r\n]*\r?\n", re.MULTILINE)
_PAIR = lazy(r"(-1|0|1),([^\r\n]*+)\r?\n(?:\"((?:[^\"]|\"\")*+)\"|([^\r\n]*+))(?:\r?\n|\Z)")
_DIF_ESCAPE = lazy(r'""')
_LONGEST_NUMBER = 9
_STRING, _NUMBER, _REST = "string", "number", "rest"


class _CellText(NamedTuple):
    """A cell: its position, the span of its token and that of the text which it shows."""

    row: int
    column: int
    syntax: str
    token: tuple[int, int]
    text: tuple[int, int]


class _CellRecords(TextFormat):
    """A format of a record for each cell."""

    shows_all = False
    is_table = True

    def sniff(self, head: bytes, name: str) -> bool:
        return bool(re.match(self.text_start, head))

    text_start = b""

    def cells(self, source: str) -> Iterator[_CellText]:
        """Yield the cells in order."""
        raise NotImplementedError

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        return views_of_cells(self._shown(source, readable), segments)

    def _shown(self, source: str, readable: Readable) -> Iterator[tuple[Cell, Continuous]]:
        for each in self.cells(source):
            start, end = map(readable.offset_of, each.text)
            yield Cell(0, each.row, each.column), [(start, end)]

    def tokens(self, source: str) -> Iterator[Token]:
        read = 0
        for each in self.cells(source):
            start, end = each.token
            yield Token(read, start, _REST)
            yield Token(start, end, each.syntax)
            read = end
        yield Token(read, len(source), _REST)


class Sylk(_CellRecords):
    """Symbolic links: a record of fields, which start with a letter, for each cell."""

    name = "sylk"
    extensions = (".slk", ".sylk")
    text_start = _SYLK_START

    def resolve(self, source: str) -> Iterator[Resolved]:
        for found in _SYLK_ESCAPE.finditer(source):
            yield Resolved(*found.span(), ";" if found[0] == ";;" else "\n")

    def cells(self, source: str) -> Iterator[_CellText]:
        row = column = 0
        rows: dict[int, int] = {}
        for record in _RECORD.finditer(source):
            value = None
            at = record.end()
            while field := _FIELD.match(source, at):
                at = field.end()
                if field[1] == "K":
                    value = field.span(2)
                elif field[1] in "XY" and field[2].isdecimal() and len(field[2]) < _LONGEST_NUMBER:
                    row, column = (
                        (row, int(field[2])) if field[1] == "X" else (int(field[2]), column)
                    )
            if value is not None:
                start, end = value
                number = rows.setdefault(row, len(rows))
                is_string = end - start > 1 and source[start] == source[end - 1] == '"'
                span = (start + 1, end - 1) if is_string else value
                yield _CellText(number, column, _STRING if is_string else _NUMBER, span, span)

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        written = spliced(token, edits, lambda text: " ".join(text.split("\n")).replace(";", ";;"))
        return f'"{written}"' if syntax == _NUMBER else written


class Dif(_CellRecords):
    """Data interchange format: two lines for each cell."""

    name = "dif"
    extensions = (".dif",)
    text_start = _DIF_START

    def resolve(self, source: str) -> Iterator[Resolved]:
        for each in self.cells(source):
            if each.syntax == _STRING:
                for found in _DIF_ESCAPE.finditer(source, *each.text):
                    yield Resolved(*found.span(), '"')

    def cells(self, source: str) -> Iterator[_CellText]:
        data = _DIF_DATA.search(source)
        row, column, at = -1, 0, data.end() if data else len(source)
        while pair := _PAIR.match(source, at):
            at = pair.end()
            if pair[1] == "-1":
                row, column = row + 1, 0
                continue
            column += 1
            if pair[1] == "0":
                token = pair.start(), max(pair.end(3), pair.end(4))
                yield _CellText(row, column, _NUMBER, token, pair.span(2))
            else:
                text = pair.span(4 if pair[3] is None else 3)
                yield _CellText(row, column, _STRING, text, text)

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        written = spliced(token, edits, lambda text: " ".join(text.split("\n")).replace('"', '""'))
        if syntax != _NUMBER:
            return written
        shown, newline, _ = written.partition("\n")
        return f'1,0{shown[len(shown.rstrip()) :]}{newline}"{shown[2:].rstrip()}"'


FORMATS = (Sylk(), Dif())
