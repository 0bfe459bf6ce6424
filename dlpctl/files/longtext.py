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
from typing import TYPE_CHECKING, cast

from dlpctl.detect.packed import PackedFindings
from dlpctl.errors import FormatError
from dlpctl.files.decided import REJECTED, DecidedFindings
from dlpctl.files.finding import scan_labelled
from dlpctl.forked import in_order
from dlpctl.formats.discovery import format_named
from dlpctl.formats.encoding import Edit
from dlpctl.formats.needles import Needles
from dlpctl.formats.source import Readable, TextFormat, line_cuts, spliced
from dlpctl.formats.verify import Verification, Written, count_values
from dlpctl.masking.already_masked import is_already_masked
from dlpctl.masking.apply import replacements
from dlpctl.masking.leaks import OpenText, Repeats, Value, is_word
from dlpctl.policy.decide import FindingDecision, Verdict
from dlpctl.types import Action, Category, Decision, Finding

if TYPE_CHECKING:
    from dlpctl.files.finding import Finder
    from dlpctl.formats.files import Files, Node
    from dlpctl.formats.interface import Document
    from dlpctl.formats.source import Parts
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

    def __init__(self, checker: Checker, node: Node, found: Sequence[Finding]) -> None:
        self.checker = checker
        self._node = node
        self.text = node.document.segments[0].text
        self.found = found
        self._verdicts = array("B")
        """The number of the verdict on each finding."""
        self._listed: list[Verdict] = []
        self._hidden: dict[tuple[str, Category], set[str]] = {}
        """The values that must not stay, by their types."""
        self._of_type: dict[str, Verdict] = {}
        """The verdict on the last such value of each type."""

    @classmethod
    def of(cls, checker: Checker, node: Node) -> LongText | None:
        """Search a file; return None for what is no long text, or not as simple as one."""
        found = None if checker.counts else search_long(node, checker)
        return None if found is None else cls(checker, node, found)

    def decide(self) -> tuple[str, PolicyDecision]:
        """Return the values, one below the other, and the decision on them."""
        ruling = self.checker.ruling("", [])
        decision = ruling.decision
        if isinstance(self.found, PackedFindings) and not self.checker.excepts:
            self._decide_by_pattern(self.found)
        else:
            self._decide_one_by_one()
        for verdict in self._listed:
            decision = max(decision, _DECISIONS[verdict.action], key=_STRICTNESS.index)
        values_listed = "\n".join([self.text[one.start : one.end] for one in self.found])
        packed = DecidedFindings(self._node, self.found, self._verdicts, self._listed)
        return values_listed, ruling._replace(decision=decision, ruled=packed)

    def _decide_one_by_one(self) -> None:
        for chunk in _chunks(self.found):
            ruled = iter(self.checker.ruling(self.text, chunk).ruled)
            following = next(ruled, None)
            for finding in chunk:
                if following is None or following.finding is not finding:
                    self._verdicts.append(REJECTED)
                    continue
                self._verdicts.append(self._number_of(following.verdict))
                self._hide(finding.type, finding.category, finding.start, finding.end)
                following = next(ruled, None)

    def _decide_by_pattern(self, found: PackedFindings) -> None:
        """Decide once for each pattern and score."""
        numbers: dict[tuple[int, float], int] = {}
        sorts = {pattern: found.sort_of(pattern)[:2] for pattern in set(found.patterns)}
        for at, (start, end, score, pattern) in enumerate(
            zip(found.starts, found.ends, found.scores, found.patterns, strict=True)
        ):
            name, category = sorts[pattern]
            if is_already_masked(name, category, self.text[start:end]):
                self._verdicts.append(REJECTED)
                continue
            number = numbers.get((pattern, score))
            if number is None:
                ruled = self.checker.ruling(self.text, [found[at]]).ruled
                number = self._number_of(ruled[0].verdict) if ruled else REJECTED
                numbers[pattern, score] = number
            self._verdicts.append(number)
            if number != REJECTED:
                self._hide(name, category, start, end)

    def _number_of(self, verdict: Verdict) -> int:
        if verdict not in self._listed:
            self._listed.append(verdict)
        return self._listed.index(verdict)

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
        masking = _Masking(self, parts, self._repeated(), masker, decoded.codec)
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

    def _hide(self, name: str, category: Category, start: int, end: int) -> None:
        """Remember the value of the finding that was decided on last, if it must not stay."""
        verdict = self._listed[self._verdicts[-1]]
        if verdict.action is Action.ALLOW:
            return
        values = self._hidden.setdefault((name, category), set())
        value = self.text[start:end]
        if value not in values:
            values.add(value)
            self._of_type[name] = verdict

    def _operators(self) -> set[str]:
        sample = Finding("", Category.CUSTOM, 0, 0, 0.0, "")
        verdicts = [FindingDecision(sample, verdict) for verdict in self._listed]
        return {operator for _, operator in self.checker.operators(verdicts)}

    def hidden_in(self, low: int, high: int) -> Iterator[FindingDecision]:
        """Findings that must not stay, of those from one number to before another."""
        listed, text = self._listed, self.text
        verdicts = self._verdicts[low:high]
        for finding, number in zip(islice(self.found, low, high), verdicts, strict=True):
            if number != REJECTED and (
                listed[number].action is not Action.ALLOW
                or text[finding.start : finding.end]
                in self._hidden.get((finding.type, finding.category), ())
            ):
                yield FindingDecision(finding, listed[number])

    def _repeated(self) -> list[FindingDecision]:
        """The other places of the values that must not stay."""
        opened = OpenText(
            self.text,
            self._hidden_spans(),
            max((len(one.text) for one in self._values()), default=0),
        )
        if not opened.joined:
            return []
        wanted = set(opened.may_hold(self._values()) if opened.is_short else self._values())
        originals: dict[Value, Finding] = {}
        for finding in self._hidden_among({one.text for one in wanted}) if wanted else ():
            value = Value(finding.type, finding.category, self.text[finding.start : finding.end])
            if value in wanted:
                originals.setdefault(value, finding)
        return [
            FindingDecision(one, self._of_type[one.type])
            for one in Repeats(originals).within(opened)
        ]

    def _hidden_among(self, texts: set[str]) -> Iterator[Finding]:
        """The findings that their verdicts hide and whose values are among these."""
        hides = [verdict.action is not Action.ALLOW for verdict in self._listed]
        found, text = self.found, self.text
        if not isinstance(found, PackedFindings):
            for one, number in zip(found, self._verdicts, strict=True):
                if number != REJECTED and hides[number] and text[one.start : one.end] in texts:
                    yield one
            return
        spans = zip(found.starts, found.ends, self._verdicts, strict=True)
        for at, (start, end, number) in enumerate(spans):
            if number != REJECTED and hides[number] and text[start:end] in texts:
                yield found[at]

    def _hidden_spans(self) -> Iterator[tuple[int, int]]:
        found = self.found
        allows = any(verdict.action is Action.ALLOW for verdict in self._listed)
        if isinstance(found, PackedFindings) and not allows:
            for start, end, number in zip(found.starts, found.ends, self._verdicts, strict=True):
                if number != REJECTED:
                    yield start, end
            return
        for one, _ in self.hidden_in(0, len(found)):
            yield one.start, one.end

    def _values(self) -> Iterator[Value]:
        for (name, category), texts in self._hidden.items():
            for text in texts:
                yield Value(name, category, text)

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
        plain = [one.text for one in self._values() if not is_word(one)]
        words = [one.text for one in self._values() if is_word(one)]
        self._hidden = {}
        needles = Needles(plain, words)
        del plain, words
        count = count_values(needles)
        search = _ValueSearch(needles, node, files)
        for result in in_order(search.count, _number, search.block, self.checker.processes):
            if result != _CLEAN:
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


