"""GEDCOM, in which programs exchange family trees: a level, a tag and a value in each line.

The readable text has words for the tags, so that it reads like a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.source import Resolved, TextFormat, Token
from dlpctl.regex import lazy

_LINE = lazy(
    r"^[ \t]*(?P<level>[0-9]{1,2})[ ]+(?P<id>@[^@\r\n]{1,40}@[ ]+)?(?P<tag>\w{1,31})"
    r"(?:[ ](?P<value>[^\r\n]*))?",
    re.MULTILINE,
)
_QUALIFIER = lazy(r"(?:@#[A-Z ]{1,20}@ )?(?:(?:ABT|CAL|EST|BEF|AFT|FROM|TO|INT|BET) )?")
_PART_OF_NAME, _ALL = lazy(r"[^/\r\n]+"), lazy(r"[^\r\n]+")
"""The parts of a value that edits may change: slashes mark the surname."""
_CONTINUED, _NEXT_LINE, _DATE, _NAME = "CONC", "CONT", "DATE", "NAME"
_EVENTS = {"BIRT": "Date of birth", "CHR": "Date of baptism", "DEAT": "Date of death"}
_LABELS = {
    "NAME": "Name", "GIVN": "First name", "SURN": "Last name", "NICK": "Nickname",
    "_MARNM": "Married name", "ADDR": "Address", "ADR1": "Address", "CITY": "City",
    "POST": "Postal code", "CTRY": "Country", "PLAC": "Place", "PHON": "Phone", "FAX": "Fax",
    "EMAIL": "Email", "SSN": "SSN", "IDNO": "ID number", "PASSPORT": "Passport number",
    "RELI": "Religion", "CAUS": "Cause of death", "NATI": "Nationality",
}  # fmt: skip


class Gedcom(TextFormat):
    name = "gedcom"
    extensions = (".ged", ".gedcom")
    shows_all = False
    text_start = rb"(?:\xef\xbb\xbf)?0 HEAD[ ]*\r?\n"

    def sniff(self, head: bytes, name: str) -> bool:
        return bool(re.match(self.text_start, head))

    def resolve(self, source: str) -> Iterator[Resolved]:
        event, end = "", 0
        for found in _LINE.finditer(source):
            level, tag, value = found["level"], found["tag"], found["value"] or ""
            start = found.start("value") if found["value"] is not None else found.end()
            if level == "0":
                event = ""
            elif tag in {_CONTINUED, _NEXT_LINE}:
                yield Resolved(end, start, "\n" if tag == _NEXT_LINE else "")
            else:
                event = tag if level == "1" else event
                label = _EVENTS.get(event, tag) if tag == _DATE else _LABELS.get(tag, tag)
                if tag == _DATE and (qualifier := _QUALIFIER.match(value)):
                    start += qualifier.end()
                yield Resolved(found.start(), start, f"{label}: ")
                if tag == _NAME:
                    for slash in re.finditer("/", value):
                        yield Resolved(start + slash.start(), start + slash.end(), "")
            end = found.end()

    def tokens(self, source: str) -> Iterator[Token]:
        for found in _LINE.finditer(source):
            if found["value"] is not None:
                part = _PART_OF_NAME if found["tag"] == _NAME else _ALL
                for token in part.finditer(source, *found.span("value")):
                    yield Token(*token.span(), found["tag"])

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        return spliced(token, edits, lambda text: " ".join(text.split("\n")))


FORMAT = Gedcom()
