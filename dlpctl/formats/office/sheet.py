"""The cells of a sheet, read by one regex: a sheet has millions of elements of few shapes."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.encoding import Edit, character
from dlpctl.formats.interface import Limits
from dlpctl.formats.locators import Cells
from dlpctl.formats.office.numbers import Shown, plain
from dlpctl.formats.office.reading import Spot, portioned
from dlpctl.formats.office.xmltext import attributes, escaped, local, unescaped
from dlpctl.regex import lazy

CELLS, FORMULAS = "cells", "formulas"
_DATA = lazy(r"<((?:[^\s/>:\"'<=!?]+:)?)sheetData\s*>")
_ESCAPE = lazy(r"_x([0-9A-Fa-f]{4})_")
_TAG = r"[^>\"'/]*+(?:(?:\"[^\"]*+\"|'[^']*+'|/(?!>))[^>\"'/]*+|(?!))*+"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Cell(NamedTuple):
    """A cell that is read again, as the source spells it."""

    start: int
    type: str
    value: str
    inner: str | None
    """The inner source of the cell; None if it is one plain value."""


class Split(NamedTuple):
    """A sheet without its cells, and the range of the cells in the source."""

    shell: str
    start: int
    end: int
    prefix: str


def _numbers() -> array[int]:
    return array("I")


@dataclass(slots=True)
class Shows:
    """The displayed texts of a sheet's cells, row by row."""

    texts: list[str] = field(default_factory=list)
    rows: array[int] = field(default_factory=_numbers)
    columns: array[int] = field(default_factory=_numbers)
    positions: array[int] = field(default_factory=_numbers)
    """The position in the source at which each cell starts."""

    def add(self, text: str, row: int, column: int, position: int) -> None:
        self.texts.append(text)
        self.rows.append(row)
        self.columns.append(column)
        self.positions.append(position)


class ShownSize:
    """Bounds the texts of all cells of a workbook, since a string may be in any number of them."""

    def __init__(self, limits: Limits, size: int) -> None:
        """`size` is that of the strings."""
        self._limits = limits
        self._size = size
        self._shown = 0

    def add(self, shows: Shows, size: int) -> None:
        """Add the cells of a sheet of this size."""
        self._shown += sum(map(len, shows.texts))
        self._size += size
        ratio = self._limits.entry_ratio
        if self._shown > max(self._limits.entry_ratio_from, ratio * self._size):
            raise FormatError(
                f"its cells show more than {ratio} times its size: raise limits.entry_ratio"
            )


@dataclass(frozen=True, slots=True)
class CellSpot(Spot):
    """The anchor of cells, with the data to read again only cells that change."""

    rows: array[int] = field(default_factory=_numbers)
    columns: array[int] = field(default_factory=_numbers)
    positions: array[int] = field(default_factory=_numbers)
    """The position in the source at which each cell starts."""

    def locator(self) -> Cells:
        return Cells(self.label, self.paragraphs, self.rows, self.columns)

    def text_of(self, index: int, text: str) -> str:
        """Return the text of one cell; `text` is that of all cells."""
        return text[self.paragraphs[index] : self._end(index, text)]

    def _end(self, index: int, text: str) -> int:
        return self.paragraphs[index + 1] - 1 if index + 1 < len(self.paragraphs) else len(text)

    def touched(self, edits: Iterable[Edit], text: str) -> Iterator[tuple[int, list[Edit]]]:
        """Yield the cells that ordered edits of the complete text touch, and the edits within
        each.
        """
        within = portioned(
            self.paragraphs, lambda index: self._end(index, text) - self.paragraphs[index], edits
        )
        for index, found in groupby(within, itemgetter(0)):
            yield index, [edit for _, edit in found]

    def in_row(self, row: int) -> dict[int, int]:
        """Return the cells of a row by column."""
        return {self.columns[index]: index for index, each in enumerate(self.rows) if each == row}


class CellTexts:
    """The new texts of cells, by the positions of the cells in the source."""

    def __init__(self) -> None:
        self._positions = _numbers()
        self._texts: list[str] = []
        self._others: dict[int, str] = {}
        """Texts that were not added in order."""

    def add(self, position: int, text: str) -> None:
        """Add the text of the next cell."""
        self._positions.append(position)
        self._texts.append(text)

    def set(self, position: int, text: str) -> None:
        """Set the text of any cell."""
        self._others[position] = text

    def get(self, position: int) -> str | None:
        if position in self._others:
            return self._others[position]
        at = bisect_left(self._positions, position)
        is_known = at < len(self._positions) and self._positions[at] == position
        return self._texts[at] if is_known else None

    def items(self) -> Iterator[tuple[int, str]]:
        """Yield the texts in order of their positions."""
        added = zip(self._positions, self._texts, strict=True)
        unchanged = (each for each in added if each[0] not in self._others)
        return merge(unchanged, sorted(self._others.items()))


