"""Judge the distinct values of a column: what is in each, and what replaces it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, repeat
from operator import is_
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from dlpctl.detect.values import scan_values
from dlpctl.errors import StillExposedError
from dlpctl.masking.already_masked import masked_test
from dlpctl.masking.apply import mask_text
from dlpctl.masking.leaks import Value, find_leaks
from dlpctl.masking.rounds import Residue, Round, mask_in_rounds
from dlpctl.operators import operator_named
from dlpctl.policy.decide import FindingDecision
from dlpctl.texts.written import Written
from dlpctl.types import Action, Finding

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.masking.masker import Masker
    from dlpctl.preflight import Checker

Answer = TypeVar("Answer")
_new = tuple.__new__
_UNKNOWN: Any = object()
_MOST_REMEMBERED = 1 << 24
"""Characters of the values that are remembered, each of which costs some more."""
_COST = 100


class Judgement(NamedTuple):
    """The types of the findings in a value, and the value that may be shown instead."""

    types: tuple[str, ...] = ()
    masked: str | None = None
    """None where the value may stay."""


CLEAN = Judgement()


class _Ruling:
    """The masking of values that are one finding of the same pattern and score."""

    def __init__(self, finding: Finding, operator: str, masker: Masker) -> None:
        self._is_masked = masked_test(finding.type, finding.category)
        self._replaced = masker.replacing(operator, finding.type, finding.category)
        self._types = (finding.type,)
        self.writes_ciphertext = operator_named(operator).writes_ciphertext

    def judged(self, value: str) -> Judgement:
        if self._is_masked(value):
            return CLEAN
        return _new(Judgement, (self._types, self._replaced(value)))


class Judge(Protocol):
    """Judges distinct values below a header."""

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]: ...


class Classifier:
    """Tells what values are."""

    def __init__(self, detector: Detector, min_score: float) -> None:
        self._detector = detector
        self._min_score = min_score

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]:
        judged = [CLEAN] * len(values)
        found = scan_values(self._detector, header, values, self._min_score)
        for number, findings in found:
            judged[number] = Judgement(_types(findings))
        return judged


class ValueMasker:
    """Tells what values are, and masks what is not allowed."""

    def __init__(self, checker: Checker, masker: Masker) -> None:
        self._checker = checker
        self._masker = masker
        self._rulings: dict[tuple[str, float], _Ruling | None] = {}
        """The rulings on values that are one finding, by its pattern and score."""

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]:
        judged = [CLEAN] * len(values)
        masked: dict[int, str] = {}
        ciphertexts: set[str] = set()
        for number, findings in self._checker.scan_values(header, values):
            judged[number] = judgement = self._judged(values[number], findings, ciphertexts)
            if judgement.masked is not None:
                masked[number] = judgement.masked
        again = self._masked_again(header, dict.fromkeys(masked.values()), ciphertexts)
        for number in [number for number, text in masked.items() if text in again]:
            judged[number] = judged[number]._replace(masked=again[masked[number]])
        return judged

    def _judged(self, value: str, findings: Sequence[Finding], ciphertexts: set[str]) -> Judgement:
        first = findings[0]
        if len(findings) == 1 and first.end - first.start == len(value):
            key = first.pattern_id, first.score
            ruling = self._rulings[key] if key in self._rulings else self._ruling(first)
            if ruling is not None:
                judged = ruling.judged(value)
                if ruling.writes_ciphertext and judged.masked is not None:
                    ciphertexts.add(judged.masked)
                return judged
        return self._mask(value, findings, ciphertexts)

    def _ruling(self, finding: Finding) -> _Ruling | None:
        """Return the ruling on values that are one such finding; None if that depends on them."""
        ruling = None
        verdict = None if self._checker.excepts else self._checker.verdict(finding)
        if verdict is not None and verdict.action is not Action.ALLOW:
            ((_, operator),) = self._checker.operators([FindingDecision(finding, verdict)])
            ruling = _Ruling(finding, operator, self._masker)
        self._rulings[finding.pattern_id, finding.score] = ruling
        return ruling

    def _mask(
        self, value: str, findings: Sequence[Finding], ciphertexts: set[str], number: int = 0
    ) -> Judgement:
        """Return the types of what counts in a value, and its masked text if there is one.

        Ciphertexts that are written are added to `ciphertexts`.
        """
        ruling = self._checker.ruling(value, findings)
        hidden, types = ruling.hidden(), _types(ruling.findings)
        if not hidden:
            return Judgement(types) if types else CLEAN
        operators = self._checker.operators(hidden, number)
        text = mask_text(value, operators, self._masker, ciphertexts=ciphertexts)
        first = hidden[0].finding
        is_complete = len(hidden) == 1 and first.end - first.start == len(value)
        if not is_complete and find_leaks(text, [Value.of(each.finding, value) for each in hidden]):
            text = mask_text(value, [(_widest(first, value), "redact")], self._masker)
        return Judgement(types, text)

    def _masked_again(
        self, header: str, texts: Iterable[str], ciphertexts: set[str]
    ) -> Mapping[str, str]:
        """Mask until a scan finds nothing that is not allowed; return the texts that changed, with
        what they became.
        """
        latest: dict[str, str] = {}

        def mask(waiting: list[str] | None, number: int) -> Round[list[str], None]:
            asked = list(texts) if waiting is None else waiting
            written = Written.of(ciphertexts)
            changed: dict[str, str] = {}
            for at, findings in self._checker.scan_values(header, asked):
                text = asked[at]
                found = [
                    item for item in findings if not written.covers(text, item.start, item.end)
                ]
                again = self._mask(text, found, ciphertexts, number + 1).masked if found else None
                if again is not None:
                    changed[text] = again
            for text, last in latest.items():
                latest[text] = changed.get(last, last)
            if waiting is None:
                latest.update(changed)
            residue = Residue.FINDING if changed else Residue.NOTHING
            return Round(list(dict.fromkeys(changed.values())), residue, None)

        if mask_in_rounds(mask).residue is Residue.NOTHING:
            return latest
        raise StillExposedError(
            f"a masked value of column {header!r} still shows a value; mask the column by the"
            " operator redact, or leave it out"
        )


class Remembering(Generic[Answer]):
    """A judge that remembers the values it saw last, for tables that come in batches.

    Values may be repeated.
    """

    def __init__(self, judge: Callable[[str, Sequence[str]], Sequence[Answer]]) -> None:
        self._judge = judge
        self._known: dict[str, dict[str, Answer]] = {}
        self._size = 0

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Answer]:
        known = self._known.setdefault(header, {})
        found: list[Any] = list(map(known.get, values, repeat(_UNKNOWN)))
        new = list(dict.fromkeys(compress(values, map(is_, found, repeat(_UNKNOWN)))))
        if not new:
            return found
        answers = self._judge(header, new)
        judged = dict(zip(new, answers, strict=True))
        known |= judged
        self._size += sum(map(len, new)) + _COST * len(new)
        if self._size > _MOST_REMEMBERED:
            self._known.clear()
            self._size = 0
        if len(new) == len(values):
            return answers
        return [
            judged[value] if answer is _UNKNOWN else answer
            for value, answer in zip(values, found, strict=True)
        ]


def _types(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.type for finding in findings))


def _widest(finding: Finding, value: str) -> Finding:
    return finding._replace(start=0, end=len(value))
