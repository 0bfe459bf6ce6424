"""XML and HTML: text, attributes, comments and scripts, with entities resolved and across inline
tags.

The source is divided into tokens without building a tree, so that entities are never expanded and
nothing outside an edit changes.
"""

from __future__ import annotations

import html
import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.parsers import expat

from dlpctl.errors import CannotMaskError, FormatError
from dlpctl.formats.betweenparts import (
    is_other_attribute,
    with_plain_replacements,
    without_syntax,
)
from dlpctl.formats.characters import lines_of_characters
from dlpctl.formats.continuous import continuous_texts, short_lines
from dlpctl.formats.encoding import Decoded, Edit, spliced
from dlpctl.formats.interface import ACROSS_TAGS, APART, Limits, Piece, Segment, View, too_deep
from dlpctl.formats.markuptables import table_views
from dlpctl.formats.placed import PlacedText, placed_texts, views_by_place
from dlpctl.formats.residues import CELL_END
from dlpctl.formats.source import Readable, Resolved, TextFormat, Token, blanked, outermost
from dlpctl.formats.wraps import joined_lines
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml import etree

# Unclosed constructs extend to the end, and a tag contains no `<` outside of quotes: otherwise, a
# file of only openings would take quadratic time.
_QUOTED = r""""[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)"""
_TOKEN = lazy(
    r"""<!--(?P<comment>.*?)(?:-->|\Z)|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"""
    r"""|<\?(?P<instruction>.*?)(?:\?>|\Z)"""
    rf"""|<!(?P<declaration>[A-Za-z](?:{_QUOTED}|\[(?:{_QUOTED}"""
    rf"""|<!--.*?(?:-->|\Z)|[^\]"'])*+(?:\]|\Z)"""
    rf"""|[^<>\["'])*+)(?:>|\Z|(?=<))"""
    rf"""|(?P<tag></?[^\W\d][^\s/<>]*+(?:{_QUOTED}|[^'"<>])*+(?:>|\Z))|(?P<text>[^<]++|<)""",
    re.DOTALL,
)
_TAGS = lazy(r"(?:^[^<>]*|<[^<>]*)>|<[^<>]*\Z")
_ATTRIBUTE = lazy(r"""=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
_RAW_ELEMENTS = lazy(
    r"<(script|style|textarea|title|xmp)\b[^<>]*+>(?P<raw>.*?)(?=</\1\b|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_ENTITY = lazy(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_CUSTOM_ENTITY = lazy(r"""<!ENTITY\s+([\w.-]+)\s+(?:"([^"&%]{0,200})"|'([^'&%]{0,200})')\s*>""")
