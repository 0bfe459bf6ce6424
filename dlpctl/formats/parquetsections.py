"""Sections of a Parquet file: row groups, each with a footer of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.sections import SECTION_BYTES, RangeFile, ReadRange, Section
from dlpctl.formats.thriftcompact import (
    LIST,
    STRUCT,
    ThriftFields,
    ThriftReader,
    ThriftValue,
    written,
)

_MAGIC = b"PAR1"
_END = 8
_LARGEST_GROUP = 32 << 20
"""A larger row group is read by columns."""
_SCHEMA, _ROWS, _GROUPS, _METADATA, _ORDERS = 2, 3, 4, 5, 7
_CHILDREN = 5
_COLUMNS, _GROUP_SIZE, _GROUP_ROWS, _GROUP_AT, _ORDINAL = 1, 2, 3, 5, 7
_CHUNK_PATH, _CHUNK_AT, _CHUNK = 1, 2, 3
_PACKED_SIZE, _DATA_AT, _DICTIONARY_AT = 7, 9, 11
_COPY = b"ARROW:schema"
_ELSEWHERE = {_COLUMNS: (4, 5, 6, 7), _CHUNK: (10, 14, 15)}
"""Fields that say where indexes are, which a section lacks."""


class _Group(NamedTuple):
    number: int
    first: int
    last: int
    fields: ThriftFields

    @property
    def size(self) -> int:
        """Return how much memory it takes: the bytes of a group that is packed or not."""
        return int(max(self.last - self.first, self.fields[_GROUP_SIZE].value))


class _Column(NamedTuple):
    """A column with all that is nested in it."""

    elements: slice
    """Its part of the schema."""
    leaves: slice
    """Its parts of a row group."""


def parquet_sections(read: ReadRange, size: int) -> Iterator[Section]:
    """Yield sections that hold the values of every row group."""
    try:
        yield from _sections(_footer(read, size), size)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise _damaged() from error


def _sections(footer: ThriftFields, size: int) -> Iterator[Section]:
    groups = [
        _group(number, fields)
        for number, fields in enumerate(footer[_GROUPS].value[1], 1)
        if fields[_GROUP_ROWS].value
    ]
    chosen: list[_Group] = []
    first = 0
    at = len(_MAGIC)
    for group in groups:
        if not at <= group.first <= group.last <= size:
            raise _damaged()
        if chosen and sum(each.size for each in (*chosen, group)) > SECTION_BYTES:
            yield _section(footer, first, chosen)
            chosen, first = [], group.first
        chosen.append(group)
        at = group.last
        if group.size > _LARGEST_GROUP:
            yield from _by_columns(footer, first, group)
            chosen, first = [], group.last
    if chosen or not first:
        yield _section(footer, first, chosen)


def _by_columns(footer: ThriftFields, first: int, group: _Group) -> Iterator[Section]:
    """Yield sections that hold some of the columns of a row group each."""
    columns = _columns(footer[_SCHEMA].value[1])
    if sum(_sizes(group, columns)) > group.last - group.first:  # they are not one after the other
        yield _section(footer, first, [group])
        return
    start = 0
    while start < len(columns):
        end, taken = start, 0
        for size in _sizes(group, columns[start:]):
            if end > start and taken + size > SECTION_BYTES:
                break
            end, taken = end + 1, taken + size
        part = _with_columns(group, columns[start:end])
        label = f"row group {group.number}, column {start + 1}"
        label += f" to {end}" if end > start + 1 else ""
        own = _footer_of(footer, columns[start:end], has_metadata=not (first or start))
        yield _section(own, part.first if start else first, [part], label)
        start = end


def _columns(elements: list[ThriftFields]) -> list[_Column]:
    """Return the columns of a schema, whose elements are in the order of a walk."""
    columns: list[_Column] = []
    at, leaf = 1, 0
    while at < len(elements):
        first, first_leaf, left = at, leaf, 1
        while left:
            children = elements[at][_CHILDREN].value if _CHILDREN in elements[at] else 0
            leaf += not children
            left += children - 1
            at += 1
        columns.append(_Column(slice(first, at), slice(first_leaf, leaf)))
    return columns


def _sizes(group: _Group, columns: list[_Column]) -> list[int]:
    parts = (_with_columns(group, [column]) for column in columns)
    return [part.last - part.first for part in parts]


def _with_columns(group: _Group, columns: list[_Column]) -> _Group:
    item_type, chunks = group.fields[_COLUMNS].value
    kept = [chunk for column in columns for chunk in chunks[column.leaves]]
    return _group(group.number, group.fields | {_COLUMNS: ThriftValue(LIST, (item_type, kept))})


def _footer_of(footer: ThriftFields, columns: list[_Column], *, has_metadata: bool) -> ThriftFields:
    root, *_ = elements = footer[_SCHEMA].value[1]
    root = root | {_CHILDREN: ThriftValue(5, len(columns))}
    kept = [element for column in columns for element in elements[column.elements]]
    fields = footer | {_SCHEMA: ThriftValue(LIST, (STRUCT, [root, *kept]))}
    if _ORDERS in fields:
        item_type, orders = fields[_ORDERS].value
        chosen = [order for column in columns for order in orders[column.leaves]]
        fields[_ORDERS] = ThriftValue(LIST, (item_type, chosen))
    if _METADATA in fields:  # the copy of the schema is one of all columns
        pairs = fields[_METADATA].value[1] if has_metadata else ()
        others = [pair for pair in pairs if pair[1].value != _COPY]
        fields[_METADATA] = ThriftValue(LIST, (STRUCT, others))
    return fields


def _footer(read: ReadRange, size: int) -> ThriftFields:
    end = read(size - _END, size)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > size - _END - len(_MAGIC):
        raise _damaged()
    file = RangeFile(read, size)
    file.seek(size - _END - length)
    return ThriftReader(file.read(length)).struct()


def _group(number: int, fields: ThriftFields) -> _Group:
    spans: list[tuple[int, int]] = []
    for chunk in fields[_COLUMNS].value[1]:
        if _CHUNK_PATH in chunk:
            raise FormatError("the Parquet file has columns in other files")
        about = chunk[_CHUNK].value
        start = about[_DATA_AT].value
        dictionary = about[_DICTIONARY_AT].value if _DICTIONARY_AT in about else 0
        start = min(start, dictionary) if dictionary > 0 else start
        spans.append((start, start + about[_PACKED_SIZE].value))
    return _Group(number, min(spans)[0], max(end for _, end in spans), fields)


def _section(footer: ThriftFields, first: int, groups: list[_Group], label: str = "") -> Section:
    last = groups[-1].last if groups else len(_MAGIC)
    by = first - len(_MAGIC) if first else 0
    rows = sum(group.fields[_GROUP_ROWS].value for group in groups)
    moved = [_moved(group.fields, by) for group in groups]
    fields = footer | {_ROWS: ThriftValue(6, rows), _GROUPS: ThriftValue(LIST, (STRUCT, moved))}
    made = written(fields)
    after = made + len(made).to_bytes(4, "little") + _MAGIC
    numbers = [group.number for group in groups] or [0]
    if not label:
        is_one = len(numbers) == 1
        label = f"row group {numbers[0]}" if is_one else f"row groups {numbers[0]} to {numbers[-1]}"
    return Section(first, last, _MAGIC if first else b"", after, label, numbers[0] > 1)


def _moved(group: ThriftFields, by: int) -> ThriftFields:
    """Return a row group that starts so many bytes earlier."""
    chunks: list[ThriftFields] = []
    for chunk in group[_COLUMNS].value[1]:
        about = _without(chunk[_CHUNK].value, _ELSEWHERE[_CHUNK])
        _move(about, (_DATA_AT, _DICTIONARY_AT), by)
        kept = _without(chunk, _ELSEWHERE[_COLUMNS]) | {_CHUNK: ThriftValue(STRUCT, about)}
        _move(kept, (_CHUNK_AT,), by)
        chunks.append(kept)
    moved = _without(group, (_ORDINAL,)) | {_COLUMNS: ThriftValue(LIST, (STRUCT, chunks))}
    _move(moved, (_GROUP_AT,), by)
    return moved


def _without(fields: ThriftFields, numbers: tuple[int, ...]) -> ThriftFields:
    return {number: field for number, field in fields.items() if number not in numbers}


def _move(fields: ThriftFields, numbers: tuple[int, ...], by: int) -> None:
    for number in numbers:
        if number in fields and fields[number].value > 0:
            fields[number] = fields[number]._replace(value=max(fields[number].value - by, 0))


def _damaged() -> FormatError:
    return FormatError("the Parquet file is damaged or encrypted")
