"""SQL dumps: literals and comments of any dialect; column names label their values."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence

from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import Piece, Segment, View
from dlpctl.formats.source import Readable, TextFormat, Token
from dlpctl.regex import lazy

# What is never closed goes on to the end: a pattern that failed there would be tried again from
# every quote on.
_QUOTED = (
    r"""[NnEeBbXx]?'(?:[^'\\]|''|\\.)*+(?:'|\\?\Z)|"(?:[^"]|"")*+(?:"|\Z)|`[^`]*+(?:`|\Z)"""
    r"""|\[[A-Za-z_][\w ]*+\]|\$(\w*+)\$.*?(?:\$\1\$|\Z)"""
)
_TOKEN = lazy(
    r"(?P<copy>(?<=FROM stdin;\n).*?(?:^\\\.$|\Z))"
    r"|(?P<comment>--[^\n]*+|/\*.*?(?:\*/|\Z)|\#[^\n]*+)"
    rf"|(?P<quoted>{_QUOTED})|(?P<number>(?<![\w.])[-+]?\d[\w.]*+)|(?P<word>[^\W\d]\w*+)"
    r"|(?P<sign>[(),;])|(?P<other>[^\s\w'\"`$(),;#/-]++|[-/$#'\"`])",
    re.DOTALL | re.MULTILINE,
)
_COPY = lazy(
    r"^COPY\s+(\S+)\s*\(([^();]*+)\)\s+FROM\s+stdin;\n(.*?)(?:^\\\.$|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_CELLS_APART = "\n\n"
_STATEMENT_WORDS = frozenset(
    ["create", "insert", "replace", "into", "table", "if", "not", "exists", "ignore"]
)
_NO_COLUMNS = {"primary", "unique", "key", "constraint", "foreign", "check", "index", "fulltext"}


class SqlDump(TextFormat):
    name = "sql"
    extensions = (".sql", ".ddl", ".dml", ".psql", ".mysql")

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        columns: dict[str, array[int]] = {}
        for name, start, end in (*_inserted(self.tokens(source), source), *_copied(source)):
            columns.setdefault(name, array("q")).extend((start, end))
        for name, cells in columns.items():
            parts = (
                part
                for at in range(0, len(cells), 2)
                for part in (Piece(0, cells[at], cells[at + 1]), _CELLS_APART)
            )
            yield View(f"column {name}", parts, segments, name)

    def tokens(self, source: str) -> Iterator[Token]:
        for found in _TOKEN.finditer(source):
            yield Token(found.start(), found.end(), found.lastgroup or "other")

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        if syntax == "number":
            return "'" + spliced(token, edits).replace("'", "''") + "'"
        if syntax == "quoted" and token[-1] in "'\"`]":
            first, last = token.index(token[-1] if token[-1] != "]" else "[") + 1, len(token) - 1
            doubled = {"'": "''", '"': '""', "`": "``", "]": " "}
            return spliced(
                token,
                [edit.within(first, last) for edit in edits],
                lambda text: text.replace("\\", "/").replace(token[-1], doubled[token[-1]]),
            )
        return spliced(token, edits, lambda text: text.translate({9: " ", 10: " ", 92: "/"}))


def _inserted(tokens: Iterable[Token], source: str) -> Iterator[tuple[str, int, int]]:
    """The values of INSERT statements, each with the name of its column."""
    tables: dict[str, list[str]] = {}
    statement: list[str] = []
    table, names, index, depth, in_values = "", list[str](), 0, 0, False
    for start, end, syntax in tokens:
        text = source[start:end] if end - start <= 200 else ""
        if syntax == "sign" and text == ";":
            if statement[:2] == ["create", "table"]:
                tables[table] = names
            statement, table, names, depth, in_values = [], "", [], 0, False
        elif syntax == "sign" and text in "()":
            depth += 1 if text == "(" else -1
            index = 0
        elif syntax == "sign":
            index += 1 if depth == 1 else 0
            if statement[:1] == ["create"] and depth == 1:
                names.append("")
        elif in_values:
            known = names or tables.get(table, [])
            if depth == 1 and index < len(known) and syntax in {"quoted", "number"}:
                yield known[index], start, end
        elif syntax in {"word", "quoted"}:
            word = text.strip("'\"`[]")
            lower = word.lower()
            if depth == 0:
                statement.append(lower)
                in_values = lower in {"values", "value"} and statement[0] in {"insert", "replace"}
                if lower not in _STATEMENT_WORDS:
                    table = table if in_values else lower
            elif depth == 1 and statement[:1] == ["create"]:
                if not names:
                    names.append("")
                if not names[-1] and (syntax == "quoted" or lower not in _NO_COLUMNS):
                    names[-1] = word
            elif depth == 1:
                names.append(word)


def _copied(source: str) -> Iterator[tuple[str, int, int]]:
    """The cells of PostgreSQL's COPY blocks, each with the name of its column."""
    for block in _COPY.finditer(source):
        names = [name.strip(' "') for name in block[2].split(",")]
        at = block.start(3)
        for line in block[3].split("\n"):
            cell = at
            for name, text in zip(names, line.split("\t"), strict=False):
                yield name, cell, cell + len(text)
                cell += len(text) + 1
            at += len(line) + 1


FORMAT = SqlDump()
