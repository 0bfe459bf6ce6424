"""Tables with rules of hyphens, whose gaps tell where columns are, and those of LaTeX and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import Form
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

_HYPHENS = lazy(r"-+")
_AMPERSAND = lazy(rb"(?<!\\)&")
_END_OF_ROW = lazy(rb"[ \t]*\\\\.*\Z", re.DOTALL)
_ATTRIBUTES = rb"(?:(?:[ ]*[\w-]{1,16}=\"[^\"\n]{0,80}\"){1,4}[ ]*\|(?!\|))?"
_BARS = lazy(rb"(?:\|\|?|!!|^!)" + _ATTRIBUTES, re.MULTILINE)
_OF_WIKI = b" \t\r\n\"'*_=.<>^"
"""Marks of emphasis and alignment around the text of a cell."""
_OF_LATEX = lazy(rb"\\(?:textbf|textit|texttt|bfseries|multicolumn\{1\}\{\w\})[ ]*|[{}]")
_COMMAND = b"\\"
_ROW_RULES, _ENDS = (b"|-", b"|+"), (b"|}", b"|==")

Span = tuple[int, int]


def _below_rule(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells below a rule with a gap between columns."""
    header, rule = (line.decode() for line in found[0].splitlines()[:2])
    starts = [each.start() for each in _HYPHENS.finditer(rule)]
    bounds = [*pairwise(starts), (starts[-1], None)]
    names = [words.name(header[slice(*each)].strip().encode()) for each in bounds]
    if not any(names):
        return
    for start, line in _lines(data, found.end()):
        text = line.decode()
        if not text.strip() or any(text[each - 1 : each].strip() for each in starts[1:]):
            return
        offsets = [
            (len(text[:first].encode()), text[first:last].encode()) for first, last in bounds
        ]
        yield _cells(names, ((start + offset, cell) for offset, cell in offsets))


def _of_latex(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells below a header of LaTeX."""
    header = _OF_LATEX.sub(b"", _END_OF_ROW.sub(b"", found[1])).replace(b"\\_", b"_")
    names = [words.name(each.strip()) for each in _AMPERSAND.split(header)]
    position = found.end()
    for start, line in _lines(data, position) if any(names) else ():
        if line.startswith((b"\\end{", b"\\begin{")):
            return
        row = _END_OF_ROW.sub(b"", line)
        if len(cells := list(_split(row, start, _AMPERSAND))) == len(names):
            yield _cells(names, cells)
        elif not line.lstrip().startswith(_COMMAND):
            return


def _of_wiki(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the cells below headers of a wiki."""
    header = (found[1] or found[0]).strip()
    if header.startswith(b"^"):
        header = header.replace(b"^", b"|")
    names = [words.name(each.strip(_OF_WIKI)) for each in _BARS.split(header)[1:]]
    while names and not names[-1] and header.endswith(b"|"):
        names.pop()
    row: list[tuple[int, bytes]] = []
    for start, line in _lines(data, found.end()) if any(names) else ():
        if found[1] and not line.strip():
            continue
        if not line.startswith(b"|") or line.startswith(_ENDS):
            break
        if line.startswith(_ROW_RULES):
            row = []
            continue
        row += list(_split(line.rstrip().rstrip(b"|"), start, _BARS))[1:]
        if len(row) >= len(names):
            yield _cells(names, row[: len(names)])
            row = []


def _split(line: bytes, start: int, apart: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield where each cell of a line is, and its text."""
    at = 0
    for sign in apart.finditer(line):
        yield start + at, line[at : sign.start()]
        at = sign.end()
    yield start + at, line[at:]


def _lines(data: bytes, position: int) -> Iterator[tuple[int, bytes]]:
    while position < len(data):
        stop = data.find(b"\n", position)
        stop = stop if stop >= 0 else len(data)
        yield position, data[position:stop]
        position = stop + 1


def _cells(names: Sequence[bytes], texts: Iterable[tuple[int, bytes]]) -> Cells:
    """Return the cells that have a name and are not blank."""
    cells = Cells([], [], [])
    for name, (start, text) in zip(names, texts, strict=True):
        if name and (bare := text.strip(_OF_WIKI)):
            cells.headers.append(name)
            cells.starts.append(start + text.index(bare))
            cells.texts.append(bare)
    return cells


RULED_FORMS = (
    Form(
        r"\n--+[ ]+--[ -]*\r?\n",
        r"[^\n]+\n-{2,}(?:[ ]+-{2,})+[ ]*\r?\n",
        _below_rule,
        starts_line=True,
    ),
    Form(
        r"&[^&\n]+\\\\",
        r"([^\n&]*(?:&[^\n&]+)+\\\\[^\n]*)\n",
        _of_latex,
        starts_line=True,
    ),
    Form(
        r"(?:^|\n)(?:\|={3,}\r?\n\||(?:\|\||!|\|_\.)[^\n|!]+(?:\|\||!!|\|_\.)"
        r"|![^\n!]+\n!|\|=[^\n|=]+\|=|\^[^\n^]+\^)",
        r"\|={3,}\r?\n((?:\|[^\n=][^\n]*\n)+)\r?\n"
        r"|(?:\|\||!|\|_\.)[^\n|!]+(?:(?:\|\||!!|\|_\.)[^\n|!]*)+\|?\r?\n"
        r"|(?:![^\n!]+\n){2,16}|\|=[^\n|=]+(?:\|=[^\n|=]*)+\|?\r?\n|(?:\^[^\n^]+)+\^\r?\n",
        _of_wiki,
        starts_line=True,
    ),
)
"""The forms of tables with rules or signs of their own."""
