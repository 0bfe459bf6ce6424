from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dlpctl.errors import PolicyError
from dlpctl.policy.cases import Case, Outcome, cases_beside, load_cases, run_cases
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from pathlib import Path

CASES = """
[[case]]
name = "mail"
text = "write to someone"
destination = "VENDOR"
decision = "allowed_with_masking"
types = ["email"]

[[case]]
file = "samples/a.txt"
destination = "AI_TOOL"
decision = "BLOCKED"
"""


def test_cases_are_loaded_and_evaluated(tmp_path: Path) -> None:
    path = cases_beside(tmp_path / "policy.toml")
    assert path.name == "policy.test.toml"
    path.write_text(CASES)
    cases = load_cases(path)
    assert cases[0] == Case(
        "mail",
        Destination.VENDOR,
        Decision.ALLOWED_WITH_MASKING,
        "write to someone",
        None,
        frozenset({"EMAIL"}),
    )
    assert (cases[1].name, cases[1].file) == ("case[1]", tmp_path / "samples" / "a.txt")

    results = run_cases(
        cases, lambda _: Outcome(Decision.ALLOWED_WITH_MASKING, frozenset({"EMAIL"}))
    )
    assert [result.problems for result in results] == [
        (),
        ("decision is ALLOWED_WITH_MASKING, expected BLOCKED",),
    ]
    results = run_cases(cases[:1], lambda _: Outcome(Decision.ALLOWED, frozenset({"SSN", "IBAN"})))
    assert results[0].problems == (
        "decision is ALLOWED, expected ALLOWED_WITH_MASKING",
        "not found: EMAIL",
        "found, not expected: IBAN, SSN",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case = []", "p.test.toml:1: case: holds no case"),
        (
            "[[case]]\ntext = 'a'\nfile = 'b'\ndestination = 'VENDOR'\ndecision = 'BLOCKED'",
            "p.test.toml:1: case[0]: needs either 'text' or 'file'",
        ),
        (
            "[[case]]\ntext = 'a'\ndestination = 'VENDOR'",
            "p.test.toml:1: case[0].decision: is missing",
        ),
        (
            "[[case]]\ntext = 'a'\ndestination = 'VENDOR'\ndecision = 'BLOCK'",
            "p.test.toml:4: case[0].decision: 'BLOCK' is not a decision; did you mean 'BLOCKED'?",
        ),
    ],
)
def test_a_mistake_in_a_case_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.test.toml"
    path.write_text(text)
    with pytest.raises(PolicyError) as error:
        load_cases(path)
    assert error.value.message == message
