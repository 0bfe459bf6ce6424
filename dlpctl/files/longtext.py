"""Check and mask one long text in blocks: what `FileChecker` does with any file, without an object
for each of its findings.

Findings are columns of numbers. The text is masked block by block, cut where its format may be
cut, and the copy is searched block by block, both by as many processes as there are processors.
What is out of the ordinary, such as tokens, rules that count, or a copy that still shows a value,
is left to the general way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, islice
from operator import ne, sub
from typing import TYPE_CHECKING, cast

from dlpctl.detect.packed import PackedFindings
from dlpctl.errors import FormatError
from dlpctl.files.decided import REJECTED, DecidedFindings
from dlpctl.files.finding import scan_labelled
from dlpctl.files.longcopy import CLEAN, BlockMasking, ValueSearch
from dlpctl.forked import in_order
from dlpctl.formats.discovery import format_named
from dlpctl.formats.needles import Needles
from dlpctl.formats.source import Readable, TextFormat
from dlpctl.formats.verify import Verification, Written, count_values
from dlpctl.masking.already_masked import is_already_masked
from dlpctl.masking.apply import Span
from dlpctl.masking.leaks import Value, words_among
from dlpctl.masking.repeats import OpenText, Repeats
from dlpctl.policy.decide import FindingDecision, Verdict
from dlpctl.types import Action, Category, Decision, Finding

if TYPE_CHECKING:
    from dlpctl.files.finding import Finder
    from dlpctl.formats.files import Files, Node
    from dlpctl.formats.interface import Document, View
    from dlpctl.masking.operators import Masker
    from dlpctl.policy.decide import PolicyDecision
    from dlpctl.preflight import Checker

LONG = 1 << 18
"""Characters from which on a text is checked in blocks."""
BLOCK = 1 << 17
_LONGEST = 255
_CHUNK = 1 << 12
"""Findings that are decided on together."""
_STRICTNESS = list(Decision)
_DECISIONS = {
    Action.ALLOW: Decision.ALLOWED,
    Action.MASK: Decision.ALLOWED_WITH_MASKING,
    Action.BLOCK: Decision.BLOCKED,
}
"""What a verdict makes of the decision on all findings."""
_new = tuple.__new__


class LongText:
    """A file that is one long text, with what is found in it."""

    def __init__(self, checker: Checker, node: Node, found: PackedFindings) -> None:
        self.checker = checker
        self._node = node
        self.text = node.document.segments[0].text
        self.found = found
        self._verdicts = b""
        """The number of the verdict on each finding."""
        self._listed: list[Verdict] = []
        self._hidden: dict[tuple[str, Category], set[str]] = {}
        """The values that must not stay, by their types."""
        self._of_type: dict[str, Verdict] = {}
        """The verdict on the last such value of each type."""

    @classmethod
    def of(cls, checker: Checker, node: Node) -> LongText | None:
        """Search a file; return None for what is no long text, or not as simple as one.

        Otherwise the views of columns, which were searched, are gone.
        """
        found = None if checker.counts else search_long(node, checker)
        if found is None:
            return None
        del node.document.views[1:]
        return cls(checker, node, found)

    def decide(self) -> PolicyDecision:
        ruling = self.checker.ruling("", [])
        found = self.found
        if self.checker.excepts:
            self._verdicts = bytes(map(self._number_of_value, found))
        else:
            self._verdicts = self._by_pattern()
        decision = ruling.decision
        for number in sorted({*self._verdicts} - {REJECTED}):
            decision = max(decision, _DECISIONS[self._listed[number].action], key=_STRICTNESS.index)
        self._hide()
        packed = DecidedFindings(self._node, found, self._verdicts, self._listed)
        return ruling._replace(decision=decision, ruled=packed)

    def _number_of_value(self, finding: Finding) -> int:
        ruled = self.checker.ruling(self.text, [finding]).ruled
        return self._number_of(ruled[0].verdict) if ruled else REJECTED

    def _by_pattern(self) -> bytes:
        """Decide once for each pattern and score; processes tell what is masked already."""
        found, text = self.found, self.text
        sorts = {pattern: found.sort_of(pattern) for pattern in set(found.patterns)}
        numbers = {}
        for pattern, score in set(zip(found.patterns, found.scores, strict=True)):
            name, category, pattern_id = sorts[pattern]
            verdict = self.checker.verdict(Finding(name, category, 0, 0, score, pattern_id))
            numbers[pattern, score] = REJECTED if verdict is None else self._number_of(verdict)

        def block(task: bytes) -> bytes:
            some = slice(int(task) * _CHUNK, int(task) * _CHUNK + _CHUNK)
            columns = found.starts[some], found.ends[some], found.scores[some], found.patterns[some]
            return bytes(
                REJECTED
                if is_already_masked(*sorts[pattern][:2], text[start:end])
                else numbers[pattern, score]
                for start, end, score, pattern in zip(*columns, strict=True)
            )

        count = -(-len(found) // _CHUNK)
        return b"".join(in_order(count, _number, block, self.checker.processes))

    def _number_of(self, verdict: Verdict) -> int:
        if verdict not in self._listed:
            self._listed.append(verdict)
        return self._listed.index(verdict)

    def _hide(self) -> None:
        """Remember the values that must not stay."""
        found, text, hides = self.found, self.text, self._hides()
        hidden = {
            pattern: self._hidden.setdefault(found.sort_of(pattern)[:2], set())
            for pattern in set(found.patterns)
        }
        spans = zip(found.starts, found.ends, found.patterns, self._verdicts, strict=True)
        for start, end, pattern, number in spans:
            if hides[number]:
                values, value = hidden[pattern], text[start:end]
                if value not in values:
                    values.add(value)
                    self._of_type[found.sort_of(pattern)[0]] = self._listed[number]

    def _hides(self) -> list[bool]:
        """Tell of each verdict's number whether it hides a finding."""
        hides = [verdict.action is not Action.ALLOW for verdict in self._listed]
        return [*hides, *[False] * (REJECTED + 1 - len(hides))]

    def mask(
        self, files: Files, name: str, masker: Masker, stage: Callable[[str], None]
    ) -> tuple[bytes, Verification] | None:
        """Return a copy without what must not stay, and the proof; None where the general way has
        to do it.
        """
        stage("masking")
        chosen = cast("TextFormat", format_named(self._node.document.format))
        decoded = chosen.decoded(self._node.data)
        parts = chosen.parts(self.text, BLOCK)
        if parts is None or decoded.codec is None or decoded.text != self.text:
            return None
        if any(operator == "token" for operator in self._operators()):
            return None  # a single process has to number them
        masking = BlockMasking(self, parts, self._repeated(), masker, decoded.codec)
        written: set[str] = set()
        pieces = [self._node.data[: decoded.runs[0].byte]]
        for result in in_order(masking.count, _number, masking.block, self.checker.processes):
            made, _, piece = result.partition(b"\n")
            written.update(json.loads(made))
            pieces.append(piece)
        copy = b"".join(pieces)
        del pieces, masking
        stage("verifying")
        return self._verified(files, name, copy, Written(written))

    def _operators(self) -> list[str]:
        """Return the operator of each verdict."""
        sample = Finding("", Category.CUSTOM, 0, 0, 0.0, "")
        verdicts = [FindingDecision(sample, verdict) for verdict in self._listed]
        return [operator for _, operator in self.checker.operators(verdicts)]

    def hidden_spans(self, low: int, high: int, offset: int) -> Iterator[Span]:
        """Return what `hidden_in` does, as spans with their operators."""
        operators, hides, hidden = self._operators(), self._hides(), self._hidden
        text, some = self.text, slice(low, high)
        found, sort_of = self.found, self.found.sort_of
        columns = found.starts[some], found.ends[some], found.patterns[some], self._verdicts[some]
        for start, end, pattern, number in zip(*columns, strict=True):
            name, category, _ = sort_of(pattern)
            if hides[number] or (
                number != REJECTED and text[start:end] in hidden.get((name, category), ())
            ):
                where = start - offset, end - offset
                yield _new(Span, (*where, name, category, operators[number]))

    def hidden_in(self, low: int, high: int, offset: int = 0) -> Iterator[FindingDecision]:
        """Findings that must not stay, of those from one number to before another, as if the text
        started at the offset.
        """
        listed, hides, text, hidden = self._listed, self._hides(), self.text, self._hidden
        findings = self.found.between(low, high, offset)
        for finding, number in zip(findings, self._verdicts[low:high], strict=True):
            if hides[number] or (
                number != REJECTED
                and text[finding.start + offset : finding.end + offset]
                in hidden.get((finding.type, finding.category), ())
            ):
                yield _new(FindingDecision, (finding, listed[number]))

    def _repeated(self) -> list[FindingDecision]:
        """The other places of the values that must not stay."""
        values = {text for texts in self._hidden.values() for text in texts}
        opened = OpenText(self.text, self._hidden_spans(), max(map(len, values), default=0))
        values = set(filter(opened.may_hold, values)) if opened.words else set()
        originals: dict[Value, Finding] = {}
        for finding in self._hidden_among(values) if values else ():
            value = Value(finding.type, finding.category, self.text[finding.start : finding.end])
            originals.setdefault(value, finding)
        return [
            FindingDecision(one, self._of_type[one.type])
            for one in Repeats(originals).within(opened)
        ]

    def _hidden_among(self, texts: set[str]) -> Iterator[Finding]:
        """The findings that their verdicts hide and whose values are among these."""
        found, text, hides = self.found, self.text, self._hides()
        spans = zip(found.starts, found.ends, self._verdicts, strict=True)
        for at, (start, end, number) in enumerate(spans):
            if hides[number] and text[start:end] in texts:
                yield found[at]

    def _hidden_spans(self) -> Iterator[tuple[int, int]]:
        found, hides = self.found, self._hides()
        if any(verdict.action is Action.ALLOW for verdict in self._listed):
            for one, _ in self.hidden_in(0, len(found)):
                yield one.start, one.end
            return
        for start, end, number in zip(found.starts, found.ends, self._verdicts, strict=True):
            if hides[number]:
                yield start, end

    def _verified(
        self, files: Files, name: str, copy: bytes, written: Written
    ) -> tuple[bytes, Verification] | None:
        try:
            node = files.open(copy, name)
        except FormatError:
            return None
        if node.document.format != self._node.document.format or not _is_simple(node):
            return None
        found = _search(self.checker, node.document)
        if found is None or self._shows_more(node.document.segments[0].text, found, written):
            return None
        del node.document.views[1:], found
        plain: set[str] = set()
        words: set[str] = set()
        for (type_name, _), texts in self._hidden.items():
            spelled = words_among(type_name, texts)
            words |= spelled
            plain |= texts - spelled
        self._hidden = {}
        needles = Needles(plain, words)
        del plain, words
        count = count_values(needles)
        search = ValueSearch(needles, node, files, BLOCK)
        for result in in_order(search.count, _number, search.block, self.checker.processes):
            if result != CLEAN:
                return None
        return copy, Verification(count, 1, (), tuple(node.uninspected()))

    def _shows_more(self, text: str, found: Sequence[Finding], written: Written) -> bool:
        """Tell whether something that must not stay is found in a copy, but for replacements."""
        for chunk in _chunks(found):
            for finding, verdict in self.checker.ruling(text, chunk).ruled:
                value = text[finding.start : finding.end]
                hidden = self._hidden.get((finding.type, finding.category), ())
                if (
                    verdict.action is not Action.ALLOW or value in hidden
                ) and not written.is_within(text, finding.start, finding.end):
                    return True
        return False


