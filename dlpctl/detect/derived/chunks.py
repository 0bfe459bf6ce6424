"""Chunks: data in base64 that a text has in pieces of one length.

Programs keep long data in strings of several lines, in arrays, and after the prefix of each line.
Pieces that are apart in the same way are decoded as one, and reported as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlpctl.detect.derived.decoded import DecodedText, copy_around, decode_base64, inflater
from dlpctl.regex import lazy

_CHUNK = lazy(rb"[0-9A-Za-z+/]++")
_BETWEEN = lazy(rb"[^0-9A-Za-z+/=][^=]{0,160}?(?=[0-9A-Za-z+/]{40})", re.DOTALL)
_NUMBER = lazy(rb"[0-9]+")
_BLANKS = b" \t"
_LINE_ENDS = (b"\n", b"\r\n")
"""Signs between the lines of data that are one run."""


def chunked_text(data: bytes, long: list[tuple[int, int]]) -> DecodedText | None:
    """Return the text that the chunks among the long runs of a text encode; None without any."""
    runs = list(_runs(data, long))
    return DecodedText(*copy_around(data, runs)) if runs else None


def _runs(data: bytes, long: list[tuple[int, int]]) -> Iterator[tuple[int, int, bytes]]:
    inflate = inflater(data)
    end = 0
    for start, _ in long:
        first = _CHUNK.match(data, start)
        if start < end or first is None:
            continue
        end = first.end()
        between = _BETWEEN.match(data, end)
        if between is None or between[0].strip(_BLANKS) in _LINE_ENDS:
            continue
        if decode_base64(first[0], inflate) is not None:
            end, encoded = _sequence(data, first)
            if decoded := decode_base64(encoded, inflate):
                yield start, end, b" " + decoded + b" "


def _sequence(data: bytes, chunk: re.Match[bytes]) -> tuple[int, bytes]:
    """Return the end of a sequence of chunks, and their data; the last one may be shorter."""
    size, end = len(chunk[0]), chunk.end()
    chunks = [chunk[0]]
    apart, width = b"", 0
    while len(chunks[-1]) == size:
        between = _BETWEEN.match(data, end)
        if between and _shape(between[0]) == (apart or _shape(between[0])):
            following = between.end()
            apart, width = _shape(between[0]), following - end
        elif _shape(data[end : end + width]) == apart:
            following = end + width
        else:
            break
        found = _CHUNK.match(data, following)
        if found is None or len(found[0]) > size:
            break
        chunks.append(found[0])
        end = found.end()
    return end + len(data[end : end + 2]) - len(data[end : end + 2].lstrip(b"=")), b"".join(chunks)


def _shape(between: bytes) -> bytes:
    return _NUMBER.sub(b"0", between)
