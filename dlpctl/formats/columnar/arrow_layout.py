"""The layout of Arrow columns: the nodes and buffers that each takes in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from dlpctl.formats.columnar.arrow_messages import damaged
from dlpctl.formats.columnar.flatbuffer import FlatTable

_NULL, _INT, _FLOAT, _BINARY, _TEXT, _BOOL, _DECIMAL, _DATE, _TIME, _TIMESTAMP = range(1, 11)
_INTERVAL, _LIST, _STRUCT, _UNION, _FIXED_BYTES, _FIXED_LIST, _MAP, _DURATION = range(11, 19)
_LARGE_BINARY, _LARGE_TEXT, _LARGE_LIST, _RUNS, _BINARY_VIEW, _TEXT_VIEW = range(19, 25)
_LIST_VIEW, _LARGE_LIST_VIEW = 25, 26
_TYPE, _TYPE_TABLE, _DICTIONARY, _CHILDREN = 2, 3, 4, 5
_FIELDS = 1
_DEEPEST, _MOST_FIELDS = 64, 100_000
_BITS: dict[int, Callable[[FlatTable], int]] = {
    _INT: lambda of: of.number(0, "i"),
    _FLOAT: lambda of: 16 << of.number(0, "H"),
    _BOOL: lambda _: 1,
    _DECIMAL: lambda of: of.number(2, "i", 128),
    _DATE: lambda of: 32 << of.number(0, "H", 1),
    _TIME: lambda of: of.number(1, "i", 32),
    _TIMESTAMP: lambda _: 64,
    _INTERVAL: lambda of: 32 << of.number(0, "H"),
    _FIXED_BYTES: lambda of: of.number(0, "i") * 8,
    _DURATION: lambda _: 64,
}
"""The size of a value of a type, where all have the same."""
_OFFSETS = {
    **dict.fromkeys((_BINARY, _TEXT, _LIST, _MAP), 4),
    **dict.fromkeys((_LARGE_BINARY, _LARGE_TEXT, _LARGE_LIST), 8),
}
"""The size of the offsets of a type."""
_ITEMS: dict[int, Callable[[FlatTable], int]] = {
    _STRUCT: lambda _: 1,
    _FIXED_LIST: lambda of: of.number(0, "i"),
}
"""The values of each child that a value has, where all have as many."""
_BUFFERS = {
    **dict.fromkeys((_NULL, _RUNS), 0),
    **dict.fromkeys((_STRUCT, _FIXED_LIST), 1),
    **dict.fromkeys((_BINARY, _TEXT, _LARGE_BINARY, _LARGE_TEXT), 3),
    **dict.fromkeys((_LIST_VIEW, _LARGE_LIST_VIEW), 3),
}
"""The buffers of a type, where they are not two."""
_VIEWS = (_BINARY_VIEW, _TEXT_VIEW)


class Layout(NamedTuple):
    """The buffers of a field, which are before those of its children."""

    buffers: int
    bits: int = 0
    """The size of a value; zero if it varies."""
    offsets: int = 0
    """The size of an offset; zero if there are none."""
    items: int = 0
    """The values of each child that a value has; zero if that varies."""
    has_views: bool = False
    is_sliceable: bool = False
    """True if the buffers of some rows are parts of its buffers."""
    dictionaries: frozenset[int] = frozenset()
    """The numbers of the dictionaries that it needs."""
    children: Sequence[Layout] = ()

    @property
    def has_values(self) -> bool:
        """Return whether it has values besides those of its children."""
        return bool(self.bits or self.offsets or self.has_views)

    def walk(self) -> Iterator[Layout]:
        yield self
        for child in self.children:
            yield from child.walk()


class Column(NamedTuple):
    """A column of a batch."""

    layout: Layout
    nodes: slice
    buffers: slice
    views: slice
    """Its numbers of buffers of views."""


def layouts_of(schema: FlatTable, *, has_old_unions: bool) -> list[Layout]:
    """Return the layouts of the columns of a schema."""
    is_native = not schema.number(0, "H")
    counted = count()

    def layout_of(field: FlatTable, depth: int) -> Layout:
        if depth > _DEEPEST or next(counted) > _MOST_FIELDS:
            raise damaged()
        vector, about = field.vector(_CHILDREN), field.table(_TYPE_TABLE)
        children = [layout_of(child, depth + 1) for child in (vector.tables() if vector else ())]
        dictionaries = frozenset[int]().union(*(child.dictionaries for child in children))
        dictionary = field.table(_DICTIONARY)
        if dictionary is not None:  # the column has numbers; the type is that of the dictionary
            index = dictionary.table(1)
            bits = index.number(0, "i") if index else 32
            named = dictionaries | {dictionary.number(0, "q")}
            return Layout(2, bits, is_sliceable=is_native, dictionaries=named)
        data_type = field.number(_TYPE, "B")
        if about is None:
            raise damaged()
        bits = _BITS[data_type](about) if data_type in _BITS else 0
        items = _ITEMS[data_type](about) if data_type in _ITEMS else 0
        offsets = _OFFSETS.get(data_type, 0)
        buffers = _BUFFERS.get(data_type, 2)
        if data_type == _UNION:
            buffers = 1 + about.number(0, "H") + has_old_unions
        by_rows = data_type == _NULL or max(bits, items, offsets) > 0
        is_sliceable = is_native and by_rows and all(child.is_sliceable for child in children)
        is_view = data_type in _VIEWS
        return Layout(buffers, bits, offsets, items, is_view, is_sliceable, dictionaries, children)

    fields = schema.vector(_FIELDS)
    return [layout_of(field, 0) for field in (fields.tables() if fields else ())]


def columns_of(layouts: Sequence[Layout], views: Sequence[int]) -> list[Column]:
    """Return the columns of a batch; `views` are the numbers of buffers of each of its views."""
    columns: list[Column] = []
    node = buffer = view = 0
    for layout in layouts:
        parts = [*layout.walk()]
        last_node, last_view = node + len(parts), view + sum(part.has_views for part in parts)
        last = buffer + sum(part.buffers for part in parts) + sum(views[view:last_view])
        parts_of = slice(node, last_node), slice(buffer, last), slice(view, last_view)
        columns.append(Column(layout, *parts_of))
        node, buffer, view = last_node, last, last_view
    return columns
