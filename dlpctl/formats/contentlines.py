"""vCard, iCalendar and LDIF: folded lines of a name and a value, which may be encoded."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.source import Resolved, TextFormat, Token
from dlpctl.regex import lazy

_FOLD = r"\r?\n[ \t]"
_LINE = lazy(
    rf"^(?P<name>[\w.-]++(?:;(?:\"[^\"\r\n]*\"|{_FOLD}|[^\":\r\n])*+)?):(?P<coded>:?)[ ]?"
    rf"(?P<value>(?:{_FOLD}|[^\r\n])*+)",
    re.MULTILINE,
)
_SOFT_BREAKS = lazy(r"(?:(?<==)\r?\n[^\r\n]*+)*")
_BASE64 = lazy(r"(?i);(?:ENCODING=)?(?:B|BASE64)(?:;|\Z)")
_QUOTED = lazy(r"(?i)QUOTED-PRINTABLE")
_QUOTED_RUN = lazy(rf"(?:=(?:{_FOLD})?[0-9A-Fa-f](?:{_FOLD})?[0-9A-Fa-f]|=\r?\n[ \t]?|{_FOLD})+")
_FOLDS = lazy(_FOLD)
_ESCAPE = lazy(rf"{_FOLD}|\\([nN,;\\])")


class ContentLines(TextFormat):
    """A format of one name and value per line, with continuation lines."""

    def __init__(self, name: str, extensions: tuple[str, ...], start: bytes, escapes: bool) -> None:
        self.name = name
        self.extensions = extensions
        self._start = start
        self.text_start = b"(?i)" + start
        self._has_escapes = escapes

    shows_all = False

    def sniff(self, head: bytes, name: str) -> bool:
        return super().sniff(head, name) or head[:64].upper().startswith(self._start)

    def resolve(self, source: str) -> Iterator[Resolved]:
        for writing, start, end in self._values(source):
            text = _from_base64(source[start:end]) if writing == "base64" else ""
            if text or writing == "sign":
                yield Resolved(start, end, text)
                continue
            runs = _QUOTED_RUN if writing == "quoted" else _ESCAPE
            for found in runs.finditer(source, start, end):
                yield Resolved(*found.span(), self._meaning(writing, found))

    def _meaning(self, writing: str, found: re.Match[str]) -> str:
        if writing == "quoted":
            run = _FOLDS.sub("", found[0])
            return quopri.decodestring(run.encode()).decode("utf-8", "replace")
        if found[1] is None:
            return ""
        if not self._has_escapes:
            return found[0]
        return "\n" if found[1] in "nN" else found[1]

    def _values(self, source: str) -> Iterator[tuple[str, int, int]]:
        """Yield each name, each sign of an encoding and each value with its encoding."""
        read_to = 0
        while (found := _LINE.search(source, read_to)) is not None:
            yield "text", *found.span("name")
            if found["coded"]:
                yield "sign", *found.span("coded")
            start, read_to = found.span("value")
            name = "".join(found["name"].split())
            writing = "base64" if found["coded"] or _BASE64.search(name) else "text"
            if _QUOTED.search(name):
                writing = "quoted"
                more = _SOFT_BREAKS.match(source, read_to)
                read_to = more.end() if more is not None else read_to
            yield writing, start, read_to

    def tokens(self, source: str) -> Iterable[Token]:
        read = 0
        for writing, start, end in self._values(source):
            yield Token(read, start, "text")
            yield Token(start, end, writing)
            read = end
        yield Token(read, len(source), "text")

    def write(self, writing: str, token: str, edits: Sequence[Edit]) -> str:
        if writing == "base64":
            return base64.b64encode("".join(edit.replacement for edit in edits).encode()).decode()
        return spliced(token, edits, partial(_on_one_line, writing))


def _on_one_line(writing: str, text: str) -> str:
    line = " ".join(text.splitlines())
    return quopri.encodestring(line.encode()).decode() if writing == "quoted" else line


def _from_base64(run: str) -> str:
    """Return the text that a base64 value encodes; empty if it encodes none."""
    try:
        text = binascii.a2b_base64("".join(run.split())).decode()
    except ValueError:
        return ""
    return text if text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else ""


FORMATS = (
    ContentLines("vcard", (".vcf", ".vcard"), b"BEGIN:VCARD", escapes=True),
    ContentLines("icalendar", (".ics", ".ical", ".ifb"), b"BEGIN:VCALENDAR", escapes=True),
    ContentLines("ldif", (".ldif", ".ldf"), b"VERSION: 1", escapes=False),
)
