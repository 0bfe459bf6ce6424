"""The values that must not remain in a long file, from its findings alone."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

from dlpctl.detect.packed import PackedFindings
from dlpctl.files.decided import REJECTED
from dlpctl.files.hidden import HiddenValues
from dlpctl.policy.decide import Verdict
from dlpctl.types import Action, Category, Finding

if TYPE_CHECKING:
    from limits import Limiter

MASK, BLOCK, ALLOW = (
    Verdict(action, action.value) for action in (Action.MASK, Action.BLOCK, Action.ALLOW)
)


def hidden(rows: list[tuple[str, str, int]]) -> tuple[HiddenValues, PackedFindings]:
    """Return the values of (type, value, verdict), one below the other."""
    text = "\n".join(value for _, value, _ in rows)
    findings: list[Finding] = []
    at = 0
    for name, value, _ in rows:
        findings.append(Finding(name, Category.PII, at, at + len(value), 0.9, name.lower()))
        at += len(value) + 1
    found = PackedFindings.of(findings, len(text))
    verdicts = bytes(verdict for _, _, verdict in rows)
    return HiddenValues(text, found, verdicts, [MASK, BLOCK, ALLOW]), found


ROWS = [
    ("EMAIL", "a@b.com", 0),
    ("PERSON_NAME", "Sunshine", 0),
    ("EMAIL", "c@d.com", 1),
    ("EMAIL", "a@b.com", 2),
    ("EMAIL", "a@b.com", 0),
    ("PHONE", "555 0100", 2),
    ("PHONE", "555 0199", REJECTED),
    ("CITY", "Sunshine", 0),
]


def test_values_are_those_of_hiding_verdicts() -> None:
    values, found = hidden(ROWS)
    assert values.chunk_count == 1
    assert values.chunk(0) == ({"a@b.com", "c@d.com", "Sunshine"}, {"Sunshine"})
    assert values.longest == len("Sunshine")
    assert list(values.spans()) == [
        (one.start, one.end) for one, row in zip(found, ROWS, strict=True) if row[2] in (0, 1)
    ]
    assert [one.type for one in values.findings_of({"Sunshine", "555 0100"})] == [
        "PERSON_NAME",
        "CITY",
    ]


def test_a_value_is_hidden_as_one_of_its_type() -> None:
    values, _ = hidden(ROWS)
    assert values.hold("EMAIL", Category.PII, "a@b.com")
    assert not values.hold("EMAIL", Category.PHI, "a@b.com")
    assert not values.hold("PHONE", Category.PII, "555 0100")
    assert not values.hold("EMAIL", Category.PII, "Sunshine")


def test_the_last_new_value_of_a_type_gives_its_verdict() -> None:
    values, _ = hidden(ROWS)
    assert values.verdicts_by_type({"EMAIL", "PHONE", "CITY"}) == {"EMAIL": 1, "CITY": 0}


def test_chunks_hold_all_values(limit: Limiter) -> None:
    limit("dlpctl.files.hidden._CHUNK", 3)
    values, _ = hidden(ROWS)
    chunks = [values.chunk(number) for number in range(values.chunk_count)]
    assert chunks == [
        ({"a@b.com", "c@d.com"}, {"Sunshine"}),
        ({"a@b.com"}, set()),
        ({"Sunshine"}, set()),
    ]


def test_spans_are_read_without_copies_of_all_findings() -> None:
    values, found = hidden([("EMAIL", "a@b.com", 0)] * 100_000)
    tracemalloc.start()
    try:
        spans = sum(1 for _ in values.spans())
        assert tracemalloc.get_traced_memory()[1] < len(found)
    finally:
        tracemalloc.stop()
    assert spans == len(found)
