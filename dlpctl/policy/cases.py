"""Test cases beside a policy: what it should decide about texts and files.

```toml
[[case]]
name = "a key never goes to a vendor"
text = "..."                  # or: file = "samples/config.env", relative to the file of cases
destination = "VENDOR"
decision = "BLOCKED"
types = ["AWS_ACCESS_KEY"]    # optional: exactly these are found
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dlpctl.policy.files import read_table_file
from dlpctl.policy.tables import Table, fail, one_of
from dlpctl.types import Decision, Destination

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_KEYS = ("name", "text", "file", "destination", "decision", "types")


class Case(NamedTuple):
    name: str
    destination: Destination
    decision: Decision
    text: str | None
    """The content, or None where it is in a file."""
    file: Path | None
    types: frozenset[str] | None
    """Exactly the types that are found; None where that does not matter."""


class Outcome(NamedTuple):
    """What came of a case."""

    decision: Decision
    types: frozenset[str]


class CaseResult(NamedTuple):
    case: Case
    outcome: Outcome
    problems: tuple[str, ...]
    """What is not as expected; empty if the case passed."""


def cases_beside(policy: Path) -> Path:
    """Where the cases of a policy file lie: `policy.toml` and `policy.test.toml`."""
    return policy.with_name(f"{policy.stem}.test{policy.suffix}")


def load_cases(path: Path) -> tuple[Case, ...]:
    """Read a TOML, YAML or JSON file of cases; raises `PolicyError`."""
    table = Table(read_table_file(path), f"{path.name}:", ("case",))
    items = table.items("case", required=True)
    if not items:
        fail(table.at("case"), "holds no case")
    return tuple(_case(Table(item, place, _KEYS), path.parent) for place, item in items)


def _case(table: Table, folder: Path) -> Case:
    if ("text" in table) == ("file" in table):
        fail(table.place, "needs either 'text' or 'file'")
    destination = one_of(
        table.at("destination"), table.required("destination"), Destination, "a destination"
    )
    return Case(
        name=table.text("name", table.place.split(": ")[-1]),
        destination=destination,
        decision=one_of(table.at("decision"), table.required("decision"), Decision, "a decision"),
        text=table.text("text") if "text" in table else None,
        file=folder / table.text("file") if "file" in table else None,
        types=frozenset(name.upper() for _, name in table.texts("types"))
        if "types" in table
        else None,
    )


def run_cases(cases: Iterable[Case], evaluate: Callable[[Case], Outcome]) -> list[CaseResult]:
    return [_judged(case, evaluate(case)) for case in cases]


def _judged(case: Case, outcome: Outcome) -> CaseResult:
    problems = []
    if outcome.decision is not case.decision:
        problems.append(f"decision is {outcome.decision}, expected {case.decision}")
    if case.types is not None:
        if missing := sorted(case.types - outcome.types):
            problems.append(f"not found: {', '.join(missing)}")
        if surplus := sorted(outcome.types - case.types):
            problems.append(f"found, not expected: {', '.join(surplus)}")
    return CaseResult(case, outcome, tuple(problems))
