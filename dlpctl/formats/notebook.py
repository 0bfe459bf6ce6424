"""Jupyter notebooks: JSON whose texts are lists of lines, with tables of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dlpctl.formats.interface import Piece, Segment, View
from dlpctl.formats.jsontext import Json
from dlpctl.formats.markup import Html
from dlpctl.formats.source import Readable

_BETWEEN = re.compile(r'\\n(?P<lines>"\s*+,\s*+")|(?P<frame>\[\s*+"|"\s*+\])')
"""The marks between two lines of a text, and around its lines."""


class Notebook(Json):
    name = "notebook"
    extensions = (".ipynb",)
    shows_all = False
    rank = 65

    def sniff(self, head: bytes, name: str) -> bool:
        return name.lower().endswith(self.extensions)

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        parts: list[Piece | str] = []
        read = 0
        for found in _BETWEEN.finditer(source):
            start, end = found.span(found.lastgroup or 0)
            parts.append(Piece(0, read, readable.offset_of(start)))
            if found.lastgroup == "frame":
                parts.append("\n")
            read = readable.offset_of(end)
        if parts:
            parts.append(Piece(0, read, len(readable.text)))
            yield View("cells", parts, segments)
        yield from Html().table_views(source, readable, segments)


FORMAT = Notebook()