def search_long(node: Node, finder: Finder) -> PackedFindings | None:
    """Return what is found in a file that is one long text; None for any other file."""
    if len(node.data) < LONG or not _is_simple(node):
        return None
    return _search(finder, node.document)


def _is_simple(node: Node) -> bool:
    """Tell whether a file is one long text without escapes, shown as it is, of which other views
    only repeat the cells of columns.
    """
    document = node.document
    if len(document.segments) != 1 or node.others or document.children or document.uninspected:
        return False
    (segment,) = document.segments
    first, *others = document.views
    return (
        isinstance(segment.anchor, Readable)
        and segment.anchor.is_verbatim
        and isinstance(format_named(document.format), TextFormat)
        and not first.context
        and list(first.pieces()) == [(0, 0, len(segment.text))]
        and all(view.context and view.repeats for view in others)
    )


def _search(finder: Finder, document: Document) -> PackedFindings | None:
    """Return what is found in a text and under the labels of its columns; None where that
    overlaps.
    """
    first, *columns = document.views
    seen = finder.scan(first.text)
    found = seen if isinstance(seen, PackedFindings) else PackedFindings.of(seen)
    if not columns:
        return found
    spans = _Spans(len(first.text), found)
    more: list[Finding] = []
    for view in columns:
        for one in scan_labelled(view, spans, finder.scan):
            pieces = view.pieces_of(one.start, one.end)
            if len(pieces) > 1:
                return None
            more += (one._replace(start=piece.start, end=piece.end) for piece in pieces)
    return found.with_others(sorted(more, key=_order)) if more else found


