"""Strings of data in base64 that are no text: the subject of a certificate, the fields of a cookie.

Other data in base64, such as texts and files, are read elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import Run, from_base64
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_IN_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_SHAPES = bytes(ord("x") if code in _IN_BASE64 else ord(" ") for code in range(256))
_LEAST = 48
_LONG = b"x" * _LEAST
"""The length of runs that may be more than a checksum."""
GATE = f"[0-9A-Za-z+/_-]{{{_LEAST}}}"
"""Matches wherever a long run is."""
_NEXT_LINE = rb"\r?\n[ \t]*[0-9A-Za-z+/]"
_RUN = lazy(
    rb"[0-9A-Za-z+/_-]++(?:%b{40,76}+)*+(?:%b{2,76}+(?==|\s|\Z))?={0,2}" % (_NEXT_LINE, _NEXT_LINE)
)
_OF_TEXTS = bytes((*b"\t\r\n", *range(32, 127)))
_search = finder(r"[\x20-\x7e]{9,}|(?:[\x20-\x7e]\x00){9,}", "strings")
_MAY_HOLD = lazy(rb"@|[0-9](?:[ ().+-]{0,2}[0-9]){6}|[0-9A-Z]{16}")
"""A sign of a mail address, a number or a key."""


def runs(data: bytes) -> Iterator[Run]:
    """Yield the data that a text has in base64, with its strings."""
    shapes = data.translate(_SHAPES)
    end = 0
    while (start := shapes.find(_LONG, end)) >= 0:
        found = _RUN.match(data, start)
        assert found is not None
        end = found.end()
        decoded = from_base64(found[0])
        if decoded.translate(None, _OF_TEXTS) and (
            told := [each for each in _strings(decoded) if _MAY_HOLD.search(each)]
        ):
            yield start, end, b"\n".join((b"", *told, b""))


def _strings(binary: bytes) -> Iterator[bytes]:
    """Yield the strings within binary data, whose characters may have two bytes each."""
    search, at, size = _search(), 0, len(binary)
    while (span := search(binary, at, size)[0])[0] >= 0:
        start, at = span
        yield binary[start:at].replace(b"\0", b"")
