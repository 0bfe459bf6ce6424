"""The detector over one long text, in blocks that several processes search.

The findings are those of a scan of the complete text. The first pass runs over the complete text;
each block confirms the candidates that start in it, with all of the text around them. The blocks
are the windows of the taggers. Each block gets what the text before it has made known, or a guess
of that, and is searched again if the guess was wrong. Candidates across the border of two blocks
are resolved when both blocks are searched.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.detect.automaton.first_pass import reach_of
from dlpctl.detect.derived.columns import Columns
from dlpctl.detect.engine import encode, valid_utf8
from dlpctl.detect.entities import taggers
from dlpctl.detect.entities.known import Header, Known
from dlpctl.detect.packed import PackedFindings
from dlpctl.detect.resolve import Candidate, clusters
from dlpctl.forked import in_order
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from dlpctl.detect.automaton.first_pass import Hits
    from dlpctl.detect.confirm.runner import Runner
    from dlpctl.detect.engine import Detector
    from dlpctl.types import Finding

LEAST_BYTES = 1 << 19
"""Bytes of a text from which on further processes cost less than they save."""
ZONE = 1024
"""Bytes on both sides of a border for which both blocks say what they find."""
_PRELUDE = 1 << 14
"""Bytes at the start that tell what will be known to the first blocks."""
_MOST_KNOWN = 10_000
"""Parts of names from which on the taggers forget them."""
_RECORD = Struct("<qqd?i")
_WORDS = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PARTS = lazy(r"[^\W\d_]+")

_new = tuple.__new__

Place = Callable[[int, int], tuple[int, int] | None]


def scan(detector: Detector, text: str, min_score: float) -> Sequence[Finding]:
    """Return what `detector.scan` does."""
    leave = detector.aside
    if leave is None or len(text) * 4 < LEAST_BYTES:
        return detector.scan(text, min_score)
    data = encode(text)
    found = _in_blocks(detector, data, min_score, in_characters=len(data) != len(text))
    return detector.scan(text, min_score) if found is None else found


def scan_bytes(detector: Detector, data: bytes, min_score: float) -> Sequence[Finding]:
    """Return what `detector.scan_bytes` does."""
    found = _in_blocks(detector, valid_utf8(data), min_score, in_characters=False)
    return detector.scan_bytes(data, min_score) if found is None else found


def _in_blocks(
    detector: Detector, data: bytes, min_score: float, *, in_characters: bool
) -> PackedFindings | None:
    leave = detector.aside
    if leave is None or len(data) < LEAST_BYTES or detector._selected is not None:
        return None
    processes = leave.processes()
    if processes < 2:
        return None
    return _Search(detector, data, min_score, in_characters=in_characters).run(processes)


class _Text(NamedTuple):
    """A text in which patterns are looked for: the text itself, or one that is derived from it."""

    data: bytes
    place: Place | None
    """The place in the text itself of what is found; None in the text itself."""


class _State(NamedTuple):
    """The names and the header that a text has made known to the taggers so far."""

    names: frozenset[str] = frozenset()
    header: Header | None = None


class _Border(NamedTuple):
    """The candidates of a block around one of its ends."""

    zone: list[Candidate]
    """The candidates of patterns that start in the zone around it."""
    tagged: list[Candidate]
    """The tagged candidates on the block's own side of the border."""
    reach: int
    """The end of the last candidate that starts before the zone."""

    def to_json(self) -> object:
        return [self.zone, self.tagged, self.reach]

    @classmethod
    def of_json(cls, plain: Any) -> _Border:
        zone, tagged, reach = plain
        return cls([*map(Candidate._make, zone)], [*map(Candidate._make, tagged)], reach)


