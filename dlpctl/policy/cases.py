"""Test cases of a policy: texts and files with the expected decision.

```toml
[[case]]
name = "a key never goes to a vendor"
text = "..."      # or: file = "samples/config.env", relative to the file of cases
destination = "VENDOR"
decision = "BLOCKED"
types = ["AWS_ACCESS_KEY"] # optional: exactly these are found
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from dlpctl.mappings import KnownTable, keys_of
from dlpctl.policy.files import read_table_file
from dlpctl.types import Decision, Destination


class Case(NamedTuple):
    name: str
    destination: Destination
    decision: Decision
    text: str | None
    """The content; None if it is in a file."""
    file: Path | None
    types: frozenset[str] | None
    """Exactly the types that must be found; None accepts any."""


class Outcome(NamedTuple):
    """The decision on a case, and the types that were found."""

    decision: Decision
    types: frozenset[str]


class CaseResult(NamedTuple):
    case: Case
    outcome: Outcome
    problems: tuple[str, ...]
    """The differences from the expectation; empty if the case passed."""


def cases_beside(policy: Path) -> Path:
    """Return the file of cases of a policy: `policy.test.toml` for `policy.toml`."""
    return policy.with_name(f"{policy.stem}.test{policy.suffix}")


def load_cases(path: Path) -> tuple[Case, ...]:
    """Read a TOML, YAML or JSON file of cases; raises `PolicyError` with all mistakes."""
    file = read_table_file(path)
    table = KnownTable(file.data, file.source, "", ("case",))
    items = table.tables("case", keys_of(Case), required=True)
    if not items and not file.source.problems:
        table.fail("case", "holds no case")
    cases = tuple(_case(each, path.parent) for each in items)
    file.source.problems.raise_any()
    return cases


def _case(table: KnownTable, folder: Path) -> Case:
    if ("text" in table) == ("file" in table):
        table.source.fail(table.path, "needs either 'text' or 'file'")
    return Case(
        name=table.text("name", table.path),
        destination=table.member("destination", Destination, "a destination"),
        decision=table.member("decision", Decision, "a decision"),
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
