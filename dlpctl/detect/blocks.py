"""The detector over one long text, in blocks that several processes search.

The findings are those of a scan of the complete text. The first pass runs over the complete text;
each block confirms the candidates that start in it, with all of the text around them. Blocks are a
few windows of the taggers. Each block starts from the state after the text before it, or from a
guess of that state, and is searched again if the guess was wrong. Candidates across the border of
two blocks are resolved when both blocks are searched.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial

from dlpctl.detect.blockresult import (
    ZONE,
    Block,
    Border,
    State,
    header_of,
    loose_words,
    start_of,
)
from dlpctl.detect.engine import Detector, encode, valid_utf8
from dlpctl.detect.entities import taggers
from dlpctl.detect.entities.known import Known
from dlpctl.detect.packed import PackedFindings
from dlpctl.detect.ranges import RangeSearch
from dlpctl.detect.resolve import Candidate, clusters
from dlpctl.system.forked import in_order
from dlpctl.types import Finding

LEAST_BYTES = 1 << 19
"""The size of a text in bytes from which on further processes save more than they cost."""
_PRELUDE = 1 << 14
"""The number of bytes at the start from which the state before the first blocks is guessed."""
_MOST_WINDOWS, _SHARES = 4, 4
"""The most windows of the taggers in a block, whose surroundings are searched only once, and the
number of blocks that each process should get at least.
"""
_MOST_KNOWN = 10_000
"""The number of known parts of names at which the taggers forget them."""


def scan(
    detector: Detector, text: str, min_score: float, encoded: bytes | None = None
) -> Sequence[Finding]:
    """Return the findings of `detector.scan`; `encoded` is the text in UTF-8, if there is such a
    copy.
    """
    leave = detector.leave
    if leave is None or len(text) * 4 < LEAST_BYTES:
        return detector.scan(text, min_score)
    data = encode(text) if encoded is None else encoded
    found = _in_blocks(detector, data, min_score, in_characters=len(data) != len(text))
    return detector.scan(text, min_score) if found is None else found


def scan_bytes(detector: Detector, data: bytes, min_score: float) -> Sequence[Finding]:
    """Return the findings of `detector.scan_bytes`."""
    found = _in_blocks(detector, valid_utf8(data), min_score, in_characters=False)
    return detector.scan_bytes(data, min_score) if found is None else found


def _in_blocks(
    detector: Detector, data: bytes, min_score: float, *, in_characters: bool
) -> PackedFindings | None:
    leave = detector.leave
    if leave is None or len(data) < LEAST_BYTES or detector.search.selected is not None:
        return None
    processes = leave.processes()
    if processes < 2:
        return None
    detector.compile()  # or each child would compile the library
    return _Search(detector, data, min_score, in_characters=in_characters).run(processes)


class _Search:
    """The search of one text. Child processes share it, and search its chunks and blocks."""

    def __init__(
        self, detector: Detector, data: bytes, min_score: float, *, in_characters: bool
    ) -> None:
        self._detector = detector
        self._data = data
        self._min_score = min_score
        self._in_characters = in_characters
        self._ranges = RangeSearch(detector.search, data, min_score, taggers._WINDOW)
        self._borders = [0, len(data)]
        self._prelude = State()
        self._state: State | None = None
        """The state after the blocks so far; None before the first."""
        self._hints: dict[int, State] = {}

    def run(self, processes: int) -> PackedFindings | None:
        """Return the findings; None if only a scan of the complete text can decide."""
        ranges = self._ranges
        self._borders = _borders(self._data, processes)
        ranges.warm(_PRELUDE)
        self._prelude = self._known_early()
        ranges.keep(in_order(ranges.chunk_count, _number, ranges.chunk, processes))
        return self._joined(in_order(len(self._borders) - 1, self._task, self._block, processes))

    def _known_early(self) -> State:
        end = self._data.rfind(b"\n", 0, _PRELUDE) + 1
        known = Known()
        self._detector.tagged(self._data[:end], self._min_score, known)
        return State(frozenset(known.names), known.header)

    def _task(self, number: int) -> bytes:
        state = self._prelude if number and self._state is None else self._state or State()
        self._hints[number] = state
        return json.dumps([number, sorted(state.names), state.header]).encode()

    def _block(self, task: bytes) -> bytes:
        """Find what starts in a block, from a guess of the state before it."""
        number, names, header = json.loads(task)
        first, last = self._borders[number : number + 2]
        known = Known()
        known.names.update(names)
        known.header = header_of(header)
        tagged = [
            candidate._replace(start=candidate.start + first, end=candidate.end + first)
            for candidate in self._detector.tagged(self._data[first:last], self._min_score, known)
        ]
        near = self._ranges.candidates(first - ZONE, last + ZONE)
        own = near[bisect_left(near, first, key=start_of) : bisect_left(near, last, key=start_of)]
        start = Border.at(first, near, tagged)
        end = Border.at(last, near, tagged)
        found = self._packed(self._detector.resolved(self._data, own, tagged), first)
        loose = loose_words(self._data[first:last], tagged, first)
        state = State(frozenset(known.names), known.header)
        return Block(found.to_bytes(), state, loose, known.has_mattered, start, end).to_bytes()

    def _packed(self, found: Sequence[Candidate], first: int) -> PackedFindings:
        """Return findings from the byte `first` on, with character positions if requested."""
        packed = PackedFindings(partial(_finding_of, self._detector), len(self._data))
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
        """Join the findings of the blocks; None if blocks disagree at a border."""
        found = PackedFindings(partial(_finding_of, self._detector), len(self._data))
        before: Border | None = None
        offset = 0
        for number, result in enumerate(results):
            block = self._sound(number, Block.of_bytes(result))
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

    def _sound(self, number: int, block: Block) -> Block:
        """Return the block's result with everything that is known before it."""
        hint, state = self._hints.pop(number), self._state or State()
        if not block.depends:
            self._state = State(state.names, block.state.header)
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
            block = Block.of_bytes(self._block(task))
            names = block.state.names
        self._state = State(block.state.names if hint == state else names, block.state.header)
        return block

    def _join(
        self,
        found: PackedFindings,
        number: int,
        count: int,
        before: Border,
        after: Border,
        offset: int,
    ) -> bool:
        """Resolve candidates across the border before a block, whose findings are those from
        `count` on; return whether both blocks agree on what is around the border.
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
        across = [candidate for candidate in before.zone if first <= candidate.start < last]
        joint = [candidate for candidate in tagged if first <= candidate.start < last]
        resolved = self._packed(self._detector.resolved(self._data, across, joint), first)
        if self._in_characters:
            start = offset - len(self._data[first:border].decode())
            end = offset + len(self._data[border:last].decode())
        else:
            start, end = first, last
        resolved.move(0, start)
        found.replace(bisect_left(found.starts, start), bisect_left(found.starts, end), resolved)
        return True


def _borders(data: bytes, processes: int) -> list[int]:
    """Return where blocks start and end."""
    ends = [end for _, end in taggers._windows(data)]
    windows = min(max(len(ends) // (_SHARES * processes), 1), _MOST_WINDOWS)
    return [0, *ends[windows - 1 : -1 : windows], ends[-1]]


def _finding_of(detector: Detector, pattern: int) -> Finding:
    return detector.findings([Candidate(0, 1, 1.0, False, pattern)], None)[0]


def _number(number: int) -> bytes:
    return b"%d" % number
