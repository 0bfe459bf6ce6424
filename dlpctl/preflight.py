"""The two use cases: check a text, and mask a text, without storage or HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.detect import blocks
from dlpctl.detect.binaries import scan_strings
from dlpctl.detect.engine import Detector, encode
from dlpctl.detect.entities.taggers import TAGGED
from dlpctl.detect.patterns.catalogue import labels as type_labels
from dlpctl.detect.patterns.library import custom_patterns
from dlpctl.detect.values import scan_values
from dlpctl.masking.already_masked import is_already_masked
from dlpctl.masking.apply import mask_text
from dlpctl.masking.masker import Masker
from dlpctl.masking.rounds import Residue, Round, keeps_shape, mask_until_clean
from dlpctl.operators import DEFAULT_OPERATOR, operator_named
from dlpctl.policy.decide import Decider, FindingDecision, PolicyDecision, relevant_selectors
from dlpctl.policy.model import Policy
from dlpctl.policy.selectors import parse_destination
from dlpctl.policy.summary import summarize
from dlpctl.text_report import Report as Report
from dlpctl.text_report import detections, written_now
from dlpctl.texts.written import Written
from dlpctl.types import IN_BINARIES, Action, Decision, Destination, Finding

if TYPE_CHECKING:
    from datetime import date

    from dlpctl.detect.stream import Piece
    from dlpctl.detect.values import NumberedFindings
    from dlpctl.masking.leaks import ForbiddenValues, Value
    from dlpctl.operators.tokens import TokenStore
    from dlpctl.policy.decide import Verdict
    from dlpctl.policy.summary import Labels


class Checker:
    """A detector, a policy and a destination, for many checks. Thread-safe."""

    def __init__(
        self,
        detector: Detector,
        policy: Policy,
        destination: Destination,
        *,
        operator: str | None = None,
        usual_operator: str = DEFAULT_OPERATOR,
        key: bytes | None = None,
        labels: Labels | None = None,
        on: date | None = None,
    ) -> None:
        """`operator` overrides the operators of the rules, which override the usual one; `key` is
        for operators and exceptions that need one; `on` is the day by which exceptions expire, by
        default today.
        """
        for name in filter(None, (operator, usual_operator)):
            operator_named(name)
        if policy.custom_patterns:
            detector = detector.extended(custom_patterns(policy.custom_patterns, policy.name))
        self._detector = detector
        self._policy = policy
        self._decider = Decider(policy, destination, on=on, key=key)
        self._destination = destination
        self._operator = operator
        self._usual_operator = usual_operator
        self._key = key
        self._labels = labels
        self._min_score = relevant_selectors(policy, destination).min_score

    def by_operator(self, operator: str) -> Checker:
        """Return the same checker with an operator that overrides those of the rules."""
        from copy import copy

        operator_named(operator)
        other = copy(self)
        other._operator = operator
        return other

    def check(self, text: str, masker: Masker | None = None) -> Report:
        """Find values, decide, and mask if that is the decision."""
        ruling = self.rule(text)
        masked, reason = text, self.not_inspected()
        if ruling.decision is Decision.ALLOWED_WITH_MASKING and not reason:
            masked, reason = self._masked(text, ruling.of(Action.MASK), masker or self.masker())
        return self.report(text, ruling, masked, reason, empty=not text)

    def report(
        self,
        text: str,
        ruling: PolicyDecision,
        masked: str | None,
        reason: str = "",
        *,
        empty: bool = False,
    ) -> Report:
        """Return the report; `reason` is a cause of blocking besides the rules."""
        reason = reason or self.not_inspected()
        decision = Decision.BLOCKED if reason else ruling.decision
        summary = summarize(ruling, self._names(ruling.findings), reason=reason, empty=empty)
        problem = self._detector.not_inspected
        return Report(
            preflight_id=f"pf_{os.urandom(12).hex()}",
            decision=decision,
            summary=f"{summary}; {_not_inspected(problem)}" if problem and not reason else summary,
            detected=detections(text, ruling.tallies()),
            masked_content=None if decision is Decision.BLOCKED else masked,
            policy_version=self._policy.version,
            created_at=written_now(),
            findings=ruling.findings,
        )

    def _names(self, findings: Sequence[Finding]) -> Labels:
        return (self._labels or type_labels()) if findings else {}

    def decide(self, chunks: Iterable[bytes]) -> Decision:
        """Return only the decision: nothing is masked, and nothing is read after a BLOCKED."""
        relevant = relevant_selectors(self._policy, self._destination, decision_only=True)
        if relevant.selectors is not None and not relevant.selectors:
            return Decision.ALLOWED
        detector = (
            self._detector
            if relevant.selectors is None
            else self._detector.for_known(relevant.selectors)
        )
        decision = Decision.ALLOWED
        for piece in self._pieces(detector, chunks, relevant.min_score):
            ruling = self.ruling(piece.text, piece.findings)
            if ruling.decision is Decision.ALLOWED_WITH_MASKING:
                _, reason = self._masked(piece.text, ruling.of(Action.MASK), self.masker())
                decision = Decision.BLOCKED if reason else ruling.decision
            if Decision.BLOCKED in (decision, ruling.decision) or self.not_inspected():
                return Decision.BLOCKED
        return decision

    def mask(self, text: str, masker: Masker | None = None) -> str:
        """Mask all that is not allowed; raise `StillExposedError` if a value would remain."""
        ruling = self.rule(text)
        self._require_inspection()
        return self.masked(text, ruling.hidden(), masker or self.masker())

    def mask_pieces(self, chunks: Iterable[bytes]) -> Iterator[Covered]:
        """Yield a text that arrives in pieces, ready to be masked piece by piece."""
        for piece in self._pieces(self._detector, chunks, self._min_score):
            self._require_inspection()
            ruling = self.ruling(piece.text, piece.findings)
            yield Covered(self, piece.text, ruling.hidden())

    def _pieces(
        self, detector: Detector, chunks: Iterable[bytes], min_score: float
    ) -> Iterator[Piece]:
        """Yield the findings by piece, or all at once if the policy counts them."""
        from dlpctl.detect.stream import Piece, scan_pieces

        if not self._decider.counts:
            yield from scan_pieces(detector, chunks, min_score)
            return
        text = b"".join(chunks).decode("utf-8", "surrogateescape")
        yield Piece(text, blocks.scan(detector, text, min_score))

    def masker(self, tokens: TokenStore | None = None) -> Masker:
        return Masker(self._key, tokens)

    def not_inspected(self) -> str:
        """Return why to block: names were not inspected, but the policy acts on them."""
        problem = self._detector.not_inspected
        return _not_inspected(problem) if problem and self._acts_on_tagged else ""

    @cached_property
    def _acts_on_tagged(self) -> bool:
        """True if the policy masks or blocks names or addresses."""
        actions = {self._policy.default_action or Action.ALLOW}
        for item in TAGGED:
            rules = self._decider.covering(item.type, item.category, item.id)
            actions.update(rule.verdict.action for rule in rules)
        return actions != {Action.ALLOW}

    def _require_inspection(self) -> None:
        if reason := self.not_inspected():
            from dlpctl.errors import NameDataError

            raise NameDataError(f"{reason}; nothing was output")

    def rule(self, text: str) -> PolicyDecision:
        """Find values in a text and decide on them."""
        return self.ruling(text, self.scan(text))

    @property
    def counts(self) -> bool:
        """True if the policy counts findings, so that they must be decided on together."""
        return self._decider.counts

    @property
    def excepts(self) -> bool:
        """True if the verdict on a finding depends on its value."""
        return self._decider.excepts

    @property
    def processes(self) -> int:
        """The number of processes that may work on one text."""
        leave = self._detector.leave
        return leave.processes() if leave else 1

    def take_leave_to_fork(self) -> None:
        """Give the leave to fork to this process, a child of the one that had it."""
        if self._detector.leave is not None:
            self._detector.leave.move_here()

    def scan(self, text: str, encoded: bytes | None = None) -> Sequence[Finding]:
        """Find values in a text, down to the lowest score that matters to the policy."""
        return blocks.scan(self._detector, text, self._min_score, encoded)

    def scan_values(self, header: str, values: Sequence[str]) -> NumberedFindings:
        """Find values in the cells of a column by number, each on its own after the header."""
        return scan_values(self._detector, header, values, self._min_score)

    def possible(self, text: str) -> int:
        """Return the number of findings that only high sensitivity counts; -1 for a long text."""
        from dlpctl.detect.possible import count_possible

        return count_possible(self._detector, encode(text), self._min_score)

    def scan_binary(self, text: str) -> Sequence[Finding]:
        """Find values in the strings of a binary file."""
        return scan_strings(self._in_binaries, text.encode(), self._min_score)

    @cached_property
    def _in_binaries(self) -> Detector:
        return self._detector.for_categories(IN_BINARIES)

    def ruling(self, text: str, findings: Sequence[Finding]) -> PolicyDecision:
        """Return the decision on findings in a text, without those that are masked already."""
        open_findings = [
            item
            for item in findings
            if not is_already_masked(item.type, item.category, text[item.start : item.end])
        ]
        return self._decider(open_findings, lambda finding: text[finding.start : finding.end])

    def verdict(self, finding: Finding) -> Verdict | None:
        """Return the verdict on a finding whatever its value; None if it does not count."""
        ruled = self._decider([finding]).ruled
        return ruled[0].verdict if ruled else None

    def operators(
        self, ruled: Iterable[FindingDecision], number: int = 0
    ) -> Iterator[tuple[Finding, str]]:
        """Yield each finding with the operator that masks it in a round of masking."""
        operator = self._operator if keeps_shape(number) else "redact"
        for finding, verdict in ruled:
            yield finding, operator or verdict.operator or self._usual_operator

    def masked(self, text: str, hidden: Sequence[FindingDecision], masker: Masker) -> str:
        masked, reason = self._masked(text, hidden, masker) if hidden else (text, "")
        if reason:
            from dlpctl.errors import StillExposedError

            raise StillExposedError(
                f"{reason}; nothing was output; use --operator redact or leave the value out"
            )
        return masked

    def _masked(
        self, text: str, hidden: Sequence[FindingDecision], masker: Masker
    ) -> tuple[str, str]:
        """Return the masked text, and why it may not be output; empty if it may."""
        masking = _TextMasking(self, text, hidden, masker)
        done = mask_until_clean(masking.mask, masking.start_over)
        return done.copy, done.evidence


class _TextMasking:
    """The rounds of masking one text; their evidence is the reason to reject the masked text."""

    def __init__(
        self, checker: Checker, text: str, hidden: Sequence[FindingDecision], masker: Masker
    ) -> None:
        self._checker = checker
        self._text = text
        self._hidden = self._next = hidden
        self._masker = masker
        self._forbidden: ForbiddenValues | None = None
        self._ciphertexts: set[str] = set()

    @cached_property
    def _values(self) -> list[Value]:
        from dlpctl.masking.leaks import Value

        return [Value.of(item.finding, self._text) for item in self._hidden]

    def mask(self, copy: str | None, number: int) -> Round[str, str]:
        from dlpctl.masking.leaks import find_leaks

        text = self._text if copy is None else copy
        operators = self._checker.operators(self._next, number)
        text = mask_text(text, operators, self._masker, self._forbidden, self._ciphertexts)
        written = Written.of(self._ciphertexts)
        self._next = [
            item
            for item in self._checker.rule(text).hidden()
            if not written.covers(text, item.finding.start, item.finding.end)
        ]
        if self._next:
            reason = f"the masked text still shows {self._next[0].finding.type}"
            return Round(text, Residue.FINDING, reason)
        if leaks := find_leaks(text, self._values):
            reason = f"the masked text still holds a value of {leaks[0].type}, {leaks[0].form}"
            return Round(text, Residue.VALUE, reason)
        return Round(text, Residue.NOTHING, "")

    def start_over(self) -> None:
        """Mask also where no context reveals a value, and in what was written for another one."""
        from dlpctl.masking.leaks import ForbiddenValues
        from dlpctl.masking.repeats import find_repeats

        verdicts = {item.finding.type: item.verdict for item in self._hidden}
        repeated = find_repeats(self._text, [item.finding for item in self._hidden])
        self._next = [
            *self._hidden,
            *(FindingDecision(finding, verdicts[finding.type]) for finding in repeated),
        ]
        self._forbidden = ForbiddenValues(self._values)


class Covered(NamedTuple):
    """A piece of a text with the findings to mask."""

    checker: Checker
    text: str
    hidden: list[FindingDecision]

    def masked(self, masker: Masker) -> str:
        """Mask the piece; raise `StillExposedError` if a value would remain."""
        return self.checker.masked(self.text, self.hidden, masker)


def _not_inspected(problem: str) -> str:
    return f"names and addresses were not inspected: {problem}"


@cache
def default_detector() -> Detector:
    """Return the detector with the library's patterns, for callers that pass none."""
    return Detector()


