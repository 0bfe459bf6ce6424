"""Check and mask a long file in sections and blocks: the same as `FileChecker`, but without an
object for each finding.

Findings are columns of numbers. Values are masked and the copy is verified block by block, by as
many processes as there are processors. Unusual cases, such as tokens, rules that count, or a copy
that still shows a value, are left to the general code.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from operator import sub
from typing import TYPE_CHECKING, NamedTuple, cast

from dlpctl.errors import FormatError
from dlpctl.files.decided import REJECTED, REPEATED, DecidedFindings
from dlpctl.files.hidden import HiddenValues
from dlpctl.files.longcopy import EditMasking, TextMasking, held
from dlpctl.files.longverified import Copy, count_absent
from dlpctl.files.names import PlaceNames
from dlpctl.files.sections import Sections
from dlpctl.formats.discovery import format_named
from dlpctl.formats.editcolumns import EditColumns
from dlpctl.formats.source import TextFormat
from dlpctl.formats.spans import ViewEdit
from dlpctl.formats.verify import Verification
from dlpctl.masking.already_masked import masked_test
from dlpctl.masking.apply import Span
from dlpctl.masking.leaks import Value
from dlpctl.masking.opentext import OpenText
from dlpctl.masking.repeats import Repeats, places_of
from dlpctl.policy.decide import FindingDecision, Verdict
from dlpctl.system.allocation import allocate_large_apart, return_freed_memory
from dlpctl.system.forked import in_order
from dlpctl.texts.texthashes import TextHashes
from dlpctl.texts.written import Written
from dlpctl.types import Action, Category, Decision, Finding

if TYPE_CHECKING:
    from dlpctl.detect.packed import PackedFindings
    from dlpctl.formats.files import Files, Node
    from dlpctl.masking.masker import Masker
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
        self._process = os.getpid()
        self.text = sections.text
        self.found = found
        self.names = PlaceNames(checker.scan)
        self.names.know(lambda: _Values(self.text, found))
        self._verdicts = b""
        """The index of the verdict on each finding."""
        self._listed: list[Verdict] = []

    @classmethod
    def of(cls, checker: Checker, node: Node) -> LongText | None:
        """Search a file; return None for a file that is short, or shows one text in several views.

        Otherwise, the views of columns are searched and then freed, as are the bytes of the file.
        """
        if checker.counts or _length(node) < LONG:
            return None
        allocate_large_apart()
        sections = Sections.of(node)
        found = None if sections is None else sections.search(checker)
        if sections is None or found is None:
            return None
        sections.forget_columns()
        return_freed_memory()
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
        counted = bytearray(self._verdicts)
        for number in self._sections.repeated_places(found):
            counted[number] = REPEATED
        packed = DecidedFindings(self._sections, found, bytes(counted), self._listed, self.names)
        return ruling._replace(decision=decision, ruled=packed)

    @cached_property
    def _hidden(self) -> HiddenValues:
        """The values that must not remain, after the decision."""
        return HiddenValues(self.text, self.found, self._verdicts, self._listed)

    def _number_of_value(self, finding: Finding) -> int:
        ruled = self.checker.ruling(self.text, [finding]).ruled
        return self._number_of(ruled[0].verdict) if ruled else REJECTED

    def _by_pattern(self) -> bytes:
        """Decide once for each pattern and score; child processes detect values that are already
        masked.
        """
        found, text = self.found, self.text
        tests = [masked_test(*sort[:2]) for sort in found.listed]
        numbers = []
        for name, category, score, pattern_id, _ in found.listed:
            verdict = self.checker.verdict(Finding(name, category, 0, 0, score, pattern_id))
            numbers.append(REJECTED if verdict is None else self._number_of(verdict))

        def block(task: bytes) -> bytes:
            some = slice(int(task) * _CHUNK, int(task) * _CHUNK + _CHUNK)
            columns = found.starts[some], found.ends[some], found.sorts[some]
            return bytes(
                REJECTED if tests[sort](text[start:end]) else numbers[sort]
                for start, end, sort in zip(*columns, strict=True)
            )

        count = -(-len(found) // _CHUNK)
        return b"".join(in_order(count, _number, block, self.checker.processes))

    def _number_of(self, verdict: Verdict) -> int:
        if verdict not in self._listed:
            self._listed.append(verdict)
        return self._listed.index(verdict)

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
        repeated = [*self._repeated(), *self._replaced()]
        return_freed_memory()
        made = self._masked_text(repeated, masker) or self._masked_by_edits(
            files, repeated, masker, cleaning=cleaning
        )
        if made is None:
            return None
        del repeated
        return_freed_memory()
        stage("verifying")
        copy, written = made
        return self._verified(files, name, copy, written, cleaning=cleaning)

    def _masked_text(
        self, repeated: list[FindingDecision], masker: Masker
    ) -> tuple[bytes, Written] | None:
        """Mask in parts; return None if the format needs all edits at once."""
        source = self._sections.source
        if source is None:
            return None
        chosen = cast("TextFormat", format_named(self._node.document.format))
        parts = chosen.parts(self.text, BLOCK)
        if parts is None or source.codec is None:
            return None
        masking = TextMasking(self, repeated, masker, parts, source.codec)
        texts, lengths = TextHashes(), set[int]()
        copy = io.BytesIO()
        if source.mark:
            copy.write(self._node.data[: source.mark])
        for result in in_order(masking.count, _number, masking.block, self.checker.processes):
            made, _, piece = result.partition(b"\n")
            replacements = json.loads(made)
            texts.add(map(hash, replacements))
            lengths.update(map(len, replacements))
            copy.write(piece)
        return copy.getvalue(), Written(texts, lengths)

    def _masked_by_edits(
        self, files: Files, repeated: list[FindingDecision], masker: Masker, *, cleaning: bool
    ) -> tuple[bytes, Written] | None:
        masking = EditMasking(self, repeated, masker, BLOCK)
        written: set[str] = set()
        edits: dict[int, EditColumns[ViewEdit]] = {}
        for result in in_order(masking.count, _number, masking.block, self.checker.processes):
            starts, ends, texts = json.loads(result)
            written.update(filter(None, texts))
            for section, low, high in self._sections.ranges(starts):
                found = edits.setdefault(id(section.node.document), EditColumns(ViewEdit, 3))
                back = (-section.start).__add__
                columns = repeat(section.number, high - low), map(back, starts[low:high])
                found.extend([*columns, map(back, ends[low:high])], texts[low:high])
        try:
            copy = files.masked(self._node, lambda each: edits.get(id(each), ()), cleaning=cleaning)
            return copy, Written.of(written)
        except FormatError:
            return None

    def _operators(self) -> list[str]:
        """Return the operator of each verdict."""
        sample = Finding("", Category.CUSTOM, 0, 0, 0.0, "")
        verdicts = [FindingDecision(sample, verdict) for verdict in self._listed]
        return [operator for _, operator in self.checker.operators(verdicts)]

    def hidden_spans(self, low: int, high: int, offset: int) -> Iterator[Span]:
        """Yield the same as `hidden_in`, as spans with their operators."""
        operators, found, some = self._operators(), self.found, slice(low, high)
        types = [sort[:2] for sort in found.listed]
        hides = self._hidden.hides
        columns = found.starts[some], found.ends[some], found.sorts[some], self._verdicts[some]
        for start, end, sort, number in zip(*columns, strict=True):
            name, category = types[sort]
            if hides[number] or self._is_hidden(number, name, category, start, end):
                yield _new(Span, (start - offset, end - offset, name, category, operators[number]))

    def hidden_in(self, low: int, high: int, offset: int = 0) -> Iterator[FindingDecision]:
        """Yield the findings `low` to `high` that must not remain, relative to the offset."""
        listed, is_hidden = self._listed, self._is_hidden
        findings = self.found.between(low, high, offset)
        for finding, number in zip(findings, self._verdicts[low:high], strict=True):
            name, category, start, end, *_ = finding
            if is_hidden(number, name, category, start + offset, end + offset):
                yield _new(FindingDecision, (finding, listed[number]))

    def _is_hidden(self, number: int, name: str, category: Category, start: int, end: int) -> bool:
        """Return whether a finding must not remain, because of its verdict or because its value is
        hidden elsewhere.
        """
        if number == REJECTED:
            return False
        return self._listed[number].action is not Action.ALLOW or self._hidden.hold(
            name, category, self.text[start:end]
        )

    def _repeated(self) -> list[FindingDecision]:
        """Return the other occurrences of the hidden values."""
        # All sections together decide which values they may contain.
        opened = OpenText(self.text, self._masked_spans(), self._hidden.longest)
        values = held(self._hidden, opened, self.checker.processes) if opened.words else set()
        originals: dict[Value, Finding] = {}
        for finding in self._hidden.findings_of(values) if values else ():
            originals.setdefault(Value.of(finding, self.text), finding)
        if not originals:
            return []
        at = self._sections.at
        numbers = self._hidden.verdicts_by_type({value.type for value in originals})
        return [
            FindingDecision(each, self._listed[numbers[each.type]])
            for each in places_of(originals, opened, self.checker.processes)
            if at(each.start) is at(each.end - 1)
        ]

    def _replaced(self) -> Iterator[FindingDecision]:
        """Yield the findings that others replaced, of which the rest must not remain either."""
        for item in self.checker.ruling(self.text, self._sections.replaced).ruled:
            name, category, start, end, *_ = item.finding
            is_allowed = item.verdict.action is Action.ALLOW
            if not is_allowed or self._hidden.hold(name, category, self.text[start:end]):
                yield item

    def _masked_spans(self) -> Iterator[tuple[int, int]]:
        if all(verdict.action is not Action.ALLOW for verdict in self._listed):
            return self._hidden.spans()
        return ((each.start, each.end) for each, _ in self.hidden_in(0, len(self.found)))

    def _verified(
        self, files: Files, name: str, copy: bytes, written: Written, *, cleaning: bool
    ) -> tuple[bytes, Verification] | None:
        masked = Copy(files, name, copy, self._sections.formats, has_metadata=not cleaning)
        try:
            count = count_absent(
                self.checker, self._hidden, masked, written, BLOCK, self._without_original
            )
        except FormatError:
            return None
        return (copy, Verification(count, len(masked.formats), (), ())) if count else None

    def _without_original(self, task: Callable[[], bytes]) -> bytes:
        """Do a task for which a child process needs neither the text nor its findings."""
        if os.getpid() != self._process:
            self.checker.take_leave_to_fork()
            self._sections.forget()
            self._hidden.forget()
            self.text, self._verdicts = "", b""
        return task()


class _Values(NamedTuple):
    """The values of a file."""

    text: str
    found: PackedFindings

    def outside(self, text: str, findings: Sequence[Finding]) -> list[Finding]:
        """Return the positions of values in a text that are not in its findings."""
        longest = max(map(sub, self.found.ends, self.found.starts), default=0)
        opened = OpenText(text, sorted((each.start, each.end) for each in findings), longest)
        if not opened.words:
            return []
        originals: dict[Value, Finding] = {}
        may_hold, found = opened.holder(), self.found
        for number, (start, end) in enumerate(zip(found.starts, found.ends, strict=True)):
            value = self.text[start:end]
            if may_hold(value):
                finding = found[number]
                originals.setdefault(Value(finding.type, finding.category, value), finding)
        return Repeats(originals).within(opened)


def _length(node: Node) -> int:
    """Return the number of characters in a file."""
    return sum(len(segment.text) for each in node.walk() for segment in each.document.segments)


def _number(number: int) -> bytes:
    return b"%d" % number
