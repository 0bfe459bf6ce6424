"""INI, .env and Java properties: one key and value per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dlpctl.formats.encoding import Edit, character, on_one_line, spliced
from dlpctl.formats.jsontext import within_quotes
from dlpctl.formats.source import Resolved, TextFormat, Token
from dlpctl.regex import lazy

_ASSIGNMENT = lazy(
    r"""^[ \t]*+(?:export[ \t]++)?(?P<key>[\w.-]++)[ \t]*+=[ \t]*+"""
    r"""(?P<value>"(?:[^"\\]|\\.)*+"|'[^']*+'|[^\s"'](?:\S|[ \t]++(?=[^\s\#])|(?!))*+)""",
    re.MULTILINE | re.DOTALL,
)
_NEEDS_QUOTES = lazy(r"""[\s"'`$&|;<>()\\*?\[\]{}!#~]""")
_ESCAPE = lazy(r"\\(?:u([0-9a-fA-F]{4})|\r?\n[ \t]*+)")


class DotEnv(TextFormat):
    name = "dotenv"
    extensions = (".env",)

    def sniff(self, head: bytes, name: str) -> bool:
        base = name.lower().rsplit("/", 1)[-1]
        return base.endswith(".env") or base.startswith(".env.") or base == ".envrc"

    def tokens(self, source: str) -> Iterable[Token]:
        read = 0
        for found in _ASSIGNMENT.finditer(source):
            start, end = found.span("value")
            yield Token(read, start, "other")
            yield Token(start, end, "quoted" if source[start] in "\"'" else "bare")
            read = end
        yield Token(read, len(source), "other")

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        if syntax == "quoted":
            if token[0] == '"':
                return within_quotes(token, edits)
            return spliced(token, edits, lambda text: text.replace("'", " "))
        written = spliced(token, edits, on_one_line)
        if syntax == "bare" and _NEEDS_QUOTES.search(written) and not _NEEDS_QUOTES.search(token):
            return "'" + written.replace("'", " ") + "'"
        return written


class KeyValue(TextFormat):
    name = "ini"
    extensions = (
        *(".ini", ".cfg", ".conf", ".properties", ".cnf", ".service", ".desktop"),
        *(".editorconfig", ".inf"),
    )

    def resolve(self, source: str) -> Iterable[Resolved]:
        """Yield the escapes of Java properties: characters beyond Latin-1, and
        continuation lines.
        """
        for found in _ESCAPE.finditer(source):
            yield Resolved(*found.span(), character(int(found[1], 16)) if found[1] else "")


FORMATS = (DotEnv(), KeyValue())