class _Block(NamedTuple):
    """The result of a block."""

    found: bytes
    state: _State
    loose: frozenset[str]
    """Words with a capital outside of what was tagged: to a block that knows such a word from
    elsewhere it may be a name.
    """
    depends: bool
    """True if the result of the block follows from what is known before it."""
    start: _Border
    end: _Border

    def to_bytes(self) -> bytes:
        plain = [
            sorted(self.state.names),
            self.state.header,
            sorted(self.loose),
            self.depends,
            self.start.to_json(),
            self.end.to_json(),
        ]
        return json.dumps(plain).encode() + b"\n" + self.found

    @classmethod
    def of_bytes(cls, data: bytes) -> _Block:
        plain, _, found = data.partition(b"\n")
        names, header, loose, depends, *borders = json.loads(plain)
        state = _State(frozenset(names), _header(header))
        return cls(found, state, frozenset(loose), depends, *map(_Border.of_json, borders))


class _Search:
    """The search of one text. Children share it, and do its chunks and blocks."""

    def __init__(
        self, detector: Detector, data: bytes, min_score: float, *, in_characters: bool
    ) -> None:
        self._detector = detector
        self._data = data
        self._min_score = min_score
        self._in_characters = in_characters
        derived = detector.derived(data)
        self._columns = next((one for one in derived if isinstance(one, Columns)), None)
        self._texts = [
            _Text(data, None),
            *(_Text(one.data, one.original_span) for one in derived if one is not self._columns),
        ]
        self._chunks = [
            (number, first, first + taggers._WINDOW)
            for number, text in enumerate(self._texts)
            for first in range(0, len(text.data) if text.place else 0, taggers._WINDOW)
        ]
        """The ranges of the decoded texts; columns are searched with the blocks that hold them."""
        self._borders = [0, *(end for _, end in taggers._windows(data))]
        self._derived: list[tuple[array[int], bytes]] = []
        """Candidates of each chunk, in the order of their places in the text itself: where they
        start, and all of them.
        """
        self._prelude = _State()
        self._state: _State | None = None
        """The state after the blocks so far; None before the first."""
        self._hints: dict[int, _State] = {}

    def run(self, processes: int) -> PackedFindings | None:
        """Return what is found; None where only a scan of the whole text can tell."""
        for text in self._texts:
            # What the regexes make of their automata on the way is shared by the children.
            self._confirmed(text.data, 0, _PRELUDE)
        self._prelude = self._known_early()
        chunks = in_order(len(self._chunks), lambda number: b"%d" % number, self._chunk, processes)
        self._derived = [
            (array("q", (one[0] for one in _RECORD.iter_unpack(chunk))), chunk) for chunk in chunks
        ]
        del self._texts[1:]
        return self._joined(in_order(len(self._borders) - 1, self._task, self._block, processes))

    def _chunk(self, task: bytes) -> bytes:
        """Find what starts in a range of a derived text."""
        number, first, last = self._chunks[int(task)]
        place = self._texts[number].place
        assert place is not None
        found = [
            (*where, *one[2:])
            for one in self._confirmed(self._texts[number].data, first, last)
            if (where := place(one.start, one.end))
        ]
        return b"".join(_RECORD.pack(*one) for one in sorted(found))

    def _derived_in(self, first: int, last: int) -> Iterator[Candidate]:
        """The candidates of derived texts that start in a range of the text itself."""
        for starts, records in self._derived:
            low, high = bisect_left(starts, first), bisect_left(starts, last)
            within = records[low * _RECORD.size : high * _RECORD.size]
            yield from map(Candidate._make, _RECORD.iter_unpack(within))

    def _confirmed(
        self,
        data: bytes,
        first: int,
        last: int,
        hits: Hits | None = None,
        columns: Columns | None = None,
    ) -> list[Candidate]:
        """Return the candidates that start in a range of a text, apart from settled ones."""
        found: list[Candidate] = []
        for index, ends in (hits or self._near(data, first, last)).items():
            runner = self._detector._runner(index)
            reach = reach_of(runner.width)
            low, high = bisect_left(ends, first - reach), bisect_right(ends, last + reach)
            if low < high:
                resume = ends[low - 1] if low else 0
                near = ends[low:high]
                if columns is not None:
                    near = columns.open_hits(near, runner.best, runner.proven, index)
                found += self._run(runner, data, near, resume)
        return [one for one in found if first <= one.start < last]

    def _near(self, data: bytes, first: int, last: int) -> Hits:
        return self._detector.first_pass.near(data, first, last) if first < last else {}

    def _run(self, runner: Runner, data: bytes, ends: list[int], resume: int) -> list[Candidate]:
        if runner.best < self._min_score:
            return []
        prefilter = runner._prefilter
        if prefilter is not None and not runner._may_find(data, ends, prefilter):
            return []
        return runner.run(data, ends, self._min_score, [resume])

    def _known_early(self) -> _State:
        end = self._data.rfind(b"\n", 0, _PRELUDE) + 1
        known = Known()
        self._detector.tagged(self._data[:end], self._min_score, known)
        return _State(frozenset(known.names), known.header)

    def _task(self, number: int) -> bytes:
        state = self._prelude if number and self._state is None else self._state or _State()
        self._hints[number] = state
        return json.dumps([number, sorted(state.names), state.header]).encode()

    def _block(self, task: bytes) -> bytes:
        """Find what starts in a block, from what may be known before it."""
        number, names, header = json.loads(task)
        first, last = self._borders[number : number + 2]
        known = Known()
        known.names.update(names)
        known.header = _header(header)
        tagged = [
            one._replace(start=one.start + first, end=one.end + first)
            for one in self._detector.tagged(self._data[first:last], self._min_score, known)
        ]
        near = self._candidates(first - ZONE, last + ZONE)
        own = near[bisect_left(near, first, key=_start) : bisect_left(near, last, key=_start)]
        start = self._border(first, near, tagged)
        end = self._border(last, near, tagged)
        found = self._packed(self._detector.resolved(self._data, own, tagged), first)
        loose = _loose(self._data[first:last], tagged, first)
        state = _State(frozenset(known.names), known.header)
        return _Block(found.to_bytes(), state, loose, known.has_mattered, start, end).to_bytes()

    def _candidates(self, first: int, last: int) -> list[Candidate]:
        """Return the candidates in a range of the text and of its derived texts, in order."""
        columns = self._columns
        if columns is None:
            return sorted(
                [*self._confirmed(self._data, first, last), *self._derived_in(first, last)]
            )
        low, high, start = columns.cells_in(first, last)
        hits = self._near(columns.data, low, high)
        end = last
        if low < high:
            # A match may be found by a hit in a cell next to its own, unless that is settled.
            widths = (self._detector._runner(index).width for index in hits)
            margin = reach_of(max(widths, default=0))
            before, after = columns.span(low - margin, high + margin)
            start, end = min(start, before), max(end, after)
        found = [*self._confirmed(self._data, start, end), *self._derived_in(start, end)]
        columns.settle(found, self._detector._label_score)
        found += [
            _new(Candidate, (*place, *one[2:]))
            for one in self._confirmed(columns.data, low, high, hits, columns)
            if (place := columns.original_span(one.start, one.end))
        ]
        return sorted(one for one in found if first <= one.start < last)

    def _border(
        self, place: int, near: Sequence[Candidate], tagged: Sequence[Candidate]
    ) -> _Border:
        low = bisect_left(near, place - ZONE, key=_start)
        high = bisect_left(near, place + ZONE, key=_start)
        close = [one for one in tagged if place - ZONE < one.end and one.start < place + ZONE]
        reach = max((one.end for one in near[:low]), default=0)
        return _Border(list(dict.fromkeys(near[low:high])), close, reach)

    def _packed(self, found: Sequence[Candidate], first: int) -> PackedFindings:
        """Findings that count from the byte `first`, in characters where that is asked for."""
        packed = PackedFindings(partial(_finding_of, self._detector))
        position, character = first, 0
        for start, end, score, _, pattern in found:
            if self._in_characters:
                begun = character + len(self._data[position:start].decode())
                ended = begun + len(self._data[start:end].decode())
                position, character = end, ended
            else:
                begun, ended = start - first, end - first
            packed.append(begun, ended, score, pattern)
        return packed

    def _joined(self, results: Iterator[bytes]) -> PackedFindings | None:
        """Put the findings of the blocks together; None where their borders do not agree."""
        found = PackedFindings(partial(_finding_of, self._detector))
        before: _Border | None = None
        offset = 0
        for number, result in enumerate(results):
            block = self._sound(number, _Block.of_bytes(result))
            count = len(found)
            found.add_bytes(block.found)
            found.move(count, offset)
            if before and not self._join(found, number, count, before, block.start, offset):
                return None
            before = block.end
            first, last = self._borders[number : number + 2]
            own = self._data[first:last]
            offset += len(own.decode()) if self._in_characters else len(own)
        return found

    def _sound(self, number: int, block: _Block) -> _Block:
        """A block as it is with all that is known before it."""
        hint, state = self._hints.pop(number), self._state or _State()
        if not block.depends:
            self._state = _State(state.names, block.state.header)
            return block
        names = state.names | block.state.names
        agrees = (
            hint.header == state.header
            and hint.names <= state.names
            and block.loose.isdisjoint(state.names - hint.names)
            and len(names) <= _MOST_KNOWN
        )
        if hint != state and not agrees:
            task = json.dumps([number, sorted(state.names), state.header]).encode()
            block = _Block.of_bytes(self._block(task))
            names = block.state.names
        self._state = _State(block.state.names if hint == state else names, block.state.header)
        return block

    def _join(
        self,
        found: PackedFindings,
        number: int,
        count: int,
        before: _Border,
        after: _Border,
        offset: int,
    ) -> bool:
        """Resolve what is across the border before a block, whose findings are those from `count`
        on; return whether both blocks agree on what is around it.
        """
        border = self._borders[number]
        if before.zone != after.zone or max(before.reach, after.reach) > border:
            return False
        tagged = [*before.tagged, *after.tagged]
        first, last = next(
            (
                cluster
                for cluster in clusters(sorted([*before.zone, *tagged]))
                if cluster[0] < border < cluster[1]
            ),
            (border, border),
        )
        if first == last:
            return True
        low, high = self._borders[number - 1], self._borders[number + 1]
        if first <= max(low, border - ZONE, before.reach) or last >= min(high, border + ZONE):
            return False
        across = [one for one in before.zone if first <= one.start < last]
        joint = [one for one in tagged if first <= one.start < last]
        resolved = self._packed(self._detector.resolved(self._data, across, joint), first)
        if self._in_characters:
            begin = offset - len(self._data[first:border].decode())
            end = offset + len(self._data[border:last].decode())
        else:
            begin, end = first, last
        resolved.move(0, begin)
        found.replace(bisect_left(found.starts, begin), bisect_left(found.starts, end), resolved)
        return True


def _finding_of(detector: Detector, pattern: int) -> Finding:
    return detector.findings([Candidate(0, 1, 1.0, False, pattern)], None)[0]


def _start(one: Candidate) -> int:
    return one.start


def _header(plain: list[object] | None) -> Header | None:
    if plain is None:
        return None
    delimiter, keys = plain
    assert isinstance(delimiter, str)
    assert isinstance(keys, list)
    return Header(delimiter, tuple(keys))


def _loose(data: bytes, tagged: Sequence[Candidate], first: int) -> frozenset[str]:
    """The words with a capital outside of what was tagged."""
    parts: list[bytes] = []
    place = 0
    for one in tagged:
        parts.append(data[place : max(place, one.start - first)])
        place = max(place, one.end - first)
    parts.append(data[place:])
    words = set(_WORDS.findall(b"|".join(parts).decode("utf-8", "replace")))
    words.update(*(_PARTS.findall(word) for word in words if not word.isalpha()))
    return frozenset(word for word in words if word[0].isupper())
