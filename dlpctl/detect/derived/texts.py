"""The texts derived from a text: decoded runs and dumps, removed escapes, joined lines, and cells
of tables, in one line and after their headers.

One automaton pass finds where runs and tables start; a text without either costs no more than that
pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain

from dlpctl.detect.automaton.gates import Gate, MayMatch, all_open
from dlpctl.detect.derived import (
    binaries,
    bodies,
    chunks,
    compound,
    concealed,
    divided,
    escaped,
    followed,
    fragments,
    groups,
    joined,
    keys,
    listed,
    listings,
    logged,
    misread,
    numbered,
    parts,
    queries,
    streamed,
    turns,
    unwrapped,
    wrapped,
)
from dlpctl.detect.derived.columns import ColumnCells, Columns
from dlpctl.detect.derived.compound import compound_text
from dlpctl.detect.derived.decoded import DecodedText, Run, decoded_runs
from dlpctl.detect.derived.dumps import dumped_texts
from dlpctl.detect.derived.escaped import EscapedText
from dlpctl.detect.derived.followed import FollowedText
from dlpctl.detect.derived.groups import GroupedText
from dlpctl.detect.derived.headers import HEADER, WITHIN_LINES, HeaderWords
from dlpctl.detect.derived.interface import DerivedText
from dlpctl.detect.derived.joined import joined_texts
from dlpctl.detect.derived.keys import key_text
from dlpctl.detect.derived.listed import listed_texts
from dlpctl.detect.derived.logged import LoggedText
from dlpctl.detect.derived.runs import HIDES_WORDS, RAW_RUN, RAW_STARTS, RUN, RUN_STARTS
from dlpctl.detect.derived.streamed import StreamedText, streamed_texts
from dlpctl.detect.derived.tables import OpenTable, sensitive_cells
from dlpctl.detect.derived.turns import TurnsText
from dlpctl.detect.derived.unwrapped import UnwrappedText
from dlpctl.detect.derived.wrapped import WrappedText
from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.regex import lazy
from dlpctl.texts.deflated import LEAST, may_be_raw

Spans = list[tuple[int, int]]
READING_GATES: tuple[Gate, ...] = (
    *(reading.GATE for reading in (binaries, bodies, concealed, divided, fragments, keys, listed)),
    *(reading.GATE for reading in (misread, numbered, parts, queries, streamed, wrapped)),
    joined.OF_NUMBERS,
    joined.OF_ADDRESSES,
)
"""The gates of readings of a line that has no runs, headers or values before their labels."""
GATES: tuple[Gate, ...] = (
    *READING_GATES,
    *(reading.GATE for reading in (compound, escaped, followed, groups)),
    *(reading.GATE for reading in (logged, turns, unwrapped)),
    *listings.GATES,
    turns.MESSAGES,
    RAW_STARTS,
    HIDES_WORDS,
)
"""The gates of readings, which keep them from texts that have nothing for them."""
_LINE_END = ord("\n")
_MOST_TIMES = 4
_RAW_RUN = lazy(RAW_RUN.encode())
_LIST = lazy(rb"(?m)^1[.)] [^\n]+\n2[.)] |:[ ]?\n[*-] [^\n]+\n[*-] |^BEGIN:V|^PID\|")
_FRAME = lazy(
    rb"(?<=[ :=(,\[])(?:\"(?=[^\"\n]{3,}\n)|'(?=[^'\n]{3,}\n))|(?<=[a-z\"])>(?=[^<>\n]{3,}\n)"
    rb"|[\"'](?=[\])}][\"'\])}]{0,7}[,;]?(?:\n|\Z))|<(?=/[a-z]{1,8}>(?:</[a-z]{1,8}>)*(?:\n|\Z))"
)
"""The quote or tag before the first line of a string that has several, and after the last one."""


def derived_texts(
    data: bytes,
    table: OpenTable | None = None,
    words: HeaderWords | None = None,
    *,
    joins_lines: bool = True,
    may_match: MayMatch = all_open,
) -> list[DerivedText]:
    """Return what is derived from a text in UTF-8.

    `table` is the one whose rows the text starts with, and `words` name sensitive columns.
    `may_match` answers for the `GATES`.
    """
    words = words or HeaderWords()
    texts, headers = _texts_but_columns(data, words, may_match, joins_lines=joins_lines)
    if (headers or table is not None) and (columns := Columns.of(data, headers, table, words)):
        texts.append(columns)
    return texts


def texts_and_cells(
    data: bytes, words: HeaderWords, *, joins_lines: bool, may_match: MayMatch = all_open
) -> tuple[list[DerivedText], ColumnCells | None]:
    """Return the same, but only the cells of the columns, if there are any."""
    texts, headers = _texts_but_columns(data, words, may_match, joins_lines=joins_lines)
    if not headers:
        return texts, None
    return texts, ColumnCells(data, sensitive_cells(data, headers, OpenTable(), words))


def _texts_but_columns(
    data: bytes, words: HeaderWords, may_match: MayMatch, *, joins_lines: bool
) -> tuple[list[DerivedText], Spans]:
    """Return the derived texts other than columns, and the headers of columns."""
    runs, headers = openings(data, may_match)
    texts: list[DerivedText] = []
    if may_match(escaped.GATE, data) and (unescaped := EscapedText.of(data)):
        lines = _FRAME.sub(b"\n", unescaped.data)
        texts += (unescaped, *_of_lines(unescaped, lines, words, may_match))
    if may_match(logged.GATE, data) and (entries := _logged_text(data)):
        texts += _of_lines(entries, entries.data, words, may_match)
        # Other lines are searched in the text itself.
        if _LIST.search(entries.data) or logged.has_coloured_keys(data):
            texts.append(entries)
    texts += _answers(data, data, may_match)
    texts += _decoded_texts(data, runs, may_match)
    texts += dumped_texts(data)
    if may_match(numbered.GATE, data) and (
        listing := DecodedText.with_runs(data, numbered.runs(data))
    ):
        inner = _decoded_texts(listing.data, _runs(listing.data, may_match), may_match)
        texts += (_NestedText(each, listing) for each in (*dumped_texts(listing.data), *inner))
    for gate, read_all in _READINGS:
        if may_match(gate, data):
            texts += read_all(data)
    for gate, read in (*_READINGS_OF_ONE, *(_JOINING if joins_lines else ())):
        if may_match(gate, data) and (text := read(data)):
            texts.append(text)
    if joins_lines:
        texts += joined_texts(data, may_match)
        if may_match(followed.GATE, data) and (text := FollowedText.of(data, words)):
            texts.append(text)
        if may_match(compound.GATE, data) and (keyed := compound_text(data, words)):
            texts.append(keyed)
    return texts, headers


def _of_lines(
    text: DerivedText, lines: bytes, words: HeaderWords, may_match: MayMatch
) -> Iterator[DerivedText]:
    """Yield what is derived from the lines of a derived text: tables and conversations."""
    headers = _headers(lines, may_match)
    if headers and (cells := Columns.of(lines, headers, None, words)):
        yield _NestedText(cells, text)
    yield from (_NestedText(each, text) for each in _answers(lines, text.data, may_match))


def _logged_text(data: bytes) -> DerivedText | None:
    """Return a text without the marks and prefixes of its lines; None without any."""
    shown = LoggedText.without_marks(data)
    entries = LoggedText.of(shown.data if shown else data)
    return _NestedText(entries, shown) if shown and entries else shown or entries


def _answers(lines: bytes, data: bytes, may_match: MayMatch) -> Iterator[TurnsText]:
    """Yield the answers in lines of a conversation, and in messages of JSON."""
    if may_match(turns.GATE, lines) and (answers := TurnsText.of(lines)):
        yield answers
    if may_match(turns.MESSAGES, data) and (answers := TurnsText.of_messages(data)):
        yield answers


def _decoding(
    runs: Callable[[bytes], Iterable[Run]], text_type: type[DecodedText] = DecodedText
) -> Callable[[bytes], DecodedText | None]:
    """Return the reading of the runs that a module finds in a text."""
    return lambda data: text_type.with_runs(data, runs(data))


_READINGS: tuple[tuple[str, Callable[[bytes], Iterable[DerivedText]]], ...] = (
    (listed.GATE, listed_texts),
    (streamed.GATE, streamed_texts),
)
_READINGS_OF_ONE: tuple[tuple[str, Callable[[bytes], DerivedText | None]], ...] = (
    (bodies.GATE, _decoding(bodies.runs, StreamedText)),
    (binaries.GATE, _decoding(chunks.runs)),
    (concealed.GATE, _decoding(concealed.runs)),
    (divided.GATE, _decoding(divided.runs)),
    (keys.GATE, key_text),
    (misread.GATE, _decoding(misread.runs)),
    (queries.GATE, _decoding(queries.runs)),
    (unwrapped.GATE, UnwrappedText.of_text),
)
_HIDING_WORDS = tuple(
    (reading.GATE, _decoding(reading.runs)) for reading in (divided, misread, queries)
)
_JOINING: tuple[tuple[str, Callable[[bytes], DerivedText | None]], ...] = (
    (groups.GATE, GroupedText.of),
    (wrapped.GATE, WrappedText.of),
)
"""Readings with gates: of several texts, of one, of one that may hide names, and of lines that are
joined.
"""


def _decoded_texts(
    data: bytes, runs: Iterable[tuple[int, int]], may_match: MayMatch
) -> Iterator[DecodedText]:
    """Yield what runs are decoded to, as often as they were encoded."""
    decoded: DecodedText | None = None
    for _level in range(_MOST_TIMES):
        if may_match(binaries.GATE, data) and (
            binary := DecodedText.with_runs(data, binaries.runs(data), decoded)
        ):
            yield binary
        decoded = DecodedText.with_runs(data, decoded_runs(data, runs), decoded)
        if decoded is None or decoded.data == data:
            return
        yield decoded
        data = decoded.data
        runs = _runs(data, may_match)


def hidden_words(data: bytes, may_match: MayMatch = all_open) -> Iterator[DecodedText]:
    """Yield the decoded texts in which a reader may find words that a text hides."""
    if may_match(HIDES_WORDS, data):
        yield from _decoded_texts(data, _runs(data, may_match), may_match)
    if may_match(listed.GATE, data):
        yield from listed_texts(data)
    for gate, read in _HIDING_WORDS:
        if may_match(gate, data) and (text := read(data)):
            yield text


class _NestedText(DerivedText):
    """A text that is derived from a derived text, such as the cells of a table in a string."""

    def __init__(self, inner: DerivedText, outer: DerivedText) -> None:
        self.data = inner.data
        self._inner, self._outer = inner, outer

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        span = self._inner.original_span(start, end)
        return self._outer.original_span(*span) if span else None


def openings(
    data: bytes, may_match: MayMatch = all_open
) -> tuple[Iterator[tuple[int, int]], Spans]:
    """Return the spans of runs, of which a long text has millions, and those of headers; they may
    start within each other.
    """
    return _runs(data, may_match), _headers(data, may_match)


def _runs(data: bytes, may_match: MayMatch) -> Iterator[tuple[int, int]]:
    runs = _run_spans(data)
    deflated = list(_deflated_runs(data)) if may_match(RAW_STARTS, data) else []
    return _outermost(runs, deflated) if deflated else runs


def _deflated_runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the runs that may be data deflated without a header."""
    search, size = _regex(RAW_STARTS)[0], len(data)
    position = 0
    while (end := search(data, position, size)[0][1]) >= 0:
        start = end - LEAST
        position = start + LEAST
        if may_be_raw(data[start:position]):
            found = _RAW_RUN.match(data, start)
            assert found is not None
            position = found.end()
            yield found.span()


