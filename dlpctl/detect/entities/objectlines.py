"""Objects of JSON, one a line, as the rows of a table whose labels each row repeats."""

from __future__ import annotations

from functools import partial

from dlpctl.detect.entities.label_keys import (
    ADDRESS_KEYS,
    BESIDE_THINGS,
    LABELS_OF_THINGS,
    NAMES_OF_ANYTHING,
    column_key,
    names_person,
)
from dlpctl.detect.entities.label_values import Flags, is_full_name, is_mail
from dlpctl.detect.entities.labelled import Cells
from dlpctl.regex import lazy
from dlpctl.texts.tables import fitting_cells

_LINES = lazy(r"(?m)(?:^\{[ ]?\"[^\n]*\}[ ]?\r?\n){3,}")
_MEMBER = lazy(r"\"([^\"\\\n]{2,40})\"[ ]?:[ ]?\"([^\"\\\n]+)\"(?=[ ]?[,}])")
_INITIALS = lazy(r"(?:[^\W\d_]\.[ -]?)+")
"""A name as masking leaves it."""
_ENOUGH = 0.4
"""The share of the values of a label for anything that must be names of persons."""
_COLUMNS = ADDRESS_KEYS | LABELS_OF_THINGS | NAMES_OF_ANYTHING


def add_cells(text: str, cells: Cells, flags: Flags) -> None:
    """Add the cells of the objects in a text, by their labels."""
    for lines in _LINES.finditer(text) if '{"' in text or '{ "' in text else ():
        keys: dict[str, str] = {}
        columns: dict[str, list[tuple[int, int]]] = {}
        for member in _MEMBER.finditer(text, *lines.span()):
            label, value = member.groups()
            key = keys.get(label)
            if key is None:
                key = keys[label] = column_key(label)
            if _INITIALS.fullmatch(value):
                cells.nameless.append(member.span(2))
            elif key in _COLUMNS or names_person(key):
                columns.setdefault(key, []).append(member.span(2))
            elif is_mail(value):
                cells.nameless.append(member.span(2))
            cells.nameless.append(member.span(1))
        is_of_things = not BESIDE_THINGS.isdisjoint(keys.values())
        is_of_persons = any(map(names_person, columns.keys() - NAMES_OF_ANYTHING))
        for key, column in columns.items():
            fitting = column
            if key in NAMES_OF_ANYTHING and not is_of_persons:
                fitting = fitting_cells(text, column, partial(is_full_name, flags=flags))
                if is_of_things or len(fitting) < _ENOUGH * len(column):
                    continue
            cells.add_column(text, key, fitting, flags)
