"""Statements and their parameters, as drivers of databases log them: the values of `?`, `$1` or
`@p0` are in another line than the names of their columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import VALUE, Form, cell_of
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

_LONGEST = 4096
"""The characters between the start of a statement and its parameters."""
_SAME = 12
"""The characters by which parameters of one kind are recognized."""
_PLACE = rb"(?:\?|%s|\$[0-9]{1,4}|@p[0-9]{1,4}|:[A-Za-z_]\w{0,32})"
_COLUMNS = lazy(
    rb"\(([^()]{1,2048})\)\s*(?:output[^()]*)?values\s*\(([^()]{1,2048})\)", re.IGNORECASE
)
_COMPARED = lazy(
    rb"([\w.\"`\[\]]{1,80})\s*(?:=|<>|!=|[<>]=?|\bi?like\b)\s*(%b)" % _PLACE, re.IGNORECASE
)
_STARTS = lazy(rb"\b(?:insert|update|select|delete|merge|replace)\b", re.IGNORECASE)
_NAME_SIGNS = b" \t\r\n\"'`[]"
_NUMBERED = lazy(
    rb"\s*,?\s*[$@]p?([0-9]{1,4})\s*=\s*(?:'((?:[^']|'')*)'|([^\s,'\]]+))(?:[ ]\([^()\n]*\))*"
)
_TYPED = lazy(rb"[ ]?([^\n]*?)\([A-Z][A-Za-z]{2,24}\)(?:,|(?=\r?\n|\Z))")
_BOUND = lazy(
    rb"[^\n]{0,256}?binding parameter [\[(]([0-9]{1,4})[^\n]{0,48}?(?:-|<-)[ ]\[([^\n]*)\]"
    rb"[ \t\r]*(?:\n|\Z)"
)
_NEXT_ROW = lazy(rb"\s*,?\s*[(\[]")


def _placeholder_names(data: bytes, start: int, end: int, words: HeaderWords) -> dict[bytes, bytes]:
    """Return the names of the placeholders of a statement, by their signs or, for equal ones, their
    numbers.
    """
    last = None
    for last in _STARTS.finditer(data, start, end):
        if last[0].lower() != b"select":
            break
    if last is None:
        return {}
    start = last.start()
    pairs: list[tuple[int, bytes, bytes]] = []
    if columns := _COLUMNS.search(data, start, end):
        names, signs = columns[1].split(b","), columns[2].split(b",")
        pairs += ((columns.start(2), *pair) for pair in zip(names, signs, strict=False))
    pairs += ((each.start(), each[1], each[2]) for each in _COMPARED.finditer(data, start, end))
    names_by_sign: dict[bytes, bytes] = {}
    for _, name, written in sorted(pairs, key=lambda pair: pair[0]):
        number = len(names_by_sign) + 1
        sign = written.strip()
        bare = name.strip(_NAME_SIGNS).rpartition(b".")[2].strip(_NAME_SIGNS)
        key = sign[1:].lstrip(b"p") if sign[:1] in {b"$", b"@"} else str(number).encode()
        names_by_sign[key] = words.name(bare)
    return names_by_sign if any(names_by_sign.values()) else {}


def _before(data: bytes, found: re.Match[bytes], words: HeaderWords) -> dict[bytes, bytes]:
    start = max(0, found.start() - _LONGEST)
    previous = data.rfind(found[0][:_SAME], start, found.start())  # another statement's parameters
    return _placeholder_names(data, max(start, previous), found.start(), words)


def _numbered(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield parameters with the sign of their place."""
    values: list[tuple[bytes, int, bytes]] = []
    position = found.end()
    while value := _NUMBERED.match(data, position):
        group = 2 if value[2] is not None else 3
        values.append((value[1], value.start(group), value[group]))
        position = value.end()
    names_by_sign = _before(data, found, words)
    if found[0].endswith(b"[") or not names_by_sign:  # the statement follows
        end = position + _LONGEST
        following = data.find(found[0][:_SAME], position, end)
        end = end if following < 0 else following
        names_by_sign = _placeholder_names(data, position, end, words) or names_by_sign
    for number, start, text in values:
        if text and (name := names_by_sign.get(number)):
            yield Cells([name], [start], [text])


def _in_rows(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the parameters in rows, each of which has one for each place."""
    names_by_sign = _before(data, found, words)
    position = found.end()
    while names_by_sign:
        for number in range(1, len(names_by_sign) + 1):
            value = VALUE.match(data, position)
            if value is None:
                return
            yield cell_of(names_by_sign.get(str(number).encode(), b""), value)
            position = value.end()
            if value[4] in {b")", b"]"}:
                break
        position += data[position : position + 1] == b")"  # of one value, with a comma
        following = _NEXT_ROW.match(data, position)
        if following is None:
            return
        position = following.end()


def _typed(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield parameters with the names of their types."""
    position = found.end()
    for name in _before(data, found, words).values():
        value = _TYPED.match(data, position)
        if value is None:
            return
        if name and value[1]:
            yield Cells([name], [value.start(1)], [value[1]])
        position = value.end()


def _bound(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield parameters in lines of their own."""
    names_by_sign = _before(data, found, words)
    position = data.rfind(b"\n", 0, found.start()) + 1
    while names_by_sign and (value := _BOUND.match(data, position)):
        name = names_by_sign.get(value[1])
        if name and value[2]:
            yield Cells([name], [value.start(2)], [value[2]])
        position = value.end()


def _key(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values of a key that a row repeats."""
    names = [words.name(name.strip(_NAME_SIGNS)) for name in found[1].split(b",")]
    values, position = found[2].split(b", "), found.start(2)
    for name, text in zip(names, values, strict=False):
        if name and text:
            yield Cells([name], [position], [text])
        position += len(text) + 2


STATEMENT_FORMS = (
    Form(  # PostgreSQL and Entity Framework
        r"(?i:parameters)(?::[ ]|=\[)[$@]p?[0-9]+[ ]?=",
        r"parameters(?:: |=\[)",
        _numbered,
    ),
    Form(  # SQLAlchemy
        r"\[(?:generated in|cached since|no key|insertmanyvalues)[^\]\n]*\][ ]\[?\(",
        r"\[(?:generated in|cached since|no key|insertmanyvalues)[^\]\n]{0,64}\][ ]\[?\(",
        _in_rows,
    ),
    Form(r"==>[ ]+Parameters:[ ]", r"==>[ ]{1,4}Parameters:[ ]", _typed),  # MyBatis
    Form(  # Hibernate
        r"binding parameter [\[\(]1[\]:]", r"binding parameter [\[\(]1[\]:]", _bound
    ),
    Form(
        r"Key \([^()\n]+\)=\(",
        r"Key \(([^\(\)\n]{1,128})\)=\(([^\n]{1,256})\) (?:already exists|is )",
        _key,
    ),
)
"""The forms of parameters."""