def check(
    text: str,
    destination: Destination | str = Destination.AI_TOOL,
    policy: Policy | None = None,
    *,
    detector: Detector | None = None,
    operator: str | None = None,
    key: bytes | None = None,
) -> Report:
    """Decide whether a text may go to a destination, and mask it if the policy says so."""
    return checker_for(destination, policy, detector, operator, key).check(text)


def mask(
    text: str,
    destination: Destination | str = Destination.AI_TOOL,
    policy: Policy | None = None,
    *,
    detector: Detector | None = None,
    operator: str | None = None,
    key: bytes | None = None,
    masker: Masker | None = None,
    vault: TokenStore | None = None,
) -> str:
    """Return the text with all values replaced that the policy masks or blocks.

    With a `vault`, values become tokens, which `unmask` replaces by the values again.
    """
    if vault is None:
        return checker_for(destination, policy, detector, operator, key).mask(text, masker)
    checker = checker_for(destination, policy, detector, operator or "token", key)
    with vault.transaction():
        return checker.mask(text, checker.masker(vault))


def checker_for(
    destination: Destination | str,
    policy: Policy | None,
    detector: Detector | None,
    operator: str | None,
    key: bytes | None,
) -> Checker:
    """Return a checker for the parameters of the library's functions."""
    return Checker(
        detector or default_detector(),
        policy or Policy.builtin(),
        parse_destination(destination),
        operator=operator,
        key=key,
    )
