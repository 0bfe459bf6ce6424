"""Chunks: data in base64 that a text has in pieces of one length.

Programs keep long data in strings of several lines, in arrays, and after the prefix of each line.
Pieces that are apart in the same way are decoded as one, and reported as one.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlpctl.detect.derived.decoded import Run, decode_base64, inflater
from dlpctl.regex import lazy
from dlpctl.texts.deflated import SHAPES

_LONG = b"x" * 48
"""More characters than most checksums have."""
_CHUNK = lazy(rb"[0-9A-Za-z+/]++")
_UP_TO_NEXT = rb"[^0-9A-Za-z+/=][^=]{0,160}?(?=[0-9A-Za-z+/]{48})"
_BETWEEN = lazy(_UP_TO_NEXT)
_LONG_RUN = lazy(
    rb"(?:[0-9A-Za-z+/]++\r?\n[ \t]*(?=[0-9A-Za-z+/]{48}))*+"
    rb"(?:[0-9A-Fa-f]++(?![0-9A-Za-z+/])|([0-9A-Za-z+/]++)(?=%b)|[0-9A-Za-z+/]++)" % _UP_TO_NEXT
)
"""Lines of data, the last of which is a checksum, or a chunk before another one."""
_NUMBER = lazy(rb"[0-9]+")


def runs(data: bytes) -> Iterator[Run]:
    """Yield the chunks with the text that they encode."""
    shapes = data.translate(SHAPES)
    inflate = inflater(data)
    end = 0
    while (start := shapes.find(_LONG, end)) >= 0:
        found = _LONG_RUN.match(data, start)
        assert found is not None
        end = found.end()
        if found[1] and decode_base64(found[1], inflate) is not None:
            start = found.start(1)
            end, encoded = _sequence(data, start, end)
            if decoded := decode_base64(encoded, inflate):
                yield start, end, b" " + decoded + b" "


def _sequence(data: bytes, start: int, end: int) -> tuple[int, bytes]:
    """Return the end of a sequence of chunks, and their data; the last one may be shorter."""
    size = end - start
    chunks = [data[start:end]]
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
