"""The words of an XML stream, such as XMP and XFA, with the offset of each character."""

from __future__ import annotations

import codecs
import html
import re
from bisect import bisect_right
from collections.abc import Sequence
from xml.sax.saxutils import escape

from dlpctl.formats.encoding import Edit, spliced

_PART = re.compile(
    r"<!--(?P<comment>.*?)-->|<!\[CDATA\[(?P<cdata>.*?)\]\]>|<\?.*?\?>"
    r"|(?P<tag><[^>]*>)|(?P<text>[^<]+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""\s(?!xmlns|typeface\s*=\s*(?:"[^"0-9]*"|'[^'0-9]*'))"""
    r"""[\w:.-]+\s*=\s*(?:"([^"]*)"|'([^']*)')"""
)
_NAME = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")
_FORMS = "http://www.xfa.org/schema/xfa-"
"""The namespaces of XFA, whose elements label the data of forms."""
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)


def decode(data: bytes) -> tuple[str, str]:
    """Return text, and the codec that restores its bytes; Latin-1 is the last resort."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            try:
                return data.decode(codec), codec
            except UnicodeDecodeError:
                break
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _is_typeface(tag: str, text: str) -> bool:
    """Return whether the text is XMP's name of a font, which may be like a person's name."""
    return tag.startswith("<stFnt:") and not any(map(str.isdigit, text))


class XmlText:
    """Texts, attributes and comments of a source, one per line, with entities resolved."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts: list[int] = []
        self._stretches: list[tuple[int, int, bool]] = []
        """The start and end of each stretch in the source, and whether it is an entity."""
        self._length = 0
        parts: list[str] = []
        tag = ""
        has_labels = _FORMS in source
        for match in _PART.finditer(source):
            if match["tag"]:
                tag = match["tag"]
                for attribute in _ATTRIBUTE.finditer(match["tag"]):
                    group = 1 if attribute[1] is not None else 2
                    offset = match.start() + attribute.start(group)
                    self._add(parts, offset, attribute[group], entities=True)
            elif match.lastgroup and not _is_typeface(tag, match[match.lastgroup]):
                if has_labels and match[match.lastgroup].strip() and (name := _NAME.match(tag)):
                    parts.append(f"{name[1]}: ")
                    self._length += len(parts[-1])
                self._add(
                    parts,
                    match.start(match.lastgroup),
                    match[match.lastgroup],
                    match.lastgroup == "text",
                )
        self.text = "".join(parts)

    def _add(self, parts: list[str], offset: int, raw: str, entities: bool) -> None:
        if not raw.strip():
            return
        position = 0
        for match in _ENTITY.finditer(raw) if entities else ():
            self._stretch(
                parts,
                raw[position : match.start()],
                offset + position,
                offset + match.start(),
                False,
            )
            self._stretch(
                parts, html.unescape(match[0]), offset + match.start(), offset + match.end(), True
            )
            position = match.end()
        self._stretch(parts, raw[position:], offset + position, offset + len(raw), False)
        parts.append("\n")
        self._length += 1

    def _stretch(self, parts: list[str], text: str, start: int, end: int, entity: bool) -> None:
        if not text:
            return
        self._starts.append(self._length)
        self._stretches.append((start, end, entity))
        parts.append(text)
        self._length += len(text)

    def replaced(self, edits: Sequence[tuple[int, int, str]]) -> str:
        """Return the source with characters of `text` replaced."""
        changes: list[Edit] = []
        for start, end, replacement in edits:
            index = max(0, bisect_right(self._starts, start) - 1)
            words = escape(replacement, {'"': "&quot;", "'": "&apos;"})
            while index < len(self._starts) and self._starts[index] < end:
                first, stop, entity = self._stretches[index]
                if not entity:
                    stop = min(stop, first + end - self._starts[index])
                    first += max(0, start - self._starts[index])
                if first < stop:
                    changes.append(Edit(first, stop, words))
                    words = ""
                index += 1
        return spliced(self._source, sorted(changes))
