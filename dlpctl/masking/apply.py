"""From spans to text: every span is replaced once, and no character outside them changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.masking.records import mask_in_records, record_joints
from dlpctl.operators import OPERATORS, operator_named
from dlpctl.types import Category, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dlpctl.masking.leaks import ForbiddenValues
    from dlpctl.masking.masker import Masker

_new = tuple.__new__
_STRENGTH = {name: -rank for rank, name in enumerate(OPERATORS)}

Masked = tuple[Finding, str]
"""A finding, and the operator that masks it."""


class Replacement(NamedTuple):
    start: int
    end: int
    text: str


class Span(NamedTuple):
    """A range of characters that is replaced as one."""

    start: int
    end: int
    type: str
    category: Category
    operator: str


def mask_text(
    text: str,
    masked: Iterable[Masked],
    masker: Masker,
    forbidden: ForbiddenValues | None = None,
    ciphertexts: set[str] | None = None,
) -> str:
    """Return a copy of `text` in which every finding is replaced by its operator.

    Ciphertexts that are written are added to `ciphertexts`.
    """
    parts: list[str] = []
    last = 0
    for start, end, replacement in replacements(text, masked, masker, forbidden, ciphertexts):
        parts += (text[last:start], replacement)
        last = end
    parts.append(text[last:])
    return "".join(parts)


def replacements(
    text: str,
    masked: Iterable[Masked],
    masker: Masker,
    forbidden: ForbiddenValues | None = None,
    ciphertexts: set[str] | None = None,
) -> list[Replacement]:
    """Return disjoint replacements in order; one that would hold a `forbidden` value is
    redacted.
    """
    spans = resolve(masked)
    if any(operator_named(span.operator).writes_tokens for span in spans):
        masker.tokens.avoid(_between(text, spans))
    written: list[Replacement] = []

    def is_clear(start: int, end: int) -> bool:
        return bisect_right(spans, start, key=_end) == bisect_left(spans, end, key=_start)

    for span in spans:
        value = text[span.start : span.end]
        mask = partial(_replacement, span, masker, forbidden)
        joints = record_joints(text, span.start, span.end, is_clear) if "\n" in value else []
        replacement = mask_in_records(value, span.start, joints, mask) if joints else mask(value)
        written.append(_new(Replacement, (span.start, span.end, replacement)))
        if ciphertexts is not None and operator_named(span.operator).writes_ciphertext:
            ciphertexts.add(replacement)
    return written


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end


def _replacement(span: Span, masker: Masker, forbidden: ForbiddenValues | None, value: str) -> str:
    replacement = masker.replacement(span.operator, span.type, span.category, value)
    if forbidden is not None and forbidden.is_in(replacement):
        return masker.replacement("redact", span.type, span.category, value)
    return replacement


def _between(text: str, spans: Sequence[Span]) -> list[str]:
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def resolve(masked: Iterable[Masked]) -> list[Span]:
    """Merge overlapping findings into spans, each replaced by the strongest of their operators.

    A finding that contains the others gives the type. If none does, the longest gives it, and an
    operator that needs a complete value is replaced by `redact`. The result does not depend on the
    order of the findings.
    """
    ordered = sorted(masked, key=lambda pair: (pair[0].start, -pair[0].end, pair[0].type, pair[1]))
    spans: list[Span] = []
    group: list[Masked] = []
    end = -1
    for pair in ordered:
        finding = pair[0]
        if finding.start >= finding.end:
            continue
        if group and finding.start >= end:
            spans.append(_joined(group))
            group = []
        end = max(end, finding.end) if group else finding.end
        group.append(pair)
    if group:
        spans.append(_joined(group))
    return spans


def _joined(group: Sequence[Masked]) -> Span:
    first, operator = group[0]
    if len(group) == 1:
        return _new(Span, (first.start, first.end, first.type, first.category, operator))
    for _, each in group:
        operator_named(each)
    strongest = max(group, key=lambda pair: (_STRENGTH[pair[1].partition(":")[0]], pair[1]))[1]
    start, end = first.start, max(finding.end for finding, _ in group)
    longest = max(
        group, key=lambda pair: (pair[0].end - pair[0].start, pair[0].score, pair[0].type)
    )[0]
    full = (longest.start, longest.end) == (start, end)
    if not full and operator_named(strongest).keeps_shape:
        strongest = "redact"
    return Span(start, end, longest.type, longest.category, strongest)
