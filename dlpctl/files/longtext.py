"""Check and mask a long file in sections and blocks: the same as `FileChecker`, but without an
object for each finding.

Findings are columns of numbers. Values are masked and the copy is verified block by block, by as
many processes as there are processors. Unusual cases, such as tokens, rules that count, or a copy
that still shows a value, are left to the general code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, filterfalse, islice
from operator import sub
from typing import TYPE_CHECKING, NamedTuple, cast

from dlpctl.errors import FormatError
from dlpctl.files.decided import REJECTED, REPEATED, DecidedFindings
from dlpctl.files.longcopy import EditMasking, TextMasking, held
from dlpctl.files.names import PlaceNames
from dlpctl.files.residual import ResidualSearch
from dlpctl.files.sections import Sections
from dlpctl.forked import begun, in_order
from dlpctl.formats.discovery import format_named
from dlpctl.formats.source import TextFormat
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.verify import Verification, Written
from dlpctl.masking.already_masked import masked_test
from dlpctl.masking.apply import Span
from dlpctl.masking.leaks import Value, words_among
from dlpctl.masking.opentext import OpenText
from dlpctl.masking.repeats import Repeats, places_of
from dlpctl.policy.decide import FindingDecision, Verdict
from dlpctl.types import Action, Category, Decision, Finding

if TYPE_CHECKING:
    from dlpctl.detect.packed import PackedFindings
    from dlpctl.formats.files import Files, Node
    from dlpctl.masking.operators import Masker
    from dlpctl.policy.decide import PolicyDecision
    from dlpctl.preflight import Checker

LONG = 1 << 18
"""The number of characters from which on a text is checked in blocks."""
BLOCK = 1 << 17
_CHUNK = 1 << 12
"""The number of findings that are decided together."""
_STRICTNESS = list(Decision)
_DECISIONS = {
    Action.ALLOW: Decision.ALLOWED,
    Action.MASK: Decision.ALLOWED_WITH_MASKING,
    Action.BLOCK: Decision.BLOCKED,
}
"""The decision on the file that follows from a verdict's action."""
_new = tuple.__new__


