"""Plain text: prose, code, logs, Markdown and other text without a module of its own."""

from __future__ import annotations

from dlpctl.formats.encoding import decode
from dlpctl.formats.source import Parts, TextFormat, line_cuts


class PlainText(TextFormat):
    name = "text"
    extensions = (".txt", ".text", ".log", ".md", ".rst", ".adoc")
    rank = 90

    def sniff(self, head: bytes, name: str) -> bool:
        return decode(head) is not None

    def parts(self, source: str, size: int) -> Parts:
        return Parts(line_cuts(source, size), self.fit)


FORMAT = PlainText()
