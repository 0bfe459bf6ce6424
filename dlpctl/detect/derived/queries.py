"""Parameters of URLs and forms, in which a plus sign is a blank: each in a line of its own."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from dlpctl.detect.derived.decoded import Run
from dlpctl.regex import lazy

_FIRST_WORD = r"[A-Z][a-z%0-9A-F]{1,40}\+[A-Z%]"
GATE = f"={_FIRST_WORD}"
_PARAMETER = lazy(
    rb"(?<=[?&\s\"'])[\w.%%\[\]-]{1,48}+=%b[^&\s\"'<>\\]{1,200}+" % _FIRST_WORD.encode()
)
_ENCODED = lazy(rb"\+|(?:%[0-9A-Fa-f]{2})+")
_END = b"\n"


def runs(data: bytes) -> Iterator[Run]:
    """Yield the encoded characters of parameters, and the ends of their lines."""
    read = 0
    for found in _PARAMETER.finditer(data):
        start, end = found.span()
        if start - 1 >= read:
            yield start - 1, start, _END
        for encoded in _ENCODED.finditer(data, start, end):
            shown = b" " if encoded[0] == b"+" else unquote_to_bytes(encoded[0])
            yield *encoded.span(), shown
        read = min(end + 1, len(data))
        if end < read:
            yield end, read, _END
