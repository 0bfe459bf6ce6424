"""Sections of a Parquet file, each with its own footer: row groups, columns of a large row group,
and pages of a large column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.columnar.parquet_footer import (
    CHILDREN,
    CHUNK,
    CHUNK_AT,
    CHUNK_PATH,
    COLUMNS,
    DATA_AT,
    DICTIONARY_AT,
    ELSEWHERE,
    GROUP_AT,
    GROUP_ROWS,
    GROUPS,
    INT32,
    MAGIC,
    METADATA,
    ORDERS,
    ORDINAL,
    PACKED_SIZE,
    SCHEMA,
    UNPACKED_SIZE,
    VALUES,
    RowGroup,
    damaged,
    end_of,
    without,
)
from dlpctl.formats.columnar.parquet_pages import is_flat, page_sections
from dlpctl.formats.columnar.thrift import (
    LIST,
    STRUCT,
    ThriftFields,
    ThriftReader,
    ThriftValue,
)
from dlpctl.formats.sections import SECTION_BYTES, VALUE_BYTES, RangeFile, ReadRange, Section

_END = 8
_LARGEST_GROUP = 32 << 20
"""A larger row group is read by columns."""
_COPY = b"ARROW:schema"


class _Column(NamedTuple):
    """A column with everything nested in it."""

    elements: slice
    """The column's elements of the schema."""
    leaves: slice
    """The column's chunks of a row group."""


def parquet_sections(read: ReadRange, size: int) -> Iterator[Section]:
    """Yield sections that contain the values of every row group."""
    try:
        yield from _sections(read, _footer(read, size), size)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise damaged() from error


def _sections(read: ReadRange, footer: ThriftFields, size: int) -> Iterator[Section]:
    groups = [
        _group(number, fields)
        for number, fields in enumerate(footer[GROUPS].value[1], 1)
        if fields[GROUP_ROWS].value
    ]
    chosen: list[RowGroup] = []
    first = 0
    at = len(MAGIC)
    for group in groups:
        if not at <= group.first <= group.last <= size:
            raise damaged()
        if chosen and sum(each.size for each in (*chosen, group)) > SECTION_BYTES:
            yield _section(footer, first, chosen)
            chosen, first = [], group.first
        chosen.append(group)
        at = group.last
        if group.size > _LARGEST_GROUP:
            yield from _by_columns(read, footer, first, group)
            chosen, first = [], group.last
    if chosen or not first:
        yield _section(footer, first, chosen)


def _by_columns(
    read: ReadRange, footer: ThriftFields, first: int, group: RowGroup
) -> Iterator[Section]:
    """Yield sections that contain some of the columns of a row group each."""
    columns = _columns(footer[SCHEMA].value[1])
    parts = [_with_columns(group, [column]) for column in columns]
    if sum(part.last - part.first for part in parts) > group.last - group.first:
        yield _section(footer, first, [group])  # the columns are not stored one after the other
        return
    start = 0
    while start < len(columns):
        end, taken = start, 0
        for part in parts[start:]:
            if end > start and taken + _memory(part) > SECTION_BYTES:
                break
            end, taken = end + 1, taken + _memory(part)
        part = _with_columns(group, columns[start:end])
        label = f"row group {group.number}, column {start + 1}"
        label += f" to {end}" if end > start + 1 else ""
        own = _footer_of(footer, columns[start:end], has_metadata=not (first or start))
        if taken > SECTION_BYTES and is_flat(own):
            yield from page_sections(read, own, part.first if start else first, part, label)
        else:
            yield _section(own, part.first if start else first, [part], label)
        start = end


def _memory(part: RowGroup) -> int:
    """Return the memory that some columns take: their bytes, compressed or not, or their values."""
    chunks = (chunk[CHUNK].value for chunk in part.chunks)
    return sum(
        int(
            max(
                each[UNPACKED_SIZE].value, each[PACKED_SIZE].value, each[VALUES].value * VALUE_BYTES
            )
        )
        for each in chunks
    )


