"""Turn content into results: findings with lines and columns, without values."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b, sha256
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from dlpctl.config.locations import EXCEPTIONS_FILE
from dlpctl.detect import blocks
from dlpctl.detect.binaries import scan_strings
from dlpctl.detect.possible import count_possible
from dlpctl.scan.excerpts import Excerpts
from dlpctl.scan.places import Places, TextPlaces
from dlpctl.scan.results import Result
from dlpctl.scan.source_code import JUDGED, is_source
from dlpctl.system.forked import in_order
from dlpctl.texts.binaries import strings_of
from dlpctl.types import IN_BINARIES, Finding

if TYPE_CHECKING:
    from dlpctl.detect.allow import AllowList
    from dlpctl.detect.engine import Detector

_new = tuple.__new__
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_MANY = 1 << 12
"""The number of findings in one content from which on results are made in parts."""
_IDENTITY = Result._fields.index("identity") - 1
"""The index of the identity among the fields after the path."""


class Found(NamedTuple):
    """The findings in one content."""

    results: Iterable[Result]
    accepted: int = 0
    """Findings that the allow list accepts."""
    possible: int = -1
    """Findings that count only with high sensitivity; -1 if they were not counted."""


NOTHING = Found([])


class Ending(NamedTuple):
    """The end of a part of a content."""

    lines: int
    """The number of line ends in the part."""
    characters: int
    carry: int
    """The number of characters after the last line end, or of all characters if there is none."""
    bytes: int


NO_ENDING = Ending(0, 0, 0, 0)


class Examiner:
    """Searches contents. Each process has one; it keeps no text."""

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
        """`excerpts` is the number of findings of each type that are reported with their lines."""
        self.detector = detector
        self.min_score = min_score
        self._allow = allow
        self._keys = tuple(keys)
        self._show_values = show_values
        self._excerpts = excerpts
        self._excerpts_left: dict[str, int] = {}
        self.identifies_values = False
        """True for a history, which repeats contents: results then get a `value_id`."""
        self.counts_possible = False
        """True if short texts are searched again with high sensitivity, to count its findings."""
        self._labels: dict[str, str] = {}
        self._run_key = os.urandom(16)

    def __getstate__(self) -> dict[str, Any]:
        made = {"_in_binaries", "_without_names"}  # these share the detector's memory
        return {name: each for name, each in self.__dict__.items() if name not in made}

    @cached_property
    def _without_names(self) -> Detector:
        return self.detector if self.detector.names_wanted else self.detector.without_names()

    @cached_property
    def _in_binaries(self) -> Detector:
        return self.detector.for_categories(IN_BINARIES)

    def _detector_for(self, path: str, head: bytes) -> Detector:
        """Return the detector for a file. In source code, nearly every name is an author's, so
        names are not searched.
        """
        return self._without_names if is_source(path, head) else self.detector

    def scan(self, text: str, encoded: bytes | None = None) -> Sequence[Finding]:
        """Find values in a text that is part of a document."""
        return blocks.scan(self.detector, text, self.min_score, encoded)

    def scan_binary(self, text: str) -> Sequence[Finding]:
        """Find values in the strings of a binary file."""
        return scan_strings(self._in_binaries, text.encode(), self.min_score)

    def text(self, path: str, data: bytes) -> Found:
        """Return the findings in a text that is UTF-8, or nearly so."""
        if path.endswith(EXCEPTIONS_FILE):
            from dlpctl.scan.baseline import without_bookkeeping

            data = without_bookkeeping(data)
        detector = self._detector_for(path, data)
        findings = blocks.scan_bytes(detector, data, self.min_score)
        found = NOTHING
        if findings:
            text = data.decode("utf-8", "surrogateescape")
            if len(text) != len(data):
                findings = _in_characters(data, findings)
            found = self.located_results(path, TextPlaces(text, findings))
        if not self.counts_possible:
            return found
        return found._replace(possible=count_possible(detector, data, self.min_score))

    def decoded(self, path: str, text: str) -> Found:
        head = text[:JUDGED].encode("utf-8", "replace")
        findings = blocks.scan(self._detector_for(path, head), text, self.min_score)
        return self.located_results(path, TextPlaces(text, findings))

    def binary(self, path: str, data: bytes) -> Found:
        """Return the findings in the strings of a binary file, with byte positions."""
        strings = strings_of(data)
        found = scan_strings(self._in_binaries, strings, self.min_score)
        if not found:
            return NOTHING
        placed = self.located_results(path, TextPlaces(strings.decode("ascii"), found))
        return placed._replace(results=[_by_byte(each) for each in placed.results])

    @property
    def margin(self) -> int:
        """Return the number of bytes before and after a part that its findings may depend on."""
        return 2 * self.detector.widest + 8

    def part(
        self, path: str, data: bytes, first: int, size: int, *, binary: bool
    ) -> tuple[Found, Ending]:
        """Return the findings that start in a part: `size` bytes from `first` on in `data`.

        Positions are relative to the part; the rest of `data` is its margins.
        """
        while first and not binary and data[0] & 0xC0 == 0x80:
            data = data[1:]  # the margin starts within a character
            first -= 1
        if binary:
            strings = strings_of(data)
            found_anywhere = scan_strings(self._in_binaries, strings, self.min_score)
            data = strings
        else:
            found_anywhere = self._detector_for(path, b"").scan_bytes(data, self.min_score)
        own = data[first : first + size]
        findings = [each for each in found_anywhere if first <= each.start < first + size]
        ending = Ending(
            own.count(b"\n"), _characters(own), _characters(own[own.rfind(b"\n") + 1 :]), len(own)
        )
        if not findings:
            return NOTHING, ending
        text = data.decode("utf-8", "surrogateescape")
        if len(text) != len(data):
            findings = _in_characters(data, findings)
        found = self.located_results(path, TextPlaces(text, findings))
        before, lines = _characters(data[:first]), data.count(b"\n", 0, first)
        moved = map(_moved, found.results, repeat(lines), repeat(before))
        return found._replace(results=moved), ending

    def located_results(self, path: str, located: Places) -> Found:
        """Return findings as results, without those that the allow list accepts."""
        numbers = self._kept(located)
        results = self._identified(path, self._rows(path, located, numbers))
        accepted = len(located) - len(numbers)
        return Found(results if len(numbers) > _MANY else list(results), accepted)

    def _kept(self, located: Places) -> Sequence[int]:
        """Return the numbers of the findings that are not accepted."""
        accepts = self._allow.acceptor(located.text)
        if accepts is None:
            return range(len(located))
        findings = map(located.finding, range(len(located)))
        return [
            number
            for number, finding in enumerate(findings)
            if not accepts(finding, located.value(number, finding))
        ]

    def _rows(self, path: str, located: Places, numbers: Sequence[int]) -> Iterator[list[Any]]:
        """Yield the fields of results after the path; large numbers are divided among processes."""
        leave = self.detector.leave
        processes = leave.processes() if leave and len(numbers) > _MANY else 1
        parts = [numbers[first : first + _MANY] for first in range(0, len(numbers), _MANY)]
        if processes < 2:
            for part in parts:
                yield from self._made(path, located, part)
            return

        def make(task: bytes) -> bytes:
            return json.dumps([*self._made(path, located, parts[int(task)])]).encode()

        for made in in_order(len(parts), lambda number: b"%d" % number, make, processes):
            yield from json.loads(made)

    def _made(self, path: str, located: Places, numbers: Iterable[int]) -> Iterator[list[Any]]:
        from dlpctl.operators.partial import sample

        def shown(finding: Finding) -> str | None:
            value = located.text[finding.start : finding.end]
            return value if self._show_values else sample(finding.type, finding.category, value)

        excerpts = (
            Excerpts(located, shown) if self._excerpts and isinstance(located, TextPlaces) else None
        )
        digests: dict[str, str] = {}  # the rows of a table are alike without their values
        for number in numbers:
            finding = located.finding(number)
            type_name, category, _, _, score, pattern_id, locator = finding
            value = located.value(number, finding)
            position = located.position(number, finding)
            named = f"{path}\0{locator}" if locator and not locator.startswith("line ") else path
            outline = f"{named}\0{pattern_id}\0{located.outline(finding)}"
            identity = digests.get(outline)
            if identity is None:
                digest = sha256(outline.encode("utf-8", "surrogateescape"))
                identity = digests[outline] = digest.hexdigest()[:32]
            yield [
                *position[:6],
                type_name,
                category.value,
                score,
                pattern_id,
                self._label(pattern_id),
                value if self._show_values else sample(type_name, category, value),
                identity,
                self._fingerprint(finding, value) if self._keys else "",
                position.inner,
                "",
                "",
                self._value_id(value) if self.identifies_values else "",
                *(excerpts.of(finding) if excerpts and self._wants(type_name) else ("", 0)),
            ]

    @staticmethod
    def _identified(path: str, rows: Iterable[list[Any]]) -> Iterator[Result]:
        """Yield results; findings with the same identity are numbered."""
        seen: dict[str, int] = {}
        for row in rows:
            identity = row[_IDENTITY]
            seen[identity] = again = seen.get(identity, 0) + 1
            if again > 1:
                row[_IDENTITY] = f"{identity}-{again}"
            yield _new(Result, (path, *row))

    def _wants(self, type_name: str) -> bool:
        """Return whether to report the line of a finding, and count the finding."""
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


def _in_characters(data: bytes, findings: Iterable[Finding]) -> list[Finding]:
    """Convert findings from byte positions in `data` to character positions."""
    placed: list[Finding] = []
    position = characters = 0
    for finding in findings:
        start = characters + len(data[position : finding.start].decode("utf-8", "surrogateescape"))
        end = start + len(data[finding.start : finding.end].decode("utf-8", "surrogateescape"))
        position, characters = finding.end, end
        placed.append(finding._replace(start=start, end=end))
    return placed


class Parts:
    """Converts results of consecutive parts to positions in the complete content."""

    def __init__(self, *, binary: bool = False) -> None:
        self._lines = self._characters = self._carry = self._bytes = 0
        self._binary = binary

    def located_results(
        self, results: Iterable[Result], ending: Ending, first: int | None = None
    ) -> Iterator[Result]:
        """Yield results; take them before those of the next part.

        `first` is the byte offset of the part; there are only zeros between two parts.
        """
        if first is not None:
            hole = first - self._bytes
            self._characters += hole
            self._carry += hole
            self._bytes = first + ending.bytes
        yield from map(self._placed, results)
        lines, characters, carry, _ = ending
        self._carry = carry if lines else self._carry + characters
        self._lines += lines
        self._characters += characters

    def _placed(self, result: Result) -> Result:
        carry = self._carry
        placed = result._replace(
            line=result.line + self._lines,
            column=result.column + (carry if result.line == 1 else 0),
            end_line=result.end_line + self._lines,
            end_column=result.end_column + (carry if result.end_line == 1 else 0),
            start=result.start + self._characters,
            end=result.end + self._characters,
        )
        return _by_byte(placed) if self._binary else placed


def _by_byte(result: Result) -> Result:
    """Return a result with a byte position, since binary content has no lines."""
    return result._replace(
        line=1, column=1, end_line=1, end_column=1, inner=f"byte {result.start:,}"
    )


def _moved(result: Result, lines: int, characters: int) -> Result:
    """Return a result whose position is moved by lines and characters."""
    line, end_line = result.line - lines, result.end_line - lines
    start, end = result.start - characters, result.end - characters
    return result._replace(
        line=line,
        column=start + 1 if line == 1 else result.column,
        end_line=end_line,
        end_column=end + 1 if end_line == 1 else result.end_column,
        start=start,
        end=end,
    )


def _characters(data: bytes) -> int:
    """Return the number of characters that start in the data."""
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATIONS))
