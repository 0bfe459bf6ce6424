"""Names below the headers of listings, whose cells the sentences around them do not explain."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from dlpctl.detect.automaton.gates import MayMatch
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.detect.derived.listings import listed_cells, listing_headers
from dlpctl.detect.entities.label_keys import column_key, names_person
from dlpctl.detect.entities.label_values import Flags
from dlpctl.detect.entities.labelled import fitting_column
from dlpctl.regex import lazy

_Cell = tuple[int, bytes]
_PERSONS = lazy(
    rb"(?:name|nom|owner|client|customer|patient|employee|author|holder|insured|payee)(?![a-z]*\()"
    rb"|apellido|cognome|sobrenome|naam|assignee|reporter|recipient|tenant|claimant|guarantor",
    re.IGNORECASE,
)
"""Parts of the headers that name persons, which most listings do not have."""


class _PersonWords(HeaderWords):
    """The words of columns of names."""

    def are_in(self, names: bytes) -> bool:
        return _PERSONS.search(names) is not None


def listed_names(data: bytes, may_match: MayMatch, flags: Flags) -> Iterator[tuple[int, int]]:
    """Yield the spans of names in cells below the headers of listings."""
    words = _PersonWords()
    for header in listing_headers(data, may_match):
        columns: dict[bytes, list[_Cell]] = defaultdict(list)
        for cells in listed_cells(data, header, words) or ():
            for name, start, value in zip(cells.headers, cells.starts, cells.texts, strict=True):
                columns[name].append((start, value))
        for name, column_cells in columns.items():
            if names_person(key := column_key(name.decode())):
                yield from _names(key, column_cells, flags)


def _names(key: str, cells: list[_Cell], flags: Flags) -> Iterator[tuple[int, int]]:
    values = [value.decode() for _, value in cells]
    lows = list(accumulate((len(value) + 1 for value in values), initial=0))
    spans = [(low, low + len(value)) for low, value in zip(lows, values, strict=False)]
    named = set(fitting_column("\n".join(values), key, spans, flags)[1])
    for (start, value), span in zip(cells, spans, strict=True):
        if span in named:
            yield start, start + len(value)
