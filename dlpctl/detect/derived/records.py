"""Records as programs write them, where more than a label is before a value, or more than one value
follows: dumps with lengths, lists, and what changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import Form, keyed_cells
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

_NAME = r"([A-Za-z_][\w.\-]*(?: [A-Za-z_][\w.\-]*){0,3})"
_IS = r"\s?(?::|=>?)\s?"
_RESET = r"\x1b\[0?m"
_CHANGE = (
    r"(?:old|new|before|after|from|to|prev|previous|prior|current|original|was|now)"
    r"(?:_?val|_?value|_?string)?"
)
"""The keys of the two values of what changed."""
_SCALAR = r"(?:[\"'][^\"'\n]{0,64}[\"']|[\w.+\-]{1,24})"
_WITH_DIGIT = r"(?:\"[^\"\n]*[0-9][^\"\n]*\"|'[^'\n]*[0-9][^'\n]*')"
"""A value that is no word: most lists are of words."""
_LIST = r"(?:[:=]\s?(?:c\(|\[\[?)\s*|:[ ]?chr[ ]+|<str>[ ])"
"""The text before the values of a column in JSON, Arrow, R and Polars."""
_ARROW = "(?:->|=>|→|⇒)"
_OF_LIST = lazy(rb"\s*(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)')[ ]?,?")
_LINE = lazy(
    rb"[ \t]*(?:[-*+][ ]|[\"':]?%b[\"']?:[ ])[ ]*[\"']?([^\n]*?)[\"']?[ \t]*\r?(?:\n|\Z)"
    % _CHANGE.encode(),
    re.IGNORECASE,
)
_DATE_PART = lazy(
    rb"\s*,?\s*[\"']?(year|month|day)\w{0,8}[\"']?\s*(?::|=>?)\s*[\"']?(\w{1,9})[\"']?"
)
_OF_BIRTH = lazy(rb"birth|dob|born|bday|geb|naiss|nacim|nasc", re.IGNORECASE)
_PARTS = 8
_MOST_LINES = 256


def _counted(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield a value whose length is before it."""
    name, start = words.name(found[1]), found.end()
    end = start + int(found[2])
    if name and data[end : end + 1] in {b'"', b"\\"}:
        yield Cells([name], [start], [data[start:end]])


