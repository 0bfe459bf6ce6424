"""Rows of words: tables that have each word of a text in a row of its own.

Annotated texts give the tag of each word, and programs that read pictures and speech its place or
its time. Forms with a box for each character have it in a line of its own when they are copied.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dlpctl.detect.linear import Find, compile_regex, finders

Span = tuple[int, int]
_ENTITY = r"(?:O|[BEILSU]-[0-9A-Za-z_-]{2,20})"
_TIMES = r"[0-9]+\.[0-9]+[ \t][0-9]+\.[0-9]+[ \t]"
_TAG = r"\t[^\s]+\t[A-Z_]{1,6}\t"
_END = r"[ \t\r]*(?:\n|\z)"


class _Shape(NamedTuple):
    """A type of rows."""

    start: str
    """The regex of what tells the first of them."""
    row: str
    """The regex of a row, whose group is the word."""


_SHAPES = (
    _Shape(r"[ \t]O[ \r]*\n", rf"([^\s]+)[ \t](?:[^\s]+[ \t]){{0,4}}{_ENTITY}{_END}"),
    _Shape(rf"(?:^|\n)[0-9]{{1,4}}\t[^\s]+{_TAG}", rf"[0-9]{{1,4}}\t([^\s]+){_TAG}[^\n]*(?:\n|\z)"),
    _Shape(
        rf"{_TIMES}[^\s0-9]",
        rf"(?:[^\s]+[ \t]){{0,2}}{_TIMES}([^\s]+)(?:[ \t]+[0-9.]+)?{_END}",
    ),
    _Shape(
        r"(?:\t[0-9]+){9}\t-?[0-9.]+\t[A-Za-z]",
        rf"(?:[0-9]+\t){{10}}-?[0-9.]+\t([^\s]+){_END}",
    ),
    _Shape(r"(?:^|\n)[^\s](?:[ ][0-9]+){4}[ ]0[ \r]*\n", rf"([^\s])(?:[ ][0-9]+){{5}}{_END}"),
    _Shape(r"(?:^|\n)(?:[0-9A-Z][ \t\r]*\n){8}", rf"([0-9A-Z]){_END}"),
)
_BLANK = r"[ \t\r\n]*"
_BOXES = (
    _Shape(
        rf">[0-9A-Z+]{_BLANK}</[^<>]*>{_BLANK}<[^<>]*>[0-9A-Z]<",
        rf"([0-9A-Z+]){_BLANK}(?:<[^<>]*>{_BLANK})+",
    ),
    _Shape(
        rf"<input [^<>]*value=[\"']?[0-9A-Z+][\"' ][^<>]*>{_BLANK}<input ",
        rf"<?input [^<>]*value=[\"']?([0-9A-Z+])[\"' /][^<>]*>{_BLANK}",
    ),
)
"""The boxes of a form, which have a character each, from the second character of the start on."""
START = "|".join(shape.start for shape in (*_SHAPES, *_BOXES))
"""The regex of what tells that rows of words start in the line where it ends, or after it."""
_TAG_SIGNS = (b"<", b">")
_FEWEST = 4
_LONGEST_ROW = 256


def rows_of_words(data: bytes, start: int, end: int) -> tuple[list[Span], int]:
    """Return the words in the rows that a match of `START` tells, and where the rows end."""
    is_box = data[start : start + 1] in _TAG_SIGNS
    line = data.rfind(b"\n", max(start - _LONGEST_ROW, 0), start + 1) + 1
    for shape in _BOXES if is_box else _SHAPES:
        words, stop = _words(data, start + 1 if is_box else line, shape.row)
        if len(words) >= _FEWEST:
            if is_box:
                words.insert(0, (start + 1, start + 1))  # their label is before the first tag
            return words, max(stop - 1, end)
    return [], end


def _words(data: bytes, line: int, row: str) -> tuple[list[Span], int]:
    """Return the words of the rows from a line on, and the end of the last one."""
    match, size = _regex(row), len(data)
    words: list[Span] = []
    while (found := match(data, line, size))[0][0] >= 0:
        words.append(found[1])
        line = found[0][1]
    return words, line


@cache
def _regex(regex: str) -> Find:
    return finders(compile_regex(regex, "rows of words"))[1]
