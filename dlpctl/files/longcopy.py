"""Mask a long file, block by block.

Forked processes share the objects of this module, and process one block after the other.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from dlpctl.formats.encoding import Edit, spliced
from dlpctl.masking.apply import Span, resolve
from dlpctl.policy.decide import FindingDecision
from dlpctl.system.forked import in_order
from dlpctl.texts.texthashes import NewTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.detect.packed import PackedFindings
    from dlpctl.files.hidden import HiddenValues
    from dlpctl.formats.source import Parts
    from dlpctl.masking.masker import Masker
    from dlpctl.masking.opentext import OpenText
    from dlpctl.preflight import Checker

_new = tuple.__new__


def held(hidden: HiddenValues, opened: OpenText, processes: int) -> set[str]:
    """Return the hidden values that a text may contain; forked processes divide the work."""
    chunks = map(hidden.chunk, range(hidden.chunk_count))
    may_hold = opened.holder("\n".join(values | words) for values, words in chunks)
    # Compute cached data before the fork, so that all processes share them.
    _ = may_hold("some words"), opened.numbers

    new = NewTexts()

    def block(task: bytes) -> bytes:
        values, words = hidden.chunk(int(task))
        return json.dumps(list(filter(may_hold, new.among(values | words)))).encode()

    results = in_order(hidden.chunk_count, b"%d".__mod__, block, processes)
    return {value for result in results for value in json.loads(result)}


class HiddenFindings(Protocol):
    """The findings in a long file that must not remain."""

    checker: Checker
    text: str
    found: PackedFindings

    def hidden_spans(self, low: int, high: int, offset: int) -> Iterator[Span]: ...

    def hidden_in(self, low: int, high: int, offset: int = 0) -> Iterator[FindingDecision]: ...


class BlockMasking:
    """Finds the edits for the values in each block of a text. Child processes share the object."""

    def __init__(
        self,
        hidden: HiddenFindings,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        cuts: Iterable[int],
    ) -> None:
        self._hidden = hidden
        self._repeated = sorted(repeated, key=_start_of)
        self._masker = masker
        self._starts, ends = hidden.found.starts, hidden.found.ends
        others = list(accumulate((each.finding.end for each in self._repeated), max))

        def is_between(cut: int) -> bool:
            before = bisect_left(self._starts, cut)
            other = bisect_left(self._repeated, cut, key=_start_of)
            return not ((before and ends[before - 1] > cut) or (other and others[other - 1] > cut))

        self._cuts = list(filter(is_between, cuts))

    @property
    def count(self) -> int:
        return len(self._cuts) - 1

    def edits(self, task: bytes) -> tuple[int, int, list[Edit]]:
        """Return the range of a block, and the edits in it, relative to its start."""
        first, last = self._cuts[int(task) : int(task) + 2]
        text, replacement = self._hidden.text[first:last], self._masker.replacement
        edits = [
            _new(Edit, (start, end, replacement(operator, name, category, text[start:end])))
            for start, end, name, category, operator in self._spans(first, last)
        ]
        return first, last, edits

    def _spans(self, first: int, last: int) -> Iterable[Span]:
        """Return the masked spans of a block, in order and without overlaps."""
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


class EditMasking(BlockMasking):
    """Returns the edits of the text, for a format that writes the copy itself."""

    def __init__(
        self,
        hidden: HiddenFindings,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        size: int,
    ) -> None:
        ends = range(size, len(hidden.text), size)
        super().__init__(hidden, repeated, masker, [0, *ends, len(hidden.text)])

    def block(self, task: bytes) -> bytes:
        """Return the starts, the ends and the replacements of a block's edits."""
        first, _, edits = self.edits(task)
        starts = [first + edit.start for edit in edits]
        ends = [first + edit.end for edit in edits]
        return json.dumps([starts, ends, [edit.replacement for edit in edits]]).encode()


class TextMasking(BlockMasking):
    """Writes the copy of a text format, divided at allowed positions."""

    def __init__(
        self,
        hidden: HiddenFindings,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        parts: Parts,
        codec: str,
    ) -> None:
        super().__init__(hidden, repeated, masker, parts.cuts)
        self._fit = parts.fit
        self._codec = codec

    def block(self, task: bytes) -> bytes:
        """Mask a block; return what was written for values, and the block."""
        first, last, edits = self.edits(task)
        text = self._hidden.text[first:last]
        made = {each.replacement for each in edits if each.replacement}
        copy = spliced(text, list(self._fit(text, edits)))
        return json.dumps(list(made)).encode() + b"\n" + copy.encode(self._codec, "replace")


def _start_of(decided: FindingDecision) -> int:
    return decided.finding.start
