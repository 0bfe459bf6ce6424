"""The cells of a sheet, read by one expression: a sheet has millions of elements of few shapes."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.encoding import Edit
from dlpctl.formats.office.content import is_header
from dlpctl.formats.office.numbers import Shown, plain
from dlpctl.formats.office.reading import Builder, Leaf, Plan, Reading, Spot
from dlpctl.formats.office.xmltext import attributes, character, escaped, local, unescaped

CELLS, COLUMN, FORMULAS = "cells", "column ", "formulas"
_APART = "\n\n"
_DATA = re.compile(r"<((?:[^\s/>:\"'<=!?]+:)?)sheetData\s*>")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_HEADER_WITHIN = 20
_TAG = r"(?:[^>\"'/]|\"[^\"]*+\"|'[^']*+'|/(?!>)|(?!))*+"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Cell(NamedTuple):
    """A cell that holds something, where it stands in the source, and what it holds as the source spells it."""

    start: int
    end: int
    row: int
    column: int
    style: str | None
    type: str
    value: str
    inner: str | None
    """All within the cell; None where that is one plain value."""


class Split(NamedTuple):
    """A sheet without its cells, and where in the source they stand."""

    shell: str
    start: int
    end: int
    prefix: str


@dataclass(slots=True)
class CellText:
    """The cells of a sheet as one text, row by row."""

    text: str = ""
    starts: array[int] = field(default_factory=lambda: array("q"))
    lengths: array[int] = field(default_factory=lambda: array("q"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    columns: array[int] = field(default_factory=lambda: array("q"))
    positions: array[int] = field(default_factory=lambda: array("q"))
    """Where in the source each cell begins."""
    formulas: list[Leaf] = field(default_factory=list)
    """Each stands for the cell that it fills."""

    def of(self, index: int) -> str:
        start = self.starts[index]
        return self.text[start : start + self.lengths[index]]


class Column(NamedTuple):
    """The cells below a header, as a layer of their own."""

    reading: Reading
    header: str
    cells: array[int]
    """By their position in the text of all cells."""
    number: int


@dataclass(frozen=True, slots=True)
class CellSpot(Spot):
    """The anchor of the cells of a sheet."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    columns: array[int] = field(default_factory=lambda: array("q"))

    def place_at(self, offset: int) -> str:
        index = max(bisect_right(self.places, offset) - 1, 0)
        return f"{self.label}!{letters_of(self.columns[index])}{self.rows[index]}"


def split(source: str) -> Split:
    """The sheet around its cells; everything is around where there are none."""
    opening = _DATA.search(source)
    if opening is None:
        return Split(source, len(source), len(source), "")
    closing = source.rfind(f"</{opening[1]}sheetData")
    if closing < opening.end():
        raise FormatError("the cells of a sheet have no end")
    if source.find("<!", opening.end(), closing) >= 0 or source.find("<?", opening.end(), closing) >= 0:
        raise FormatError("comments stand among the cells of a sheet: save it again by a spreadsheet program")
    return Split(source[: opening.end()] + source[closing:], opening.end(), closing, opening[1])


def cells(source: str, part: Split) -> Iterator[Cell]:
    """Every cell that holds something, in order."""
    row = column = 0
    for found in _cell_pattern(part.prefix).finditer(source, part.start, part.end):
        row_tag, letters, digits, style, kind, more, value, text, inner = found.groups()
        if row_tag is not None:
            row, column = _row_number(row_tag, row), 0
            continue
        if more:
            letters, digits, style, kind = _attributes(more, letters, digits, style, kind)
        column = number_of(letters) if letters else column + 1
        if digits:
            row = int(digits)
        if value is None:
            value = text
        if value is None and not inner:
            continue
        yield Cell(found.start(), found.end(), row, column, style, kind or "n", value or "", inner)


def cell_at(source: str, part: Split, position: int) -> Cell:
    """The cell that begins there."""
    found = _cell_pattern(part.prefix).match(source, position)
    assert found is not None
    _, letters, digits, style, kind, more, value, text, inner = found.groups()
    if more:
        letters, digits, style, kind = _attributes(more, letters, digits, style, kind)
    return Cell(found.start(), found.end(), 0, 0, style, kind or "n", value or text or "", inner)


