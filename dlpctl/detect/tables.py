"""The header of a column as the label of each value in it: CSV, tables of Markdown and of fixed columns, INSERT statements.

A header may stand far above its value. Where one says what may be sensitive, a second text is made in which each cell of that column
stands behind its header, as `header: cell`, and what is found there is reported where the cell is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from dlpctl.detect.matcher import compile_regex, direct

_SENSITIVE_TEXT = """
    ssn social tax tin ein itin passport passeport pasaporte passaporto reisepass licen permis conduc patente fuehrerschein führerschein
    phone tel mobile cell fax telefon teléfono telefono téléphone handy móvil celular birth born dob geburt nacimiento naissance nascita
    nascimento mrn patient paciente paziente medical chart account acct iban routing aba bic swift sort_code konto cuenta compte conto conta
    card tarjeta carte carta cartão cartao karte cvv cvc expir pin password passwd pwd passwort contraseña senha secret token key credential
    email mail ip address mac imei imsi vin plate kennzeichen matrícula matricula placa targa zip postal postcode plz salary income gehalt
    salario salaire stipendio balance saldo blood diagnos icd npi dea medicare medicaid insurance versicher policy member nhs nino national
    identity dni nie cpf cnpj rfc curp cuit rut nif nss cedula cédula steuer ausweis nir siret siren sécurité secu codice fiscale aadhaar
    pan nric sin bsn pesel age edad alter âge user login username lat lon gps coord wallet bitcoin ethereum seed drug ndc loinc cpt health
    """
_SENSITIVE = "|".join(re.escape(word) for word in _SENSITIVE_TEXT.split())
_WORD = r"[A-Za-z\x{C0}-\x{17F}_#][\w\x{C0}-\x{17F}.#/()°º'-]*"
_CELL = rf"""["'`]?{_WORD}(?: {_WORD})*["'`]?"""
_BLANK = r"[ \t]*"
_HEADER = (
    rf"(?mi)^(?:\|{_BLANK}{_CELL}{_BLANK}(?:\|{_BLANK}{_CELL}{_BLANK})*\|?|{_CELL}(?:{_BLANK}[,;|]{_BLANK}{_CELL})+|{_CELL}(?:\t+{_CELL})+"
    rf"|{_WORD}(?: {_WORD})*(?: {{2,}}{_WORD}(?: {_WORD})*)+)[ \t]*\r?\n"
    rf"|\binsert\s+into\s+[^\s(]+\s*\({_BLANK}{_CELL}(?:\s*,\s*{_CELL})*{_BLANK}\)\s*values\s*"
)
_MARKED = rf"(?i)(?:^|[^A-Za-z\x{{C0}}-\x{{17F}}])(?:{_SENSITIVE})|(?:{_SENSITIVE})(?:$|[^A-Za-z\x{{C0}}-\x{{17F}}])"
_LONGEST_NAME = 48
_USUAL_NAME = 28
"""Characters that headers have on average at most; where there are more, commas are those of prose."""
_DELIMITERS = (b"\t", b"|", b";", b",", b"  ")
_RULE = re.compile(rb"[\s|:+=-]+")
_CELLS = {
    delimiter: re.compile(
        rb"(?:^|(?<="
        + re.escape(delimiter)
        + rb'))(?:[ \t]*"(?:[^"]|"")*"[ \t]*|[^'
        + re.escape(delimiter)
        + rb"]*)"
    )
    for delimiter in _DELIMITERS[:4]
}
_SQL_VALUE = re.compile(rb"\s*(?:N?'((?:[^']|'')*)'|([^,()']*(?:\([^()]*\))?))\s*([,)])")
_SQL_NEXT = re.compile(rb"\s*,?\s*\(")
_QUOTES = b"\"'` \t"


class Cell(NamedTuple):
    header: bytes
    start: int
    end: int


class OpenTable:
    """The header of the last table in a part of a text, whose rows may go on in the next part of the stream."""

    header = b""


class Columns:
    """The cells that stand below a header that says something, each with that header."""

    def __init__(self, cells: list[Cell], data: bytes) -> None:
        view = bytearray()
        self._cells = cells
        self._starts: list[int] = []
        for header, start, end in cells:
            view += b"\n" + header + b": "
            self._starts.append(len(view))
            view += data[start:end] + b"\n"
        self.data = bytes(view)

    @classmethod
    def of(cls, data: bytes, table: OpenTable | None = None) -> Columns | None:
        """None where there is no such header; `table` says in which one the text begins, and takes the last one of it."""
        cells = list(_cells(data, table or OpenTable()))
        return cls(cells, data) if cells else None

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where that stands in the original; None where it is not within one cell."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return None
        cell = self._cells[at]
        first = cell.start + start - self._starts[at]
        last = first + end - start
        return (first, last) if last <= cell.end else None


@cache
def _regex(regex: str) -> tuple[Any, Any, Any]:
    return direct(compile_regex(regex, "tables"))


def _is_marked(names: bytes) -> bool:
    """Whether a word that says something begins or ends one of the words."""
    match, unanchored, _ = _regex(_MARKED)
    return bool(match(unanchored, names, 0, len(names))[0][0] >= 0)


def _cells(data: bytes, table: OpenTable) -> Iterator[Cell]:
    match, unanchored, _ = _regex(_HEADER)
    place = 0
    if table.header:
        for cell in _rows(data, data.find(b"\n") + 1, table.header):
            place = cell.end
            yield cell
        if not place:
            table.header = b""
    while True:
        start, end = match(unanchored, data, place, len(data))[0]
        if start < 0:
            return
        line = data[start:end]
        place = end
        if len(line) <= _USUAL_NAME * (1 + sum(map(line.count, _DELIMITERS))) and _is_marked(line):
            if line[:7].lower().split() == [b"insert"]:
                rows = _sql_rows(data, start, end)
            else:
                table.header = line.rstrip()
                rows = _rows(data, end, table.header)
            for cell in rows:
                place = max(place, cell.end)
                yield cell


def _rows(data: bytes, place: int, header: bytes) -> Iterator[Cell]:
    """The cells below a line of headers, as long as the lines have as many."""
    delimiter = next(each for each in _DELIMITERS if each in header.strip(b"|"))
    headers = _split(header, delimiter)
    names = {
        column: name for column, (first, last) in enumerate(headers) if (name := _name(header[first:last]))
    }
    while names and place < len(data):
        stop = data.find(b"\n", place)
        stop = len(data) if stop < 0 else stop
        line = data[place:stop]
        if not _RULE.fullmatch(line):
            cells = _split(line, delimiter)
            if len(cells) != len(headers):
                return
            for column, name in names.items():
                first, last = cells[column]
                if first < last:
                    yield Cell(name, place + first, place + last)
        elif not line:
            return
        place = stop + 1


def _split(line: bytes, delimiter: bytes) -> list[tuple[int, int]]:
    """Where the cells of a line are, without the quotes and blanks around them."""
    bare = line.rstrip()
    place = 0
    if delimiter == b"|":
        place = len(bare) - len(bare.lstrip(b" \t").removeprefix(b"|"))
        bare = bare.removesuffix(b"|")
    cells = []
    for part in _parts(bare[place:], delimiter):
        inner = part.strip(_QUOTES)
        first = place + (part.find(inner) if inner else 0)
        cells.append((first, first + len(inner)))
        place += len(part) + len(delimiter)
    return cells


def _parts(line: bytes, delimiter: bytes) -> list[bytes]:
    if b'"' in line:
        return _CELLS[delimiter].findall(line) if delimiter in _CELLS else line.split(delimiter)
    return line.split(delimiter) if len(delimiter) == 1 else _aligned(line)


def _aligned(line: bytes) -> list[bytes]:
    """Cells with at least two blanks between them; all but two go with the cell before."""
    parts: list[bytes] = []
    for part in line.split(b"  "):
        if part.strip() or not parts:
            parts.append(part)
        else:
            parts[-1] += b"  " + part
    return parts


def _sql_rows(data: bytes, start: int, end: int) -> Iterator[Cell]:
    """The values of an INSERT statement by the names of their columns."""
    listed = data[data.index(b"(", start) + 1 : data.rindex(b")", start, end)]
    names = [_name(column.strip()) for column in listed.split(b",")]
    place = end
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


def _name(header: bytes) -> bytes:
    """The header, if it may be a label of what is looked for; nothing otherwise."""
    bare = header.strip(_QUOTES)
    if len(bare) > _LONGEST_NAME:
        return b""
    return bare if _is_marked(bare) else b""
