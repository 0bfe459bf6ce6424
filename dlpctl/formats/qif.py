"""QIF, in which programs for accounts exchange payments: a letter for the field starts each line.

The readable text has words for the letters, so that it reads like a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dlpctl.formats.encoding import Edit, on_one_line, spliced
from dlpctl.formats.source import Resolved, TextFormat, Token
from dlpctl.regex import lazy

_FIELD = lazy(r"^(?P<field>[A-Z$%])(?P<value>[^\r\n]+)", re.MULTILINE)
_LABELS = {"P": "Payee name", "A": "Address", "M": "Memo", "E": "Memo", "N": "Number"}
_LINES_OF_ONE = frozenset("A")
"""Fields whose lines go on in the next one."""


class Qif(TextFormat):
    name = "qif"
    extensions = (".qif",)
    shows_all = False
    text_start = rb"(?:\xef\xbb\xbf)?!(?:Type:|Account|Option:|Clear:)[^\r\n]*\r?\n"

    def sniff(self, head: bytes, name: str) -> bool:
        return bool(re.match(self.text_start, head))

    def resolve(self, source: str) -> Iterator[Resolved]:
        before = ""
        for found in _FIELD.finditer(source):
            field = found["field"]
            goes_on = field == before and field in _LINES_OF_ONE
            label = "" if goes_on else f"{_LABELS.get(field, field)}: "
            yield Resolved(found.start(), found.start("value"), label)
            before = field

    def tokens(self, source: str) -> Iterator[Token]:
        for found in _FIELD.finditer(source):
            yield Token(*found.span("value"), "value")

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        return spliced(token, edits, on_one_line)


FORMAT = Qif()
