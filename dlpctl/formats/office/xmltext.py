"""XML parts as text with offsets, so that an edit changes only the necessary characters.

A parser checks each part once: it is well-formed and declares nothing. What remains of XML is so
regular that one regex divides it into tags, texts and comments, each with its position in the
source.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dlpctl.errors import FormatError
from dlpctl.formats.encoding import Edit, character
from dlpctl.formats.markup import is_well_formed
from dlpctl.regex import lazy

# `(?!)` as the last alternative of a possessive group: until Python 3.11.5, such a group continued
# where its last attempt had failed.
TOKEN = lazy(
    r"<(?P<close>/)?(?P<prefix>[^\s/>:\"'<=!?]+:)?(?P<name>[^\s/>:\"'<=!?]+)"
    r"(?P<attributes>[^>\"'/]*+(?:(?:\"[^\"]*+\"|'[^']*+'|/(?!>))[^>\"'/]*+|(?!))*+)(?P<empty>/)?>"
    r"|(?P<text>[^<]+)"
    r"|<!\[CDATA\[(?P<cdata>.*?)\]\]>"
    r"|<!--(?P<comment>.*?)-->"
    r"|<\?(?P<instruction>.*?)\?>",
    re.DOTALL,
)
ATTRIBUTE = lazy(r"\s(?P<name>[^\s=\"'<>/]+)\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')")
_ENTITY = lazy(r"&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot|apos));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_DECLARED = re.compile(rb"^\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
_UNPRINTABLE = lazy("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PIECE = 1 << 20
"""The characters of a part that are written at the same time."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class XmlSource(NamedTuple):
    """The characters of a part, and their encoding."""

    text: str
    encoding: str
    bom: bytes

    def encoded(self, edits: Iterable[Edit]) -> bytes:
        """Return the part with ordered edits applied; reading the copy shows whether it is
        well-formed.
        """
        encoder = codecs.getincrementalencoder(self.encoding)("xmlcharrefreplace")
        output = io.BytesIO()
        output.write(self.bom)
        for piece in _spliced(self.text, edits):
            output.write(encoder.encode(piece))
        output.write(encoder.encode("", final=True))
        return output.getvalue()


def decoded(data: bytes, location: str, *, doctype: bool = False, strict: bool = True) -> XmlSource:
    """Return a part as characters; without `doctype`, a document type is refused."""
    bom, encoding = next(((bom, name) for bom, name in _BOMS if data.startswith(bom)), (b"", ""))
    if not encoding:
        declared = _DECLARED.match(data[:256])
        if data.startswith((b"<\0", b"\0<")):
            encoding = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"
        else:
            encoding = declared[1].decode() if declared else "utf-8"
    try:
        text = data[len(bom) :].decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise FormatError(f"{location} is not text in the encoding that it declares") from error
    # Searching for one character is ten times as fast as for two.
    declares = "!" in text and "<!" in text
    outside = (
        re.sub(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", "", text, flags=re.DOTALL) if declares else ""
    )
    if "<!ENTITY" in outside or (not doctype and "<!DOCTYPE" in outside):
        raise FormatError(f"{location} declares a document type, which Office files must not have")
    # Programs leave empty XML parts, such as OpenDocument's list of shortcuts.
    if strict and text.strip() and not is_well_formed(data):
        raise FormatError(f"{location} is not well-formed XML")
    return XmlSource(text, encoding, bom)


def _spliced(text: str, edits: Iterable[Edit]) -> Iterator[str]:
    """Yield the pieces of a long text with ordered, disjoint edits applied."""
    parts: list[str] = []
    first = read = 0
    for start, end, replacement in edits:
        parts += (text[read:start], replacement)
        read = end
        if read - first >= _PIECE:
            yield "".join(parts)
            parts, first = [], read
    yield "".join([*parts, text[read:]])


def unescaped(raw: str) -> str:
    return _ENTITY.sub(_meaning, raw) if "&" in raw else raw


def escaped(text: str) -> str:
    """Return text escaped for use between tags and between quotes."""
    return (
        _UNPRINTABLE.sub("\ufffd", text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
    )


def attributes(raw: str, at: int = 0) -> Iterator[tuple[str, int, int]]:
    """Yield the attributes of a tag: local name, start and end of the value."""
    for found in ATTRIBUTE.finditer(raw):
        quotes = "double" if found["double"] is not None else "single"
        yield found["name"], at + found.start(quotes), at + found.end(quotes)


def local(name: str) -> str:
    return name.rpartition(":")[2]


def _meaning(found: re.Match[str]) -> str:
    hexadecimal, decimal, name = found.groups()
    if name:
        return _NAMED[name]
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    return character(code) if code <= 0x10FFFF else found[0]
