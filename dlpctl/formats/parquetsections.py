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
_ROWS, _GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS, _GROUP_AT, _ORDINAL = 1, 3, 5, 7
_CHUNK_PATH, _CHUNK_AT, _CHUNK = 1, 2, 3
_PACKED_SIZE, _DATA_AT, _DICTIONARY_AT = 7, 9, 11
_ELSEWHERE = {_COLUMNS: (4, 5, 6, 7), _CHUNK: (10, 14, 15)}
"""Fields that say where indexes are, which a section lacks."""


class _Group(NamedTuple):
    number: int
    first: int
    last: int
    fields: ThriftFields


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
        if chosen and group.last - first > SECTION_BYTES:
            yield _section(footer, first, chosen)
            chosen, first = [], group.first
        chosen.append(group)
        at = group.last
    yield _section(footer, first, chosen)


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


def _section(footer: ThriftFields, first: int, groups: list[_Group]) -> Section:
    last = groups[-1].last if groups else len(_MAGIC)
    by = first - len(_MAGIC) if first else 0
    rows = sum(group.fields[_GROUP_ROWS].value for group in groups)
    moved = [_moved(group.fields, by) for group in groups]
    fields = footer | {_ROWS: ThriftValue(6, rows), _GROUPS: ThriftValue(LIST, (STRUCT, moved))}
    made = written(fields)
    after = made + len(made).to_bytes(4, "little") + _MAGIC
    numbers = [group.number for group in groups] or [0]
    label = f"row group {numbers[0]}"
    if len(numbers) > 1:
        label = f"row groups {numbers[0]} to {numbers[-1]}"
    return Section(first, last, _MAGIC if first else b"", after, label)


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