def split(source: str) -> Split:
    """Return the sheet without its cells; if there are none, without anything removed."""
    opening = _DATA.search(source)
    if opening is None:
        return Split(source, len(source), len(source), "")
    closing = source.rfind(f"</{opening[1]}sheetData")
    if closing < opening.end():
        raise FormatError("the cells of a sheet have no end")
    # Searching for one character is ten times as fast as for two, and most sheets have none.
    if any(
        source.find(mark, opening.end(), closing) >= 0
        and source.find(f"<{mark}", opening.end(), closing) >= 0
        for mark in "!?"
    ):
        raise FormatError(
            "comments are among the cells of a sheet: save it again by a spreadsheet program"
        )
    return Split(source[: opening.end()] + source[closing:], opening.end(), closing, opening[1])


def cell_at(source: str, part: Split, position: int) -> Cell:
    """Return the cell that starts at a position."""
    found = _cell_pattern(part.prefix).match(source, position)
    if found is None or found["row"] is not None:
        raise CannotMaskError("this is not what was read from the file: read it again")
    letters, digits, style, cell_type, value, more, inner, _, _ = found.groups()
    if more:
        _, _, _, cell_type = _attributes(more, letters, digits, style, cell_type)
    if inner is not None:
        value = _inner(inner, cell_type)[0]
    return Cell(found.start(), cell_type or "n", value or "", inner)


def read(
    source: str, part: Split, strings: Sequence[str], shown: Mapping[str, Shown], used: bytearray
) -> tuple[Shows, Shows]:
    """Return the texts of all cells, and their formulas; mark the shared strings in `used`."""
    # A sheet has a million cells, so ordinary cells need no function call.
    result, formulas = Shows(), Shows()
    add_text, add_row, add_column = result.texts.append, result.rows.append, result.columns.append
    add_position = result.positions.append
    row = column = 0
    of_row = ""
    for found in _cell_pattern(part.prefix).finditer(source, part.start, part.end):
        letters, digits, style, cell_type, text, more, inner, number, row_tag = found.groups()
        if row_tag is not None:
            row = int(number) if number else _row_number(row_tag, row)
            column, of_row = 0, ""
            continue
        if more:
            letters, digits, style, cell_type = _attributes(more, letters, digits, style, cell_type)
        column = number_of(letters) if letters else column + 1
        if digits and digits != of_row:
            row, of_row = int(digits), digits
        if inner:
            text, formula = _inner(inner, cell_type)
            if formula is not None:
                formulas.add(formula, row, column, found.start())
        if not text:
            continue
        if cell_type == "s":
            index = int(text) if text.isdecimal() else -1
            if not 0 <= index < len(strings):
                continue
            used[index] = 1
            text = strings[index]
        elif cell_type is None or cell_type == "n":
            if style is not None and style in shown:
                text = shown[style](text)
            elif not text.isdecimal():
                text = plain(text)
        elif cell_type == "b" or (cell_type == "e" and text.startswith("#")):
            continue
        elif "&" in text or "_x" in text:
            text = decoded(text)
        if text:
            add_text(text)
            add_row(row)
            add_column(column)
            add_position(found.start())
    return result, formulas


def decoded(raw: str) -> str:
    """Return the text of a cell without the escapes of XML and of spreadsheets."""
    text = unescaped(raw)
    return _ESCAPE.sub(lambda found: character(int(found[1], 16)), text) if "_x" in text else text


def encoded(text: str) -> str:
    """Escape text so that `decoded` restores it."""
    return re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)


