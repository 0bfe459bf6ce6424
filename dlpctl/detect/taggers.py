"""Names and addresses in the engine: a gate over the whole text, the tagger where it opens, and
what patterns have found cut out.

Nothing of the tagger is imported, and nothing of its data read, before a text holds a word that
could begin a name.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dlpctl.detect.automaton.compiled import from_patterns
from dlpctl.detect.confirm.code_density import code_blocks, is_code
from dlpctl.detect.entities.known import Known
from dlpctl.detect.pattern import Pattern
from dlpctl.detect.resolve import Candidate
from dlpctl.errors import NameDataError
from dlpctl.regex import lazy
from dlpctl.types import Category

if TYPE_CHECKING:
    import hyperscan

    from dlpctl.detect.automaton.cache import Cache
    from dlpctl.detect.names import NameTagger

ADDRESS, PERSON_NAME = -2, -1
"""What stands in a candidate in the place of a pattern's index."""

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
"""What the taggers find, in the place that their indexes name."""

_TAKEN_IN = frozenset({"ADDRESS", "POSTAL_CODE"})
"""What a pattern finds by itself and an address holds; of two addresses the joint one stands."""
_WINDOW = 1 << 18
"""Bytes that are tagged at once: what is remembered of a text while its names are linked grows with
it.
"""
_MOST_KNOWN = 10_000
_FEWEST_WORDS = 2
_DIGIT = lazy(rb"[0-9]")
_WORD = lazy(rb"[^\W\d_]{2,}|[\x80-\xff]{2,}")
_NEXT_VALUES_LISTED = (
    "iban bic swift pan gstin ph tel phone fax mobile mobil handy cel cell email mail ssn dob vin plate icd cpt pesel clearing konto "
    "personalausweis reisepass ausweis passport mrn npi ein"
)
NEXT_VALUES = frozenset(_NEXT_VALUES_LISTED.split())
"""What another value is called, at the end of an address."""
_LABEL = lazy(
    rb"(?i)[\s,;./|(]+(?:%s|e-mail)[\s:.]*$"
    % b"|".join(map(str.encode, _NEXT_VALUES_LISTED.split()))
)
_FEWEST = 3
"""Letters and digits that a part must have to be left over where a pattern found the rest."""


class Taggers:
    """Shared by threads, and by all detectors that come from one."""

    def __init__(self, cache: Cache | None) -> None:
        self._cache = cache
        self.problem = ""
        """Why names and addresses were not looked for; empty where they were."""

    def compile(self) -> tuple[_Gate, _Gate]:
        """Compile now what a first text would wait for."""
        return self._in_prose, self._in_code

    @cached_property
    def _in_prose(self) -> _Gate:
        from dlpctl.detect.names_patterns import IN_PROSE

        return _Gate(IN_PROSE, self._cache)

    @cached_property
    def _in_code(self) -> _Gate:
        from dlpctl.detect.names_patterns import IN_CODE

        return _Gate(IN_CODE, self._cache)

    @cached_property
    def _tagger(self) -> NameTagger | None:
        import dlpctl_patterns
        from dlpctl.detect.names import DATA, NameTagger

        try:
            return NameTagger.load(Path(dlpctl_patterns.__path__[0]) / DATA)
        except NameDataError as problem:
            self.problem = str(problem)
            return None

    @property
    def is_ready(self) -> bool:
        """Whether the tagger could be loaded; if not, `problem` says why."""
        return self._tagger is not None

    def candidates(
        self, data: bytes, min_score: float, known: Known | None = None
    ) -> list[Candidate]:
        """Names and addresses in valid UTF-8, in the order of their places; those of one type do
        not overlap.
        """
        found: list[Candidate] = []
        known = known or Known()
        for begin, end in _windows(data):
            part = data if end - begin == len(data) else data[begin:end]
            code = code_blocks(part)
            hits = (self._in_code if is_code(code) else self._in_prose).hits(part)
            if not hits or self._tagger is None:
                known.header = None
                continue
            text = part.decode()
            plain = len(text) == len(part)
            spans = (
                self._tagger.find(text, hits, code, known)
                if plain
                else self._tagger.find(text, _in_characters(part, hits), None, known)
            )
            if len(known.names) > _MOST_KNOWN:
                known.names.clear()
            places = None if plain else _Bytes(text)
            for one in spans:
                if one.score >= min_score:
                    start, stop = (
                        (one.start, one.end)
                        if places is None
                        else (places(one.start), places(one.end))
                    )
                    index = PERSON_NAME if one.type == "PERSON_NAME" else ADDRESS
                    found.append(Candidate(begin + start, begin + stop, one.score, False, index))
        return found


