"""Check and mask one long text in blocks: what `FileChecker` does with any file, without an object
for each of its findings.

Findings are columns of numbers. The text is masked block by block, cut where its format may be
cut, and the copy is searched block by block, both by as many processes as there are processors.
What is out of the ordinary, such as tokens, rules that count, or a copy that still shows a value,
is left to the general way.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, cast, overload

from dlpctl.errors import FormatError
from dlpctl.files.finding import scan_labelled
from dlpctl.forked import in_order
from dlpctl.formats.discovery import format_named
from dlpctl.formats.encoding import Edit
from dlpctl.formats.needles import Needles
from dlpctl.formats.source import Readable, TextFormat, line_cuts, spliced
from dlpctl.formats.verify import Verification, Written, count_values
from dlpctl.masking.apply import replacements
from dlpctl.masking.leaks import OpenText, Repeats, Value, is_word
from dlpctl.policy.decide import FindingDecision
from dlpctl.types import Action, Decision, Finding

if TYPE_CHECKING:
    from dlpctl.formats.files import Files, Node
    from dlpctl.formats.interface import Document
    from dlpctl.formats.source import Parts
    from dlpctl.masking.operators import Masker
    from dlpctl.policy.decide import PolicyDecision, Verdict
    from dlpctl.preflight import Checker
    from dlpctl.types import Category

LONG = 1 << 18
"""Characters from which on a text is checked in blocks."""
BLOCK = 1 << 17
_LONGEST = 255
_REJECTED = 255
_CHUNK = 1 << 12
"""Findings that are decided on together."""
_STRICTNESS = list(Decision)


class LongText:
    """A file that is one long text, with what is found in it."""

    def __init__(self, checker: Checker, node: Node, found: Sequence[Finding]) -> None:
        self._checker = checker
        self._node = node
        self._text = node.document.segments[0].text
        self._found = found
        self._verdicts = array("B")
        """The number of the verdict on each finding."""
        self._listed: list[Verdict] = []
        self._hidden: dict[tuple[str, Category], set[str]] = {}
        """The values that must not stay, by their types."""

    @classmethod
    def of(cls, checker: Checker, node: Node) -> LongText | None:
        """Search a file; return None for what is no long text, or not as simple as one."""
        if checker.counts or not _is_simple(node):
            return None
        found = _search(checker, node.document)
        return None if found is None else cls(checker, node, found)

    def decide(self) -> tuple[str, PolicyDecision]:
        """Return the values, one below the other, and the decision on them."""
        ruling = self._checker.ruling("", [])
        decision = ruling.decision
        numbers: dict[Verdict, int] = {}
        for chunk in _chunks(self._found):
            part = self._checker.ruling(self._text, chunk)
            decision = max(decision, part.decision, key=_STRICTNESS.index)
            ruled = iter(part.ruled)
            following = next(ruled, None)
            for finding in chunk:
                if following is None or following.finding is not finding:
                    self._verdicts.append(_REJECTED)
                    continue
                number = numbers.setdefault(following.verdict, len(numbers))
                self._verdicts.append(number)
                if following.verdict.action is not Action.ALLOW:
                    values = self._hidden.setdefault((finding.type, finding.category), set())
                    values.add(self._text[finding.start : finding.end])
                following = next(ruled, None)
        self._listed = list(numbers)
        values_listed = "\n".join([self._text[one.start : one.end] for one in self._found])
        packed = DecidedFindings(self._node, self._found, self._verdicts, self._listed)
        return values_listed, ruling._replace(decision=decision, ruled=packed)

    def mask(
        self, files: Files, name: str, masker: Masker, stage: Callable[[str], None]
    ) -> tuple[bytes, Verification] | None:
        """Return a copy without what must not stay, and the proof; None where the general way has
        to do it.
        """
        stage("masking")
        chosen = cast("TextFormat", format_named(self._node.document.format))
        decoded = chosen.decoded(self._node.data)
        parts = chosen.parts(self._text, BLOCK)
        if parts is None or decoded.codec is None or decoded.text != self._text:
            return None
        masking = _Masking(self._checker, self._text, self._must_go(), masker, parts)
        if masking.makes_tokens:
            return None
        processes = self._checker.processes
        written: set[str] = set()
        pieces = [self._node.data[: decoded.runs[0].byte]]
        masking.prepare(decoded.codec)
        for result in in_order(masking.count, _number, masking.block, processes):
            made, _, piece = result.partition(b"\n")
            written.update(json.loads(made))
            pieces.append(piece)
        copy = b"".join(pieces)
        del pieces, masking
        stage("verifying")
        return self._verified(files, name, copy, Written(written))

    def _must_go(self) -> list[FindingDecision]:
        """The findings to mask, and the other places of their values."""
        hidden = [
            FindingDecision(finding, self._listed[number])
            for finding, number in zip(self._found, self._verdicts, strict=True)
            if number != _REJECTED
            and (
                self._listed[number].action is not Action.ALLOW
                or self._text[finding.start : finding.end]
                in self._hidden.get((finding.type, finding.category), ())
            )
        ]
        longest = max((one.finding.end - one.finding.start for one in hidden), default=0)
        opened = OpenText(
            self._text, ((one.finding.start, one.finding.end) for one in hidden), longest
        )
        originals: dict[Value, Finding] = {}
        verdicts: dict[str, Verdict] = {}
        for one in hidden if opened.joined else ():
            finding = one.finding
            value = Value(finding.type, finding.category, self._text[finding.start : finding.end])
            if one.verdict.action is not Action.ALLOW and value not in originals:
                verdicts[finding.type] = one.verdict
                if not opened.is_short or opened.may_hold(value):
                    originals[value] = finding
        repeated = Repeats(originals).within(opened) if originals else []
        hidden += (FindingDecision(one, verdicts[one.type]) for one in repeated)
        hidden.sort(key=lambda one: one.finding.start)
        return hidden

    def _verified(
        self, files: Files, name: str, copy: bytes, written: Written
    ) -> tuple[bytes, Verification] | None:
        try:
            node = files.open(copy, name)
        except FormatError:
            return None
        if node.document.format != self._node.document.format or not _is_simple(node, at_least=0):
            return None
        found = _search(self._checker, node.document)
        if found is None or self._shows_more(node.document.segments[0].text, found, written):
            return None
        values = [
            Value(name, category, text)
            for (name, category), texts in self._hidden.items()
            for text in texts
        ]
        needles = Needles(
            [one.text for one in values if not is_word(one)],
            [one.text for one in values if is_word(one)],
        )
        count = count_values(needles)
        del values
        search = _ValueSearch(needles, node, files)
        for result in in_order(search.count, _number, search.block, self._checker.processes):
            if result != _CLEAN:
                return None
        return copy, Verification(count, 1, (), tuple(node.uninspected()))

    def _shows_more(self, text: str, found: Sequence[Finding], written: Written) -> bool:
        """Tell whether something that must not stay is found in a copy, but for replacements."""
        for chunk in _chunks(found):
            for finding, verdict in self._checker.ruling(text, chunk).ruled:
                value = text[finding.start : finding.end]
                hidden = self._hidden.get((finding.type, finding.category), ())
                if (
                    verdict.action is not Action.ALLOW or value in hidden
                ) and not written.is_within(text, finding.start, finding.end):
                    return True
        return False


class _Masking:
    """What masks the blocks of a text. Children share it."""

    def __init__(
        self,
        checker: Checker,
        text: str,
        hidden: Sequence[FindingDecision],
        masker: Masker,
        parts: Parts,
    ) -> None:
        self._text = text
        self._masker = masker
        self._fit = parts.fit
        self._masked = list(checker.operators(hidden))
        self._starts = array("q", (one.start for one, _ in self._masked))
        self._codec = ""
        ends = array("q", accumulate((one.end for one, _ in self._masked), max))
        self._cuts = [
            cut
            for cut in parts.cuts
            if not (before := bisect_left(self._starts, cut)) or ends[before - 1] <= cut
        ]

    @property
    def makes_tokens(self) -> bool:
        """Whether tokens are given, which a single process has to number."""
        return any(operator == "token" for _, operator in self._masked)

    @property
    def count(self) -> int:
        return len(self._cuts) - 1

    def prepare(self, codec: str) -> None:
        self._codec = codec

    def block(self, task: bytes) -> bytes:
        """Mask a block; return what was written for values, and the block."""
        first, last = self._cuts[int(task) : int(task) + 2]
        low, high = bisect_left(self._starts, first), bisect_left(self._starts, last)
        text = self._text[first:last]
        masked = (
            (one._replace(start=one.start - first, end=one.end - first), operator)
            for one, operator in self._masked[low:high]
        )
        edits = [Edit(*one) for one in replacements(text, masked, self._masker)]
        made = {one.replacement for one in edits if one.replacement}
        copy = spliced(text, list(self._fit(text, edits)))
        return json.dumps(list(made)).encode() + b"\n" + copy.encode(self._codec, "replace")


_CLEAN = b"clean"


class _ValueSearch:
    """What looks for values in the blocks of a copy: in both readings of it, and in its bytes."""

    def __init__(self, needles: Needles, node: Node, files: Files) -> None:
        self._needles = needles
        self._data = node.data
        text = node.document.segments[0].text
        again = dict.fromkeys([text, *files.read_again(node.document.format, node.data)])
        longest = max(map(len, [*needles.values, *needles.words]), default=0)
        self._tasks: list[tuple[str | None, int, int]] = [
            (each, first, min(last + 4 * longest, len(each)))
            for each in again
            for first, last in pairwise(line_cuts(each, BLOCK))
        ]
        self._tasks += [
            (None, first, last + 8 * longest)
            for first, last in pairwise(_byte_cuts(node.data, BLOCK))
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
        return b"" if holds else _CLEAN


class DecidedFindings(Sequence[FindingDecision]):
    """The findings that count, each with its verdict; each is made when it is asked for.

    Their places are those of their values in a list of all values, one below the other.
    """

    def __init__(
        self,
        node: Node,
        found: Sequence[Finding],
        verdicts: array[int],
        listed: Sequence[Verdict],
    ) -> None:
        self._node = node
        self._found = found
        self._verdicts = verdicts
        self._listed = listed
        self._rejected = verdicts.count(_REJECTED)

    @property
    def findings(self) -> LocatedFindings:
        return LocatedFindings(self)

    def __len__(self) -> int:
        return len(self._verdicts) - self._rejected

    def __iter__(self) -> Iterator[FindingDecision]:
        node, document, listed = self._node, self._node.document, self._listed
        at = 0
        for finding, number in zip(self._found, self._verdicts, strict=True):
            name, category, start, end, score, pattern_id, _ = finding
            if number != _REJECTED:
                place = node.place(document, 0, start)
                placed = Finding(name, category, at, at + end - start, score, pattern_id, place)
                yield FindingDecision(placed, listed[number])
            at += end - start + 1

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
        return (one.finding for one in self._decided)

    @overload
    def __getitem__(self, at: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice) -> list[Finding]: ...
    def __getitem__(self, at: int | slice) -> Finding | list[Finding]:
        return list(self)[at]


def _is_simple(node: Node, at_least: int = LONG) -> bool:
    """Tell whether a file is one long text without escapes, shown as it is, of which other views
    only repeat the cells of columns.
    """
    document = node.document
    if len(document.segments) != 1 or node.others or document.children or document.uninspected:
        return False
    (segment,) = document.segments
    first, *others = document.views
    return (
        len(segment.text) >= at_least
        and isinstance(segment.anchor, Readable)
        and segment.anchor.is_verbatim
        and isinstance(format_named(document.format), TextFormat)
        and not first.context
        and list(first.pieces()) == [(0, 0, len(segment.text))]
        and all(view.context and view.repeats for view in others)
    )


def _search(checker: Checker, document: Document) -> Sequence[Finding] | None:
    """Return what is found in a text and under the labels of its columns; None where that
    overlaps.
    """
    first, *columns = document.views
    found = checker.scan(first.text)
    if not columns:
        return found
    spans = _Spans(len(first.text), found)
    more: list[Finding] = []
    for view in columns:
        for one in scan_labelled(view, spans, checker.scan):
            pieces = view.pieces_of(one.start, one.end)
            if len(pieces) > 1:
                return None
            more += (one._replace(start=piece.start, end=piece.end) for piece in pieces)
    if not more:
        return found
    together: list[Finding] = []
    for one in sorted([*found, *more], key=lambda finding: (finding.start, -finding.score)):
        if not together or together[-1].end <= one.start:
            together.append(one)
        elif together[-1]._replace(score=one.score) != one:
            return None
    return together


class _Spans:
    """The spans of findings, which do not overlap."""

    def __init__(self, size: int, found: Iterable[Finding]) -> None:
        self._lengths = bytearray(size)
        self._long: dict[int, int] = {}
        for one in found:
            if one.end - one.start < _LONGEST:
                self._lengths[one.start] = one.end - one.start
            else:
                self._long[one.start] = one.end

    def __contains__(self, piece: object) -> bool:
        start, end = cast("tuple[int, int, int]", piece)[1:]
        if 0 < end - start < _LONGEST:
            return self._lengths[start] == end - start
        return self._long.get(start) == end


def _chunks(found: Sequence[Finding]) -> Iterator[list[Finding]]:
    findings = iter(found)
    while chunk := list(islice(findings, _CHUNK)):
        yield chunk


def _number(number: int) -> bytes:
    return b"%d" % number


def _byte_cuts(data: bytes, size: int) -> list[int]:
    cuts = [0]
    while (place := data.find(b"\n", cuts[-1] + size) + 1) > 0:
        cuts.append(place)
    return cuts if cuts[-1] == len(data) else [*cuts, len(data)]