def read(
    source: str, part: Split, strings: Sequence[str], shown: Mapping[str, Shown], used: bytearray
) -> CellText:
    """The text of all cells; `used` is told which of the shared strings they show."""
    result = CellText()
    starts, rows, columns = result.starts, result.rows, result.columns
    texts: list[str] = []
    length = last_row = 0
    for start, end, row, column, style, kind, spelled, inner in cells(source, part):
        value = spelled
        if inner is not None:
            value, formula = _inner(inner, kind)
            if formula is not None:
                result.formulas.append(Leaf(start, end, formula, "f"))
        if kind == "s":
            index = int(value) if value.isdigit() else -1
            if not 0 <= index < len(strings):
                continue
            used[index] = 1
            text = strings[index]
        elif kind == "n":
            shows = shown.get(style) if style else None
            text = shows(value) if shows is not None else plain(value)
        elif kind in {"b", "e"}:
            continue
        else:
            text = decoded(value)
        if not text:
            continue
        if texts:
            texts.append("\t" if row == last_row else "\n")
            length += 1
        last_row = row
        starts.append(length)
        rows.append(row)
        columns.append(column)
        result.positions.append(start)
        texts.append(text)
        result.lengths.append(len(text))
        length += len(text)
    result.text = "".join(texts)
    return result


def rows_of(cell_text: CellText) -> Reading:
    """The cells as they stand beside each other."""
    found = Reading(CELLS, cell_text.text)
    found.starts = found.places = cell_text.starts
    found.plans.append(Plan("cells", [(0, len(cell_text.text))]))
    return found


def columns_of(
    cell_text: CellText, headers: Mapping[int, int], layers: Container[str] | None = None
) -> Iterator[Column]:
    """The cells below each header, so that it speaks for them and for no others.

    `headers` says in which row the header of a column stands, where that is known; `layers` which columns to make.
    """
    by_column: dict[int, array[int]] = {}
    for index, column in enumerate(cell_text.columns):
        if column not in by_column:
            by_column[column] = array("q")
        by_column[column].append(index)
    likely = header_row(cell_text)
    for column, indexes in sorted(by_column.items()):
        if layers is not None and f"{COLUMN}{column}" not in layers:
            continue
        row = headers.get(column, likely)
        head = next((at for at, index in enumerate(indexes) if cell_text.rows[index] == row), None)
        if head is None or head + 1 == len(indexes) or not is_header(cell_text.of(indexes[head]).strip()):
            continue
        header = " ".join(cell_text.of(indexes[head]).split())
        below = indexes[head + 1 :]
        found = Reading(f"{COLUMN}{column}")
        texts = [cell_text.of(index) for index in below]
        length = 0
        for text in texts:
            found.starts.append(length)
            length += len(text) + len(_APART)
        found.text = _APART.join(texts)
        found.places = found.starts
        found.plans.append(Plan(f"column {letters_of(column)}", [(0, len(found.text))], header))
        yield Column(found, header, below, column)


def header_row(cell_text: CellText) -> int:
    """The first row that labels the ones below it; 0 where none does."""
    rows: dict[int, list[int]] = {}
    for index, row in enumerate(cell_text.rows):
        if row not in rows and len(rows) == _HEADER_WITHIN:
            break
        rows.setdefault(row, []).append(index)
    widest = max(map(len, rows.values()), default=0)
    for row, indexes in rows.items():
        texts = [cell_text.of(index).strip() for index in indexes]
        if len(texts) * 2 > widest and len(set(texts)) == len(texts) and all(map(is_header, texts)):
            return row
    return 0


def decoded(raw: str) -> str:
    """A text of a cell: escapes of XML, and those that spreadsheets have for what XML cannot hold."""
    text = unescaped(raw)
    return _ESCAPE.sub(lambda found: character(int(found[1], 16)), text) if "_x" in text else text


def encoded(text: str) -> str:
    """What `decoded` would turn into something else is escaped."""
    return re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)


def letters_of(column: int) -> str:
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = _LETTERS[rest] + letters
    return letters


