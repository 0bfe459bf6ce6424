"""PostScript and EPS: comments and strings, including texts that several operators show.

A program can compute anything: only drawings of strings in the printer's fonts are inspected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.interface import (
    LIKE_LETTERS,
    Document,
    Limits,
    Piece,
    Segment,
    Uninspected,
    View,
)
from dlpctl.formats.source import Readable, Resolved, TextFormat, Token, blanked
from dlpctl.regex import lazy

_PLAIN = r"[^()\\]|\\."
_OPERAND = r"[-+]?(?:[0-9]{1,5}+(?:\.[0-9]*+)?+|\.[0-9]++)(?![\w.#])"
_TOKEN = lazy(
    r"(?P<comment>%[^\r\n]*+)"
    rf"|\((?P<string>(?:{_PLAIN}|\((?:{_PLAIN}|\((?:{_PLAIN})*+\))*+\))*+)\)"
    r"|<<|<(?P<hex>[0-9A-Fa-f\s]*+)>"
    rf"|(?<![\w./#+-])(?P<operands>{_OPERAND}(?:\s++{_OPERAND})++)",
    re.DOTALL,
)
_NUMBER_SHOWN = lazy(r"\bcvr?s\b")
"""The operators without which a program can show no number."""
_ESCAPE = lazy(r"\\(?:[0-7]{1,3}|\r\n|.)", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\n": "", "\r": "", "\r\n": ""}
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PLACED = lazy(rf"({_NUMBER})\s+({_NUMBER})\s+[A-Za-z]+(?:\s|\Z)")
_DEFINED = lazy(r"/(\w+)\s*+\{([^{}]{0,200}+)\}")
_OPERATOR = lazy(rf"\s*+(?:{_NUMBER}\s++){{1,8}}(\w++)")
"""The operator right after a string, which draws it, with the numbers before the operator."""
_KERN = 1.0
"""A smaller step between two texts counts as none."""
_CURVE = lazy(r"(?:[-+]?[0-9.]+\s+){6}[A-Za-z]+")
_OUTLINED = 60
"""The number of curves, without any text, that may be letters drawn as shapes."""
_UNREAD = {
    "text in fonts of its own": lazy(
        r"eexec|/FontType\b|/CharStrings\b|/sfnts\b|/Build(?:Char|Glyph)\b|\bglyphshow\b"
    ),
    "pictures and encoded data": lazy(
        r"(?<![/\w])(?:image|colorimage|imagemask)(?!\w)"
        r"|/(?:ASCII(?:85|Hex)|Flate|LZW|RunLength|DCT)Decode\b"
    ),
}


class PostScript(TextFormat):
    name = "postscript"
    extensions = (".ps", ".eps", ".epsf", ".epsi")
    rank = 69

    def sniff(self, head: bytes, name: str) -> bool:
        return head.lstrip(b"\x04\r\n ").startswith(b"%!")

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = super().extract(data, limits, password)
        source = self.decoded(data).text
        document.uninspected += (
            Uninspected("drawing", reason)
            for reason, pattern in _UNREAD.items()
            if pattern.search(source)
        )
        shown = any(found["string"] or found["hex"] for found in _TOKEN.finditer(source))
        if not shown and sum(1 for _ in _CURVE.finditer(source)) >= _OUTLINED:
            document.uninspected.append(Uninspected("drawing", LIKE_LETTERS))
        return document

    def resolve(self, source: str) -> Iterable[Resolved]:
        """Yield operands of a drawing as spaces, too: they look like phone numbers."""
        shows_numbers = _NUMBER_SHOWN.search(source) is not None
        for found in _TOKEN.finditer(source):
            if found["operands"] and not shows_numbers:
                yield blanked(*found.span())
            if found["hex"]:
                yield Resolved(*found.span(), _unhexed(found["hex"]))
            for escape in (
                _ESCAPE.finditer(source, *found.span("string")) if found["string"] else ()
            ):
                yield Resolved(*escape.span(), _unescaped(escape[0][1:]))

    def tokens(self, source: str) -> Iterator[Token]:
        for found in _TOKEN.finditer(source):
            if found["hex"]:
                yield Token(*found.span(), "hex")
            elif found.lastgroup and not found["operands"]:
                yield Token(*found.span(found.lastgroup), found.lastgroup)

    def write(self, shape: str, token: str, edits: Sequence[Edit]) -> str:
        if shape == "hex":
            return f"<{''.join(edit.replacement for edit in edits).encode().hex()}>"
        if shape == "string":
            return spliced(token, edits, lambda text: re.sub(r"[()\\]", r"\\\g<0>", text))
        return spliced(token, edits)

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        """Return the texts that follow each other on a line, with and without a space
        between them.
        """
        moving = {
            name
            for name, body in _DEFINED.findall(source)
            if 0 <= body.find("moveto") < body.find("show")
        }
        for name, space in (("texts shown", " "), ("texts shown, joined", "")):
            parts: list[Piece | str] = []
            last, height = 0, 0.0
            for found in _TOKEN.finditer(source):
                if found.lastgroup not in {"string", "hex"}:
                    continue
                start, end = found.span(0 if found["hex"] is not None else "string")
                drawn = _OPERATOR.match(source, found.end())
                placed = drawn.end() if drawn and drawn[1] in moving else found.end()
                glue = ""
                for across, up in _PLACED.findall(source, last, placed):
                    x, y = float(across), float(up)
                    if y not in (0.0, height):
                        glue = "\n"
                    elif abs(x) >= _KERN and not glue:
                        glue = space
                    height = y or height
                if drawn and drawn[1] in moving and len(step := drawn[0].split()) == 2:
                    glue = glue or (space if abs(float(step[0])) >= _KERN else "")
                parts += (
                    glue if parts else "",
                    Piece(0, readable.offset_of(start), readable.offset_of(end)),
                )
                last = placed
            if parts:
                yield View(name, parts, segments)

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        source = self.decoded(data).text
        strings = [
            _unhexed(found["hex"]) if found["hex"] else found["string"] or ""
            for found in _TOKEN.finditer(source)
        ]
        plain = [_ESCAPE.sub(lambda escape: _unescaped(escape[0][1:]), text) for text in strings]
        return [*super().read_again(data, limits), "".join(plain), " ".join(plain)]


def _unescaped(escape: str) -> str:
    if escape[0] in "01234567":
        return chr(int(escape, 8) & 0xFF)
    return _NAMED.get(escape, escape)


def _unhexed(digits: str) -> str:
    digits = "".join(digits.split())
    return bytes.fromhex(digits + "0" * (len(digits) % 2)).decode("latin-1")


FORMAT = PostScript()
