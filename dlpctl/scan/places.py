"""The findings of a content with their values, positions and surrounding text, as results need
them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from dlpctl.detect.packed import PackedFindings
from dlpctl.types import Finding

_AROUND = 60
"""The number of characters around a value, in its line, that identify the finding between runs."""


class Position(NamedTuple):
    """The position of a result; the fields are those of `Result`."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    inner: str = ""


class Places:
    """Findings by number. Findings of a document are separate values without lines."""

    text = ""
    """The text whose lines may contain markers."""

    def __len__(self) -> int:
        raise NotImplementedError

    def finding(self, number: int) -> Finding:
        raise NotImplementedError

    def value(self, number: int, finding: Finding) -> str:
        raise NotImplementedError

    def position(self, number: int, finding: Finding) -> Position:
        raise NotImplementedError

    def outline(self, finding: Finding) -> str:
        """Return the text around a value in its line, without any values."""
        return "\0"


class TextPlaces(Places):
    """The findings in a text."""

    def __init__(self, text: str, findings: Sequence[Finding]) -> None:
        self.text = text
        self.findings = findings
        if isinstance(findings, PackedFindings):
            self.starts, self.ends = findings.starts, findings.ends
        else:
            self.starts = array("q", (finding.start for finding in findings))
            self.ends = array("q", (finding.end for finding in findings))
        self._at = self._line_start = 0
        self._line = 1

    def __len__(self) -> int:
        return len(self.findings)

    def finding(self, number: int) -> Finding:
        return self.findings[number]

    def value(self, number: int, finding: Finding) -> str:
        return self.text[finding.start : finding.end]

    def position(self, number: int, finding: Finding) -> Position:
        start, end = finding.start, finding.end
        first, last = self._line_and_column(start), self._line_and_column(end)
        return Position(*first, *last, start, end, finding.locator or "")

    def _line_and_column(self, position: int) -> tuple[int, int]:
        """Return line and column of a position; positions mostly ascend."""
        text = self.text
        if position < self._at:
            self._at, self._line, self._line_start = 0, 1, 0
        # A line may be as long as the text, so it is not searched twice.
        started = text.rfind("\n", self._at, position) + 1
        if started:
            self._line += text.count("\n", self._at, started)
            self._line_start = started
        self._at = position
        return self._line, position - self._line_start + 1

    def outline(self, finding: Finding) -> str:
        text, starts, ends = self.text, self.starts, self.ends
        start, end = finding.start, finding.end
        before = max(text.rfind("\n", max(0, start - _AROUND), start) + 1, start - _AROUND, 0)
        line_end = text.find("\n", end, end + _AROUND)
        after = min(len(text), end + _AROUND) if line_end < 0 else line_end
        first = bisect_right(ends, before)
        last = bisect_left(starts, after, first)
        pieces: list[str] = []
        for number in range(first, last):
            pieces.append(text[before : starts[number]])
            before = ends[number]
        pieces.append(text[before:after])
        return "\0".join(pieces)
