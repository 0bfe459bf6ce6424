"""Sections of an ORC file, each with a footer of its own: stripes, or columns of a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from dlpctl.formats.columnar.orc_tail import (
    CONTENT_SIZE,
    HEADER_SIZE,
    MAGIC,
    METADATA,
    ROWS,
    STATISTICS,
    STRIPES,
    TYPES,
    OrcTail,
    damaged,
)
from dlpctl.formats.protobuf import ProtoMessage
from dlpctl.formats.sections import FileRange, ReadRange, Section, joined

_MEMORY = 32 << 20
"""A stripe that takes more memory is read by columns."""
_USUAL_RATIO = 4
"""Columns are taken as so many times as large unpacked."""
_VALUE = 24
"""The least memory of a value, even if all are equal."""
_OFFSET, _INDEX_SIZE, _DATA_SIZE, _FOOTER_SIZE, _STRIPE_ROWS = range(1, 6)
_STREAMS, _ENCODINGS = 1, 2
_STREAM_TYPE, _COLUMN, _LENGTH = 1, 2, 3
_INDEXES = (6, 7, 8)
"""Types of streams that no values are in."""
_KIND, _SUBTYPES, _NAMES = 1, 2, 3
_STRUCT = 12
_MOST_TYPES = 100_000


class _Stripe(NamedTuple):
    number: int
    first: int
    last: int
    about: ProtoMessage

    def memory(self, packed: int, columns: int) -> int:
        """Return the memory that columns may take, which nothing tells exactly."""
        return max(packed * _USUAL_RATIO, self.about.number(_STRIPE_ROWS) * columns * _VALUE)


class _Stream(NamedTuple):
    about: ProtoMessage
    column: int
    first: int
    last: int


def orc_sections(read: ReadRange, size: int) -> Iterator[Section]:
    """Yield sections that hold the values of every stripe."""
    try:
        yield from _Divider(read, size).sections()
    except (KeyError, ValueError, IndexError, OverflowError) as problem:
        raise damaged() from problem


class _Divider:
    def __init__(self, read: ReadRange, size: int) -> None:
        self._read = read
        self._tail = OrcTail.read(read, size)
        self._types = self._tail.footer.messages(TYPES)
        self._is_first = True
        at = len(MAGIC)
        self._stripes: list[_Stripe] = []
        for number, about in enumerate(self._tail.footer.messages(STRIPES), 1):
            first = about.number(_OFFSET)
            last = first + sum(map(about.number, (_INDEX_SIZE, _DATA_SIZE, _FOOTER_SIZE)))
            if not at <= first <= last <= size:
                raise damaged()
            self._stripes.append(_Stripe(number, first, last, about))
            at = last

    def sections(self) -> Iterator[Section]:
        chosen: list[_Stripe] = []
        taken = 0
        for stripe in self._stripes:
            memory = stripe.memory(stripe.last - stripe.first, len(self._types) - 1)
            if chosen and taken + memory > _MEMORY:
                yield self._of_stripes(chosen)
                chosen, taken = [], 0
            if memory > _MEMORY and self._has_columns():
                yield from self._by_columns(stripe)
            else:
                chosen.append(stripe)
                taken += memory
        if chosen or self._is_first:
            yield self._of_stripes(chosen)

    def _has_columns(self) -> bool:
        root = self._types[0]
        return root.number(_KIND) == _STRUCT and len(self._types) <= _MOST_TYPES

    def _of_stripes(self, stripes: Sequence[_Stripe]) -> Section:
        numbers = [stripe.number for stripe in stripes] or [0]
        is_one = len(numbers) == 1
        label = f"stripe {numbers[0]}" if is_one else f"stripes {numbers[0]} to {numbers[-1]}"
        first, last = (stripes[0].first, stripes[-1].last) if stripes else (len(MAGIC), len(MAGIC))
        moved = [
            stripe.about.replaced({_OFFSET: [stripe.first - first + len(MAGIC)]})
            for stripe in stripes
        ]
        return self._section([FileRange(first, last)], moved, self._types, label, numbers[0] > 1)

    def _by_columns(self, stripe: _Stripe) -> Iterator[Section]:
        """Yield sections that hold some of the columns of a stripe each."""
        footer_at = stripe.last - stripe.about.number(_FOOTER_SIZE)
        footer = self._tail.message(self._read, footer_at, stripe.last)
        ends = self._ends()
        owner = [number for number, (first, last) in enumerate(ends) for _ in range(first, last)]
        of_root: list[_Stream] = []
        by_column: list[list[_Stream]] = [[] for _ in ends]
        for stream in _streams(stripe, footer, footer_at):
            (by_column[owner[stream.column - 1]] if stream.column else of_root).append(stream)
        memory = [
            stripe.memory(sum(each.last - each.first for each in streams), last - first)
            for streams, (first, last) in zip(by_column, ends, strict=True)
        ]
        start = 0
        while start < len(ends):
            end, taken = start, 0
            for size in memory[start:]:
                if end > start and taken + size > _MEMORY:
                    break
                end, taken = end + 1, taken + size
            label = f"stripe {stripe.number}, column {start + 1}"
            label += f" to {end}" if end > start + 1 else ""
            columns = slice(start, end)
            first, last = ends[start][0], ends[end - 1][1]
            own = [*of_root, *chain.from_iterable(by_column[columns])]
            made, about = _with_columns(stripe, footer, own, first, last)
            data = self._tail.chunks(made)
            described = about.replaced({_FOOTER_SIZE: [len(data)]})
            ranges = (FileRange(each.first, each.last) for each in own)
            pieces = [*joined((*ranges, data))]
            types = self._types_of(columns, first, last)
            yield self._section(pieces, [described], types, label, stripe.number > 1)
            start = end

    def _ends(self) -> list[tuple[int, int]]:
        """Return the types of each column: the first, and the one after the last."""
        starts = [*self._types[0].numbers(_SUBTYPES), len(self._types)]
        ends = [*pairwise(starts)]
        if starts[0] != 1 or any(first >= last for first, last in ends):
            raise damaged()
        return ends

    def _types_of(self, columns: slice, first: int, last: int) -> list[ProtoMessage]:
        root = self._types[0]
        kept = root.numbers(_SUBTYPES)[columns]
        names = root.bytes_of(_NAMES)[columns]
        subtypes = [each - first + 1 for each in kept]
        return [
            root.replaced({_SUBTYPES: subtypes, _NAMES: names}),
            *(
                each.replaced({_SUBTYPES: [n - first + 1 for n in each.numbers(_SUBTYPES)]})
                for each in self._types[first:last]
            ),
        ]

    def _section(
        self,
        pieces: Sequence[FileRange | bytes],
        stripes: Sequence[ProtoMessage],
        types: Sequence[ProtoMessage],
        label: str,
        repeats: bool,
    ) -> Section:
        ranges = [each for each in pieces if isinstance(each, FileRange)]
        taken = sum(each.last - each.first for each in ranges)
        others = sum(len(each) for each in pieces if isinstance(each, bytes))
        footer = self._tail.footer.replaced(
            {
                HEADER_SIZE: [len(MAGIC)],
                CONTENT_SIZE: [len(MAGIC) + taken + others],
                STRIPES: map(bytes, stripes),
                TYPES: map(bytes, types),
                ROWS: [sum(each.number(_STRIPE_ROWS) for each in stripes)],
                STATISTICS: [],
            }
        )
        if not self._is_first:
            footer = footer.replaced({METADATA: []})
        first = 0 if self._is_first else ranges[0].first
        self._is_first = False
        after = self._tail.end_of(footer)
        return Section(first, first + taken, MAGIC, after, label, repeats, pieces)


def _streams(stripe: _Stripe, footer: ProtoMessage, last: int) -> list[_Stream]:
    """Return the streams that hold values."""
    streams: list[_Stream] = []
    at = stripe.first
    for about in footer.messages(_STREAMS):
        end = at + about.number(_LENGTH)
        if about.number(_STREAM_TYPE) not in _INDEXES:
            streams.append(_Stream(about, about.number(_COLUMN), at, end))
        at = end
    if at > last:
        raise damaged()
    return streams


def _with_columns(
    stripe: _Stripe, footer: ProtoMessage, streams: Sequence[_Stream], first: int, last: int
) -> tuple[ProtoMessage, ProtoMessage]:
    """Return the footer of a stripe with some columns, and what describes the stripe."""
    encodings = footer.bytes_of(_ENCODINGS)
    listed = [
        bytes(each.about.replaced({_COLUMN: [each.column and each.column - first + 1]}))
        for each in streams
    ]
    made = footer.replaced({_STREAMS: listed, _ENCODINGS: encodings[:1] + encodings[first:last]})
    size = sum(each.last - each.first for each in streams)
    described = {_OFFSET: [len(MAGIC)], _INDEX_SIZE: [0], _DATA_SIZE: [size]}
    return made, stripe.about.replaced(described)
