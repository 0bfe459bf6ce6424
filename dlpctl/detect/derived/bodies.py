"""Bodies of HTTP messages that are sent in chunks, joined as their receiver joins them."""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import Run
from dlpctl.regex import lazy

GATE = "chunked"
_NAME = GATE.encode()
_BLANK_LINE = lazy(rb"\n\r?\n")
_LONGEST_HEADERS = 1 << 14
_SIZE = lazy(rb"\r?\n?([0-9A-Fa-f]{1,8})(?:;[^\r\n]*)?\r?\n")


def runs(data: bytes) -> Iterator[Run]:
    """Yield the line ends and sizes between the chunks of bodies, which are dropped."""
    at = header_end = 0
    while (at := data.find(_NAME, at)) >= 0:
        if header_end <= at:
            blank_line = _BLANK_LINE.search(data, at)
            if blank_line is None:
                return
            header_end = blank_line.end()
        at += len(_NAME)
        size = _SIZE.match(data, header_end) if header_end - at < _LONGEST_HEADERS else None
        while size and (length := int(size[1], 16)):
            at = size.end() + length
            size = _SIZE.match(data, at)
            if size:
                yield *size.span(), b""
