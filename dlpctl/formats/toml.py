"""TOML: strings, numbers, dates, keys and comments."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Sequence

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.encoding import Decoded, Edit, decode, on_one_line, spliced
from dlpctl.formats.interface import Limits, NotThisFormatError
from dlpctl.formats.source import Resolved, TextFormat, Token, nesting
from dlpctl.regex import lazy

_TOKEN = lazy(
    r'(?P<multi>"""(?:[^\\]|\\.)*?"""(?!")|'
    r"'''.*?'''(?!'))"
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
    r"|(?P<comment>\#[^\n]*+)|(?P<bare>[\w+:.-]++)",
    re.DOTALL,
)
_BRACKET = lazy(r"\"(?:[^\"\\\n]|\\.)*+(?:\"|$)|'[^'\n]*+(?:'|$)|([][{}])", re.MULTILINE)
_ESCAPE = lazy(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([ \t]*+\r?\n\s*+)|(.))")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Toml(TextFormat):
    name = "toml"
    extensions = (".toml",)

    def check(self, source: str, limits: Limits) -> None:
        nesting((found[1] for found in _BRACKET.finditer(source) if found[1]), limits, "TOML")
        if not _valid(source):
            raise NotThisFormatError("the file is not TOML")

    def resolve(self, source: str) -> Iterable[Resolved]:
        for token in self.tokens(source) if "\\" in source else ():
            if source[token.start] == '"':
                for found in _ESCAPE.finditer(source, token.start, token.end):
                    yield Resolved(*found.span(), _meaning(found))

    def tokens(self, source: str) -> Iterable[Token]:
        for found in _TOKEN.finditer(source):
            yield Token(found.start(), found.end(), found.lastgroup or "")

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        if syntax == "bare":
            return json.dumps(spliced(token, edits), ensure_ascii=False)
        if syntax == "comment":
            return spliced(token, edits, on_one_line)

        def escaped(text: str) -> str:
            if token[0] == "'":
                return on_one_line(text.replace("'", " "))
            return json.dumps(text, ensure_ascii=False)[1:-1]

        return spliced(token, edits, escaped, margin=3 if syntax == "multi" else 1)

    def check_masked(self, before: Decoded, masked: bytes) -> None:
        after = decode(masked)
        if after is None or not _valid(after.text):
            raise CannotMaskError(
                "the masked TOML would not be valid: two keys become one, or a value is syntax"
            )

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        return [*super().read_again(data, limits), repr(tomllib.loads(self.decoded(data).text))]


def _meaning(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code:
        return chr(int(code, 16))
    return "" if found[3] else _SHORT.get(found[4], found[4])


def _valid(source: str) -> bool:
    try:
        tomllib.loads(source.removeprefix("\ufeff"))
    except RecursionError:
        raise FormatError("the TOML nests too deep") from None
    except ValueError:
        return False
    return True


FORMAT = Toml()