class LongText:
    """A long file with its findings."""

    def __init__(self, checker: Checker, sections: Sections, found: PackedFindings) -> None:
        self.checker = checker
        self._sections = sections
        self._node = sections.node
        self.text = sections.text
        self.found = found
        self.names = PlaceNames(checker.scan)
        self.names.know(lambda: _Values(self.text, found))
        self._verdicts = b""
        """The index of the verdict on each finding."""
        self._listed: list[Verdict] = []
        self._hidden: dict[tuple[str, Category], set[str]] = {}
        """The values that must not remain, by type and category."""
        self._of_type: dict[str, Verdict] = {}
        """The verdict on the last hidden value of each type."""

    @classmethod
    def of(cls, checker: Checker, node: Node) -> LongText | None:
        """Search a file; return None for a file that is short, or shows one text in several views.

        Otherwise, the views of columns are searched and then freed.
        """
        if checker.counts or _length(node) < LONG:
            return None
        sections = Sections.of(node)
        found = None if sections is None else sections.search(checker)
        if sections is None or found is None:
            return None
        sections.forget_columns()
        return cls(checker, sections, found)

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
        counted = bytearray(self._verdicts)
        for number in self._sections.repeated_places(found):
            counted[number] = REPEATED
        packed = DecidedFindings(self._sections, found, bytes(counted), self._listed, self.names)
        return ruling._replace(decision=decision, ruled=packed)

    def _number_of_value(self, finding: Finding) -> int:
        ruled = self.checker.ruling(self.text, [finding]).ruled
        return self._number_of(ruled[0].verdict) if ruled else REJECTED

    def _by_pattern(self) -> bytes:
        """Decide once for each pattern and score; child processes detect values that are already
        masked.
        """
        found, text = self.found, self.text
        sorts = {pattern: found.sort_of(pattern) for pattern in set(found.patterns)}
        tests = {pattern: masked_test(*sort[:2]) for pattern, sort in sorts.items()}
        numbers = {}
        for pattern, score in set(zip(found.patterns, found.scores, strict=True)):
            name, category, pattern_id = sorts[pattern]
            verdict = self.checker.verdict(Finding(name, category, 0, 0, score, pattern_id))
            numbers[pattern, score] = REJECTED if verdict is None else self._number_of(verdict)

        def block(task: bytes) -> bytes:
            some = slice(int(task) * _CHUNK, int(task) * _CHUNK + _CHUNK)
            columns = found.starts[some], found.ends[some], found.scores[some], found.patterns[some]
            return bytes(
                REJECTED if tests[pattern](text[start:end]) else numbers[pattern, score]
                for start, end, score, pattern in zip(*columns, strict=True)
            )

        count = -(-len(found) // _CHUNK)
        return b"".join(in_order(count, _number, block, self.checker.processes))

    def _number_of(self, verdict: Verdict) -> int:
        if verdict not in self._listed:
            self._listed.append(verdict)
        return self._listed.index(verdict)

    def _hide(self) -> None:
        """Store the values that must not remain."""
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
        """Return for each verdict's index whether the verdict hides a finding."""
        hides = [verdict.action is not Action.ALLOW for verdict in self._listed]
        return [*hides, *[False] * (REJECTED + 1 - len(hides))]

    def mask(
        self,
        files: Files,
        name: str,
        masker: Masker,
        stage: Callable[[str], None],
        *,
        cleaning: bool,
    ) -> tuple[bytes, Verification] | None:
        """Return a copy without the hidden values, and its verification; None if the general code
        must make the copy. With `cleaning`, the copy has no metadata.
        """
        stage("masking")
        if any(operator == "token" for operator in self._operators()):
            return None  # tokens are numbered by a single process
        repeated = self._repeated()
        made = self._masked_text(repeated, masker) or self._masked_by_edits(
            files, repeated, masker, cleaning=cleaning
        )
        if made is None:
            return None
        del repeated
        stage("verifying")
        copy, written = made
        return self._verified(files, name, copy, Written(written), cleaning=cleaning)

    def _masked_text(
        self, repeated: list[FindingDecision], masker: Masker
    ) -> tuple[bytes, set[str]] | None:
        """Mask in parts; return None if the format needs all edits at once."""
        if self._sections.source is None:
            return None
        chosen = cast("TextFormat", format_named(self._node.document.format))
        decoded = chosen.decoded(self._node.data)
        parts = chosen.parts(self.text, BLOCK)
        if parts is None or decoded.codec is None or decoded.text != self.text:
            return None
        masking = TextMasking(self, repeated, masker, parts, decoded.codec)
        written: set[str] = set()
        pieces = [self._node.data[: decoded.runs[0].byte]]
        for result in in_order(masking.count, _number, masking.block, self.checker.processes):
            made, _, piece = result.partition(b"\n")
            written.update(json.loads(made))
            pieces.append(piece)
        return b"".join(pieces), written

    def _masked_by_edits(
        self, files: Files, repeated: list[FindingDecision], masker: Masker, *, cleaning: bool
    ) -> tuple[bytes, set[str]] | None:
        masking = EditMasking(self, repeated, masker, BLOCK)
        written: set[str] = set()
        edits: dict[int, list[ViewEdit]] = {}
        for result in in_order(masking.count, _number, masking.block, self.checker.processes):
            for start, end, text in json.loads(result):
                section = self._sections.at(start)
                found = edits.setdefault(id(section.node.document), [])
                if text:
                    written.add(text)
                at = section.start
                found.append(_new(ViewEdit, (section.number, start - at, end - at, text)))
        try:
            copy = files.masked(self._node, lambda one: edits.get(id(one), ()), cleaning=cleaning)
            return copy, written
        except FormatError:
            return None

    def _operators(self) -> list[str]:
        """Return the operator of each verdict."""
        sample = Finding("", Category.CUSTOM, 0, 0, 0.0, "")
        verdicts = [FindingDecision(sample, verdict) for verdict in self._listed]
        return [operator for _, operator in self.checker.operators(verdicts)]

    def hidden_spans(self, low: int, high: int, offset: int) -> Iterator[Span]:
        """Yield the same as `hidden_in`, as spans with their operators."""
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
        """Yield the findings `low` to `high` that must not remain, relative to the offset."""
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
        """Return the other occurrences of the hidden values."""
        longest = max((len(text) for texts in self._hidden.values() for text in texts), default=0)
        # All sections together decide which values they may contain.
        opened = OpenText(self.text, self._hidden_spans(), longest)
        hidden = list(chain.from_iterable(self._hidden.values())) if opened.words else []
        values = held(hidden, opened, self.checker.processes)
        originals: dict[Value, Finding] = {}
        for finding in self._hidden_among(values) if values else ():
            originals.setdefault(Value.of(finding, self.text), finding)
        if not originals:
            return []
        at = self._sections.at
        return [
            FindingDecision(one, self._of_type[one.type])
            for one in places_of(originals, opened)
            if at(one.start) is at(one.end - 1)
        ]

    def _hidden_among(self, texts: set[str]) -> Iterator[Finding]:
        """Yield the hidden findings whose values are in `texts`."""
        found, text, hides = self.found, self.text, self._hides()
        spans = zip(found.starts, found.ends, self._verdicts, strict=True)
        for at, (start, end, number) in enumerate(spans):
            if hides[number] and text[start:end] in texts:
                yield found[at]

    def _hidden_spans(self, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int]]:
        found, hides = self.found, self._hides()
        some = slice(low, len(found) if high is None else high)
        if any(verdict.action is Action.ALLOW for verdict in self._listed):
            for one, _ in self.hidden_in(some.start, some.stop):
                yield one.start, one.end
            return
        columns = found.starts[some], found.ends[some], self._verdicts[some]
        for start, end, number in zip(*columns, strict=True):
            if hides[number]:
                yield start, end

    def _verified(
        self, files: Files, name: str, copy: bytes, written: Written, *, cleaning: bool
    ) -> tuple[bytes, Verification] | None:
        try:
            sections = Sections.of(files.open(copy, name))
            if sections is None or sections.formats != self._sections.formats:
                return None
            if cleaning and any(sections.node.metadata()):
                return None
            again = [
                text
                for node in sections.node.walk()
                for text in files.read_again(node.document.format, node.data)
            ]
            processes = self.checker.processes
            remaining = partial(self._remaining, sections, again, max(processes - 1, 1))
            with begun(remaining, processes) as result:
                found = sections.search(self.checker)
                if found is None or self._shows_more(sections.text, found, written):
                    return None
                count = result()
        except FormatError:
            return None
        if not count:
            return None
        uninspected = tuple(sections.node.uninspected())
        return copy, Verification(int(count), len(sections.formats), (), uninspected)

    def _remaining(self, sections: Sections, again: Sequence[str], processes: int) -> bytes:
        """Return the number of hidden values; nothing if a copy still has one of them."""
        values: list[str] = []
        words: set[str] = set()
        earlier: list[set[str]] = []
        for (type_name, _), texts in self._hidden.items():
            spelled = words_among(type_name, texts)
            words |= spelled
            distinct: Iterable[str] = texts
            for others in (spelled, *earlier):
                distinct = filterfalse(others.__contains__, distinct)
            values += distinct
            earlier.append(texts - spelled if spelled else texts)
        count = ResidualSearch(values, list(words), sections, again, BLOCK).run(processes)
        return b"" if count is None else b"%d" % count

    def _shows_more(self, text: str, found: Sequence[Finding], written: Written) -> bool:
        """Return whether a copy has findings that must not remain, other than replacements."""
        for chunk in _chunks(found):
            for finding, verdict in self.checker.ruling(text, chunk).ruled:
                value = text[finding.start : finding.end]
                hidden = self._hidden.get((finding.type, finding.category), ())
                if (
                    verdict.action is not Action.ALLOW or value in hidden
                ) and not written.is_within(text, finding.start, finding.end):
                    return True
        return False


class _Values(NamedTuple):
    """The values of a file."""

    text: str
    found: PackedFindings

    def outside(self, text: str, findings: Sequence[Finding]) -> list[Finding]:
        """Return the positions of values in a text that are not in its findings."""
        longest = max(map(sub, self.found.ends, self.found.starts), default=0)
        opened = OpenText(text, sorted((one.start, one.end) for one in findings), longest)
        if not opened.words:
            return []
        originals: dict[Value, Finding] = {}
        may_hold = opened.holder()
        for one in self.found:
            value = self.text[one.start : one.end]
            if may_hold(value):
                originals.setdefault(Value(one.type, one.category, value), one)
        return Repeats(originals).within(opened)


def _length(node: Node) -> int:
    """Return the number of characters in a file."""
    return sum(len(segment.text) for each in node.walk() for segment in each.document.segments)


def _number(number: int) -> bytes:
    return b"%d" % number


def _chunks(found: Sequence[Finding]) -> Iterator[list[Finding]]:
    findings = iter(found)
    while chunk := list(islice(findings, _CHUNK)):
        yield chunk
