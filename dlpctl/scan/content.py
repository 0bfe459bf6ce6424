"""Turn content into results: findings with lines and columns, without values and accepted
findings.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.config.locations import EXCEPTIONS_FILE
from dlpctl.detect import blocks
from dlpctl.scan.binaries import strings_of
from dlpctl.scan.excerpts import Excerpts
from dlpctl.scan.results import Result
from dlpctl.scan.sources import JUDGED, is_source
from dlpctl.types import IN_BINARIES

if TYPE_CHECKING:
    from dlpctl.detect.allow import AllowList
    from dlpctl.detect.engine import Detector
    from dlpctl.types import Finding

_new = tuple.__new__
_AROUND = 60
"""Characters before and after a value, in its line, that identify the finding between runs."""
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_MOST_DIGESTS = 1_000


class Found(NamedTuple):
    """The findings in one content."""

    results: list[Result]
    accepted: int = 0
    """Findings that the allow list accepts."""


NOTHING = Found([])


class Ending(NamedTuple):
    """The end of a part of a content."""

    lines: int
    """Line ends in it."""
    characters: int
    carry: int
    """Characters after its last line end, or all."""
    bytes: int


NO_ENDING = Ending(0, 0, 0, 0)


class Examiner:
    """Searches contents. There is one in each process; it keeps no text."""

    def __init__(
        self,
        detector: Detector,
        min_score: float,
        allow: AllowList,
        *,
        keys: Sequence[bytes] = (),
        show_values: bool = False,
        excerpts: int = 0,
    ) -> None:
        """`excerpts` is the number of findings of a type that get their lines."""
        self.detector = detector
        self.min_score = min_score
        self._allow = allow
        self._keys = tuple(keys)
        self._show_values = show_values
        self._excerpts = excerpts
        self._excerpts_left: dict[str, int] = {}
        self._without_names = detector if detector.names_wanted else detector.without_names()
        self.tells_values_apart = False
        """Whether results get a `value_id`: a history repeats its contents."""
        self._labels: dict[str, str] = {}
        self._run_key = os.urandom(16)

    @cached_property
    def _in_binaries(self) -> Detector:
        return self.detector.for_categories(IN_BINARIES)

    def _detector_for(self, path: str, head: bytes) -> Detector:
        """Return the detector for a file: in source code nearly every name is an author's."""
        return self._without_names if is_source(path, head) else self.detector

    def scan(self, text: str) -> Sequence[Finding]:
        """Find values in a text that is part of a document."""
        return blocks.scan(self.detector, text, self.min_score)

    def scan_binary(self, text: str) -> Sequence[Finding]:
        """The same for the strings of a binary file."""
        return self._in_binaries.scan(text, self.min_score)

    def text(self, path: str, data: bytes) -> Found:
        """Return the findings in a text in UTF-8, or nearly so."""
        if path.endswith(EXCEPTIONS_FILE):
            from dlpctl.scan.baseline import without_bookkeeping

            data = without_bookkeeping(data)
        findings = blocks.scan_bytes(self._detector_for(path, data), data, self.min_score)
        if not findings:
            return NOTHING
        text = data.decode("utf-8", "surrogateescape")
        if len(text) != len(data):
            findings = _in_characters(data, findings)
        return self.place(path, text, findings)

    def decoded(self, path: str, text: str) -> Found:
        """Return the findings in a text that was decoded."""
        head = text[:JUDGED].encode("utf-8", "replace")
        findings = blocks.scan(self._detector_for(path, head), text, self.min_score)
        return self.place(path, text, findings)

    def binary(self, path: str, data: bytes) -> Found:
        """Return the findings in the strings of a file that is not text; places are bytes."""
        strings = strings_of(data)
        found = self._in_binaries.scan_bytes(strings, self.min_score)
        if not found:
            return NOTHING
        placed = self.place(path, strings.decode("ascii"), found)
        return placed._replace(results=[_by_byte(one) for one in placed.results])

    @property
    def margin(self) -> int:
        """Bytes before and after a part that its findings may depend on."""
        return 2 * self.detector.widest + 8

    def part(
        self, path: str, data: bytes, first: int, size: int, *, binary: bool
    ) -> tuple[Found, Ending]:
        """Return the findings that start in a part: `size` bytes from `first` on in `data`.

        Positions are relative to the part; the rest of `data` is its margins.
        """
        detector = self._in_binaries if binary else self._detector_for(path, b"")
        if binary:
            data = strings_of(data)
        while first and data[0] & 0xC0 == 0x80:  # the margin starts within a character
            data = data[1:]
            first -= 1
        own = data[first : first + size]
        findings = [
            one
            for one in detector.scan_bytes(data, self.min_score)
            if first <= one.start < first + size
        ]
        ending = Ending(
            own.count(b"\n"), _characters(own), _characters(own[own.rfind(b"\n") + 1 :]), len(own)
        )
        if not findings:
            return NOTHING, ending
        text = data.decode("utf-8", "surrogateescape")
        if len(text) != len(data):
            findings = _in_characters(data, findings)
        found = self.place(path, text, findings)
        before, lines = _characters(data[:first]), data.count(b"\n", 0, first)
        return found._replace(results=[_moved(one, lines, before) for one in found.results]), ending

    def place(
        self,
        path: str,
        text: str,
        findings: Sequence[Finding],
        position_of: PositionOf | None = None,
    ) -> Found:
        """Findings in a text as results, but for those that the allow list takes.

        `position_of` says where they are to be shown, where that is not their place in the text.
        """
        from dlpctl.masking.partial import sample

        def shown(finding: Finding) -> str | None:
            value = text[finding.start : finding.end]
            return value if self._show_values else sample(finding.type, finding.category, value)

        made = findings if isinstance(findings, list) else list(findings)  # at most once
        excerpts = Excerpts(text, made, shown) if self._excerpts and not position_of else None
        position_of = position_of or _Lines(text).position_of
        outlines = _Outlines(text, made)
        results: list[Result] = []
        kept = self._allow.remaining(text, made)
        kept.reverse()
        accepted = len(made) - len(kept)
        del made
        while kept:  # each makes room for its result
            finding = kept.pop()
            kind, category, start, end, score, pattern_id, place = finding
            value = text[start:end]
            position = position_of(finding)
            named = f"{path}\0{place}" if place and not place.startswith("line ") else path
            results.append(
                _new(
                    Result,
                    (
                        path,
                        *position[:6],
                        kind,
                        category.value,
                        score,
                        pattern_id,
                        self._label(pattern_id),
                        value if self._show_values else sample(kind, category, value),
                        outlines.identity(named, finding),
                        self._fingerprint(finding, value) if self._keys else "",
                        position.inner,
                        "",
                        "",
                        self._value_id(value) if self.tells_values_apart else "",
                        *(excerpts.of(finding) if excerpts and self._wants(kind) else ("", 0)),
                    ),
                )
            )
        return Found(results, accepted)

    def _wants(self, type_name: str) -> bool:
        """Return whether a finding gets its line, and count it."""
        left = self._excerpts_left.get(type_name, self._excerpts)
        self._excerpts_left[type_name] = left - 1
        return left > 0

    def _label(self, pattern_id: str) -> str:
        label = self._labels.get(pattern_id)
        if label is None:
            label = self._labels[pattern_id] = self.detector.label(pattern_id)
        return label

    def _value_id(self, value: str) -> str:
        return blake2b(
            value.encode("utf-8", "surrogatepass"), key=self._run_key, digest_size=8
        ).hexdigest()

    def _fingerprint(self, finding: Finding, value: str) -> str:
        from dlpctl.values import fingerprint

        return " ".join(
            fingerprint(key, finding.type, value, finding.category) for key in self._keys
        )