def _outermost(runs: Iterator[tuple[int, int]], others: Spans) -> Iterator[tuple[int, int]]:
    """Yield both in order, without those that start within the one before."""
    last = at = 0
    end_of_text = sys.maxsize, sys.maxsize
    others = [*others, end_of_text]
    for span in chain(runs, (end_of_text,)):
        while others[at] < span:
            if others[at][0] >= last:
                yield others[at]
                last = others[at][1]
            at += 1
        if last <= span[0] < sys.maxsize:
            yield span
            last = span[1]


def _run_spans(data: bytes) -> Iterator[tuple[int, int]]:
    match, size = _regex(RUN)[1], len(data)
    searches = [_regex(starts)[0] for starts in RUN_STARTS]
    nearest = [-1] * len(searches)
    position = 0
    while True:
        for number, search in enumerate(searches):
            if nearest[number] < position:
                start = search(data, position, size)[0][0]
                nearest[number] = start if start >= 0 else size
        start = min(nearest)
        if start == size:
            return
        run = match(data, start, size)[0]
        position = start + 1
        if run[0] >= 0:
            yield run
            position = run[1]


def _headers(data: bytes, may_match: MayMatch) -> Spans:
    headers = list(_header_spans(data))
    of_listings: set[tuple[int, int]] = set(listings.listing_headers(data, may_match))
    # A listing stays the one that it is where both are the same span.
    return sorted(of_listings.union(headers), key=_longest_first) if of_listings else headers


def _longest_first(span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    return start, -end


def _header_spans(data: bytes) -> Iterator[tuple[int, int]]:
    search, size = _regex(HEADER)[0], len(data)
    position = 0
    while (span := search(data, position, size)[0])[0] >= 0:
        start, position = span
        if start and data[start - 1] != _LINE_END and data[start] not in WITHIN_LINES:
            position = start + 1
        elif not _are_sentences(data[start:position].strip()):
            yield span


def _are_sentences(header: bytes) -> bool:
    """Return whether a header is two sentences with two blanks between them, not two columns."""
    return b".  " in header and header.count(b"  ") == 1


@cache
def _regex(regex: str) -> tuple[Find, Find]:
    return finders(compile_regex(regex, "derived texts", megabytes=32))
