"""Jupyter notebooks: JSON whose texts are lists of lines, and whose outputs hold pictures."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from dlpctl.formats.encoding import Edit, splice
from dlpctl.formats.interface import Child, Document, Limits, Piece, Segment, View
from dlpctl.formats.jsontext import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dlpctl.formats import interface
    from dlpctl.formats.source import Readable

_LINE_BREAK = re.compile(r'\\n("\s*+,\s*+")')
_PICTURE = re.compile(r'"image/(png|jpeg|gif|webp|tiff)"\s*+:\s*+"((?:[A-Za-z0-9+/=]|\\n)++)"')


class Notebook(Json):
    name = "notebook"
    extensions = (".ipynb",)
    shows_all = False
    rank = 65

    def sniff(self, head: bytes, name: str) -> bool:
        return name.lower().endswith(self.extensions)

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        document = super().extract(data, limits, password)
        source = self.decoded(data).text
        for number, found in enumerate(_PICTURE.finditer(source), 1):
            try:
                picture = base64.b64decode(found[2].replace("\\n", ""), validate=True)
            except binascii.Error:
                continue
            document.children.append(
                Child(str(found.start(2)), f"picture-{number}.{found[1]}", picture)
            )
        return document

    def views(self, source: str, readable: Readable, segments: Sequence[Segment]) -> Iterable[View]:
        parts: list[Piece | str] = []
        read = 0
        for found in _LINE_BREAK.finditer(source):
            start, end = found.span(1)
            parts.append(Piece(0, read, readable.offset_of(start)))
            read = readable.offset_of(end)
        if parts:
            parts.append(Piece(0, read, len(readable.text)))
            yield View("cells", parts, segments)

    def mask(
        self,
        data: bytes,
        document: Document,
        edits: Sequence[interface.Edit],
        children: Mapping[str, bytes | None],
    ) -> bytes:
        masked = super().mask(data, document, edits, {})
        if not children:
            return masked
        before, after = self.decoded(data).text, self.decoded(masked)
        # Edits are outside of the pictures, so the pictures keep their order.
        keys = [str(found.start(2)) for found in _PICTURE.finditer(before)]
        replaced = [
            Edit(*found.span(2), base64.b64encode(children[key] or b"").decode("ascii"))
            for key, found in zip(keys, _PICTURE.finditer(after.text), strict=True)
            if key in children
        ]
        return splice(masked, after, replaced)


FORMAT = Notebook()
