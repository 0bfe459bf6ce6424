"""Names and addresses in the engine: trigger matches in the complete text, and the tagger around
them.

The tagger is only imported and loaded when a text contains a trigger match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dlpctl.detect.automaton.compiled import from_patterns
from dlpctl.detect.automaton.gates import MayMatch, all_open
from dlpctl.detect.automaton.scratches import Scratches
from dlpctl.detect.confirm.code_density import code_blocks, is_code
from dlpctl.detect.derived.escaped import EscapedText
from dlpctl.detect.derived.listings import GATES as LISTINGS
from dlpctl.detect.derived.logged import GATE as LOGGED
from dlpctl.detect.derived.logged import LoggedText
from dlpctl.detect.derived.streamed import GATE as STREAMED
from dlpctl.detect.derived.streamed import streamed_texts
from dlpctl.detect.derived.texts import hidden_words
from dlpctl.detect.derived.unwrapped import unwrapped
from dlpctl.detect.entities.known import Known
from dlpctl.detect.entities.truecase import is_lower_case
from dlpctl.detect.patterns.model import Pattern
from dlpctl.detect.resolve import ADDRESS, PERSON_NAME, Candidate
from dlpctl.errors import NameDataError
from dlpctl.regex import lazy
from dlpctl.types import Category

if TYPE_CHECKING:
    import hyperscan

    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.entities.finder import NameTagger

TAGGED = (
    Pattern(
        id="address",
        type="ADDRESS",
        category=Category.PII,
        label="Postal address (found by a tagger)",
        regex="",
        score=0.9,
        match=(
            "742 Evergreen Terrace, Springfield, IL 62704",
            "Lindenstraße 12, 10969 Berlin",
            "P.O. Box 1234, Denver, CO 80201",
        ),
        skip=("The meeting is in room 12, second floor.", "Main Street is closed today."),
        source="names/tagger.bin",
    ),
    Pattern(
        id="person-name",
        type="PERSON_NAME",
        category=Category.PII,
        label="Name of a person (found by a tagger)",
        regex="",
        score=0.9,
        match=("Please ask Amara Okafor about it.", "name: john smith", "Claimant: Smith, John"),
        skip=(
            "We are closed in April, May and June.",
            "Flights from Paris to Berlin are cheap in winter.",
        ),
        source="names/tagger.bin",
    ),
)
"""The types that the taggers find, as patterns, by these indexes."""

_WINDOW = 1 << 18
"""The number of bytes that are tagged together; memory grows with them."""
_MOST_KNOWN = 10_000
_BRACE, _NEWLINE = b"{", b"\n"
_LINE_FEED = _NEWLINE[0]
SENTENCE = 6
"""The number of blanks from which a line without an end is a sentence, and no cell of a table."""
_EMPHASIS = lazy(rb"_(?:(?<![0-9A-Za-z_]_)_{0,2}(?=[A-Z])|(?<=[a-z]_)_{0,2}(?![0-9A-Za-z_]))")
"""Underscores that emphasize words."""
_new = tuple.__new__
_LINE_END = lazy(rb"\\[nrt]")
"""A line end within a name is none, but part of a path: `HOST\\thomas`."""


class Taggers:
    """The taggers, shared by threads and by all detectors that come from one."""

    def __init__(self, cache: Cache | None) -> None:
        self._cache = cache
        self.problem = ""
        """The reason why names and addresses were not searched; empty otherwise."""

    def compile(self) -> tuple[_TriggerScanner, _TriggerScanner]:
        """Compile now what the first text would wait for."""
        return self._in_prose, self._in_code

    @cached_property
    def _in_prose(self) -> _TriggerScanner:
        from dlpctl.detect.entities.triggers import IN_PROSE

        return _TriggerScanner(IN_PROSE, self._cache)

    @cached_property
    def _in_code(self) -> _TriggerScanner:
        from dlpctl.detect.entities.triggers import IN_CODE

        return _TriggerScanner(IN_CODE, self._cache)

    @cached_property
    def _tagger(self) -> NameTagger | None:
        import dlpctl_patterns
        from dlpctl.detect.entities.finder import DATA, NameTagger

        try:
            return NameTagger.load(Path(dlpctl_patterns.__path__[0]) / DATA)
        except NameDataError as problem:
            self.problem = str(problem)
            return None

    def triggers(self, data: bytes) -> tuple[list[int], list[int]]:
        """Return the ends of the trigger matches in short lines, without any of which a text other
        than code has no candidates; and the ends of what opens a region to tag.
        """
        if b"_" in data:
            data = _EMPHASIS.sub(_blank, data)
        found = self._in_prose.matches(data)
        matches = [each for each in found if data[each[1] - 1] != _LINE_FEED]  # no part of a line
        ends = [end for _, end in matches]
        if not matches or self._tagger is None:
            return ends, ends
        text = data.decode()
        if len(text) == len(data):
            return ends, list(self._tagger.opening(text, matches))
        opening = sorted(self._tagger.opening(text, _in_characters(data, matches)))
        return ends, list(map(_Bytes(text), opening))

    def candidates(
        self,
        data: bytes,
        min_score: float,
        known: Known | None = None,
        may_match: MayMatch = all_open,
    ) -> list[Candidate]:
        """Return names and addresses in valid UTF-8, in the streams of words that it has and in
        what it hides, in order; those of one type do not overlap.
        """
        is_logged = _NEWLINE in data and bool(may_match(LOGGED, data))
        known = known or Known()
        found = self._in_text(data, min_score, known, is_logged=is_logged)
        derived = [
            _new(Candidate, (*span, *name[2:]))
            for text in (streamed_texts(data) if may_match(STREAMED, data) else ())
            for name in self._in_text(text.data, min_score, Known())
            for span in text.spans_in_messages(name.start, name.end)
        ]
        derived += [
            _new(Candidate, (*span, *name[2:]))
            for text in hidden_words(data, may_match)
            for name in self._in_text(text.data, min_score, Known())
            if (span := text.original_span(name.start, name.end))
            and _is_hidden(text.data[name.start : name.end], data[slice(*span)])
        ]
        has_rows = _NEWLINE in data or _BRACE in data
        may_list = (
            known.has_mattered and has_rows and any(may_match(each, data) for each in LISTINGS)
        )
        if may_list and self._tagger and not is_code(code_blocks(data)):
            derived += [
                Candidate(name.start, name.end, name.score, False, PERSON_NAME)
                for name in self._tagger.listed(data, may_match)
            ]
        return _without_parts(found, derived) if derived else found

    def _in_text(
        self, data: bytes, min_score: float, known: Known, *, is_logged: bool = False
    ) -> list[Candidate]:
        found: list[Candidate] = []
        for offset, end in _windows(data):
            part = data if end - offset == len(data) else data[offset:end]
            logged = LoggedText.of(part) if is_logged else None
            part = logged.data if logged else part
            written = part
            escaped = EscapedText.throughout(part)
            part = escaped.data if escaped else part
            part = unwrapped(part) if _NEWLINE in part else part
            code = code_blocks(part)
            is_of_code = is_code(code)
            if b"_" in part and not is_of_code:
                part = _EMPHASIS.sub(_blank, part)
            if not is_of_code and _is_prose(part) and is_lower_case(part) and self._tagger:
                part = self._tagger.with_capitals(part.decode()).encode()
            matches = (self._in_code if is_of_code else self._in_prose).matches(part)
            if not matches or self._tagger is None:
                known.header = None
                continue
            known.has_mattered = True
            text = part.decode()
            plain = len(text) == len(part)
            if not text.endswith("\n"):
                text += "\n"  # the tagger has learned from complete lines
            spans = (
                self._tagger.find(text, matches, code, known)
                if plain
                else self._tagger.find(text, _in_characters(part, matches), None, known)
            )
            if len(known.names) > _MOST_KNOWN:
                known.names.clear()
            to_bytes = None if plain else _Bytes(text)
            for finding in spans:
                if finding.score >= min_score:
                    start, stop = (
                        (finding.start, finding.end)
                        if to_bytes is None
                        else (to_bytes(finding.start), to_bytes(finding.end))
                    )
                    if escaped:
                        start, stop = escaped.original_span(start, stop)
                        if _LINE_END.search(written, start, stop):
                            continue
                    if logged:
                        start, stop = logged.original_span(start, stop)
                    index = PERSON_NAME if finding.type == "PERSON_NAME" else ADDRESS
                    found.append(
                        Candidate(offset + start, offset + stop, finding.score, False, index)
                    )
        return found


def _blank(marks: re.Match[bytes]) -> bytes:
    return b" " * len(marks[0])


def _is_hidden(name: bytes, written: bytes) -> bool:
    """Return whether a name is not in what is written for it; with other blanks, it is: the tagger
    has read those in the text itself.
    """
    return " ".join(name.decode().split()) not in " ".join(written.decode().split())


def _without_parts(found: list[Candidate], derived: list[Candidate]) -> list[Candidate]:
    """Return all candidates in order, without those that overlap one before them."""
    kept: list[Candidate] = []
    ends = {PERSON_NAME: 0, ADDRESS: 0}
    for span in sorted([*derived, *found], key=lambda span: (span.start, -span.end)):
        if span.start >= ends[span.pattern]:
            kept.append(span)
            ends[span.pattern] = span.end
    return kept


def _is_prose(data: bytes) -> bool:
    """Return whether a text may be more than a cell, which is only tagged where it has a trigger;
    see `triggers`.
    """
    return _NEWLINE in data or data.count(b" ") >= SENTENCE


class _TriggerScanner:
    """Some of the triggers, compiled."""

    def __init__(self, indexes: Sequence[int], cache: Cache | None) -> None:
        from dlpctl.detect.entities.triggers import PATTERNS

        patterns = [
            Pattern(
                f"names-gate-{index}",
                "PERSON_NAME",
                Category.PII,
                PATTERNS[index].evidence,
                PATTERNS[index].regex,
                0.0,
            )
            for index in indexes
        ]
        self._database = cast("hyperscan.Database", from_patterns(patterns, cache).database)
        self._indexes = indexes
        self._scratches = Scratches()

    def matches(self, data: bytes) -> list[tuple[int, int]]:
        """Return triggers and their ends, in bytes."""
        found: list[tuple[int, int]] = []
        indexes = self._indexes

        def on_match(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((indexes[index], end))

        self._database.scan(
            data, match_event_handler=on_match, scratch=self._scratches.of(self._database)
        )
        return found


class _Bytes:
    """Converts positions in a text to its UTF-8, asked for in almost ascending order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = self._byte = 0

    def __call__(self, position: int) -> int:
        if position < self._position:
            return self._byte - len(self._text[position : self._position].encode())
        self._byte += len(self._text[self._position : position].encode())
        self._position = position
        return self._byte


def _in_characters(data: bytes, matches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    matches.sort(key=lambda match: match[1])
    converted: list[tuple[int, int]] = []
    start = characters = 0
    for index, end in matches:
        characters += len(data[start:end].decode())
        start = end
        converted.append((index, characters))
    return converted


def _windows(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield parts of a text, cut between paragraphs, lines or words where it has them."""
    start = 0
    while len(data) - start > _WINDOW:
        latest = start + _WINDOW
        earliest = latest - _WINDOW // 8
        end = latest
        for border in (b"\n\n", b"\n", b" "):
            found = data.rfind(border, earliest, latest)
            if found >= 0:
                end = found + len(border)
                break
        while data[end] & 0xC0 == 0x80:
            end -= 1
        yield start, end
        start = end
    yield start, len(data)