class Position(NamedTuple):
    """The place of a result; fields as those of `Result`."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    inner: str = ""


PositionOf = Callable[["Finding"], Position]


class _Lines:
    """Lines and columns of positions, which are asked for in nearly ascending order."""

    __slots__ = ("_at", "_line", "_start", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._start = 0
        self._line = 1

    def position_of(self, finding: Finding) -> Position:
        start, end = finding.start, finding.end
        return Position(*self._place(start), *self._place(end), start, end, finding.locator or "")

    def _place(self, position: int) -> tuple[int, int]:
        text = self._text
        if position < self._at:
            self._at, self._line, self._start = 0, 1, 0
        # A line may be as long as the text: it is not searched twice.
        started = text.rfind("\n", self._at, position) + 1
        if started:
            self._line += text.count("\n", self._at, started)
            self._start = started
        self._at = position
        return self._line, position - self._start + 1


def _in_characters(data: bytes, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings at positions in bytes of `data` with positions in characters."""
    placed: list[Finding] = []
    position = characters = 0
    for finding in findings:
        start = characters + len(data[position : finding.start].decode("utf-8", "surrogateescape"))
        end = start + len(data[finding.start : finding.end].decode("utf-8", "surrogateescape"))
        position, characters = finding.end, end
        placed.append(finding._replace(start=start, end=end))
    return placed


