"""The layers in which the cells of a sheet are searched: all cells, each column, formulas."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, compress
from operator import add, ne
from typing import NamedTuple

from dlpctl.formats.cellgroups import HEADER_WITHIN, header_row, is_header
from dlpctl.formats.locators import letters_of
from dlpctl.formats.office.reading import ColumnPlan, Reading, ViewPlan
from dlpctl.formats.office.sheet import CELLS, FORMULAS, CellSpot, Shows
from dlpctl.regex import lazy

_CHARACTERS = lazy(r"\t[^\t\n](?:\t[^\t\n]){8,}+(?=[\t\n]|\Z)")


class Prompt(NamedTuple):
    """The words that a sheet shows to a person who enters a cell of a range."""

    column: int
    first_row: int
    last_row: int
    words: str


def layers_of(
    part: str,
    label: str,
    shows: Shows,
    formulas: Shows,
    headers: Mapping[int, int],
    prompts: Iterable[Prompt],
) -> Iterator[tuple[Reading, CellSpot]]:
    """Yield the readings of a sheet's cells; `headers` has the known row of each header."""
    # The boundaries between rows.
    ends = [
        *compress(range(1, len(shows.rows)), map(ne, shows.rows, shows.rows[1:])),
        len(shows.rows),
    ]
    text = "\n".join(
        "\t".join(shows.texts[start:end]) for start, end in zip([0, *ends], ends, strict=False)
    )
    reading, spot = _layer(part, label, CELLS, text, shows)
    if lines := list(_lines_of_cells(shows.texts, spot.paragraphs)):
        reading.plans.append(ViewPlan("lines of cells", lines))
    if spelled := list(_spelled_rows(text)):
        reading.plans.append(ViewPlan("characters in cells", spelled, repeats=True))
    reading.columns.extend(_columns(shows, spot.paragraphs, headers))
    reading.columns.extend(_labelled_rows(shows, spot.paragraphs))
    reading.columns.extend(_prompted(shows, spot.paragraphs, prompts))
    yield reading, spot
    yield _layer(part, label, FORMULAS, "\n".join(formulas.texts), formulas)


def _spelled_rows(text: str) -> Iterator[tuple[int, int] | str]:
    """Return the rows in which a value has one character in each cell, as one text each."""
    for found in _CHARACTERS.finditer(text):
        start, end = found.span()
        yield text.rfind("\n", 0, start) + 1, start + 1
        yield from ((at, at + 1) for at in range(start + 1, end, 2))
        yield "\n"


def _lines_of_cells(texts: Sequence[str], starts: array[int]) -> Iterator[tuple[int, int] | str]:
    """Return cells with several lines as one line each; a line end would look like a row's end."""
    for text, start in zip(texts, starts, strict=True):
        if "\n" in text:
            end = start
            for line in text.split("\n"):
                yield end, end + len(line)
                yield "" if line.endswith(("-", "@")) else " "
                end += len(line) + 1
            yield "\n\n"


def _layer(part: str, label: str, layer: str, text: str, shows: Shows) -> tuple[Reading, CellSpot]:
    starts = array("I", accumulate(map((1).__add__, map(len, shows.texts)), initial=0))
    starts.pop()
    reading = Reading(layer, text, plans=[ViewPlan(layer, [(0, len(text))])])
    return reading, CellSpot(
        part, layer, label, starts, "", shows.rows, shows.columns, shows.positions
    )


def _columns(shows: Shows, starts: array[int], headers: Mapping[int, int]) -> Iterator[ColumnPlan]:
    """Yield the cells below each header, which labels only these."""
    texts, rows = shows.texts, shows.rows
    by_column: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
    for index, column in enumerate(shows.columns):
        by_column[column].append(index)
    likely = header_row(_first_rows(shows))
    for column, indexes in sorted(by_column.items()):
        row = headers.get(column, likely)
        head = next((at for at, index in enumerate(indexes) if rows[index] == row), None)
        if head is None or head + 1 == len(indexes) or not is_header(texts[indexes[head]].strip()):
            continue
        header = " ".join(texts[indexes[head]].split())
        yield _plan(column, indexes[head + 1 :], texts, starts, header)


def _labelled_rows(shows: Shows, starts: array[int]) -> Iterator[ColumnPlan]:
    """Yield the cells after the first one of a row, which may label them: a table may have its
    headers on the left.
    """
    rows = _first_rows(shows)
    likely, first = header_row(rows), 0
    for row, (label, *others) in rows.items():
        after = first + 1 + len(others)
        if row != likely and len(others) > 1 and is_header(label.strip()):
            froms = starts[first + 1 : after]
            ends = array("I", map(add, froms, map(len, others)))
            yield ColumnPlan(f"row {row + 1}", froms, ends, " ".join(label.split()))
        first = after


def _plan(
    column: int, indexes: array[int], texts: Sequence[str], starts: array[int], header: str
) -> ColumnPlan:
    froms = array("I", map(starts.__getitem__, indexes))
    ends = array("I", map(add, froms, map(len, map(texts.__getitem__, indexes))))
    return ColumnPlan(f"column {letters_of(column)}", froms, ends, header)


def _prompted(shows: Shows, starts: array[int], prompts: Iterable[Prompt]) -> Iterator[ColumnPlan]:
    """Yield the cells of each prompt, without those of the prompt before it."""
    by_column: defaultdict[int, list[Prompt]] = defaultdict(list)
    for each in sorted(prompts):
        by_column[each.column].append(each)
    indexes: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
    for index, column in enumerate(shows.columns if by_column else ()):
        indexes[column].append(index)
    for column, found in by_column.items():
        rows = [shows.rows[index] for index in indexes[column]]
        end = 0
        for each in found:
            first = max(end, bisect_left(rows, each.first_row))
            end = max(end, bisect_right(rows, each.last_row))
            if first < end:
                yield _plan(column, indexes[column][first:end], shows.texts, starts, each.words)


def _first_rows(shows: Shows) -> dict[int, list[str]]:
    rows: dict[int, list[str]] = {}
    for text, row in zip(shows.texts, shows.rows, strict=True):
        if row not in rows and len(rows) == HEADER_WITHIN:
            break
        rows.setdefault(row, []).append(text)
    return rows
