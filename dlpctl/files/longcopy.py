"""Mask a long file and verify its copy, block by block.

Forked processes share the objects of this module, and process one block after the other.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from itertools import accumulate, compress, pairwise
from typing import TYPE_CHECKING, Protocol

from dlpctl.forked import in_order
from dlpctl.formats.encoding import Edit, spliced
from dlpctl.formats.verify import searched_text
from dlpctl.masking.apply import Span, resolve
from dlpctl.policy.decide import FindingDecision
from dlpctl.regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dlpctl.detect.packed import PackedFindings
    from dlpctl.files.sections import Sections
    from dlpctl.formats.residues import StrictMatcher
    from dlpctl.formats.source import Parts
    from dlpctl.masking.opentext import OpenText
    from dlpctl.masking.operators import Masker
    from dlpctl.preflight import Checker

CLEAN = b"clean"
"""The result of a block without values."""
_CHUNK = 1 << 12
_SPACE = lazy(r"\s")
_new = tuple.__new__


def held(values: Sequence[str], opened: OpenText, processes: int) -> set[str]:
    """Return the values that a text may contain; forked processes divide the work."""
    if not values:
        return set()
    may_hold = opened.holder()
    # Compute cached data before the fork, so that all processes share them.
    _ = may_hold(values[0]), opened.numbers

    def block(task: bytes) -> bytes:
        some = values[int(task) * _CHUNK : int(task) * _CHUNK + _CHUNK]
        return bytes(map(may_hold, some))

    count = -(-len(values) // _CHUNK)
    return set(compress(values, b"".join(in_order(count, b"%d".__mod__, block, processes))))


class HiddenValues(Protocol):
    """The values of a long file that must not remain."""

    checker: Checker
    text: str
    found: PackedFindings

    def hidden_spans(self, low: int, high: int, offset: int) -> Iterator[Span]: ...

    def hidden_in(self, low: int, high: int, offset: int = 0) -> Iterator[FindingDecision]: ...


class BlockMasking:
    """Finds the edits for the values in each block of a text. Child processes share the object."""

    def __init__(
        self,
        hidden: HiddenValues,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        cuts: Iterable[int],
    ) -> None:
        self._hidden = hidden
        self._repeated = sorted(repeated, key=_start_of)
        self._masker = masker
        self._starts, ends = hidden.found.starts, hidden.found.ends
        others = array("q", accumulate((one.finding.end for one in self._repeated), max))

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
        self._masker.forget()
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
        hidden: HiddenValues,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        size: int,
    ) -> None:
        ends = range(size, len(hidden.text), size)
        super().__init__(hidden, repeated, masker, [0, *ends, len(hidden.text)])

    def block(self, task: bytes) -> bytes:
        first, _, edits = self.edits(task)
        return json.dumps(
            [[first + start, first + end, text] for start, end, text in edits]
        ).encode()


class TextMasking(BlockMasking):
    """Writes the copy of a text format, divided at allowed positions."""

    def __init__(
        self,
        hidden: HiddenValues,
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
        made = {one.replacement for one in edits if one.replacement}
        copy = spliced(text, list(self._fit(text, edits)))
        return json.dumps(list(made)).encode() + b"\n" + copy.encode(self._codec, "replace")


def _start_of(decided: FindingDecision) -> int:
    return decided.finding.start


class ValueSearch:
    """Searches the blocks of a copy for values: both readings of its text, and its bytes."""

    def __init__(
        self, matcher: StrictMatcher, sections: Sections, again: Iterable[str], size: int
    ) -> None:
        self._matcher = matcher
        shown = (searched_text(each.node.document, each.view) for each in sections.all)
        texts = _without_short([*shown, *again], size)
        data = [node.data for node in sections.node.walk()]
        longest = max(map(len, [*matcher.values, *matcher.words]), default=0)
        self._tasks: list[tuple[str | bytes, int, int]] = [
            (each, first, min(last + 4 * longest, len(each)))
            for each in texts
            for first, last in pairwise(_text_cuts(each, size))
        ]
        self._tasks += [
            (each, first, last + 8 * longest)
            for each in data
            for first, last in pairwise(_byte_cuts(each, size))
        ]
        matcher.prepare(is_wide=any(b"\0" in each for each in data))

    @property
    def count(self) -> int:
        return len(self._tasks)

    def block(self, task: bytes) -> bytes:
        text, first, last = self._tasks[int(task)]
        if isinstance(text, bytes):
            holds = self._matcher.in_bytes(text[first:last])
        else:
            holds = self._matcher.in_text(text[first:last])
        return b"" if holds else CLEAN


def _without_short(texts: Sequence[str], size: int) -> Iterable[str]:
    """Return the distinct texts; short ones are joined, since each text costs a task."""
    short = "\n".join(text for text in texts if len(text) < size)
    return dict.fromkeys([*(text for text in texts if len(text) >= size), short])


def _text_cuts(text: str, size: int) -> list[int]:
    cuts = [0]
    while found := _SPACE.search(text, cuts[-1] + size):
        cuts.append(found.end())
    return cuts if cuts[-1] == len(text) else [*cuts, len(text)]


def _byte_cuts(data: bytes, size: int) -> list[int]:
    cuts = [0]
    while (cut := data.find(b"\n", cuts[-1] + size) + 1) > 0:
        cuts.append(cut)
    return cuts if cuts[-1] == len(data) else [*cuts, len(data)]
