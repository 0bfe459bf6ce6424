"""xDT, in which German medical practices exchange records: length, field and value in each line.

The readable text has words for the fields, so that it reads like a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dlpctl.formats.encoding import Edit, on_one_line, spliced
from dlpctl.formats.source import Resolved, TextFormat, Token
from dlpctl.regex import lazy

_LINE = lazy(r"^[0-9]{3}(?P<field>[0-9]{4})(?P<value>[^\r\n]+)", re.MULTILINE)
_LABELS = {
    "3000": "Patient ID", "3101": "Last name", "3102": "First name", "3103": "Date of birth",
    "3105": "Insurance number", "3107": "Address", "3112": "Postal code", "3113": "City",
    "3119": "Insurance number", "3618": "Mobile", "3619": "Email", "3626": "Phone",
}  # fmt: skip
_PREFIX = 7
"""The digits of the length and the field, before the value."""
_LINE_END = 2
"""The characters after the value that the length counts."""


class Xdt(TextFormat):
    name = "xdt"
    extensions = (".ldt", ".bdt", ".gdt", ".xdt")
    shows_all = False
    text_start = rb"0138000[^\r\n]{4}\r?\n"

    def sniff(self, head: bytes, name: str) -> bool:
        return bool(re.match(self.text_start, head))

    def resolve(self, source: str) -> Iterator[Resolved]:
        for found in _LINE.finditer(source):
            field = found["field"]
            yield Resolved(found.start(), found.start("value"), f"{_LABELS.get(field, field)}: ")

    def tokens(self, source: str) -> Iterator[Token]:
        for found in _LINE.finditer(source):
            yield Token(*found.span(), "line")

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        value = spliced(token, edits, on_one_line)[_PREFIX:]
        return f"{len(value) + _PREFIX + _LINE_END:03}{token[3:_PREFIX]}{value}"


FORMAT = Xdt()
