"""Streamed text: what a program sends or records in many short messages, joined again.

Models send an answer word by word, recordings of terminals have each key on its own, and programs
that read pictures and speech give the place of each word or character. The messages differ only in
their text and in numbers, such as times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from dlpctl.detect.derived.decoded import DecodedText, copy_around
from dlpctl.detect.derived.wordrows import START, rows_of_words
from dlpctl.detect.linear import finder
from dlpctl.regex import lazy

_KEYS = (
    "arguments|completion|content|data|delta|log|o|partial_json|punctuated_word"
    "|response|text|Text|thinking|token|v|word|Word"
)
_STRING = r"\"((?:[^\"\\\n]|\\[^\n])*)\""
_MESSAGE = (
    rf"\"({_KEYS})\"[ ]?[:,][ ]?{_STRING}|[ ](CONTENT)=[\"']([^\"'\n]*)[\"']"
    rf"|<(char|text|w|word)\b[^<>\n]*>([^<>\n]*)</|({START})"
)
_search = finder(_MESSAGE, "streams")
GATE = _MESSAGE
_LONGEST, _LONGEST_BETWEEN = 64, 1024
"""Bytes of a message, and between two."""
_FEWEST = 4
"""The messages of a stream."""
_LEAST_WORDS = 0.25
"""The share of messages with letters: others are rows of numbers."""
_LONGEST_CHARACTER = 4
_FEWEST_SHAPES = 2
_FEW_WORDS = 3
_LEAST_SINGLE = 0.9
"""The share of messages of one character in a stream that spells words."""
_NUMBERS, _LETTER = (
    lazy(rb"[0-9.]+|(?<=:[ ])\"[^\"\n]*\"|(?<=:)\"[^\"\n]*\""),
    lazy(rb"[A-Za-z\x80-\xff]"),
)
_BLANK = ord(" ")
_Span = tuple[int, int]


class StreamedText(DecodedText):
    """The texts of messages without what is between them."""

    def original_span(self, start: int, end: int) -> _Span | None:
        """Return the span of a value that takes several messages."""
        breaks = bisect_left(self._starts, end) - bisect_right(self._starts, start)
        return super().original_span(start, end) if breaks else None

    def spans_in_messages(self, start: int, end: int) -> Iterator[_Span]:
        """Yield the spans of the words of a value that takes several messages, or its own span if
        messages divide words.
        """
        if (span := self.original_span(start, end)) is None:
            return
        first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, end)
        pieces = self._pieces
        parts = [number for number in range(first, last) if not pieces.decoded[number]]
        if len(parts) > len(self.data[start:end].split()):
            yield span
            return
        for number in parts:
            origin = pieces.origins[number]
            offset = origin - pieces.starts[number]
            yield max(origin, start + offset), min(pieces.ends[number], end + offset)


def streamed_texts(data: bytes) -> Iterator[StreamedText]:
    """Yield the texts of the streams in a text, one for each key."""
    search, at, size = _search(), 0, len(data)
    streams: dict[bytes, list[_Span]] = {}
    while (found := search(data, at, size))[0][0] >= 0:
        at = found[0][1]
        if found[-1][0] >= 0:
            words, at = rows_of_words(data, *found[-1])
            if words:
                joints = [(end, start) for (_, end), (start, _) in pairwise(words)]
                yield _joined(data, words, joints)
            continue
        key, text = max(found[1:-1:2]), max(found[2:-1:2])
        if text[1] - text[0] <= _LONGEST:
            streams.setdefault(data[slice(*key)], []).append(text)
    for spans in streams.values():
        if breaks := list(_breaks(data, spans)):
            yield _joined(data, spans, breaks)
        if spelled := _spelled(data, spans):
            yield StreamedText(*copy_around(data, spelled))


def _spelled(data: bytes, spans: list[_Span]) -> list[tuple[int, int, bytes]]:
    """Return what is between single characters, where a blank is if their words are apart."""
    single = [span for span in spans if 0 < span[1] - span[0] <= _LONGEST_CHARACTER]
    if len(single) < max(_FEWEST, _LEAST_SINGLE * len(spans)):
        return []
    breaks = [
        (end, start) for (_, end), (start, _) in pairwise(single) if start - end < _LONGEST_BETWEEN
    ]
    shapes = [_NUMBERS.sub(b"0", data[end:start]) for end, start in breaks]
    counted = Counter(shapes)
    if len(counted) < _FEWEST_SHAPES:
        return []  # one stream
    ((usual, _),) = counted.most_common(1)
    return [
        (*span, b"" if shape == usual else b" ") for span, shape in zip(breaks, shapes, strict=True)
    ]


def _joined(data: bytes, spans: list[_Span], breaks: list[_Span]) -> StreamedText:
    """Return the text of messages without what is between them."""
    joiner = b"" if _are_parts(data, spans) else b" "
    return StreamedText(*copy_around(data, [(*span, joiner) for span in breaks]))


def _are_parts(data: bytes, spans: list[_Span]) -> bool:
    """Return whether messages have the blanks between words, or are mostly single characters."""
    texts = [data[start:end] for start, end in spans if start < end]
    single = sum(len(text) == 1 for text in texts)
    return single > len(texts) - single or any(_BLANK in (text[0], text[-1]) for text in texts)


def _are_words(data: bytes, spans: list[_Span]) -> bool:
    """Return whether most messages have few words: others are sentences, as in a chat."""
    return sum(data.count(b" ", *span) < _FEW_WORDS for span in spans) * 2 > len(spans)


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
    if (
        len(spans) >= _FEWEST
        and worded >= _LEAST_WORDS * len(spans)
        and (_are_parts(data, spans) or _are_words(data, spans))
    ):
        yield from ((end, start) for (_, end), (start, _) in pairwise(spans))
