"""Enumerations: several values after one label, in the items of a list, in one line of a text or of
a form with columns of values, or below each other.

Each value reads like a cell below a header: `Passport nos. K4418207 and K4418208` names the type of
both, and so does a heading above a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlpctl.detect.derived.cells import Cells
from dlpctl.detect.derived.forms import Form
from dlpctl.detect.derived.headers import HeaderWords
from dlpctl.regex import lazy

_LETTER = r"[^\s!-@\[-`{-~]"
_LABEL = r"[^\n:(){}\[\]<>=\"'_,;]{1,40}"
_BULLET = r"(?:[-*+]|–|•|[0-9]{1,2}[.)])"
_MARK = rf"[ \t]{{0,16}}{_BULLET}[ \t]{{1,4}}"
_ITEM = lazy(rf"{_MARK}([^\n]{{2,96}}?)[ \t\r]*(?:\n|\Z)".encode())
_GROUP = r"[A-Z]{0,4}[0-9][0-9A-Z]{0,20}"
_START = "(?:[A-Z]{1,4}[/-]?)?[0-9]"
_DATE = r"[0-3]?[0-9][.]? [A-Za-z]{3,9}[.]? [12][0-9]{3}"
_VALUE = rf"(?:{_DATE}|(?:[A-Z]{{1,4}}[/-])?{_GROUP}(?:[ ./-]{_GROUP}){{0,7}})"
_WHOSE = r"(?:[ ]\([^()\n]{1,32}\))?"
_TO = "to|till|through|bis|al|au|do|tot|até|hasta"
_AND = "and|or|und|et|y|e|en|i|ve|och|og|ja"
_JOINT = rf"(?:[,;][ ](?:and[ ])?|[ ](?:/|&|{_AND}|{_TO})[ ]|[ ]{{4,40}})"
_ANY_JOINT = r"(?:[,;][ ](?:and[ ])?|[ ](?:/|&|[A-Za-zé]{1,7})[ ]|[ ]{4,40})"
"""A joint with any word, which makes gates of a hundredth of the cost."""
_FURTHER = lazy(rf"{_WHOSE}{_JOINT}({_VALUE})(?![0-9A-Za-z])".encode())
_DIGIT = lazy(rb"[0-9]")
_DIFFERENCE = 2
"""The digits that values of a list may differ by: some have the prefix of a country or an area."""
_INDENTED = lazy(rb"([ ]{6,48})([^\s][^\n]{1,96}?)(?:[ ]{3}[^\n]*)?[ \t\r]*(?:\n|\Z)")


def _items(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the items of a list below its heading."""
    name, position = words.name(found[1]), found.end(1)
    position = data.find(b"\n", position) + 1
    while name and (item := _ITEM.match(data, position)):
        yield Cells([name], [item.start(1)], [item[1]])
        position = item.end()


def _further(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the values after the first one that have about as many digits."""
    name, position = words.name(found[1]), found.end(2)
    digits = len(_DIGIT.findall(found[2]))
    while name and (value := _FURTHER.match(data, position)):
        if abs(len(_DIGIT.findall(value[1])) - digits) <= _DIFFERENCE:
            yield Cells([name], [value.start(1)], [value[1]])
        position = value.end()


def _below(data: bytes, found: re.Match[bytes], words: HeaderWords) -> Iterator[Cells]:
    """Yield the lines that start below the first value after a label."""
    name, position = words.name(found[1]), found.end(3) + 1
    indentation = len(data[found.start() : found.start(2)].decode())
    while name and (line := _INDENTED.match(data, position)) and len(line[1]) == indentation:
        yield Cells([name], [line.start(2)], [line[2]])
        position = line.end()


ENUMERATED_FORMS = (
    Form(
        rf"[^\n.,;!?]\n[ \t]*{_BULLET}[ \t]",
        rf"[ \t#*]{{0,16}}({_LETTER}[^\n:]{{1,40}}):?\**[ \t]*\r?\n{_MARK}",
        _items,
        starts_line=True,
    ),
    Form(
        rf"[0-9][0-9A-Za-z]{{0,20}}{_WHOSE}{_ANY_JOINT}(?:[A-Za-z]{{1,4}}[/-]?)?[0-9]",
        rf"({_LETTER}[^\s:;,()\d]*(?:[ ][^\s:;,()\d]+){{0,3}}):?[ ]{{1,40}}#?[ ]?({_VALUE})"
        rf"{_WHOSE}{_JOINT}{_START}",
        _further,
    ),
    Form(
        r"\n[ ]{6}",
        rf"[ ]{{0,16}}({_LETTER}{_LABEL}):[ ]{{1,24}}([^\s])([^\n]{{1,96}})\n[ ]{{6,48}}[^\s]",
        _below,
        starts_line=True,
    ),
)
"""The forms of enumerations."""