class _Gate:
    """Some of the gate's patterns, compiled."""

    def __init__(self, places: Sequence[int], cache: Cache | None) -> None:
        from dlpctl.detect.names_patterns import PATTERNS

        patterns = [
            Pattern(
                f"names-gate-{place}",
                "PERSON_NAME",
                Category.PII,
                PATTERNS[place].kind,
                PATTERNS[place].regex,
                0.0,
            )
            for place in places
        ]
        self._database = cast("hyperscan.Database", from_patterns(patterns, cache).database)
        self._places = places
        self._local = threading.local()

    def hits(self, data: bytes) -> list[tuple[int, int]]:
        """Pattern and end, in bytes."""
        found: list[tuple[int, int]] = []
        places = self._places

        def on_hit(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append((places[index], end))

        self._database.scan(data, match_event_handler=on_hit, scratch=self._scratch())
        return found

    def _scratch(self) -> hyperscan.Scratch:
        """Working memory, one for each thread."""
        if not hasattr(self._local, "scratch"):
            import hyperscan

            self._local.scratch = hyperscan.Scratch(self._database)
        scratch: hyperscan.Scratch = self._local.scratch
        return scratch


class _Bytes:
    """From places in a text to places in its UTF-8, asked in almost ascending order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = self._byte = 0

    def __call__(self, place: int) -> int:
        if place < self._place:
            return self._byte - len(self._text[place : self._place].encode())
        self._byte += len(self._text[self._place : place].encode())
        self._place = place
        return self._byte


def _in_characters(data: bytes, hits: list[tuple[int, int]]) -> list[tuple[int, int]]:
    hits.sort(key=lambda hit: hit[1])
    converted: list[tuple[int, int]] = []
    place = characters = 0
    for index, end in hits:
        characters += len(data[place:end].decode())
        place = end
        converted.append((index, characters))
    return converted


def _windows(data: bytes) -> Iterator[tuple[int, int]]:
    """Parts of a text, cut between paragraphs, lines or words where it has them."""
    begin = 0
    while len(data) - begin > _WINDOW:
        latest = begin + _WINDOW
        earliest = latest - _WINDOW // 8
        end = latest
        for border in (b"\n\n", b"\n", b" "):
            place = data.rfind(border, earliest, latest)
            if place >= 0:
                end = place + len(border)
                break
        while data[end] & 0xC0 == 0x80:
            end -= 1
        yield begin, end
        begin = end
    yield begin, len(data)


def merged(
    data: bytes, found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> list[Candidate]:
    """What patterns have found, and of what was tagged that which lies outside of it.

    A tagger guesses where a pattern knows, so the pattern's finding stands. Only a postal code is a
    part of the address around it, and nobody is called as a medicine is.
    """
    if not tagged:
        return found
    found = _without_guesses(data, found, tagged, type_of)
    kept: list[Candidate] = []
    place = 0
    for one in _apart(_widened(found, tagged, type_of)):
        while place < len(found) and found[place].end <= one.start:
            kept.append(found[place])
            place += 1
        start = one.start
        while place < len(found) and found[place].start < one.end:
            other = found[place]
            if (
                one.pattern == ADDRESS
                and start <= other.start
                and other.end <= one.end
                and type_of(other.pattern) in _TAKEN_IN
            ):
                place += 1
                continue
            medicine = one.pattern == PERSON_NAME and type_of(other.pattern) == "MEDICATION"
            kept += [] if medicine else _rest(data, one, start, other.start)
            start = one.end if medicine else other.end
            if other.end > one.end:
                break
            kept.append(other)
            place += 1
        kept += _rest(data, one, start, one.end) if start > one.start else [one]
    kept += found[place:]
    return kept


def _without_guesses(
    data: bytes, found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> list[Candidate]:
    """Without what a broad pattern took for an address where the tagger is sure of one that begins
    behind everyday words and ends with it.

    Such a pattern cannot tell "She lives at Elm 5" from "Rue de la Loi 5".
    """
    known = [one for one in found if type_of(one.pattern) == "ADDRESS"]
    sure = (
        [one for one in tagged if one.pattern == ADDRESS and one.score >= _VERY_SURE]
        if known
        else []
    )
    sure.sort()
    starts = [one.start for one in sure]
    changed: dict[Candidate, Candidate | None] = {}
    for guess in known:
        first, last = bisect_right(starts, guess.start), bisect_left(starts, guess.end)
        for one in sure[first:last]:
            if guess.end <= one.end + 1:
                before = data[guess.start : one.start].split()
                if guess.score < _SURE and any(word.islower() for word in before):
                    changed[guess] = None
                elif b" ".join(before).decode(errors="ignore").lower() in _PREMISES:
                    changed[guess] = guess._replace(start=one.start)
    if not changed:
        return found
    return [kept for one in found if (kept := changed.get(one, one)) is not None]


def _widened(
    found: list[Candidate], tagged: Sequence[Candidate], type_of: Callable[[int], str]
) -> Iterator[Candidate]:
    """What was tagged, addresses with what patterns found of them."""
    known = [one for one in found if type_of(one.pattern) == "ADDRESS"]
    place = 0
    for one in tagged:
        if one.pattern != ADDRESS or not known:
            yield one
            continue
        while place < len(known) and known[place].end <= one.start:
            place += 1
        joint = [one]
        following = place
        while following < len(known) and known[following].start < joint[-1].end:
            joint.append(known[following])
            following += 1
        yield one._replace(
            start=min(each.start for each in joint),
            end=max(each.end for each in joint),
            score=max(each.score for each in joint),
        )


def _apart(tagged: Iterable[Candidate]) -> Iterator[Candidate]:
    """Without overlaps: an address takes in a name within it, and else the surer one stands."""
    previous: Candidate | None = None
    for one in sorted(tagged):
        if previous is None or one.start >= previous.end:
            if previous is not None:
                yield previous
            previous = one
        elif _weight(one) > _weight(previous):
            previous = one
    if previous is not None:
        yield previous


def _weight(one: Candidate) -> tuple[bool, float, int]:
    return one.pattern == ADDRESS and one.score >= _EVEN, one.score, one.end - one.start


_EVEN = 0.5
_SURE = 0.7
_VERY_SURE = 0.9
_PREMISES = ("wohnung", "haus", "filiale", "büro")
_EDGES = b" \t\r\n,;:-/|()[]<>\"'"


def _rest(data: bytes, one: Candidate, start: int, end: int) -> list[Candidate]:
    """The part of a tagged span between two findings, if enough is left to be one."""
    if start >= end:
        return []
    part = data[start:end]
    start += len(part) - len(part.lstrip(_EDGES))
    part = part.strip(_EDGES)
    if one.pattern == ADDRESS:
        part = _LABEL.sub(b"", part)
        # What is left without a number or with a word alone was beside what a pattern found.
        if not _DIGIT.search(part) or len(_WORD.findall(part)) < _FEWEST_WORDS:
            return []
    if sum(map(str.isalnum, part.decode(errors="ignore"))) < _FEWEST:
        return []
    return [one._replace(start=start, end=start + len(part))]
