"""YAML: scalars of every style and comments; aliases are never expanded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.encoding import Decoded, Edit, character, decode, on_one_line, spliced
from dlpctl.formats.interface import Limits, NotThisFormatError, Piece, Segment, View, too_deep
from dlpctl.formats.jsontext import within_quotes
from dlpctl.formats.source import Readable, Resolved, TextFormat, Token
from dlpctl.regex import lazy

_ESCAPE = lazy(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n[ \t]*+)|(.))")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "_": "\xa0", "N": "\x85"}
_COMMENT = lazy(r"(?:^|(?<=\s))#[^\n\r]*", re.MULTILINE)
_PLAIN = lazy(r"[A-Za-z](?:[\w ./@+-]*[\w./@+-])?")
_PROPERTIES = lazy(r"(?:[&!][^\s,\[\]{}]*\s+)*")
_TYPE = lazy(r"!!(?:int|float|bool|null|timestamp)\s+")
_RESERVED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_FOLD = lazy(r"[ \t]*\r?\n[ \t]*")
_FOLDED = {"plain", "'", '"', ">"}


class Yaml(TextFormat):
    name = "yaml"
    extensions = (".yaml", ".yml")
    in_process = False

    def check(self, source: str, limits: Limits) -> None:
        depth = 0
        for syntax, _, _ in _events(source):
            depth += (syntax in {"MappingStart", "SequenceStart"}) - (
                syntax in {"MappingEnd", "SequenceEnd"}
            )
            if depth > limits.nesting:
                raise too_deep("the YAML", limits)

    def resolve(self, source: str) -> Iterable[Resolved]:
        if "\\" not in source:
            return
        for token in self.tokens(source):
            if token.syntax == '"':
                for found in _ESCAPE.finditer(source, token.start, token.end):
                    yield Resolved(found.start(), found.end(), _meaning(found))

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        """Return scalars that span several lines, as one line."""
        parts: list[Piece | str] = []
        for token in self.tokens(source):
            if token.syntax in _FOLDED and source.find("\n", token.start, token.end) >= 0:
                read = token.start
                for found in _FOLD.finditer(source, token.start, token.end):
                    parts += (_piece(readable, read, found.start()), " ")
                    read = found.end()
                parts += (_piece(readable, read, token.end), "\n\n")
        if parts:
            yield View("folded", parts, segments)

    def tokens(self, source: str) -> Iterable[Token]:
        read = 0
        for syntax, start, end in _events(source):
            if syntax in {"plain", "'", '"', "|", ">"} and start >= read:
                yield from _comments(source, read, start)
                yield Token(start, end, syntax)
                read = end
        yield from _comments(source, read, len(source))

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        own = _PROPERTIES.match(token)
        at = own.end() if own else 0
        # A masked value is not a number, whatever its tag.
        properties = _TYPE.sub("", token[:at])
        value = token[at:]
        moved = [edit.moved(-at).within(0, len(value)) for edit in edits]
        return properties + self._write_value(syntax, value, moved)

    def _write_value(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        if syntax == '"':
            return within_quotes(token, edits)
        if syntax == "'":
            return spliced(
                token, edits, lambda text: on_one_line(text).replace("'", "''"), margin=1
            )
        written = spliced(token, edits, on_one_line)
        if syntax != "plain" or (_PLAIN.fullmatch(written) and written.lower() not in _RESERVED):
            return written
        if "\n" in written or "\t" in written or written.isprintable():
            return "'" + written.replace("'", "''") + "'"
        return json.dumps(written)

    def check_masked(self, before: Decoded, masked: bytes) -> None:
        after = decode(masked)
        try:
            same = after is not None and _shape(before.text) == _shape(after.text)
        except NotThisFormatError:
            same = False
        if not same:
            raise CannotMaskError(
                "the masked YAML would have another structure: mask the value at its source"
            )

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        import yaml

        texts = super().read_again(data, limits)
        try:
            values = [
                event.value for event in yaml.parse(data) if isinstance(event, yaml.ScalarEvent)
            ]
        except yaml.YAMLError as error:
            raise FormatError("the YAML cannot be read a second time") from error
        return [*texts, "\n".join(values)]


def _events(source: str) -> Iterator[tuple[str, int, int]]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(source, Loader=loader):
            syntax = type(event).__name__.removesuffix("Event")
            if isinstance(event, yaml.ScalarEvent):
                syntax = event.style or "plain"
            if event.start_mark is not None and event.end_mark is not None:
                yield syntax, event.start_mark.index, event.end_mark.index
    except (yaml.YAMLError, UnicodeError) as error:
        raise NotThisFormatError("the file is not YAML") from error


def _shape(source: str) -> list[str]:
    return [
        syntax if syntax.isalpha() and syntax != "plain" else "Scalar"
        for syntax, _, _ in _events(source)
    ]


def _comments(source: str, start: int, end: int) -> Iterator[Token]:
    for found in _COMMENT.finditer(source, start, end):
        yield Token(found.start(), found.end(), "comment")


def _piece(readable: Readable, start: int, end: int) -> Piece:
    return Piece(0, readable.offset_of(start), readable.offset_of(end))


def _meaning(found: re.Match[str]) -> str:
    byte, unit, wide, line, short = found.groups()
    code = byte or unit or wide
    if code is not None:
        return character(int(code, 16))
    return "" if line is not None else _SHORT.get(short, short)


FORMAT = Yaml()
