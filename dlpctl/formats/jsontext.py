"""JSON, JSON Lines, and the dialects with comments: values, keys and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from dlpctl.errors import FormatError
from dlpctl.formats.betweenparts import (
    is_other_member,
    with_plain_replacements,
    without_syntax,
)
from dlpctl.formats.encoding import Edit, character, on_one_line, spliced
from dlpctl.formats.interface import Limits, NotThisFormatError, Segment, View
from dlpctl.formats.placed import views_by_place
from dlpctl.formats.placedjson import placed_texts_of_json
from dlpctl.formats.source import Readable, Resolved, TextFormat, Token, nesting
from dlpctl.regex import lazy

# An unclosed string extends to the end: a pattern that failed there would be tried again from every
# quote.
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_ANY_TOKEN = (
    rf"(?P<string>{_STRING}|'(?:[^'\\\n]|\\.)*+')|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|^\#[^\n]*)"
    r"|(?P<bare>[-+\w.$]++)|[][{}:,\s\x1e\ufeff]++"
)
_TOKEN = lazy(_ANY_TOKEN, re.DOTALL | re.MULTILINE)
_WITHOUT_GROUPS = re.sub(r"\?P<\w+>", "?:", _ANY_TOKEN)  # Python 3.11 fails on groups in `*+`
_TOKENS = lazy(rf"(?:{_WITHOUT_GROUPS})*+", re.DOTALL | re.MULTILINE)
_SYNTAX = lazy(r'".*', re.DOTALL)
_BRACKET = lazy(rf"{_STRING}|([][{{}}])", re.DOTALL)
_ESCAPE = lazy(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))"
)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WHOLE_CHECK = 8 << 20


class Json(TextFormat):
    name = "json"
    extensions: tuple[str, ...] = (
        *(".json", ".jsonl", ".ndjson", ".jsonc", ".json5", ".geojson", ".har", ".avsc"),
        *(".webmanifest", ".topojson"),
    )

    def sniff(self, head: bytes, name: str) -> bool:
        return super().sniff(head, name) or _parses(head)

    def check(self, source: str, limits: Limits) -> None:
        nesting((found[1] for found in _BRACKET.finditer(source) if found[1]), limits, "JSON")
        if not source.strip() or not _TOKENS.fullmatch(source):
            raise NotThisFormatError("the file is not JSON")

    def resolve(self, source: str) -> Iterable[Resolved]:
        if "\\" not in source:
            return
        for found in _ESCAPE.finditer(source):
            yield Resolved(found.start(), found.end(), _meaning(found))

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        return views_by_place(source, placed_texts_of_json(source), readable, segments)

    def tokens(self, source: str) -> Iterable[Token]:
        for found in _TOKEN.finditer(source):
            if found.lastgroup is not None:
                yield Token(found.start(), found.end(), found.lastgroup)

    def fit(self, source: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        edits = with_plain_replacements(source, edits, '"', _SYNTAX)
        tokens = without_syntax(self.tokens(source), edits, partial(is_other_member, source))
        return self.fitted(source, tokens, edits)

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        if syntax == "bare":
            return json.dumps(spliced(token, edits), ensure_ascii=False)
        if syntax == "comment":
            return spliced(token, edits, on_one_line)
        return within_quotes(token, edits)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        texts = [*super().read_again(data, limits)]
        decoded = self.decoded(data).text
        try:
            documents = [json.loads(decoded)]
        except RecursionError:
            raise FormatError("the JSON nests too deep for a second reading") from None
        except ValueError:
            documents = [_loads(line) for line in decoded.splitlines()]
        texts.append("\n".join(_leaves(documents)))
        return texts


def within_quotes(token: str, edits: Sequence[Edit]) -> str:
    """Return a quoted string with edits applied, escaped as in JSON."""

    def escaped(text: str) -> str:
        text = json.dumps(text, ensure_ascii=False)[1:-1]
        return text.replace("'", "\\'") if token[0] == "'" else text

    return spliced(token, edits, escaped, margin=1)


def _meaning(found: re.Match[str]) -> str:
    high, low, code, short = found.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    return character(int(code, 16)) if code is not None else _SHORT.get(short, short)


def _parses(head: bytes) -> bool:
    """Return whether a file with another suffix is JSON, or JSON Lines."""
    start = head[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith((b"{", b"[")):
        return False
    line = head[: head.find(b"\n") + 1 or None]
    for candidate in (line, head):
        if len(candidate) <= _WHOLE_CHECK:
            try:
                json.loads(candidate.decode("utf-8-sig"))
            except RecursionError:
                return True
            except ValueError:
                continue
            return True
    return False


def _loads(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _leaves(documents: Iterable[object]) -> Iterable[str]:
    waiting = list(documents)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        else:
            yield str(value)


FORMAT = Json()
