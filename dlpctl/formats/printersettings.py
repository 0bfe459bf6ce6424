"""Printer settings in Office files (Windows' DEVMODE): all their text is in their strings."""

from __future__ import annotations

from dlpctl.formats.binary import Binary

_SPECIFICATION_AT = 64
_SPECIFICATIONS = (b"\x00\x03", b"\x00\x04", b"\x01\x04")


class PrinterSettings(Binary):
    name = "printer settings"
    rank = 85

    def sniff(self, head: bytes, name: str) -> bool:
        file = name.lower().rpartition("/")[2]
        return file.startswith("printersettings") and head.startswith(_SPECIFICATIONS, _SPECIFICATION_AT)

    def why_not_inspected(self, data: bytes) -> str:
        del data
        return ""


FORMAT = PrinterSettings()