def _columns(elements: list[ThriftFields]) -> list[_Column]:
    """Return the columns of a schema, whose elements are in the order of a walk."""
    columns: list[_Column] = []
    at, leaf = 1, 0
    while at < len(elements):
        first, first_leaf, left = at, leaf, 1
        while left:
            children = elements[at][CHILDREN].value if CHILDREN in elements[at] else 0
            leaf += not children
            left += children - 1
            at += 1
        columns.append(_Column(slice(first, at), slice(first_leaf, leaf)))
    return columns


def _with_columns(group: RowGroup, columns: list[_Column]) -> RowGroup:
    item_type, chunks = group.fields[COLUMNS].value
    kept = [chunk for column in columns for chunk in chunks[column.leaves]]
    return _group(group.number, group.fields | {COLUMNS: ThriftValue(LIST, (item_type, kept))})


def _footer_of(footer: ThriftFields, columns: list[_Column], *, has_metadata: bool) -> ThriftFields:
    root, *_ = elements = footer[SCHEMA].value[1]
    root = root | {CHILDREN: ThriftValue(INT32, len(columns))}
    kept = [element for column in columns for element in elements[column.elements]]
    fields = footer | {SCHEMA: ThriftValue(LIST, (STRUCT, [root, *kept]))}
    if ORDERS in fields:
        item_type, orders = fields[ORDERS].value
        chosen = [order for column in columns for order in orders[column.leaves]]
        fields[ORDERS] = ThriftValue(LIST, (item_type, chosen))
    if METADATA in fields:  # the copy of the schema describes all columns
        pairs = fields[METADATA].value[1] if has_metadata else ()
        others = [pair for pair in pairs if pair[1].value != _COPY]
        fields[METADATA] = ThriftValue(LIST, (STRUCT, others))
    return fields


def _footer(read: ReadRange, size: int) -> ThriftFields:
    end = read(size - _END, size)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > size - _END - len(MAGIC):
        raise damaged()
    file = RangeFile(read, size)
    file.seek(size - _END - length)
    return ThriftReader(file.read(length)).struct()


def _group(number: int, fields: ThriftFields) -> RowGroup:
    spans: list[tuple[int, int]] = []
    for chunk in fields[COLUMNS].value[1]:
        if CHUNK_PATH in chunk:
            raise FormatError("the Parquet file has columns in other files")
        about = chunk[CHUNK].value
        start = about[DATA_AT].value
        dictionary = about[DICTIONARY_AT].value if DICTIONARY_AT in about else 0
        start = min(start, dictionary) if dictionary > 0 else start
        spans.append((start, start + about[PACKED_SIZE].value))
    return RowGroup(number, min(spans)[0], max(end for _, end in spans), fields)


def _section(footer: ThriftFields, first: int, groups: list[RowGroup], label: str = "") -> Section:
    last = groups[-1].last if groups else len(MAGIC)
    by = first - len(MAGIC) if first else 0
    rows = sum(group.fields[GROUP_ROWS].value for group in groups)
    after = end_of(footer, rows, [_moved(group.fields, by) for group in groups])
    numbers = [group.number for group in groups] or [0]
    if not label:
        is_one = len(numbers) == 1
        label = f"row group {numbers[0]}" if is_one else f"row groups {numbers[0]} to {numbers[-1]}"
    return Section(first, last, MAGIC if first else b"", after, label, numbers[0] > 1)


def _moved(group: ThriftFields, by: int) -> ThriftFields:
    """Return a row group that starts earlier by a number of bytes."""
    chunks: list[ThriftFields] = []
    for chunk in group[COLUMNS].value[1]:
        about = without(chunk[CHUNK].value, ELSEWHERE[CHUNK])
        _move(about, (DATA_AT, DICTIONARY_AT), by)
        kept = without(chunk, ELSEWHERE[COLUMNS]) | {CHUNK: ThriftValue(STRUCT, about)}
        _move(kept, (CHUNK_AT,), by)
        chunks.append(kept)
    moved = without(group, (ORDINAL,)) | {COLUMNS: ThriftValue(LIST, (STRUCT, chunks))}
    _move(moved, (GROUP_AT,), by)
    return moved


def _move(fields: ThriftFields, numbers: tuple[int, ...], by: int) -> None:
    for number in numbers:
        if number in fields and fields[number].value > 0:
            fields[number] = fields[number]._replace(value=max(fields[number].value - by, 0))
