"""Join the texts of a part to one text and its views: with and without changes, by rows and
columns, and by elements of mixed content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

from dlpctl.formats.cellgroups import (
    HEADER_WITHIN,
    Rows,
    header_row,
    is_header,
    labelled_rows,
    rows_of_groups,
)
from dlpctl.formats.interface import APART
from dlpctl.formats.office.reading import Builder, Leaf, Reading, ViewPlan
from dlpctl.formats.residues import CELL_END
from dlpctl.regex import lazy

TEXT = "text"
_NAMED_VALUE = lazy(r"_(?<=[A-Za-z0-9]_)[0-9+(]")
_UNDERSCORES = lazy(r"(?<=[A-Za-z0-9])_(?=[0-9A-Z+(])")
DELETED, INSERTED = 1, 2
CHANGE = 4
"""The step between the numbers of changes, which follow the flags."""


@dataclass(slots=True)
class Group:
    """Pieces that read as one text: a paragraph, the fields of one, or a separate text."""

    label: str = ""
    items: list[tuple[Leaf | str, int]] = field(default_factory=list)
    """Each with the flags of its change, and the number of the change above `CHANGE`."""
    cell: tuple[int, int, int] | None = None
    """Table, row and column."""
    mark: int = 0
    """A flag for the end of the paragraph: deleted, inserted, or neither."""
    mixed: int = 0
    """The number of the outermost element of mixed content around a text; 0 if there is none."""


class LabelledItems(NamedTuple):
    """Items of groups that have a label besides the text around them."""

    label: str
    parts: list[tuple[Group, int, int]]
    """Each group, with the first of its items and the end of them."""


def joined(
    groups: list[Group], labelled_items: Sequence[LabelledItems] = (), *, labelled: bool
) -> Reading:
    """Return the groups as one text, and its views."""
    builder = Builder(TEXT)
    builder.reading.unit = "text" if labelled else "paragraph"
    spans: list[list[tuple[int, int, int]]] = []
    """The items of each group: start, end, change."""
    tracked = False
    kept = [
        group
        for group in groups
        if any(isinstance(item, Leaf) and item.text for item, _ in group.items)
    ]
    for group in kept:
        builder.start_paragraph()
        if labelled and group.label:
            builder.label(f"{group.label}: ")
        items: list[tuple[int, int, int]] = []
        for item, change in group.items:
            at = builder.length
            if isinstance(item, Leaf):
                builder.leaf(item)
            else:
                builder.apart(item)
            items.append((at, builder.length, change))
            tracked = tracked or change > 0
        tracked = tracked or group.mark > 0
        spans.append(items)
        builder.apart("\n" if group.cell is None else f"{CELL_END}\n")
    reading = builder.done()
    reading.plans.append(builder.view("text"))
    if tracked:
        reading.plans += (
            ViewPlan("text with changes accepted", _without(kept, spans, DELETED)),
            ViewPlan("text with changes rejected", _without(kept, spans, INSERTED)),
        )
    if apart := list(_apart(spans, reading.text)):
        reading.plans.append(ViewPlan("runs apart", apart))
    tables = _rows(kept, spans)
    for name, rows in (("rows of groups", rows_of_groups), ("labelled rows", labelled_rows)):
        if parts := list(rows(tables, reading.text)):
            reading.plans.append(ViewPlan(name, parts, repeats=True))
    if tabbed := list(_tabbed(spans, reading.text)):
        reading.plans.append(ViewPlan("text without tabs", tabbed))
    if mixed := list(_mixed(kept, spans)):
        reading.plans.append(ViewPlan("mixed content", mixed))
    if beside := list(_labelled(kept, spans, labelled_items)):
        reading.plans.append(ViewPlan("labelled content", beside))
    reading.plans += _columns(kept, spans, reading.text)
    return reading


def words_of_names(text: str) -> Iterator[tuple[int, int] | str]:
    """Yield the lines in which underscores part a name from a value, with spaces instead."""
    read = 0
    for named in _NAMED_VALUE.finditer(text):
        if named.start() < read:
            continue  # another one in the same line
        read, end = text.rfind("\n", 0, named.start()) + 1, text.find("\n", named.start())
        end = len(text) if end < 0 else end
        for found in _UNDERSCORES.finditer(text, read, end):
            yield from ((read, found.start()), " ")
            read = found.end()
        yield from ((read, end), "\n")
        read = end


def _labelled(
    groups: list[Group],
    spans: list[list[tuple[int, int, int]]],
    labelled_items: Sequence[LabelledItems],
) -> Iterator[tuple[int, int] | str]:
    """Yield items after their labels."""
    spans_of = {id(group): items for group, items in zip(groups, spans, strict=True)}
    for label, parts in labelled_items:
        yield f"{label}: "
        for group, first, last in parts:
            yield from ((start, end) for start, end, _ in spans_of.get(id(group), ())[first:last])
        yield APART


def _tabbed(spans: list[list[tuple[int, int, int]]], text: str) -> Iterator[tuple[int, int] | str]:
    """Yield the paragraphs with tabs, which a reader may see as gaps within a value."""
    for items in spans:
        if any(text[start:end] == "\t" for start, end, _ in items[1:-1]):
            for start, end, _ in items:
                if text[start:end] != "\t":
                    yield start, end
                elif not text.endswith(("-", "@"), 0, start):
                    yield " "
            yield "\n"


def _apart(spans: list[list[tuple[int, int, int]]], text: str) -> Iterator[tuple[int, int] | str]:
    """Yield the paragraphs in which a value may touch what a reader sees as another text: a
    change, hidden text, a field or a run.
    """
    for items in spans:
        joints = [
            _joint(text[end - 1], text[start], changed=before != after)
            for (_, end, before), (start, _, after) in pairwise(items)
        ]
        if any(joints):
            for (start, end, _), joint in zip(items, ["", *joints], strict=True):
                yield from (joint, (start, end)) if joint else ((start, end),)
            yield "\n"


def _joint(before: str, after: str, *, changed: bool) -> str:
    """Return what parts the words that touch at the boundary of two runs."""
    if not (before.isalnum() and (after.isalnum() or after == "+")):
        return ""
    if before.isdigit() and (after.isdigit() or after == "+"):
        return ", " if changed else ""
    return " " if changed or before.isdigit() != after.isdigit() else ""


def _mixed(
    groups: list[Group], spans: list[list[tuple[int, int, int]]]
) -> Iterator[tuple[int, int] | str]:
    """Yield the texts of each element of mixed content as one."""
    lines = groupby(zip(groups, spans, strict=True), key=lambda each: each[0].mixed)
    for number, line in lines:
        if number:
            yield from ((start, end) for _, items in line for start, end, _ in items)
            yield APART


def _rows(groups: list[Group], spans: list[list[tuple[int, int, int]]]) -> Rows:
    """Return the texts of the cells of all tables, by table and row."""
    rows: dict[tuple[int, int], dict[int, list[tuple[int, int]]]] = {}
    for group, items in zip(groups, spans, strict=True):
        if group.cell is not None and items:
            table, row, column = group.cell
            cells = rows.setdefault((table, row), {})
            cells.setdefault(column, []).append((items[0][0], items[-1][1]))
    return {key: list(cells.values()) for key, cells in rows.items()}


def _without(
    groups: list[Group], spans: list[list[tuple[int, int, int]]], change: int
) -> list[tuple[int, int] | str]:
    parts: list[tuple[int, int] | str] = []
    for group, items in zip(groups, spans, strict=True):
        parts += [(start, end) for start, end, changed in items if not changed & change]
        if not group.mark & change:
            parts.append("\n")
    return parts


def _columns(
    groups: list[Group], spans: list[list[tuple[int, int, int]]], text: str
) -> Iterator[ViewPlan]:
    """Yield a view for each column of each table below the row of its headers."""
    columns: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    first: dict[int, dict[int, list[str]]] = {}
    for group, items in zip(groups, spans, strict=True):
        if group.cell is not None and items:
            table, row, column = group.cell
            start, end = items[0][0], items[-1][1]
            columns.setdefault((table, column), []).append((row, start, end))
            if row < HEADER_WITHIN:
                first.setdefault(table, {}).setdefault(row, []).append(text[start:end])
    heads = {table: header_row(rows) or 0 for table, rows in first.items()}
    for (table, _), cells in columns.items():
        head = heads.get(table, 0)
        header = " ".join(text[start:end].strip() for row, start, end in cells if row == head)
        if is_header(header) and cells[-1][0] > head:
            parts: list[tuple[int, int] | str] = []
            for row, start, end in cells:
                if row > head:
                    parts += ((start, end), "\n\n")
            yield ViewPlan("column", parts, header, repeats=True)
