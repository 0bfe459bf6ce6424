"""Read the text of a part: paragraphs joined over runs, with and without tracked changes, loose
texts, attributes and comments.

Elements are recognized by their local names, so that both namespaces of Office Open XML, any
prefix, and OpenDocument are read alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from dlpctl.formats.encoding import character
from dlpctl.formats.interface import Limits, too_deep
from dlpctl.formats.office.content import (
    STRUCTURAL_TEXTS,
    is_content,
    is_foreign_content,
    is_settings_content,
    is_telling,
    words,
)
from dlpctl.formats.office.joining import CHANGE, DELETED, INSERTED, Group, joined, words_of_names
from dlpctl.formats.office.labels import ELEMENTS, LABELLED, Labels, Position
from dlpctl.formats.office.numbers import plain
from dlpctl.formats.office.pivots import PivotFields
from dlpctl.formats.office.reading import Builder, Leaf, Reading, ViewPlan
from dlpctl.formats.office.xmltext import TOKEN, attributes, local, unescaped
from dlpctl.regex import lazy

ATTRIBUTES, REMARKS = "attributes", "remarks"
SYMBOL, HYPHENS, NUMBER = "sym", {"noBreakHyphen": "-", "softHyphen": "\u00ad"}, "cached number"
_GROUPS = {"p", "h", "si", "is", "rPh", "rt", "text"}
_MORE_GROUPS = words("more groups in OpenDocument")
_LEAVES = {"t", "delText", "instrText", "delInstrText"}
_INSTRUCTIONS = {"instrText", "delInstrText"}
_SEPARATORS = {
    "tab": "\t",
    "ptab": "\t",
    "tab-stop": "\t",
    "br": "\n",
    "cr": "\n",
    "line-break": "\n",
    "s": " ",
}
_SUBSTITUTES = {*_SEPARATORS, *HYPHENS, SYMBOL, "fldChar"}
_CHANGES = {"del": DELETED, "moveFrom": DELETED, "ins": INSERTED, "moveTo": INSERTED}
_HIDING = {"vanish", "specVanish", "webHidden"}
_SHOWN = lazy(r"val\s*=\s*[\"'](?:0|false|off)[\"']")
_TABLES, _ROWS, _CELLS = (
    {"tbl", "table"},
    {"tr", "table-row"},
    {"tc", "table-cell", "covered-table-cell"},
)
_BESIDE_CELLS = {"annotation", "custom-shape"}
"""Elements in cells of OpenDocument whose text is shown beside that of the cell."""
_LISTED = "keyword"
_CACHED_NUMBERS = {"numCache", "numLit"}
_SYMBOL_FONT = range(0xF020, 0xF100)
_CHARACTER = lazy(r"char\s*=\s*[\"']([0-9A-Fa-f]{1,6})[\"']")
_REPEATED = lazy(r"number-columns-repeated\s*=\s*[\"'](\d{1,5})[\"']")
_STORED = lazy(r"\boffice:value\s*=\s*[\"']([0-9][0-9.eE+]{6,})[\"']")
_NO_DIGITS = lazy(r"[^0-9]+")
_QUOTED = lazy(r"\"([^\"]*)\"|'([^']*)'")
_BETWEEN_TAGS = lazy(r">\s*[^<\s]|<!|<\?(?!xml )")
_NAMING = {"name", "label", "title", "property-name", "displayText"}
_NAMED = {"val", "value", "string", "string-value", "current-value"}
_SHORTEST = 6
"""The number of characters of a number that may be a value if it has a name."""
_NAME = lazy(r"\s(?:[\w.-]+:)?(?i:name|label|title|key)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def says_nothing(source: str) -> bool:
    """Return whether a styles part has neither text nor attributes with values."""
    if _BETWEEN_TAGS.search(source):
        return False
    values = {double or single for double, single in set(_QUOTED.findall(source))}
    return not any(is_telling(unescaped(value)) for value in values)


class Dialect(Enum):
    """The way to read a part."""

    OFFICE = auto()
    STYLES = auto()
    """Only names of fonts and styles are expected."""
    PROPERTIES = auto()
    """The names of elements label their contents."""
    FOREIGN = auto()
    """Foreign data: elements label their contents, and each attribute may be content."""
    OPEN_DOCUMENT = auto()
    """Text is directly in paragraphs, not in elements of runs."""


class _Label(NamedTuple):
    """The words that label the contents of an element."""

    text: str
    is_given: bool = False
    """True for the value of an attribute, which is more than the name of the element."""


@dataclass(slots=True)
class _Element:
    """An open element of a foreign part, whose content is mixed if it has both."""

    first: int
    """The number of groups before the element."""
    has_text: bool = False
    has_elements: bool = False


class Flow:
    """One pass over the tokens of a part."""

    def __init__(
        self,
        source: str,
        dialect: Dialect,
        limits: Limits,
        location: str,
        pivot: PivotFields | None = None,
    ) -> None:
        self._source = source
        self._dialect = dialect
        self._labelled = dialect in {Dialect.PROPERTIES, Dialect.FOREIGN}
        self._limits = limits
        self._location = location
        self._pivot = pivot
        self._grouping = _GROUPS | _MORE_GROUPS if dialect is Dialect.OPEN_DOCUMENT else _GROUPS
        self._groups: list[Group] = []
        self._open: list[tuple[Group, Group]] = []
        """The open paragraphs, innermost last, each with the text of its fields."""
        self._deleted = self._inserted = self._changes = 0
        self._vanished = False
        self._tables: list[list[int]] = []
        self._table_count = 0
        self._stored: list[tuple[int, Leaf | None]] = []
        """The number of each open cell, with the number of groups before the cell."""
        self._names: list[str] = []
        self._labels: list[_Label] = []
        self._elements: list[_Element] = []
        self._labels_beside = Labels()
        self._mixed: list[tuple[int, int]] = []
        """The groups within each outermost element of mixed content: the first and the last."""
        self._remarks = Builder(REMARKS)
        self._attributes = Builder(ATTRIBUTES)
        self._seen_tags: set[tuple[str, str]] = set()
        self._seen_values: set[tuple[str, str, str]] = set()

    def readings(self) -> Iterator[Reading]:
        """Yield the layers of the part."""
        for found in TOKEN.finditer(self._source):
            close, _, name, tag, empty, text, cdata, comment, instruction = found.groups()
            if name is not None:
                if close:
                    self._end(name)
                    continue
                if tag and (name, tag) not in self._seen_tags:
                    self._see_attributes(name, tag, found.start("attributes"))
                if self._pivot is not None:
                    self._pivot.start(name, tag)
                self._start(name, found, empty=empty is not None)
            elif text is not None:
                self._text(text, found.start(), found.end(), unescaped)
            elif cdata is not None:
                self._text(cdata, found.start(), found.end(), str)
            elif comment is not None:
                self._remark(Leaf(*found.span("comment"), comment, "comment"))
            elif not instruction.startswith("xml "):
                self._remark(Leaf(*found.span("instruction"), instruction, "instruction"))
        for number, (first, last) in enumerate(self._mixed, 1):
            for group in self._groups[first:last]:
                group.mixed = number
        yield joined(self._groups, self._labels_beside.found, labelled=self._labelled)
        for builder in (self._attributes, self._remarks):
            reading = builder.done()
            reading.plans.append(builder.view(reading.layer))
            if words := list(words_of_names(reading.text)):
                reading.plans.append(ViewPlan("words of names", words))
            yield reading

    def _start(self, name: str, found: re.Match[str], *, empty: bool) -> None:
        if self._open and name in _SUBSTITUTES:
            self._substitute(name, found, empty=empty)
        if self._elements:
            self._elements[-1].has_elements = True
        if name in ELEMENTS and not (empty and name in LABELLED):
            tag = found["attributes"] or ""
            self._labels_beside.start(name, tag, self._position(), self._groups)
        if empty:
            if name in _CHANGES and self._names[-2:] == ["pPr", "rPr"] and self._open:
                self._open[-1][0].mark |= _CHANGES[name]
            elif name in _HIDING and self._names[-2:] == ["r", "rPr"]:
                self._vanished = _SHOWN.search(found["attributes"] or "") is None
            elif name in _CELLS and self._tables:
                self._tables[-1][2] += _repeated(found)
                if stored := _stored_number(found):
                    self._groups.append(Group(items=[(stored, 0)], cell=self._cell()))
            return
        self._names.append(name)
        if len(self._names) > self._limits.nesting:
            raise too_deep(self._location, self._limits)
        if name in self._grouping:
            group = Group(cell=self._cell(), label=self._labels[-1].text if self._labels else "")
            fields = Group(cell=group.cell)
            self._groups += (group, fields)
            self._open.append((group, fields))
        elif name in _CHANGES:
            self._count_change(name, 1)
        elif name in _TABLES:
            self._tables.append([self._table_count, -1, -1])
            self._table_count += 1
        elif self._tables and name in _ROWS:
            self._tables[-1][1:] = [self._tables[-1][1] + 1, -1]
        elif self._tables and name in _CELLS:
            self._tables[-1][2] += _repeated(found)
            self._stored.append((len(self._groups), _stored_number(found)))
        if self._dialect is Dialect.FOREIGN:
            self._elements.append(_Element(len(self._groups)))
        if self._labelled:
            self._labels.append(self._label_of(name, found["attributes"] or ""))

    def _label_of(self, element: str, tag: str) -> _Label:
        """Return the name that an element has, that the element around it has, or its own."""
        found = _NAME.search(tag)
        if name := unescaped(found[1] or found[2] or "") if found else "":
            return _Label(name, is_given=True)
        outer = self._labels[-1] if self._labels else None
        if outer is None or not outer.is_given:
            return _Label(element)
        # The elements in a property are named by types of values.
        is_type = self._dialect is Dialect.PROPERTIES
        return _Label(outer.text if is_type else f"{outer.text} {element}")

    def _end(self, name: str) -> None:
        if not self._names:
            return
        self._names.pop()
        if name in LABELLED:
            self._labels_beside.end(name, self._position(), self._groups)
        if self._labels:
            self._labels.pop()
        if self._elements:
            self._end_element(self._elements.pop())
        if name in self._grouping and self._open:
            self._open.pop()
        elif name == "r":
            self._vanished = False
        elif name in _CHANGES:
            self._count_change(name, -1)
        elif name in _TABLES and self._tables:
            self._tables.pop()
        elif name in _CELLS and self._stored:
            self._end_cell(*self._stored.pop())

    def _end_cell(self, first: int, stored: Leaf | None) -> None:
        """Add the number that a cell stores if its text shows another one."""
        if stored is None:
            return
        items = (item for group in self._groups[first:] for item, _ in group.items)
        shown = "".join(item.text for item in items if isinstance(item, Leaf))
        if stored.text not in _NO_DIGITS.sub("", shown):
            self._groups.append(Group(items=[(stored, 0)], cell=self._cell()))

    def _end_element(self, element: _Element) -> None:
        if element.has_text and element.has_elements:
            while self._mixed and self._mixed[-1][0] >= element.first:
                self._mixed.pop()
            self._mixed.append((element.first, len(self._groups)))

    def _count_change(self, name: str, by: int) -> None:
        self._changes += CHANGE
        if _CHANGES[name] == DELETED:
            self._deleted += by
        else:
            self._inserted += by

    def _text(self, raw: str, start: int, end: int, meaning: Callable[[str], str]) -> None:
        name = self._names[-1] if self._names else ""
        if self._elements and raw.strip():
            self._elements[-1].has_text = True
        if self._open and (
            self._dialect is Dialect.OPEN_DOCUMENT
            or name in _LEAVES
            or (name in _GROUPS and raw.strip() and self._dialect is not Dialect.FOREIGN)
        ):
            if name in _INSTRUCTIONS:
                self._labels_beside.instruct(meaning(raw))
            self._add(Leaf(start, end, meaning(raw), name), field=name in _INSTRUCTIONS)
        elif raw.strip() and (self._dialect is Dialect.FOREIGN or name not in STRUCTURAL_TEXTS):
            leaf_kind = (
                NUMBER if name == "v" and not _CACHED_NUMBERS.isdisjoint(self._names[-3:]) else name
            )
            label = self._labels[-1].text if self._labels else ""
            leaf = Leaf(start, end, meaning(raw), leaf_kind)
            if name == _LISTED and self._groups and self._groups[-1].label == label:
                # A list of words: a text with spaces may have been split here.
                self._groups[-1].items += ((" ", 0), (leaf, 0))
            else:
                self._groups.append(Group(label, [(leaf, 0)], self._cell()))
        elif self._elements and self._groups:
            self._groups[-1].items.append((" ", 0))

    def _substitute(self, name: str, found: re.Match[str], *, empty: bool) -> None:
        """Add the character that an element represents."""
        if name == "tab" and "tabs" in self._names[-1:]:
            return
        if name == "fldChar":
            self._open[-1][1].items.append((" ", 0))
        elif name in _SEPARATORS:
            self._add(_SEPARATORS[name])
        elif character := _character(name, found["attributes"]):
            self._add(Leaf(found.start(), found.end(), character, name) if empty else character)

    def _position(self) -> Position:
        group = self._open[-1][0] if self._open else None
        return Position(len(self._groups), group, len(group.items) if group else 0)

    def _add(self, item: Leaf | str, *, field: bool = False) -> None:
        group, fields = self._open[-1]
        hidden = self._deleted or self._vanished
        change = (DELETED if hidden else 0) | (INSERTED if self._inserted else 0)
        if change:
            change += self._changes
        (fields if field else group).items.append((item, change))

    def _cell(self) -> tuple[int, int, int] | None:
        if not self._tables or not _BESIDE_CELLS.isdisjoint(self._names):
            return None
        table, row, column = self._tables[-1]
        return table, row, column

    def _remark(self, leaf: Leaf) -> None:
        if leaf.text.strip():
            self._remarks.leaf(leaf)
            self._remarks.apart("\n")

    def _see_attributes(self, element: str, tag: str, at: int) -> None:
        self._seen_tags.add((element, tag))
        found = [
            (local(name), start, end, self._source[start:end])
            for name, start, end in attributes(tag, at)
        ]
        given = " ".join(raw for name, _, _, raw in found if name in _NAMING)
        for name, start, end, raw in found:
            named = unescaped(given) if name in _NAMED else ""
            label = (self._pivot.label(element, name) if self._pivot else "") or named
            if (label, name, raw) in self._seen_values:
                continue
            self._seen_values.add((label, name, raw))
            value = unescaped(raw)
            if self._is_content(element, name, value) or (named and len(value) >= _SHORTEST):
                if label:
                    self._attributes.label(f"{label}: ")
                else:
                    self._attributes.apart(f"{name} ")
                self._attributes.leaf(Leaf(start, end, value, f"{element}@{name}"))
                self._attributes.apart("\n")

    def _is_content(self, element: str, name: str, value: str) -> bool:
        if self._dialect is Dialect.FOREIGN:
            return is_foreign_content(value)
        if self._pivot is not None and self._pivot.is_content(element, name, value):
            return True
        is_words = is_settings_content if self._dialect is Dialect.STYLES else is_content
        return is_words(element, name, value)


def _stored_number(found: re.Match[str]) -> Leaf | None:
    """Return the long number that a cell of OpenDocument stores beside its text."""
    value = _STORED.search(found["attributes"] or "")
    if value is None:
        return None
    at = found.start("attributes")
    digits = plain(value[1])
    return (
        Leaf(at + value.start(1), at + value.end(1), digits, "value")
        if digits.isdecimal()
        else None
    )


def _character(name: str, tag: str) -> str:
    """Return the character that an element shows; symbol fonts use the private area."""
    if name in HYPHENS:
        return HYPHENS[name]
    code = _CHARACTER.search(tag)
    number = int(code[1], 16) if code else 0
    return character(number & 0xFF if number in _SYMBOL_FONT else number) if number else ""


def _repeated(found: re.Match[str]) -> int:
    times = _REPEATED.search(found["attributes"] or "")
    return int(times[1]) if times else 1
