"""Labels of contents that a document stores beside them: of content controls, fields, constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dlpctl.formats.office.joining import Group, LabelledItems
from dlpctl.formats.office.xmltext import ATTRIBUTE, local, unescaped
from dlpctl.regex import lazy

_CONTROL, _FIELD, _FIELD_ELEMENT, _PLACEHOLDER = "sdt", "fldChar", "fldSimple", "showingPlcHdr"
_NAMED = {
    "definedName", "config-item", "user-field-get", "variable-set", "variable-get",
    "database-display", "text-input",
}  # fmt: skip
_NAMES = {"name", "column-name", "description"}
_LABELS_OF = {
    _CONTROL: {"alias", "tag"},
    _FIELD: {"name", "statusText", "helpText"},
}
_BEFORE_CONTENT = frozenset().union(*_LABELS_OF.values()) | {_PLACEHOLDER}
LABELLED = {_CONTROL, _FIELD_ELEMENT, *_NAMED}
ELEMENTS = LABELLED | _BEFORE_CONTENT | {"sdtContent", _FIELD}
_INSTRUCTION = lazy(r"\s*(?:MERGEFIELD|DOCPROPERTY|DOCVARIABLE|REF)\s+(?:\"([^\"]+)|([^\s\"\\]+))")
_LONGEST, _MOST_GROUPS, _MOST_ITEMS = 80, 8, 64
"""Longer texts are neither labels nor values that have one."""


class Position(NamedTuple):
    """A position in the text of a part."""

    groups: int
    """The number of groups before it."""
    group: Group | None
    """The open paragraph."""
    items: int
    """The number of items before it in the open paragraph."""


@dataclass(slots=True)
class _Labelled:
    """An element whose content may have labels."""

    element: str
    labels: list[str] = field(default_factory=list)
    start: Position | None = None
    instruction: str = ""


class Labels:
    """Follows the elements of a part, and collects contents with their labels."""

    def __init__(self) -> None:
        self._open: list[_Labelled] = []
        self.found: list[LabelledItems] = []

    def start(self, element: str, tag: str, at: Position, groups: Sequence[Group]) -> None:
        """Follow an element of `ELEMENTS` that starts; those without content may be empty."""
        values = dict(_attributes(tag))
        last = self._open[-1] if self._open else None
        if element == _FIELD:
            self._follow_field(values.get("fldCharType", ""), at, groups)
        elif element in LABELLED:
            labels = [values[name] for name in _NAMES if values.get(name)]
            opened = _Labelled(element, labels, None if element == _CONTROL else at)
            opened.instruction = values.get("instr", "")
            self._open.append(opened)
        elif last is not None and last.start is None:
            if element == "sdtContent":
                last.start = at
            elif element in _LABELS_OF.get(last.element, ()):
                last.labels.append(values.get("val", ""))
            elif element == _PLACEHOLDER:
                # The content asks for one.
                self._open.pop()

    def _follow_field(self, role: str, at: Position, groups: Sequence[Group]) -> None:
        if role == "begin":
            self._open.append(_Labelled(_FIELD))
        elif role == "separate" and self._open:
            self._open[-1].start = at
        elif role == "end":
            self.end(_FIELD, at, groups)

    def instruct(self, text: str) -> None:
        """Follow the text of the instruction of a field."""
        if self._open and len(self._open[-1].instruction) < _LONGEST:
            self._open[-1].instruction += text

    def end(self, element: str, at: Position, groups: Sequence[Group]) -> None:
        """Follow the end of an element of `LABELLED`, or of a field."""
        while self._open:
            closed = self._open.pop()
            if closed.element == element:
                self._collect(closed, at, groups)
                return

    def _collect(self, closed: _Labelled, end: Position, groups: Sequence[Group]) -> None:
        start = closed.start
        if named := _INSTRUCTION.match(closed.instruction):
            closed.labels.append(named[1] or named[2])
        labels = [label for label in dict.fromkeys(closed.labels) if 1 < len(label) <= _LONGEST]
        if start is None or not labels or end.groups - start.groups > _MOST_GROUPS:
            return
        if start.group is not None and start.group is end.group:
            parts = [(start.group, start.items, end.items)]
        else:
            parts = [(group, 0, _MOST_ITEMS) for group in groups[start.groups : end.groups]]
        items = sum(last - first for _, first, last in parts)
        if 0 < items <= _MOST_ITEMS * len(parts):
            self.found += [LabelledItems(label, parts) for label in labels]


def _attributes(tag: str) -> Iterator[tuple[str, str]]:
    for found in ATTRIBUTE.finditer(tag):
        raw = found["double"] if found["double"] is not None else found["single"]
        yield local(found["name"]), unescaped(raw)