class _Outlines:
    """The text around values in their lines, without these and all other values."""

    __slots__ = ("_digests", "_ends", "_next", "_seen", "_starts", "_text")

    def __init__(self, text: str, findings: Sequence[Finding]) -> None:
        self._text = text
        self._starts = array("q", (finding.start for finding in findings))
        self._ends = array("q", (finding.end for finding in findings))
        self._next = 0
        self._seen: dict[str, int] = {}
        self._digests: dict[str, str] = {}
        """Digests of recent outlines: the lines of a table are alike without their values."""

    def identity(self, path: str, finding: Finding) -> str:
        """Names a finding from one run to the next; findings are asked for in their order."""
        text, starts, ends = self._text, self._starts, self._ends
        start, end = finding.start, finding.end
        before = max(text.rfind("\n", max(0, start - _AROUND), start) + 1, start - _AROUND, 0)
        line_end = text.find("\n", end, end + _AROUND)
        after = min(len(text), end + _AROUND) if line_end < 0 else line_end
        while ends[self._next] <= before:
            self._next += 1
        pieces: list[str] = []
        following = self._next
        while following < len(starts) and starts[following] < after:
            pieces.append(text[before : starts[following]])
            before = ends[following]
            following += 1
        pieces.append(text[before:after])
        named = "\0".join((path, finding.pattern_id, *pieces))
        identity = self._digests.get(named)
        if identity is None:
            if len(self._digests) >= _MOST_DIGESTS:
                self._digests.clear()
            identity = sha256(named.encode("utf-8", "surrogateescape")).hexdigest()[:32]
            self._digests[named] = identity
        self._seen[identity] = again = self._seen.get(identity, 0) + 1
        return identity if again == 1 else f"{identity}-{again}"


class Parts:
    """Moves the results of parts, which come in order, to their places in the content."""

    def __init__(self, *, binary: bool = False) -> None:
        self._lines = self._characters = self._carry = self._bytes = 0
        self._binary = binary

    def place(
        self, results: Iterable[Result], ending: Ending, first: int | None = None
    ) -> list[Result]:
        """`first` is the offset of the part, in bytes; between two parts are only zeros."""
        if first is not None:
            hole = first - self._bytes
            self._characters += hole
            self._carry += hole
            self._bytes = first + ending.bytes
        placed = [self._placed(one) for one in results]
        lines, characters, carry, _ = ending
        self._carry = carry if lines else self._carry + characters
        self._lines += lines
        self._characters += characters
        return placed

    def _placed(self, one: Result) -> Result:
        carry = self._carry
        placed = one._replace(
            line=one.line + self._lines,
            column=one.column + (carry if one.line == 1 else 0),
            end_line=one.end_line + self._lines,
            end_column=one.end_column + (carry if one.end_line == 1 else 0),
            start=one.start + self._characters,
            end=one.end + self._characters,
        )
        return _by_byte(placed) if self._binary else placed


def _by_byte(one: Result) -> Result:
    """Return a result with a byte for its place, since binary content has no lines."""
    return one._replace(line=1, column=1, end_line=1, end_column=1, inner=f"byte {one.start:,}")


def _moved(one: Result, lines: int, characters: int) -> Result:
    """Return a result with positions relative to a line and a character."""
    line, end_line = one.line - lines, one.end_line - lines
    start, end = one.start - characters, one.end - characters
    return one._replace(
        line=line,
        column=start + 1 if line == 1 else one.column,
        end_line=end_line,
        end_column=end + 1 if end_line == 1 else one.end_column,
        start=start,
        end=end,
    )


def _characters(data: bytes) -> int:
    """Return the number of characters that start in the data."""
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATIONS))
