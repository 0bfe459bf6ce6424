"""The findings of a long file with their verdicts, as columns of numbers, for reports."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, overload

from dlpctl.policy.decide import FindingDecision, PackedDecisions, Tally, Verdict
from dlpctl.texts.positions import positions
from dlpctl.types import Finding

if TYPE_CHECKING:
    from dlpctl.detect.packed import PackedFindings
    from dlpctl.files.names import PlaceNames
    from dlpctl.files.sections import Sections

REJECTED, REPEATED = 255, 254
"""Used instead of a verdict's number: the finding is rejected, or it repeats another finding."""
_new = tuple.__new__


class DecidedFindings(PackedDecisions):
    """The findings that count, each with its verdict; the objects are created on access.

    Positions refer to a list of all values, one below the other.
    """

    def __init__(
        self,
        sections: Sections,
        found: PackedFindings,
        verdicts: bytes,
        listed: Sequence[Verdict],
        names: PlaceNames,
    ) -> None:
        self._sections = sections
        self._names = names
        self.found = found
        self._verdicts = verdicts
        self._listed = listed

    @property
    def findings(self) -> LocatedFindings:
        return LocatedFindings(self)

    def tallies(self) -> list[Tally]:
        found, tallies = self.found, dict[tuple[int, int], Tally]()
        counts = Counter(zip(found.sorts, self._verdicts, strict=True))
        for (sort, verdict), count in counts.items():
            if verdict < REPEATED:
                key = found.listed[sort].pattern, verdict
                known = tallies.get(key)
                tallies[key] = (
                    known._replace(occurrences=known.occurrences + count)
                    if known
                    else Tally(found[self._first(sort, verdict)], self._listed[verdict], count)
                )
        return list(tallies.values())

    def _first(self, sort: int, verdict: int) -> int:
        at = self.found.sorts.index(sort)
        while self._verdicts[at] != verdict:
            at = self.found.sorts.index(sort, at + 1)
        return at

    def __len__(self) -> int:
        return len(self._verdicts) - sum(map(self._verdicts.count, (REJECTED, REPEATED)))

    def __iter__(self) -> Iterator[FindingDecision]:
        listed = self._listed
        at = 0
        for finding, number in zip(self.found, self._verdicts, strict=True):
            name, category, start, end, score, pattern_id, _ = finding
            if number < REPEATED:
                placed = _new(
                    Finding, (name, category, at, at + end - start, score, pattern_id, None)
                )
                yield _new(FindingDecision, (placed, listed[number]))
            if number != REPEATED:
                at += end - start + 1

    def locations(self) -> Iterator[str]:
        """Return the locations of the findings, for display."""
        # A line number contains no name.
        if self._sections.source:
            return self._locations()
        return self._names.each_shown(self._locations)

    def _locations(self) -> Iterator[str]:
        counted = map(REPEATED.__gt__, self._verdicts)
        return compress(self._sections.locations(self.found.starts), counted)

    def places_by_type(self) -> dict[str, Sequence[str]]:
        """Return the distinct locations of the findings of each type."""
        found, source = self.found, self._sections.source
        if source is None:
            by_type: dict[str, dict[str, None]] = {}
            counted = compress(found.sorts, map(REPEATED.__gt__, self._verdicts))
            for sort, location in zip(counted, self.locations(), strict=True):
                by_type.setdefault(found.listed[sort].type, {})[location] = None
            return {name: list(distinct) for name, distinct in by_type.items()}
        line_ends, size = source.line_ends, len(self._sections.text)
        names = [sort.type for sort in found.listed]
        starts = {name: positions(size) for name in names}
        """The position of one character in each line."""
        line_end_of = dict.fromkeys(names, -1)
        """The end of the last line of each type."""
        columns = zip(found.sorts, found.starts, self._verdicts, strict=True)
        for sort, start, number in columns:
            if number < REPEATED and start > line_end_of[name := names[sort]]:
                line = bisect_left(line_ends, start)
                line_end_of[name] = line_ends[line] if line < len(line_ends) else size
                starts[name].append(start)
        return {name: _Places(self._sections, first) for name, first in starts.items() if first}

    @overload
    def __getitem__(self, at: int) -> FindingDecision: ...
    @overload
    def __getitem__(self, at: slice) -> list[FindingDecision]: ...
    def __getitem__(self, at: int | slice) -> FindingDecision | list[FindingDecision]:
        return list(self)[at]


class LocatedFindings(Sequence[Finding]):
    """The findings among decisions."""

    def __init__(self, decided: DecidedFindings) -> None:
        self._decided = decided

    def __len__(self) -> int:
        return len(self._decided)

    def __iter__(self) -> Iterator[Finding]:
        for (finding, _), location in zip(self._decided, self._decided.locations(), strict=True):
            yield _new(Finding, (*finding[:6], location))

    @overload
    def __getitem__(self, at: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice) -> list[Finding]: ...
    def __getitem__(self, at: int | slice) -> Finding | list[Finding]:
        return list(self)[at]

    def places_by_type(self) -> dict[str, Sequence[str]]:
        """Return the distinct locations of the findings of each type."""
        return self._decided.places_by_type()


class _Places(Sequence[str]):
    """The locations of some lines, for display."""

    def __init__(self, sections: Sections, starts: Sequence[int]) -> None:
        self._section = sections.all[0]
        self._starts = starts
        """The position of one character in each line."""

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return list(map(self._section.location, self._starts[at]))
        return self._section.location(self._starts[at])