class _Masking:
    """What masks the blocks of a text. Children share it."""

    def __init__(
        self,
        long_text: LongText,
        parts: Parts,
        repeated: Sequence[FindingDecision],
        masker: Masker,
        codec: str,
    ) -> None:
        self._long_text = long_text
        self._fit = parts.fit
        self._repeated = sorted(repeated, key=_start_of)
        self._masker = masker
        self._codec = codec
        found = long_text.found
        if isinstance(found, PackedFindings):
            self._starts, ends = found.starts, found.ends
        else:
            self._starts = array("q", (one.start for one in found))
            ends = array("q", (one.end for one in found))
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
        low, high = bisect_left(self._starts, first), bisect_left(self._starts, last)
        ruled = list(self._long_text.hidden_in(low, high))
        low = bisect_left(self._repeated, first, key=_start_of)
        ruled += self._repeated[low : bisect_left(self._repeated, last, key=_start_of)]
        text = self._long_text.text[first:last]
        masked = (
            (one._replace(start=one.start - first, end=one.end - first), operator)
            for one, operator in self._long_text.checker.operators(ruled)
        )
        edits = [Edit(*one) for one in replacements(text, masked, self._masker)]
        self._masker.forget()
        made = {one.replacement for one in edits if one.replacement}
        copy = spliced(text, list(self._fit(text, edits)))
        return json.dumps(list(made)).encode() + b"\n" + copy.encode(self._codec, "replace")


def _start_of(one: FindingDecision) -> int:
    return one.finding.start


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


def search_long(node: Node, finder: Finder) -> Sequence[Finding] | None:
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


def _search(finder: Finder, document: Document) -> Sequence[Finding] | None:
    """Return what is found in a text and under the labels of its columns; None where that
    overlaps.
    """
    first, *columns = document.views
    found = finder.scan(first.text)
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
    if not more:
        return found
    if isinstance(found, PackedFindings):
        return found.with_others(sorted(more, key=_order))
    together: list[Finding] = []
    for one in sorted([*found, *more], key=_order):
        if not together or together[-1].end <= one.start:
            together.append(one)
        elif together[-1]._replace(score=one.score) != one:
            return None
    return together


def _order(finding: Finding) -> tuple[int, float]:
    return finding.start, -finding.score


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