@cache
def number_of(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + _LETTERS.index(letter) + 1
    return number


_FORMULA = lazy(rf"<(?:[\w.-]+:)?f\b(?P<tag>{_TAG})(?:/>|>(?P<text>[^<]*)</(?:[\w.-]+:)?f\s*>)")
_VALUE = lazy(rf"<(?:[\w.-]+:)?v\b{_TAG}>([^<]*)<")
_RUN = lazy(rf"<(?:[\w.-]+:)?t\b(?:\s{_TAG})?>([^<]*)<")
_SHARED = lazy(r"\ssi=[\"'](\d+)[\"']")
# The type, and metadata of a formula that spills or of a value that is not a plain text.
_NOT_KEPT = lazy(r"\s(?:t|cm|vm)=(?:\"[^\"]*\"|'[^']*')")
_VALUES = lazy(r"[0-9@]")
PHONETIC = lazy(r"<(?:[\w.-]+:)?rPh\b.*?</(?:[\w.-]+:)?rPh\s*>", re.DOTALL)


def _inner(inner: str, cell_type: str | None) -> tuple[str, str | None]:
    """Return the text of a cell, as the source spells it, and its formula."""
    formula = _FORMULA.search(inner)
    text = unescaped(formula["text"] or "") if formula else None
    if cell_type == "inlineStr":
        shown = "".join(_RUN.findall(PHONETIC.sub("", inner)))
        spoken = "\n".join(_RUN.findall("".join(PHONETIC.findall(inner))))
        # How words are read may hold a value as well.
        return f"{shown}\n{spoken}" if _VALUES.search(spoken) else shown, text or None
    value = _VALUE.search(inner)
    return value[1] if value else "", text or None


@cache
def _cell_pattern(prefix: str) -> re.Pattern[str]:
    """Return the regex of cells and rows; it tries a plain value first."""
    p = re.escape(prefix)
    return re.compile(
        rf"<{p}(?:"
        r"c(?: r=\"(?P<letters>[A-Z]{1,3})(?P<digits>\d{1,7})\")?"
        r"(?: s=\"(?P<style>\d+)\")?(?: t=\"(?P<kind>\w+)\")?"
        rf"(?:><{p}(?:v|is><{p}t)>(?P<text>[^<]*+)</{p}(?:v|t></{p}is)></{p}c>"
        rf"|(?![\w:.-])(?P<more>{_TAG})(?:/>|>(?P<inner>.*?)</{p}c\s*>))"
        rf"|row\b(?: r=\"(?P<number>\d{{1,7}})\")?(?P<row>{_TAG})/?>)",
        re.DOTALL,
    )


def _row_number(tag: str, before: int) -> int:
    found = re.search(r"\sr=[\"'](\d{1,7})[\"']", tag)
    return int(found[1]) if found else before + 1


def _attributes(
    more: str, letters: str | None, digits: str | None, style: str | None, cell_type: str | None
) -> tuple[str | None, str | None, str | None, str | None]:
    """Return the attributes of a cell, in any order."""
    for name, start, end in attributes(" " + more):
        value = (" " + more)[start:end]
        match local(name):
            case "r":
                digits = value.lstrip(_LETTERS)
                letters = value[: len(value) - len(digits)]
            case "s":
                style = value
            case "t":
                cell_type = value
    return letters, digits if digits and digits.isdecimal() else None, style, cell_type


def text_edits(source: str, split_at: Split, texts: CellTexts) -> Iterator[Edit]:
    """Yield ordered edits that make cells plain texts."""
    for position, text in texts.items():
        yield _text_cell(source, split_at, position, text)


def formula_edits(
    source: str,
    split_at: Split,
    texts: CellTexts,
    new_formulas: Mapping[int, str | None],
    with_formula: Iterable[int],
) -> Iterator[Edit]:
    """Yield edits of cells' formulas; a new text of a cell removes its formula, including a shared
    one.
    """
    void: set[str] = set()
    formulas = [cell_at(source, split_at, position) for position in with_formula]
    for cell in formulas:
        formula = _FORMULA.search(cell.inner or "")
        if (
            formula is not None
            and (texts.get(cell.start) is not None or new_formulas.get(cell.start, "") is None)
            and formula["text"]
        ):
            shared = _SHARED.search(formula["tag"])
            if shared is not None:
                void.add(shared[1])
    if void:
        cells = _cell_pattern(split_at.prefix).finditer(source, split_at.start, split_at.end)
        formulas = [
            Cell(found.start(), "", "", found["inner"]) for found in cells if found["inner"]
        ]
    for cell in formulas:
        is_text = texts.get(cell.start) is not None
        formula = None if is_text else _FORMULA.search(cell.inner or "")
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
    """Return an edit that makes a cell a plain text."""
    found = _cell_pattern(split_at.prefix).match(source, position)
    assert found is not None
    tag_end = found.end("more") if found["more"] is not None else source.index(">", position)
    prefix = split_at.prefix
    tag = _NOT_KEPT.sub("", source[position:tag_end]).rstrip()
    written = escaped(encoded(text))
    cell = (
        f'{tag} t="inlineStr"><{prefix}is><{prefix}t xml:space="preserve">{written}</{prefix}t>'
        f"</{prefix}is></{prefix}c>"
    )
    return Edit(position, found.end(), cell)
