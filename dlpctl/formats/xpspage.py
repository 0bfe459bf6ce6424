"""Pages of XPS and OpenXPS: glyphs with their characters, placed on the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dlpctl.formats.encoding import Edit
from dlpctl.formats.interface import Document, Limits, Segment, Uninspected, View
from dlpctl.formats.markup import Xml
from dlpctl.formats.placed import PlacedText, views_by_place
from dlpctl.formats.source import Readable
from dlpctl.regex import lazy

_ROOT = lazy(rb"(?:\s|\xef\xbb\xbf|<\?.*?\?>|<!--.*?-->)*<(?:\w+:)?FixedPage[\s>]", re.DOTALL)
_GLYPHS = lazy(r"<(?:\w+:)?Glyphs\b(?:[^\"'<>]|\"[^\"]*\"|'[^']*')*>")
_ATTRIBUTE = lazy(r"\s(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_EMPTY = {'""', "''"}
_CHARACTERS, _INDICES = "UnicodeString", "Indices"


class XpsPage(Xml):
    name = "xps page"
    extensions = (".fpage",)
    rank = 69

    def sniff(self, head: bytes, name: str) -> bool:
        start = head.replace(b"\0", b"").lstrip(b"\xff\xfe")
        return _ROOT.match(start) is not None

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = super().extract(data, limits, password)
        for glyphs in _attributes_of_glyphs(self.decoded(data).text):
            characters, indices = (glyphs.get(name, (0, ""))[1] for name in (_CHARACTERS, _INDICES))
            if indices and characters in {"", "{}"}:
                document.uninspected.append(Uninspected("page", "glyphs without characters"))
                break
        return document

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        yield from super().views(source, readable, segments)
        yield from views_by_place(source, _texts(source), readable, segments)

    def fit(self, source: str, edits: Sequence[Edit]) -> Iterator[Edit]:
        """Yield the edits, and others that remove the shapes of changed characters."""
        # Glyphs must have characters.
        fitted = [
            edit._replace(replacement='" "') if edit.replacement in _EMPTY else edit
            for edit in super().fit(source, edits)
        ]
        starts = {edit.start for edit in fitted}
        for glyphs in _attributes_of_glyphs(source):
            # Edits are of tokens, which include the quotes of an attribute.
            changed = _CHARACTERS in glyphs and glyphs[_CHARACTERS][0] - 1 in starts
            if changed and _INDICES in glyphs:
                start, indices = glyphs[_INDICES]
                fitted.append(Edit(start, start + len(indices), ""))
        return iter(sorted(fitted))


def _texts(source: str) -> Iterator[PlacedText]:
    for glyphs in _attributes_of_glyphs(source):
        start, text = glyphs.get(_CHARACTERS, (0, ""))
        if text:
            x, y, size = (
                _number(glyphs.get(name, (0, ""))[1])
                for name in ("OriginX", "OriginY", "FontRenderingEmSize")
            )
            skipped = 2 * text.startswith("{}")
            yield PlacedText(start + skipped, start + len(text), x, y, size)


def _attributes_of_glyphs(source: str) -> Iterator[dict[str, tuple[int, str]]]:
    """Yield the attributes of each element of glyphs: position and value."""
    for tag in _GLYPHS.finditer(source):
        yield {
            found[1]: (found.start(found.lastindex or 0), found[found.lastindex or 0])
            for found in _ATTRIBUTE.finditer(source, tag.start(), tag.end())
        }


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


FORMAT = XpsPage()
