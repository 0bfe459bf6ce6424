"""Sections of a large Parquet column: some of its pages each, with the dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.parquet_footer import (
    CHUNK,
    COLUMNS,
    DATA_AT,
    DICTIONARY_AT,
    ELSEWHERE,
    GROUP_ROWS,
    GROUP_SIZE,
    INT64,
    MAGIC,
    PACKED_SIZE,
    REPEATED,
    REPETITION,
    SCHEMA,
    UNPACKED_SIZE,
    VALUES,
    RowGroup,
    damaged,
    end_of,
    without,
)
from dlpctl.formats.columnar.thrift import LIST, STRUCT, ThriftFields, ThriftReader, ThriftValue
from dlpctl.formats.sections import SECTION_BYTES, VALUE_BYTES, ReadRange, Section

_TYPE, _UNPACKED, _PACKED, _DATA, _DATA_2 = 1, 2, 3, 5, 8
_PAGE_VALUES = 1
_DICTIONARY = 2
_HEADER, _LARGEST_HEADER = 1 << 10, 1 << 20
_OF_ALL_PAGES = (*ELSEWHERE[CHUNK], DICTIONARY_AT, 12, 13, 16)
"""Fields of a column that are not valid for some of its pages: indexes and statistics."""


class _Page(NamedTuple):
    first: int
    last: int
    unpacked: int
    type: int
    values: int


def is_flat(footer: ThriftFields) -> bool:
    """Return whether the only column has one value per row, so that pages contain complete rows."""
    _, *elements = footer[SCHEMA].value[1]
    return len(elements) == 1 and elements[0][REPETITION].value != REPEATED


def page_sections(
    read: ReadRange, footer: ThriftFields, first: int, column: RowGroup, label: str
) -> Iterator[Section]:
    """Yield the sections of a column; the first one starts the file if `first` is zero."""
    pages = _pages(read, column.first, column.last)
    lead = next(pages, None)
    if lead is None:
        raise damaged()
    dictionary = lead if lead.type == _DICTIONARY else None
    row = 0
    for chosen in _together(pages if dictionary else chain((lead,), pages)):
        start, before = 0, b""
        if first or row:
            start, before = chosen[0].first, MAGIC
            if dictionary:
                before += read(dictionary.first, dictionary.last)
        rows = sum(page.values for page in chosen)
        group = _group_of(column, before, dictionary, chosen, rows)
        where = f"{label}, from row {row + 1}"
        is_further = column.number > 1 or row > 0
        after = end_of(footer, rows, [group])
        yield Section(start, chosen[-1].last, before, after, where, is_further)
        row += rows
    if row != column.fields[GROUP_ROWS].value:
        raise damaged()


def _together(pages: Iterable[_Page]) -> Iterator[list[_Page]]:
    """Yield pages that fit into a section."""
    chosen: list[_Page] = []
    taken = 0
    for page in pages:
        size = max(page.unpacked, page.values * VALUE_BYTES)
        if chosen and taken + size > SECTION_BYTES:
            yield chosen
            chosen, taken = [], 0
        chosen.append(page)
        taken += size
    if chosen:
        yield chosen


def _pages(read: ReadRange, at: int, last: int) -> Iterator[_Page]:
    while at < last:
        header, size = _page_header(read, at, last)
        end = at + size + header[_PACKED].value
        if not at < end <= last:
            raise damaged()
        data = header.get(_DATA) or header.get(_DATA_2)
        values = data.value[_PAGE_VALUES].value if data else 0
        yield _Page(at, end, header[_UNPACKED].value, header[_TYPE].value, values)
        at = end


def _page_header(read: ReadRange, at: int, last: int) -> tuple[ThriftFields, int]:
    """Return the header of a page with its size, which statistics may make large."""
    for size in (_HEADER, _LARGEST_HEADER):
        reader = ThriftReader(read(at, min(at + size, last)))
        try:
            return reader.struct(), reader.position
        except (IndexError, FormatError):
            continue
    raise damaged()


def _group_of(
    column: RowGroup, before: bytes, dictionary: _Page | None, pages: list[_Page], rows: int
) -> ThriftFields:
    """Return the row group of a section of pages, which starts the file if nothing precedes it."""
    held = [dictionary, *pages] if dictionary else pages
    unpacked = ThriftValue(INT64, sum(page.unpacked for page in held))
    (chunk,) = column.chunks
    about = without(chunk[CHUNK].value, _OF_ALL_PAGES) | {
        VALUES: ThriftValue(INT64, rows),
        UNPACKED_SIZE: unpacked,
        PACKED_SIZE: ThriftValue(INT64, sum(page.last - page.first for page in held)),
        DATA_AT: ThriftValue(INT64, len(before) or pages[0].first),
    }
    if dictionary:
        about[DICTIONARY_AT] = ThriftValue(INT64, len(MAGIC) if before else dictionary.first)
    kept = without(chunk, ELSEWHERE[COLUMNS]) | {CHUNK: ThriftValue(STRUCT, about)}
    return {
        COLUMNS: ThriftValue(LIST, (STRUCT, [kept])),
        GROUP_SIZE: unpacked,
        GROUP_ROWS: ThriftValue(INT64, rows),
    }
