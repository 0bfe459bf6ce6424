"""Judge the distinct values of a column: what is in each, and what replaces it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dlpctl.detect.values import scan_values
from dlpctl.errors import StillExposedError
from dlpctl.masking.apply import Masked, mask_text
from dlpctl.masking.leaks import Value, find_leaks
from dlpctl.types import Action

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.masking.operators import Masker
    from dlpctl.preflight import Checker
    from dlpctl.types import Finding

_ROUNDS = 6
"""The most times that a value is masked again for what it still shows."""
_KEEPING_SHAPE = 2
"""The rounds after which what still shows is replaced by its type alone."""
_MOST_REMEMBERED = 1 << 24
"""Characters of the values that are remembered, each of which costs some more."""
_COST = 100


class Judgement(NamedTuple):
    """The types of the findings in a value, and the value that may be shown instead."""

    types: tuple[str, ...] = ()
    masked: str | None = None
    """None where the value may stay."""


CLEAN = Judgement()


class Judge(Protocol):
    """Judges distinct values below a header."""

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]: ...


class Classifier:
    """Tells what values are."""

    def __init__(self, detector: Detector, min_score: float) -> None:
        self._detector = detector
        self._min_score = min_score

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]:
        found = scan_values(self._detector, header, values, self._min_score)
        return [Judgement(_types(findings)) if findings else CLEAN for findings in found]


class ValueMasker:
    """Tells what values are, and masks what is not allowed."""

    def __init__(self, checker: Checker, masker: Masker) -> None:
        self._checker = checker
        self._masker = masker

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]:
        judged = [CLEAN] * len(values)
        masked: dict[int, str] = {}
        for number, findings in enumerate(self._checker.scan_values(header, values)):
            if not findings:
                continue
            value = values[number]
            types, text = self._mask(value, findings)
            judged[number] = Judgement(types)
            if text is not None:
                masked[number] = text
        for number, text in self._verified(header, masked).items():
            judged[number] = Judgement(judged[number].types, text)
        return judged

    def _mask(
        self, value: str, findings: Sequence[Finding], *, turn: int = 0
    ) -> tuple[tuple[str, ...], str | None]:
        """Return the types of what counts in a value, and its masked text if there is one."""
        ruled = self._checker.ruling(value, findings).ruled
        hidden = [each for each in ruled if each.verdict.action is not Action.ALLOW]
        types = _types(each.finding for each in ruled)
        if not hidden:
            return types, None
        operators: Sequence[Masked] = (
            list(self._checker.operators(hidden))
            if turn < _KEEPING_SHAPE
            else [(each.finding, "redact") for each in hidden]
        )
        text = mask_text(value, operators, self._masker)
        first = hidden[0].finding
        is_complete = len(hidden) == 1 and first.end - first.start == len(value)
        if not is_complete and find_leaks(text, [_value(each.finding, value) for each in hidden]):
            text = mask_text(value, [(_widest(first, value), "redact")], self._masker)
        return types, text

    def _verified(self, header: str, masked: dict[int, str]) -> dict[int, str]:
        """Mask until a scan finds nothing that is not allowed."""
        latest = dict.fromkeys(masked.values(), "")
        latest.update(zip(latest, latest, strict=True))
        waiting = set(latest)
        for turn in range(_ROUNDS):
            texts = sorted(waiting)
            changed: dict[str, str] = {}
            for text, findings in zip(texts, self._checker.scan_values(header, texts), strict=True):
                again = self._mask(text, findings, turn=turn + 1)[1] if findings else None
                if again is not None:
                    changed[text] = again
            if not changed:
                return {number: latest[text] for number, text in masked.items()}
            latest = {text: changed.get(last, last) for text, last in latest.items()}
            waiting = set(changed.values())
        raise StillExposedError(
            f"a masked value of column {header!r} still shows a value; mask the column by the"
            " operator redact, or leave it out"
        )


class Remembering:
    """A judge that remembers the values it saw last, for tables that come in batches."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._known: dict[str, dict[str, Judgement]] = {}
        self._size = 0

    def __call__(self, header: str, values: Sequence[str], /) -> Sequence[Judgement]:
        known = self._known.get(header, {})
        remembered = list(map(known.get, values))
        new = [value for value, judged in zip(values, remembered, strict=True) if judged is None]
        if not new:
            return remembered  # type: ignore[return-value]  # none of them is missing
        found = self._judge(header, new)
        self._remember(header, new, found)
        if len(new) == len(values):
            return found
        following = iter(found)
        return [next(following) if judged is None else judged for judged in remembered]

    def _remember(self, header: str, values: Sequence[str], found: Sequence[Judgement]) -> None:
        size = sum(map(len, values)) + _COST * len(values)
        if self._size + size > _MOST_REMEMBERED:
            self._known.clear()
            self._size = 0
        if size <= _MOST_REMEMBERED:
            self._known.setdefault(header, {}).update(zip(values, found, strict=True))
            self._size += size


def _types(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.type for finding in findings))


def _value(finding: Finding, value: str) -> Value:
    return Value(finding.type, finding.category, value[finding.start : finding.end])


def _widest(finding: Finding, value: str) -> Finding:
    return finding._replace(start=0, end=len(value))
