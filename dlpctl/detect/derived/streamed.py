"""Streamed text: what a program sends or records in many short messages, joined again.

Models send an answer word by word, recordings of terminals have each key on its own, and programs
that read pictures and speech give the place of each word or character. The messages differ only in
their text and in numbers, such as times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.regex import lazy

_KEYS = (
    "arguments|completion|content|data|delta|log|o|partial_json|response|text|Text|thinking|token|v"
    "|word|Word"
)
_STRING = r"\"((?:[^\"\\\n]|\\[^\n])*)\""
_MESSAGE = (
    rf"\"({_KEYS})\"[ ]?[:,][ ]?{_STRING}|[ ](CONTENT)=[\"']([^\"'\n]*)[\"']"
    r"|<(char|text|w|word)\b[^<>\n]*>([^<>\n]*)</"
)
GATE = _MESSAGE
_LONGEST, _LONGEST_BETWEEN = 64, 1024
"""Bytes of a message, and between two."""
_FEWEST = 4
"""The messages of a stream."""
_LEAST_WORDS = 0.25
"""The share of messages with letters: others are rows of numbers."""
_NUMBERS, _LETTER = lazy(rb"[0-9.]+"), lazy(rb"[A-Za-z\x80-\xff]")
_BLANK = ord(" ")
_Span = tuple[int, int]


class StreamedText(DecodedText):
    """The texts of messages without what is between them."""

    def original_span(self, start: int, end: int) -> _Span | None:
        """Return the span of a value that takes several messages."""
        breaks = bisect_left(self._starts, end) - bisect_right(self._starts, start)
        return super().original_span(start, end) if breaks else None


def streamed_texts(data: bytes) -> Iterator[StreamedText]:
    """Yield the texts of the streams in a text, one for each key."""
    search, at, size = _search(), 0, len(data)
    streams: dict[bytes, list[_Span]] = {}
    while (found := search(data, at, size))[0][0] >= 0:
        at = found[0][1]
        key, text = max(found[1::2]), max(found[2::2])
        if text[1] - text[0] <= _LONGEST:
            streams.setdefault(data[slice(*key)], []).append(text)
    for spans in streams.values():
        if breaks := list(_breaks(data, spans)):
            joiner = b"" if _are_parts(data, spans) else b" "
            yield StreamedText(*copy_around(data, [(*span, joiner) for span in breaks]))


def _are_parts(data: bytes, spans: list[_Span]) -> bool:
    """Return whether messages have the blanks between words, or single characters."""
    return any(
        end - start == 1 or _BLANK in (data[start], data[end - 1])
        for start, end in spans
        if start < end
    )


@cache
def _search() -> Find:
    return finders(compile_regex(_MESSAGE, "streams"))[0]


def _breaks(data: bytes, spans: list[_Span]) -> Iterator[_Span]:
    """Yield what is between the messages of streams."""
    alike = spans[:1]
    before: bytes | None = None
    for span in [*spans[1:], (len(data), len(data))]:
        between = data[alike[-1][1] : span[0]]
        shape = _NUMBERS.sub(b"0", between) if len(between) < _LONGEST_BETWEEN else None
        if len(alike) > 1 and (shape is None or shape != before):
            yield from _joints(data, alike)
            alike = alike[-1:]
        before = shape
        alike.append(span)


def _joints(data: bytes, spans: list[_Span]) -> Iterator[_Span]:
    worded = sum(_LETTER.search(data, *span) is not None for span in spans)
    if len(spans) >= _FEWEST and worded >= _LEAST_WORDS * len(spans):
        yield from ((end, start) for (_, end), (start, _) in pairwise(spans))