def _number(number: int) -> bytes:
    return b"%d" % number


def _order(finding: Finding) -> tuple[int, float]:
    return finding.start, -finding.score


class _Spans:
    """The spans of findings, which do not overlap."""

    def __init__(self, size: int, found: PackedFindings) -> None:
        self._lengths = bytearray(size)
        self._long: dict[int, int] = {}
        for start, end in zip(found.starts, found.ends, strict=True):
            if end - start < _LONGEST:
                self._lengths[start] = end - start
            else:
                self._long[start] = end

    def outside(self, view: View, cells: Sequence[str]) -> list[str]:
        """Return the cells of a view, each at its place in the text, that are not one value."""
        _, _, starts, ends = view.columns
        other = map(ne, map(sub, ends, starts), map(self._lengths.__getitem__, starts))
        return [
            cell
            for cell, start, end in compress(zip(cells, starts, ends, strict=False), other)
            if not self._holds(start, end) and not self._holds(start + 1, end - 1)
        ]

    def _holds(self, start: int, end: int) -> bool:
        if 0 < end - start < _LONGEST:
            return self._lengths[start] == end - start
        return self._long.get(start) == end


def _chunks(found: Sequence[Finding]) -> Iterator[list[Finding]]:
    findings = iter(found)
    while chunk := list(islice(findings, _CHUNK)):
        yield chunk
