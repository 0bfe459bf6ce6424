"""Texts outside of the objects of a file: comments, and earlier states of one that was updated."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Limits
from dlpctl.formats.pdf import reading, source
from dlpctl.formats.pdf.drawing import Budget
from dlpctl.formats.pdf.strings import Collector, readable

_END = re.compile(rb"startxref[\r\n \t]+[0-9]+[\r\n \t]+%%EOF[\r\n]*")
_MOST = 32
_SHORTEST = 4
"""Bytes between objects that may be a text."""
_BOUNDARY = re.compile(
    rb"(?P<end>endobj|%%EOF)|[0-9]{1,10}\s{1,4}[0-9]{1,5}\s{1,4}obj|xref|trailer"
)


def earlier(data: bytes) -> Iterator[bytes]:
    """Return the states of the file before each update, newest first."""
    ends = [match.end() for match in _END.finditer(data)]
    if b"/Linearized" in data[:1024]:
        # The first section of a linearized file ends like a revision, but is not one.
        ends = ends[1:]
    for end in reversed(ends[:-1][-_MOST:]):
        if data[end:].strip(b"\x00\t\r\n\x0c "):
            yield data[:end]


def between_objects(data: bytes) -> str:
    """Return the texts before, between and after the objects of a file, such as comments."""
    found: list[str] = []
    start: int | None = 0
    for boundary in _BOUNDARY.finditer(data):
        if start is not None and boundary.start() > start + _SHORTEST:
            found.append(readable(data[start : boundary.start()]))
        start = boundary.end() if boundary["end"] else None
    if start is not None:
        found.append(readable(data[start:]))
    return "\n".join(filter(None, found))


def texts(data: bytes, password: str | None, limits: Limits, budget: Budget) -> list[str] | None:
    """Return all text of a revision; None if it cannot be read."""
    found: list[str] = []
    try:
        with source.opened(data, password, limits) as pdf:
            with reading.opened(source.normalized(pdf)) as pages:
                for index in range(len(pages)):
                    reader = reading.PageReader(pages, index, widen=True)
                    found.append(reader.text_by_character())
                    reader.close()
            found += [text.text for text in Collector(pdf, budget, set()).texts()]
    except FormatError:
        return None
    return found
