"""Numbered listings of dumps and encoded data: their text without the numbers of lines.

Agents read files with a number before each line, as `cat -n`, `nl` and `grep -n` show them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import Run
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_NUMBER = r"[ \t]{0,8}[0-9]{1,6}(?:→|\t|:|[ ]?[|│][ ]?)"
_BYTE = "[0-9A-Fa-f]{2}"
_ROW = (
    rf"(?:(?:{_BYTE}){{3,8}}:?[ \t]|[0-9A-Za-z+/_-]{{40}}|[ \t]*(?:{_BYTE}[ ]){{7}}"
    rf"|0[xX][0-9A-Fa-f]{{2,8}}[:,][ \t]|[0-9]{{7}}[ \t]|:(?:{_BYTE}){{5}}|S[123](?:{_BYTE}){{4}})"
)
"""The start of a row of a dump or of encoded data."""
GATE = rf"(?:^|\n){_NUMBER}{_ROW}[^\n]*\n{_NUMBER}"
_search = finder(GATE, "numbered listings")
_LINE, _LAST_LINE = (
    lazy(rb"([ \t]*([0-9]++)(?:\xe2\x86\x92|\t|:|[ ]?(?:\||\xe2\x94\x82)[ ]?))%b(?:\n|\Z)" % rest)
    for rest in (_ROW.encode() + rb"[^\n]*+", rb"[0-9A-Za-z+/=: \t\r]{1,80}")
)


def runs(data: bytes) -> Iterator[Run]:
    """Yield the numbers of lines that count up, which are dropped."""
    search, at, size = _search(), 0, len(data)
    while (span := search(data, at, size)[0])[0] >= 0:
        line = span[0] + (data[span[0] : span[0] + 1] == b"\n")
        number = None
        while row := _LINE.match(data, line) or (number and _LAST_LINE.match(data, line)):
            if number is not None and int(row[2]) != number + 1:
                break
            number = int(row[2])
            yield *row.span(1), b""
            line = row.end()
        at = max(line - 1, span[0] + 1)
