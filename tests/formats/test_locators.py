"""Locations of a source as plain numbers equal those of the source itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dlpctl.formats.source import Readable, Resolved

WRITTEN = {
    "&amp;": "&",
    "&#10;": "\n",
    "\\\n  ": "",
    "\n ": " ",
    "&lt;&lt;": "<<",
    "&hearts;": "\u2665\ufe0f",
}


def readable(parts: list[str]) -> Readable:
    at, resolved = 0, []
    for part in parts:
        if part in WRITTEN:
            resolved.append(Resolved(at, at + len(part), WRITTEN[part]))
        at += len(part)
    return Readable("".join(parts), resolved)


@given(st.lists(st.sampled_from([*WRITTEN, "a", "bc", "\n", "\n\n", "é"])))
def test_lines_are_those_of_the_source(parts: list[str]) -> None:
    here = readable(parts)
    there = here.locator()
    for offset in range(len(here.text) + 1):
        assert there.place_at(offset) == here.place_at(offset)


@given(st.lists(st.sampled_from(["&lt;&lt;", "&#10;", "a", "bc", "\n", "é"])))
def test_columns_are_those_of_the_source(parts: list[str]) -> None:
    here = readable(parts)
    source = "".join(parts)
    lines = here.locator()
    for start in range(len(here.text)):
        value = here.text[start : start + 3]
        at = here.source_start(start)
        column = at - source.rfind("\n", 0, at) if source.startswith(value, at) else 0
        assert lines.column_of(start, value) == column
