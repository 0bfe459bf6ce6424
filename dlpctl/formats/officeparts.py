"""Binary parts of Office files that programs write beside the document, and that contain none of
its text.

All their text, such as the name of a printer, is in their strings, which are searched like text.
"""

from __future__ import annotations

from dlpctl.formats.binary import Binary, strings_in
from dlpctl.formats.interface import Document, Limits, Piece, Segment, View

_PRINTER = "printersettings"
_PRINTER_VERSIONS = (b"\x00\x03", b"\x00\x04", b"\x01\x04")
_PRINTER_VERSION_AT = 64
_PROPERTIES, _PROPERTIES_AT = b"<?xml ", 12
_LAYOUT = "layout-cache"
_LAYOUT_VERSION = b"\x01\x00\x01\x00"


class OfficePart(Binary):
    """Printer settings of Windows or macOS, and LibreOffice's layout cache."""

    name = "office part"
    rank = 85

    def sniff(self, head: bytes, name: str) -> bool:
        file = name.lower().rpartition("/")[2]
        if file == _LAYOUT:
            return head.startswith(_LAYOUT_VERSION)
        return file.startswith(_PRINTER) and (
            head.startswith(_PRINTER_VERSIONS, _PRINTER_VERSION_AT)
            or head.startswith(_PROPERTIES, _PROPERTIES_AT)
        )

    def extract(self, data: bytes, limits: Limits, password: str | None = None) -> Document:
        text = "\n".join(strings_in(data))
        segments = [Segment(text, "strings")]
        return Document(self.name, segments, [View("strings", [Piece(0, 0, len(text))], segments)])


FORMAT = OfficePart()