def _column(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values of a list."""
    name, position = words.name(found[1]), found.start(2)
    while name and (value := _OF_LIST.match(data, position)):
        start, end = value.span(1) if value[1] is not None else value.span(2)
        if start < end:
            yield Cells([name], [start], [data[start:end]])
        position = value.end()


def _lines(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values in the lines after a name."""
    name, position = words.name(found[1]), found.end(1)
    position = data.find(b"\n", position) + 1
    for _ in range(_MOST_LINES):
        line = _LINE.match(data, position) if name and position < len(data) else None
        if line is None:
            return
        if line[1]:
            yield Cells([name], [line.start(1)], [line[1]])
        position = line.end()


def _pair(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values before and after a change."""
    name = words.name(found[1].strip())
    if name:
        spans = (found.span(2), found.span(3))
        yield Cells(
            [name] * 2, [start for start, _ in spans], [data[slice(*each)] for each in spans]
        )


def _example(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the value that a schema gives as an example."""
    if name := words.name(found[1]):
        yield Cells([name], [found.start(2)], [found[2].rstrip()])


def _parts_of_birth(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the month and the day of a date of birth, whose year tells little."""
    if not _OF_BIRTH.search(found[1]):
        return
    position = found.start(2)
    for _ in range(_PARTS):
        part = _DATE_PART.match(data, position)
        if part is None:
            return
        if part[1].lower() != b"year":
            yield Cells([b"birth " + part[1].lower()], [part.start(2)], [part[2]])
        position = part.end()


def _of_label(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the value of a field whose name is the value of another field."""
    name, value = (1, 2) if found[1] else (4, 3)
    if named := words.name(found[name]):
        yield Cells([named], [found.start(value)], [found[value]])


_DATE_KEY = r"[\"']?(?:year|month|day)[\"']?\s*(?::|=>?)\s*"
_ONE_SIGN = r"[^\n\"'=:\(\)\[\]<>{}]"
_NO_SIGN = rf"{_ONE_SIGN}{{1,64}}"

_PROPERTY = (
    r"\s*[\"']?[A-Za-z]\w{0,16}[\"']?:[ ]?"
    r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s,{}\"'][^\n,{}]{0,80})(?:,|\r?\n)"
)
_EXAMPLE = r"[\"']?(?:example|default|const)[\"']?:[ ]"
"""The keys of a value in a schema of JSON, after those that describe it."""

RECORD_FORMS = (
    Form(  # PHP: var_dump
        r"\]=>\s{0,64}string\(",
        r"\[\"([^\"\n]{1,48})\"(?::[^\n\]]{1,64})?\]=>\s*string\(([0-9]{1,4})\) \"",
        _counted,
    ),
    Form(  # PHP: serialize
        r"s:[0-9]+:\\?\"[^\"\n]+\";s:[0-9]+:",
        r"s:[0-9]+:\\?\"(?:\x00[^\"\n\x00]*\x00)?([^\"\n\x00]{1,48}?)\\?\";s:([0-9]{1,4}):\\?\"",
        _counted,
    ),
    Form(  # Go: spew
        r"\(len=[0-9]{1,4}\) \"",
        r"(\w{1,48}): \(\w{1,32}\) \(len=([0-9]{1,4})\) \"",
        _counted,
    ),
    Form(
        rf"{_LIST}[\"'][^\"'\n]*[0-9][^\"'\n]*[\"'],?\s*[\"']",
        rf"{_NAME}[\"']?\s{{0,20}}{_LIST}({_WITH_DIGIT})\s{{0,64}},?\s{{0,64}}[\"']",
        _column,
    ),
    Form(
        rf":[ ]*\r?\n[ ]*(?:-[ ]|(?i:[\"':]?{_CHANGE}[\"']?:[ ]))",
        rf"{_NAME}[\"']?:[ ]*\r?\n[ ]*(?:-[ ]|[\"':]?{_CHANGE}[\"']?:[ ])",
        _lines,
    ),
    Form(
        rf"\{{\s*[\"':]?(?i:{_CHANGE})[\"']?{_IS}",
        rf"{_NAME}[\"']?{_IS}\{{\s*[\"':]?{_CHANGE}[\"']?{_IS}",
        keyed_cells,
    ),
    Form(
        rf"[\"'](?i:{_CHANGE})[\"']\s?:",
        r"[\"'](?:field|property|attribute|column|key|name|path)(?:_?name|_?id)?[\"']\s*:\s*"
        rf"[\"']([^\"'\n{{}}]{{1,48}})[\"'](?:\s*,\s*[\"'][^\"'\n]{{1,32}}[\"']\s*:\s*{_SCALAR})"
        rf"{{0,3}}?\s*,\s*[\"']{_CHANGE}[\"']\s*:",
        keyed_cells,
    ),
    Form(
        rf"-\]\{{\+|{_RESET}\x1b\[3[0-9]m",
        rf"{_NAME}[\"']?\s?[:=]\s?(?:\[-|\x1b\[31m)([^\n\[\]\x1b]{{1,64}})(?:-\]\{{\+|{_RESET}\x1b\[32m)"
        rf"([^\n{{}}\x1b]{{1,64}})(?:\+\}}|{_RESET})",
        _pair,
    ),
    Form(
        rf"[:=][ ]?[\"']?{_ONE_SIGN}+[\"']?[ ]{_ARROW}[ ]",
        rf"{_NAME}[\"']?\s?[:=]\s?[\"']?({_NO_SIGN}?)[\"']?[ ]{_ARROW}[ ][\"']?({_NO_SIGN})",
        _pair,
    ),
    Form(
        r"(?i:(?:changed|updated|corrected|modified|set))\s{1,4}(?i:from)\s",
        rf"{_NAME}[\"'`]?:?[ ](?:(?:was|is|has been)[ ])?(?:changed|updated|corrected|modified|set)"
        rf"\s+from\s+[\"'`]?({_NO_SIGN}?)[\"'`]?\s+to\s+[\"'`]?({_NO_SIGN})",
        _pair,
    ),
    Form(
        r"\"[ ]{0,4},\s+\"(?i:value)\"[ ]{0,4}:[ ]{0,4}\"",
        r"\"(?:name|key|label|field|title)\"[ ]{0,4}:[ ]{0,4}\"([^\"\n]{1,48})\"[ ]{0,4},\s{1,64}"
        r"\"value\"[ ]{0,4}:[ ]{0,4}\"([^\"\\\n]{1,128})\"",
        _of_label,
    ),
    Form(  # ArcSight
        r"[a-z][0-9]Label=",
        rf"[a-z]{{1,16}}[0-9](?:Label={_NAME}[ ][a-z]{{1,16}}[0-9]=([^\s=|]{{1,64}})"
        rf"|=([^\s=|]{{1,64}})[ ][a-z]{{1,16}}[0-9]Label={_NAME}(?:[ ]|\r?$))",
        _of_label,
    ),
    Form(
        rf"[\n{{,][ \t]*(?i:{_EXAMPLE})",
        rf"{_NAME}[\"']?:[ ]?\{{?(?:[ ]*\r?\n)?(?:{_PROPERTY}){{0,5}}\s*{_EXAMPLE}"
        r"[\"']?([^\n\"'{}\[\]]{2,64})",
        _example,
    ),
    Form(
        rf"\{{\s*{_DATE_KEY}[\"'0-9]",
        rf"{_NAME}[\"']?{_IS}(?:\[\s*\{{[^\[\]]*[\"']date[\"']{_IS})?\{{\s*({_DATE_KEY})",
        _parts_of_birth,
    ),
)
"""The forms of records."""
