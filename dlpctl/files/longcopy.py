"""The masked copy of a long text, block by block: what writes it, and what looks for values in it.

Forked processes share both, and are asked for one block after the other.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Protocol

from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.source import line_cuts
from dlpctl.masking.apply import Span, resolve
from dlpctl.policy.decide import FindingDecision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.detect.packed import PackedFindings
    from dlpctl.formats.files import Files, Node
    from dlpctl.formats.needles import Needles
    from dlpctl.formats.source import Parts
    from dlpctl.masking.operators import Masker
    from dlpctl.preflight import Checker

CLEAN = b"clean"
"""The result of a block without values."""
_new = tuple.__new__


class HiddenValues(Protocol):
    """The values of a long text that must not stay."""

    checker: Checker
    text: str
    found: PackedFindings

    def hidden_spans(self, low: int, high: int, offset: int) -> Iterator[Span]: ...

    def hidden_in(self, low: int, high: int, offset: int = 0) -> Iterator[FindingDecision]: ...


class BlockMasking:
    """Masks the blocks of a text. Children share it."""

    def __init__(
        self,
        hidden: HiddenValues,
        parts: Parts,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        codec: str,
    ) -> None:
        self._hidden = hidden
        self._fit = parts.fit
        self._repeated = sorted(repeated, key=_start_of)
        self._masker = masker
        self._codec = codec
        self._starts, ends = hidden.found.starts, hidden.found.ends
        others = array("q", accumulate((one.finding.end for one in self._repeated), max))

        def is_between(cut: int) -> bool:
            before = bisect_left(self._starts, cut)
            other = bisect_left(self._repeated, cut, key=_start_of)
            return not ((before and ends[before - 1] > cut) or (other and others[other - 1] > cut))

        self._cuts = list(filter(is_between, parts.cuts))

    @property
    def count(self) -> int:
        return len(self._cuts) - 1

    def block(self, task: bytes) -> bytes:
        """Mask a block; return what was written for values, and the block."""
        first, last = self._cuts[int(task) : int(task) + 2]
        text, replacement = self._hidden.text[first:last], self._masker.replacement
        edits = [
            _new(Edit, (start, end, replacement(operator, name, category, text[start:end])))
            for start, end, name, category, operator in self._spans(first, last)
        ]
        self._masker.forget()
        made = {one.replacement for one in edits if one.replacement}
        copy = spliced(text, list(self._fit(text, edits)))
        return json.dumps(list(made)).encode() + b"\n" + copy.encode(self._codec, "replace")

    def _spans(self, first: int, last: int) -> Iterable[Span]:
        """Return what is masked in a block, in order and apart."""
        low, high = bisect_left(self._starts, first), bisect_left(self._starts, last)
        before = bisect_left(self._repeated, first, key=_start_of)
        repeated = self._repeated[before : bisect_left(self._repeated, last, key=_start_of)]
        if not repeated:
            return self._hidden.hidden_spans(low, high, first)
        ruled = list(self._hidden.hidden_in(low, high, first))
        for finding, verdict in repeated:
            moved = finding._replace(start=finding.start - first, end=finding.end - first)
            ruled.append(FindingDecision(moved, verdict))
        return resolve(self._hidden.checker.operators(ruled))


def _start_of(decided: FindingDecision) -> int:
    return decided.finding.start


class ValueSearch:
    """Looks for values in the blocks of a copy: in both readings of it, and in its bytes."""

    def __init__(self, needles: Needles, node: Node, files: Files, size: int) -> None:
        self._needles = needles
        self._data = node.data
        text = node.document.segments[0].text
        again = dict.fromkeys([text, *files.read_again(node.document.format, node.data)])
        longest = max(map(len, [*needles.values, *needles.words]), default=0)
        self._tasks: list[tuple[str | None, int, int]] = [
            (each, first, min(last + 4 * longest, len(each)))
            for each in again
            for first, last in pairwise(line_cuts(each, size))
        ]
        self._tasks += [
            (None, first, last + 8 * longest)
            for first, last in pairwise(_byte_cuts(node.data, size))
        ]
        needles.prepare(is_wide=b"\0" in node.data)

    @property
    def count(self) -> int:
        return len(self._tasks)

    def block(self, task: bytes) -> bytes:
        text, first, last = self._tasks[int(task)]
        if text is None:
            holds = self._needles.in_bytes(self._data[first:last])
        else:
            holds = self._needles.in_text(text[first:last])
        return b"" if holds else CLEAN


def _byte_cuts(data: bytes, size: int) -> list[int]:
    cuts = [0]
    while (cut := data.find(b"\n", cuts[-1] + size) + 1) > 0:
        cuts.append(cut)
    return cuts if cuts[-1] == len(data) else [*cuts, len(data)]
