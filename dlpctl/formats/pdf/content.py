"""Read the operators of a PDF's content stream that position text, pictures and marks.

Byte ranges let an edit replace one operator and leave every other byte of the stream unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Name(bytes):
    """A name without its slash, with `#` escapes resolved."""


Operand = float | Name | bytes | list["Operand"] | dict[bytes, "Operand"] | None


class Operation(NamedTuple):
    operator: bytes
    operands: list[Operand]
    start: int
    """The start of the first operand."""
    end: int


_WHITE = rb"\x00\t\n\x0c\r "
_DELIMITER = _WHITE + rb"()<>\[\]{}/%"
_NUMBER = rb"[-+]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)"
_LITERAL = rb"\((?:[^()\\]|\\.)*+\)"
_HEX = rb"<[0-9A-Fa-f" + _WHITE + rb"]*+>"

# The shapes that make up nearly every stream, in one match each: numbers and an operator, one shown
# string, one shown array, a name and an operator. `lastgroup` identifies the shape.
_COMMON = re.compile(
    rb"[" + _WHITE + rb"]*+(?:"
    rb"(?P<numbers>(?:"
    + _NUMBER
    + rb"["
    + _WHITE
    + rb"]++|(?!)){0,8}+)(?P<plain>[A-Za-z'\"][A-Za-z0-9*'\"]*+)"
    rb"(?=[" + _DELIMITER + rb"]|\Z)"
    rb"|(?P<string>" + _LITERAL + rb"|" + _HEX + rb")[" + _WHITE + rb"]*+Tj"
    rb"|\[(?P<array>(?:[-+.0-9"
    + _WHITE
    + rb"]|"
    + _HEX
    + rb"|"
    + _LITERAL
    + rb"|(?!))*+)\]["
    + _WHITE
    + rb"]*+TJ"
    rb"|/(?P<name>[A-Za-z0-9.+_-]++)[" + _WHITE + rb"]*+"
    rb"(?:<<["
    + _WHITE
    + rb"]*+/MCID["
    + _WHITE
    + rb"]++[0-9]++["
    + _WHITE
    + rb"]*+>>["
    + _WHITE
    + rb"]*+(?P<marks>BDC)"
    rb"|(?P<number>"
    + _NUMBER
    + rb"["
    + _WHITE
    + rb"]++|(?!))?+(?P<named>Tf|gs|Do|BMC|cs|CS))(?=["
    + _DELIMITER
    + rb"]|\Z))",
    re.DOTALL,
)
_ITEM = re.compile(
    rb"<([0-9A-Fa-f" + _WHITE + rb"]*+)>|\(((?:[^()\\]|\\.)*+)\)|([-+.0-9]++)", re.DOTALL
)
_TOKEN = re.compile(
    rb"(?:[" + _WHITE + rb"]|%[^\r\n]*+)*+"
    rb"(?:(?P<literal>\()|(?P<dict><<)|(?P<hex><)|(?P<close>>>|\])|(?P<array>\[)"
    rb"|/(?P<name>[^" + _DELIMITER + rb"]*+)|(?P<word>[^" + _DELIMITER + rb"]++)|(?P<stray>[)>{}]))"
)
_COMMENT = re.compile(rb"%[^\r\n]*+")
_NUMBER_START = re.compile(rb"[-+.0-9]")
_LENIENT_NUMBER = re.compile(rb"[-+]*([0-9]*\.?[0-9]*)")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)|\r\n?", re.DOTALL)
_SIMPLE_ESCAPES = {
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"b": b"\b",
    b"f": b"\f",
    b"\n": b"",
    b"\r": b"",
    b"\r\n": b"",
}
_PARENTHESIS = re.compile(rb"\\.|[()]", re.DOTALL)
_IMAGE_END = re.compile(rb"[" + _WHITE + rb"]EI(?=[" + _WHITE + rb"]|\Z)")
_NAME_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")

STRAY = b"%"
"""A pseudo-operator for text that no viewer shows: a comment, a string of no known operator."""
SHOWS = frozenset((b"Tj", b"TJ", b"'", b'"'))
TAKES_STRINGS = SHOWS | {b"BDC", b"DP"}
WANTED = frozenset(
    b"BT ET Tf Td TD Tm T* Tc Tw Tz TL Ts Tr Tj TJ ' \" q Q cm Do gs BDC BMC EMC DP BI c v y"
    b" sh scn SCN".split()
)


def unescape(literal: bytes) -> bytes:
    """Return the bytes of a literal string from the text between its parentheses."""
    if b"\\" not in literal and b"\r" not in literal:
        return literal

    def resolved(match: re.Match[bytes]) -> bytes:
        escaped = match[1]
        if escaped is None:
            return b"\n"
        if escaped[0] in b"01234567":
            return bytes([int(escaped, 8) & 0xFF])
        return _SIMPLE_ESCAPES.get(escaped, escaped)

    return _ESCAPE.sub(resolved, literal)


def unhex(digits: bytes) -> bytes:
    try:
        return bytes.fromhex(digits.decode("ascii"))
    except ValueError:
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", digits)
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))


def _number(word: bytes) -> float:
    try:
        return float(word)
    except ValueError:
        lenient = _LENIENT_NUMBER.match(word)
        digits = lenient[1] if lenient else b""
        value = float(digits) if digits.strip(b".") else 0.0
        return -value if word.startswith(b"-") else value


def show_items(array: bytes) -> list[Operand]:
    """Return the strings and numbers of an array that `TJ` shows."""
    items: list[Operand] = []
    for hexadecimal, literal, number in _ITEM.findall(array):
        if number:
            items.append(_number(number))
        elif literal:
            items.append(unescape(literal))
        else:
            items.append(unhex(hexadecimal))
    return items


class _OperandReader:
    """Reads operands token by token, for everything that the common shapes do not cover."""

    def __init__(self, data: bytes, position: int, depth: int) -> None:
        self.data = data
        self.position = position
        self.depth = depth
        self.start = position

    def next(self) -> tuple[str, Operand] | None:
        match = _TOKEN.match(self.data, self.position)
        if match is None:
            return None
        syntax = match.lastgroup or ""
        self.start = match.start(syntax) - (syntax == "name")
        self.position = match.end()
        if syntax == "literal":
            return "value", self._literal()
        if syntax == "hex":
            end = self.data.find(b">", self.position)
            end = len(self.data) if end < 0 else end
            raw = unhex(self.data[self.position : end])
            self.position = end + 1
            return "value", raw
        if syntax == "name":
            return "value", Name(_NAME_ESCAPE.sub(lambda m: bytes([int(m[1], 16)]), match["name"]))
        if syntax in ("array", "dict"):
            return "value", self._container(syntax)
        if syntax == "word":
            word = match["word"]
            if _NUMBER_START.match(word):
                return "value", _number(word)
            if word in (b"true", b"false", b"null"):
                return "value", None
            return "operator", word
        return "stray", None

    def _literal(self) -> bytes:
        depth, start = 1, self.position
        for match in _PARENTHESIS.finditer(self.data, self.position):
            if match[0] == b"(":
                depth += 1
            elif match[0] == b")":
                depth -= 1
                if not depth:
                    self.position = match.end()
                    return unescape(self.data[start : match.start()])
        self.position = len(self.data)
        return unescape(self.data[start:])

    def _container(self, syntax: str) -> Operand:
        items: list[Operand] = []
        if self.depth >= 50:
            raise ValueError("operands nest too deep")
        self.depth += 1
        while (token := self.next()) is not None:
            if token[0] == "value":
                items.append(token[1])
            elif token[0] == "stray":
                break
            else:
                # An operator inside a container: the container was never closed.
                self.position = self.start
                break
        self.depth -= 1
        if syntax == "array":
            return items
        return {
            bytes(key): value
            for key, value in zip(items[::2], items[1::2], strict=False)
            if isinstance(key, Name)
        }


def operations(data: bytes, more: frozenset[bytes] = frozenset()) -> Iterator[Operation]:
    """Yield every operation of the stream whose operator is in `WANTED` or in `more`."""
    wanted = WANTED | more
    position, size = 0, len(data)
    operands: list[Operand] = []
    start = 0
    while position < size:
        if not operands and (match := _COMMON.match(data, position)) is not None:
            position = match.end()
            common = _common(data, match, wanted)
            if common is not None:
                position = common.end
                yield common
            continue
        reader = _OperandReader(data, position, 0)
        token = reader.next()
        end = reader.start if token is not None else size
        for comment in _COMMENT.finditer(data, position, end):
            yield Operation(STRAY, [comment[0]], comment.start(), comment.end())
        if token is None:
            break
        position = reader.position
        if token[0] == "value":
            if not operands:
                start = reader.start
            operands.append(token[1])
        elif token[0] == "operator":
            operator = token[1] if isinstance(token[1], bytes) else b""
            if operator == b"BI":
                position = _inline_image_end(data, position)
            yield from _unshown(operator, operands, start, position)
            if operator in wanted:
                yield Operation(operator, operands, start if operands else reader.start, position)
            operands = []
    if text := _texts_in(operands):
        yield Operation(STRAY, [text], start, size)


def _common(data: bytes, match: re.Match[bytes], wanted: frozenset[bytes]) -> Operation | None:
    """Return the operation of a common shape; None if its operator is not wanted."""
    shape, end = match.lastgroup, match.end()
    if shape == "string":
        raw = match["string"]
        text = unhex(raw[1:-1]) if raw[:1] == b"<" else unescape(raw[1:-1])
        return Operation(b"Tj", [text], match.start("string"), end)
    if shape == "array":
        return Operation(b"TJ", [show_items(match["array"])], match.start("array") - 1, end)
    operands: list[Operand]
    if shape == "plain":
        operator, start = match["plain"], match.start("numbers")
        if operator not in wanted:
            return None
        if operator == b"BI":
            end = _inline_image_end(data, end)
        operands = [_number(word) for word in match["numbers"].split()]
        return Operation(operator, operands, start, end)
    operator = match["marks"] or match["named"]
    if operator not in WANTED:
        return None
    operands = [Name(match["name"])]
    if match["number"]:
        operands.append(_number(match["number"]))
    return Operation(operator, operands, match.start("name") - 1, end)


def _unshown(
    operator: bytes, operands: list[Operand], start: int, position: int
) -> Iterator[Operation]:
    """Yield the strings among the operands that the operator does not show."""
    if operator not in TAKES_STRINGS and (text := _texts_in(operands)):
        end = position - len(operator) if operator in WANTED else position
        yield Operation(STRAY, [text], start, end)
    elif operator in SHOWS and (text := _texts_in(operands[:-1])):
        # Readers disagree on which of several operands is shown; none of them can be removed.
        yield Operation(STRAY, [text], start, start)


def _texts_in(operands: list[Operand]) -> bytes:
    texts: list[bytes] = []
    for each in operands:
        if isinstance(each, list):
            texts.append(_texts_in(each))
        elif isinstance(each, bytes) and not isinstance(each, Name):
            texts.append(each)
    return b"".join(texts)


def _inline_image_end(data: bytes, position: int) -> int:
    """Return the end of the `EI` of the inline image whose `BI` ends at `position`."""
    found = re.compile(rb"[" + _WHITE + rb"]ID(?=[" + _WHITE + rb"])").search(data, position)
    if found is None:
        return position
    for end in _IMAGE_END.finditer(data, found.end()):
        # Compressed data sometimes contains ` EI ` by coincidence; a real one is followed by text.
        following = data[end.end() : end.end() + 24]
        if all(32 <= byte < 127 or byte in b"\t\n\r" for byte in following):
            return end.end()
    return len(data)
