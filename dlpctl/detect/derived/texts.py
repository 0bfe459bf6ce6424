"""The second texts of a text: what it says in other ways, and what its tables say below their
headers.

One pass of an automaton tells where either begins; text in which nothing does costs no more than
that.
"""

from __future__ import annotations

from functools import cache

from dlpctl.detect.derived.columns import HEADER, WITHIN_LINES, Columns, OpenTable
from dlpctl.detect.derived.decoded import RUN, RUN_BEGINS, View
from dlpctl.detect.linear import Find, compile_regex, finders

Spans = list[tuple[int, int]]
_EITHER = f"{RUN_BEGINS}|{HEADER}"
_LINE_END = ord("\n")


def second_texts(data: bytes, table: OpenTable | None = None) -> list[View | Columns]:
    runs, headers = _openings(data)
    texts: list[View | Columns] = []
    if runs and (view := View.of(data, runs)):
        texts.append(view)
        # What was encoded twice.
        deeper, _ = _openings(view.data)
        if deeper and (inner := View.of(view.data, deeper, view)):
            texts.append(inner)
    if (headers or table is not None) and (columns := Columns.of(data, headers, table)):
        texts.append(columns)
    return texts


def _openings(data: bytes) -> tuple[Spans, Spans]:
    """Where runs and headers stand, each kind by itself: the one may begin within the other."""
    search, _ = _regex(_EITHER)
    runs: Spans = []
    headers: Spans = []
    size = len(data)
    behind_run = behind_header = place = 0
    while True:
        start = search(data, place, size)[0][0]
        if start < 0:
            return runs, headers
        run = _regex(RUN)[1](data, start, size)[0]
        if run[0] >= 0:
            runs.append(run)
            behind_run = run[1]
        begins_line = not start or data[start - 1] == _LINE_END
        if start >= behind_header and (begins_line or data[start] in WITHIN_LINES):
            header = _regex(HEADER)[1](data, start, size)[0]
            if header[0] >= 0:
                headers.append(header)
                behind_header = header[1]
        place = max(start + 1, behind_run)


@cache
def _regex(regex: str) -> tuple[Find, Find]:
    return finders(compile_regex(regex, "second texts", megabytes=32))
