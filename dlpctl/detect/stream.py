"""The detector over a text that comes in pieces and may be larger than memory.

The findings are those of a scan of the complete text. A piece is returned once no later text can
change its findings: a margin as wide as the widest pattern with its context is held back, and the
same amount is kept as context for the text that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dlpctl.detect.automaton.anchors import character_start
from dlpctl.detect.derived.tables import OpenTable
from dlpctl.detect.engine import THRESHOLD, Detector, valid_utf8
from dlpctl.detect.entities.known import Known
from dlpctl.detect.resolve import Candidate, clusters
from dlpctl.types import Finding

CHUNK = 1 << 20
_BLOCK_BEGINS, _BLOCK_ENDS = b"-----BEGIN ", b"-----END "
_TAGGED_CONTEXT = 600
"""Bytes before a piece that the name tagger reads again, from the start of a line."""
_PATIENCE = 4
"""The number of chunks that a chain of overlapping candidates may hold back before it is cut."""


class Piece(NamedTuple):
    """A part of the input with its findings, whose positions refer to that part; a byte that is not
    UTF-8 is a lone surrogate.
    """

    text: str
    findings: Sequence[Finding]


def scan_pieces(
    detector: Detector, chunks: Iterable[bytes], min_score: float = THRESHOLD
) -> Iterator[Piece]:
    """Yield the input again, cut into pieces with their findings. Bytes that are not UTF-8 delimit.

    An empty chunk means that the source has paused: complete lines are then returned without
    waiting for the margin.
    """
    window = _Window(detector, min_score)
    for chunk in chunks:
        if not chunk:
            yield from window.take(window.lines())
        for at in range(0, len(chunk), CHUNK):
            window.add(chunk[at : at + CHUNK])
            if window.waiting >= CHUNK + window.margin:
                yield from window.take(None)
    yield from window.take(window.everything)


class _Window:
    """The part of the input that is in memory: returned text as context, and the text
    that waits.
    """

    def __init__(self, detector: Detector, min_score: float) -> None:
        self._detector = detector
        self._min_score = min_score
        self._data = bytearray()
        self._given = 0
        self._resume: dict[int, int] = {}
        self._known = Known()
        self._table = OpenTable()
        self.margin = 2 * detector.widest + 8

    @property
    def waiting(self) -> int:
        return len(self._data) - self._given

    def add(self, chunk: bytes) -> None:
        self._data += chunk

    @property
    def everything(self) -> int:
        return len(self._data)

    def lines(self) -> int:
        """Return the position after the last line end, or before a block that has started and may
        still be closed.
        """
        end = self._data.rfind(b"\n") + 1
        begun = self._data.rfind(_BLOCK_BEGINS, self._given, end)
        if (
            begun >= 0
            and end - begun < self.margin
            and self._data.find(_BLOCK_ENDS, begun, end) < 0
        ):
            return begun
        return end

    def take(self, end: int | None) -> Iterator[Piece]:
        """Yield the piece that ends at `end`, or at a seam."""
        if end is not None and end <= self._given:
            return
        raw = bytes(self._data if end is None else self._data[:end])
        data = valid_utf8(raw)
        progress = {index: [position] for index, position in self._resume.items()}
        candidates = [
            candidate
            for candidate in self._detector.search.candidates(
                data, self._min_score, progress, table=self._table
            )
            if candidate.start
            >= self._given  # earlier findings were returned with the piece before
        ]
        tagged = self._tagged(data)
        found = self._detector.resolved(data, candidates, tagged)
        if end is None:
            end = self._seam(data, sorted([*candidates, *tagged]), found)
        if end <= self._given:
            return
        ready = [
            candidate._replace(start=candidate.start - self._given, end=candidate.end - self._given)
            for candidate in found
            if candidate.end <= end
        ]
        text = raw[self._given : end].decode("utf-8", "surrogateescape")
        encoded = data[self._given : end]
        yield Piece(
            text, self._detector.findings(ready, encoded if len(encoded) != len(text) else None)
        )
        keep_from = character_start(data, max(0, end - self.margin))
        self._resume = {
            index: last - keep_from
            for index, positions in progress.items()
            if (last := max((at for at in positions if at <= end), default=0)) > keep_from
        }
        del self._data[:keep_from]
        self._given = end - keep_from

    def _tagged(self, data: bytes) -> list[Candidate]:
        """Return the names and addresses after the returned text."""
        first = max(0, self._given - _TAGGED_CONTEXT)
        first = (
            character_start(data, data.find(b"\n", first, self._given) + 1 or first) if first else 0
        )
        return [
            candidate._replace(start=candidate.start + first, end=candidate.end + first)
            for candidate in self._detector.tagged(data[first:], self._min_score, self._known)
            if candidate.start + first >= self._given
        ]

    def _seam(self, data: bytes, candidates: list[Candidate], found: list[Candidate]) -> int:
        """Return where to cut: as late as the margin allows, and where neither side affects the
        findings on the other.

        A chain of overlapping candidates must end some time; then it is cut between two findings.
        """
        latest = character_start(data, len(data) - self.margin)
        seam = next(
            (first for first, last in clusters(candidates) if first < latest < last), latest
        )
        if seam > self._given or self.waiting < self.margin + _PATIENCE * CHUNK:
            return seam
        return next(
            (candidate.start for candidate in found if candidate.start < latest < candidate.end),
            latest,
        )