@cache
def number_of(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + _LETTERS.index(letter) + 1
    return number


_FORMULA = re.compile(rf"<(?:[\w.-]+:)?f\b(?P<tag>{_TAG})(?:/>|>(?P<text>[^<]*)</(?:[\w.-]+:)?f\s*>)")
_VALUE = re.compile(rf"<(?:[\w.-]+:)?v\b{_TAG}>([^<]*)<")
_RUN = re.compile(rf"<(?:[\w.-]+:)?t\b(?:\s{_TAG})?>([^<]*)<")
_SHARED = re.compile(r"\ssi=[\"'](\d+)[\"']")
# The type, and metadata of a formula that spills or of a value that is more than a text.
_NOT_KEPT = re.compile(r"\s(?:t|cm|vm)=(?:\"[^\"]*\"|'[^']*')")
PHONETIC = re.compile(r"<(?:[\w.-]+:)?rPh\b.*?</(?:[\w.-]+:)?rPh\s*>", re.DOTALL)


def _inner(inner: str, kind: str) -> tuple[str, str | None]:
    """What a cell shows, as the source spells it, and its formula."""
    formula = _FORMULA.search(inner)
    text = unescaped(formula["text"] or "") if formula else None
    if kind == "inlineStr":
        return "".join(_RUN.findall(PHONETIC.sub("", inner))), text or None
    value = _VALUE.search(inner)
    return value[1] if value else "", text or None


@cache
def _cell_pattern(prefix: str) -> re.Pattern[str]:
    p = re.escape(prefix)
    return re.compile(
        rf"<{p}row\b({_TAG})/?>"
        rf"|<{p}c\b(?: r=\"([A-Z]{{1,3}})(\d{{1,7}})\")?(?: s=\"(\d+)\")?(?: t=\"(\w+)\")?({_TAG})"
        rf"(?:/>|>(?:<{p}v>([^<]*)</{p}v></{p}c>|<{p}is><{p}t>([^<]*)</{p}t></{p}is></{p}c>|(.*?)</{p}c\s*>))",
        re.DOTALL,
    )


def _row_number(tag: str, before: int) -> int:
    found = re.search(r"\sr=[\"'](\d{1,7})[\"']", tag)
    return int(found[1]) if found else before + 1


def _attributes(
    more: str, letters: str | None, digits: str | None, style: str | None, kind: str | None
) -> tuple[str | None, str | None, str | None, str | None]:
    """The attributes of a cell in whatever order."""
    for name, start, end in attributes(" " + more):
        value = (" " + more)[start:end]
        match local(name):
            case "r":
                digits = value.lstrip(_LETTERS)
                letters = value[: len(value) - len(digits)]
            case "s":
                style = value
            case "t":
                kind = value
    return letters, digits if digits and digits.isdigit() else None, style, kind


def whole(layer: str, leaves: Iterable[Leaf]) -> Reading:
    """Leaves as lines of one layer."""
    builder = Builder(layer)
    for leaf in leaves:
        builder.place()
        builder.leaf(leaf)
        builder.apart("\n")
    found = builder.done()
    found.plans.append(Plan(layer, [(0, len(found.text))]))
    return found


def cell_edits(
    source: str,
    split_at: Split,
    texts: Mapping[int, str],
    new_formulas: Mapping[int, str | None],
    with_formula: Iterable[int],
) -> Iterator[Edit]:
    """Edits that give cells new texts or formulas, all by where they begin in the source.

    A cell with a new text loses its formula, which would make the old one again; so do the cells that share the formula.
    """
    void: set[str] = set()
    formulas = [cell_at(source, split_at, position) for position in with_formula]
    for cell in formulas:
        formula = _FORMULA.search(cell.inner or "")
        if (
            formula is not None
            and (cell.start in texts or new_formulas.get(cell.start, "") is None)
            and formula["text"]
        ):
            shared = _SHARED.search(formula["tag"])
            if shared is not None:
                void.add(shared[1])
    for position, text in texts.items():
        yield _text_cell(source, split_at, position, text)
    for cell in formulas if not void else cells(source, split_at):
        formula = None if cell.start in texts else _FORMULA.search(cell.inner or "")
        if formula is None or cell.inner is None:
            continue
        at = source.index(cell.inner, cell.start)
        shared = _SHARED.search(formula["tag"])
        new = new_formulas.get(cell.start, "")
        if new is None or (shared is not None and shared[1] in void):
            yield Edit(at + formula.start(), at + formula.end(), "")
        elif new:
            yield Edit(at + formula.start("text"), at + formula.end("text"), escaped(new))


def _text_cell(source: str, split_at: Split, position: int, text: str) -> Edit:
    """A cell that holds a text and nothing else."""
    found = _cell_pattern(split_at.prefix).match(source, position)
    assert found is not None
    tag_end = found.end(6)
    prefix = split_at.prefix
    tag = _NOT_KEPT.sub("", source[position:tag_end]).rstrip()
    written = escaped(encoded(text))
    cell = f'{tag} t="inlineStr"><{prefix}is><{prefix}t xml:space="preserve">{written}</{prefix}t></{prefix}is></{prefix}c>'
    return Edit(position, found.end(), cell)