_WORDS_OF_FONTS = r"(?:[A-Za-z ,_-]|&(?:apos|quot|amp|#39);)"
_FONTS = lazy(
    rf"""\b(?:font-(?:family|name)(?:-asian|-complex)?|face|(?<=font-face )style:name)\s*[=:]\s*"""
    rf"""(?:"((?:{_WORDS_OF_FONTS}|')*)"|'((?:{_WORDS_OF_FONTS}|")*)'"""
    rf"""|((?:{_WORDS_OF_FONTS}|'{_WORDS_OF_FONTS}*'|"{_WORDS_OF_FONTS}*")+))"""
)
_PARAGRAPH_END = lazy(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
_MANY_ATTRIBUTES = 256
_CELLS = frozenset(("td", "th", "entry"))
_DATE_TAG, _NO_DATE = "<date>", "1800-01-01T00:00:00Z"
_XML_ENTITIES = {"amp", "lt", "gt", "quot", "apos"}


class Markup(TextFormat):
    """The common base of XML and HTML."""

    in_process = False
    html = False

    def resolve(self, source: str) -> Iterable[Resolved]:
        """Yield the entities, and names of fonts as spaces, because they read like
        personal names.
        """
        fonts = _FONTS.finditer(source) if "font" in source or "face=" in source else ()
        names = (blanked(*found.span(found.lastindex or 0)) for found in fonts)
        return outermost(names, self._entities(source))

    def _entities(self, source: str) -> Iterator[Resolved]:
        custom = (
            {name: double or single for name, double, single in _CUSTOM_ENTITY.findall(source)}
            if "<!ENTITY" in source
            else {}
        )
        for found in _ENTITY.finditer(source) if "&" in source else ():
            raw = found[0]
            name = raw.strip("&;")
            meaning = custom[name] if name in custom else html.unescape(raw)
            if meaning != raw:
                yield Resolved(found.start(), found.end(), meaning)

    def tokens(self, source: str) -> Iterator[Token]:
        for syntax, start, end in self._parts(source):
            if syntax != "tag":
                yield Token(start, end, syntax)
                continue
            for found in _ATTRIBUTE.finditer(source, start, end):
                yield Token(found.start(1), found.end(1), "attribute")

    def fit(self, source: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        edits = with_plain_replacements(source, edits, ">", _TAGS)
        tokens = without_syntax(self.tokens(source), edits, partial(is_other_attribute, source))
        return self.fitted(source, tokens, edits)

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        if any(
            found[0].strip("&;") not in _XML_ENTITIES and html.unescape(found[0]) == found[0]
            for edit in edits
            for found in _ENTITY.finditer(token, edit.start, edit.end)
            if not self.html
        ):
            raise CannotMaskError(
                "a value is written by an entity that the document defines itself"
            )
        if syntax == "attribute":
            quote = token[0] if token[0] in "\"'" else ""
            written = spliced(token, edits, html.escape, margin=len(quote))
            return written if quote or not re.search(r"[\s=<>`]", written) else f'"{written}"'
        return spliced(token, edits, partial(_fitting, syntax))

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        """Return views of text that continues across tags, without the tags."""
        parts: list[Piece | str] = []
        joined: list[Piece | str] = []
        read = partial(_pieces, readable)
        for group in continuous_texts(source, self._parts, html=self.html):
            if len(group) > 1:
                pieces = read(group)
                parts += (*pieces, APART)
                joined += joined_lines(pieces, segments)
        if parts:
            yield View(ACROSS_TAGS, parts, segments)
        if joined:
            yield View("across tags, lines joined", joined, segments)
        texts = continuous_texts(source, self._parts, html=True) if self.html else ()
        if lines := read(short_lines(source, texts)):
            yield View("lines of blocks", lines, segments)
        if (
            "<!--" in source
            and self.html
            and (divided := [*self._divided_comments(source, readable)])
        ):
            yield View("paragraphs of comments", divided, segments)
        characters = read(lines_of_characters(source))
        if characters:
            yield View("lines of characters", characters, segments)
        yield from self.table_views(source, readable, segments)
        yield from views_by_place(source, self.placed_texts(source), readable, segments)

    def _divided_comments(self, source: str, readable: Readable) -> Iterator[Piece | str]:
        """Yield the paragraphs of comments in which a capital letter after a small one or a
        digit is all that divides them, as LibreOffice writes them.
        """
        for syntax, start, end in self._parts(source):
            ends = _PARAGRAPH_END.finditer(source, start, end) if syntax == "comment" else ()
            cuts = [found.start() for found in ends]
            for low, high in pairwise([start, *cuts, end]) if cuts else ():
                yield Piece(0, readable.offset_of(low), readable.offset_of(high))
                yield "\n"

    def table_views(
        self, source: str, readable: Readable, segments: Sequence[Segment]
    ) -> Iterator[View]:
        """Yield the views of the tables in a source, which may be markup in other syntax."""
        texts = continuous_texts(source, self._parts, html=self.html)
        return table_views(source, texts, readable, segments)

    def placed_texts(self, source: str) -> Iterable[PlacedText]:
        return placed_texts(source, continuous_texts(source, self._parts, html=self.html))

    def _parts(self, source: str) -> Iterator[tuple[str, int, int]]:
        at = 0
        for raw in _RAW_ELEMENTS.finditer(source) if self.html else ():
            if raw.start() < at:
                continue
            yield from _cut(source, at, raw.start("raw"))
            if raw.end("raw") > raw.start("raw"):
                yield (
                    ("text" if raw[1].lower() in {"textarea", "title"} else "script"),
                    *raw.span("raw"),
                )
            at = raw.end("raw")
        yield from _cut(source, at, len(source))


class Xml(Markup):
    name = "xml"
    extensions: tuple[str, ...] = (
        ".xml", ".xsd", ".xsl", ".xslt", ".svg", ".rss", ".atom", ".plist", ".wsdl", ".kml",
        ".gpx", ".xmp", ".config",
        ".csproj", ".resx", ".fodt", ".fods", ".fodp", ".musicxml", ".dtd", ".drawio",
    )  # fmt: skip

    def sniff(self, head: bytes, name: str) -> bool:
        start = head[:256].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
        return start.startswith(b"<?xml") or (super().sniff(head, name) and start.startswith(b"<"))

    def tokens(self, source: str) -> Iterator[Token]:
        """Yield the dates of a property list, which its readers parse, as tokens of their own."""
        has_dates = "<plist" in source and _DATE_TAG in source
        for token in super().tokens(source):
            is_date = has_dates and source.endswith(_DATE_TAG, 0, token.start)
            yield token._replace(syntax="date") if is_date else token

    def write(self, syntax: str, token: str, edits: Sequence[Edit]) -> str:
        return _NO_DATE if syntax == "date" else super().write(syntax, token, edits)

    def check(self, source: str, limits: Limits) -> None:
        depth = 0
        for syntax, start, end in self._parts(source):
            if syntax == "tag" and source[end - 2] != "/":
                depth += -1 if source[start + 1] == "/" else 1
                if depth > limits.nesting:
                    raise too_deep("the XML", limits)

    def check_masked(self, before: Decoded, masked: bytes) -> None:
        if _well_formed(before.text) and not _well_formed(self.decoded(masked).text):
            raise CannotMaskError(
                "the masked XML would not be well-formed: the value is in its syntax"
            )

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        from lxml import etree

        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            recover=True,
            remove_pis=False,
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError as error:
            raise FormatError("the XML cannot be read a second time") from error
        texts = [*super().read_again(data, limits)]
        return texts if root is None else [*texts, *_leaves(root)]


class Html(Markup):
    name = "html"
    extensions = (".html", ".htm", ".xhtml", ".vue", ".svelte")
    rank = 68
    html = True

    def sniff(self, head: bytes, name: str) -> bool:
        start = head[:1024].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()
        return super().sniff(head, name) or start.startswith((b"<!doctype html", b"<html"))

    def read_again(self, data: bytes, limits: Limits) -> list[str]:
        from lxml import etree

        parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, recover=True)
        texts = [*super().read_again(data, limits)]
        try:
            root = etree.fromstring(self.decoded(data).text.encode("utf-8", "replace"), parser)
        except etree.XMLSyntaxError:
            # a browser would show nothing
            return texts
        return texts if root is None else [*texts, *_leaves(root)]


def _pieces(readable: Readable, text: Iterable[tuple[int, int] | str]) -> list[Piece | str]:
    return [
        item if isinstance(item, str) else Piece(0, *map(readable.offset_of, item)) for item in text
    ]


def _leaves(root: etree._Element) -> Iterator[str]:
    has_cells = False
    for element in root.iter():
        has_cells = has_cells or element.tag in _CELLS
        texts = " ".join((element.text or "", element.tail or ""))
        yield CELL_END.join((texts, _attributes_of(element)))
        if element.tag in _CELLS:
            yield CELL_END
    yield "".join(_texts(root) if has_cells else map(str, root.itertext(with_tail=True)))


def _texts(root: etree._Element) -> Iterator[str]:
    """Yield all texts, with the cells of tables apart."""
    from lxml import etree

    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            yield element.text or ""
        else:
            yield CELL_END if element.tag in _CELLS else ""
            yield element.tail or ""


def _attributes_of(element: etree._Element) -> str:
    if len(element.attrib) < _MANY_ATTRIBUTES:
        return CELL_END.join(map(str, element.attrib.values()))
    from lxml import etree

    # lxml searches each value by name, among all names.
    return html.unescape(etree.tostring(element, encoding="unicode"))


def _cut(source: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    for found in _TOKEN.finditer(source, start, end):
        syntax = found.lastgroup
        if syntax is not None and found.end(syntax) > found.start(syntax):
            yield syntax, found.start(syntax), found.end(syntax)


def _fitting(syntax: str, replacement: str) -> str:
    if syntax == "text":
        return html.escape(replacement, quote=False)
    if syntax == "declaration":
        return replacement.translate({ord(char): "_" for char in "\"'<>&%[]"})
    return (
        replacement.replace("--", "- -")
        .replace("]]>", "] ]>")
        .replace("?>", "? >")
        .replace("</", "< /")
    )


def is_well_formed(data: bytes, encoding: str | None = None) -> bool:
    parser = expat.ParserCreate(encoding)
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError):
        return False
    return True


def _well_formed(source: str) -> bool:
    return is_well_formed(source.encode("utf-8", "replace"), "utf-8")


FORMATS = (Xml(), Html())
