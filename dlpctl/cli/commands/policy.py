"""Show, check and compare policies.

Policies are files, built in, or stored by an organization.

Examples:
    dlpctl policy lint policy.toml
    dlpctl policy diff default policy.toml
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import inputs, options, stored_policies
from dlpctl.cli.app import App
from dlpctl.cli.session import Session
from dlpctl.errors import InputError
from dlpctl.scan.reports import counted, printable

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.policy.cases import Case, Outcome
    from dlpctl.policy.compare import Change, Sample
    from dlpctl.policy.model import Policy
    from dlpctl.policy.rules import Rule
    from dlpctl.types import Finding

SECTION = ("Detection and policies", 10)

app = App(__doc__)


@app.command("list")
def list_policies(form: options.Format = options.Output.HUMAN) -> None:
    """List the built-in policies.

    Examples:
        dlpctl policy list
        dlpctl policy list --format json
    """
    from dlpctl.policy.files import builtin_names
    from dlpctl.policy.model import Policy

    session = Session.start()
    policies = [Policy.builtin(name) for name in builtin_names()]
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json([policy.to_dict() for policy in policies])
    else:
        rows = [(policy.name, policy.description) for policy in policies]
        printer.table(rows, head=("NAME", "DESCRIPTION"))


@app.command()
def show(
    policy: options.OptionalPolicy = None, form: options.Format = options.Output.HUMAN
) -> None:
    """Show a policy and its rules.

    Examples:
        dlpctl policy show
        dlpctl policy show pci-dss --format json
    """
    session = Session.start()
    shown = session.policy(policy)
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json(shown.to_dict())
        return
    described = f"  {shown.description}" if shown.description else ""
    printer.line(f"{printer.style(shown.name, 'bold')} {shown.version}{described}")
    rows = [
        (
            rule.id,
            rule.action.value if rule.enabled else "(off)",
            " ".join(rule.data_types),
            " ".join(rule.destinations),
            rule.name,
            _limits(rule),
        )
        for rule in shown.rules
    ]
    printer.table(rows, head=("RULE", "ACTION", "DATA TYPES", "DESTINATIONS", "NAME", "LIMITS"))


def _limits(rule: Rule) -> str:
    """Return the conditions, operators and exceptions of a rule, as its file writes them."""
    table = rule.to_dict()
    parts = [f"{key} {value}" for key, value in table.items() if key.startswith("min")]
    parts += [f"masking {'' if of == '*' else f'{of} '}{to}" for of, to in rule.masking]
    if rule.exceptions:
        parts.append(counted(len(rule.exceptions), "exception"))
    return ", ".join(parts)


@app.command()
def lint(
    policy: options.OptionalPolicy = None, form: options.Format = options.Output.HUMAN
) -> None:
    """Find rules without effect, types that no rule covers, and expired exceptions.

    Examples:
        dlpctl policy lint
        dlpctl policy lint policy.toml
    """
    from dlpctl.policy.lint import Level
    from dlpctl.policy.lint import lint as find

    session = Session.start()
    found = find(session.policy(policy), session.catalogue())
    printer = session.printer()
    colours = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "cyan"}
    if form is options.Output.JSON:
        printer.json([item.to_dict() for item in found])
    else:
        for item in found:
            prefix = f"{item.path}: " if item.path else ""
            printer.line(
                f"{printer.style(item.level, colours[item.level])}: {prefix}{item.message}"
            )
        if not found:
            printer.line("no problems found")
    raise typer.Exit(1 if any(item.level is Level.ERROR for item in found) else 0)


@app.command()
def test(
    policy: options.OptionalPolicy = None,
    cases: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The cases; policy.test.toml for policy.toml."),
    ] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Run test cases: texts and files with the expected decision and types.

    'dlpctl help policies' shows a file of cases.

    Examples:
        dlpctl policy test policy.toml
        dlpctl policy test pci-dss --cases cases.toml
    """
    from dlpctl.policy.cases import cases_beside, load_cases, run_cases

    session = Session.start()
    tested = session.policy(policy)
    file = cases or cases_beside(Path(policy or session.config.policy))
    if not file.is_file():
        raise InputError(f"{file}: there is no such file; 'dlpctl help policies' shows one")
    results = run_cases(load_cases(file), _evaluator(session.detector(), tested))
    failed = sum(bool(result.problems) for result in results)
    printer = session.printer()
    if form is options.Output.JSON:
        printer.json(
            [{"case": item.case.name, "problems": list(item.problems)} for item in results]
        )
    else:
        for item in results:
            mark = printer.style("fail", "red") if item.problems else printer.style("pass", "green")
            why = f": {'; '.join(item.problems)}" if item.problems else ""
            printer.line(f"{mark}  {item.case.name}{why}")
        printer.line(printer.style(f"{len(results) - failed} passed, {failed} failed", "bold"))
    raise typer.Exit(1 if failed else 0)


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A policy file or a built-in policy.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The policy to compare with A.")],
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also compare decisions on the texts in FOLDER."),
    ] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Compare the rules and decisions of two policies. Exit status 1 if they differ.

    Examples:
        dlpctl policy diff default policy.toml
        dlpctl policy diff default policy.toml --corpus samples/
    """
    from dlpctl.policy.compare import changed_rules

    session = Session.start()
    old, new = session.policy(before), session.policy(after)
    rules = changed_rules(old, new)
    decisions = [] if corpus is None else _changed_decisions(session.detector(), old, new, corpus)
    printer = session.printer()
    if form is options.Output.JSON:
        changes = [item._asdict() | {"types": list(item.types)} for item in decisions]
        printer.json({"rules": rules, "decisions": changes})
    else:
        for line in rules:
            printer.line(line)
        printer.table(
            (item.name, item.destination, item.before, "->", item.after, " ".join(item.types))
            for item in decisions
        )
        if not rules and not decisions:
            printer.line("no difference")
    raise typer.Exit(1 if rules or decisions else 0)


def _changed_decisions(detector: Detector, old: Policy, new: Policy, corpus: Path) -> list[Change]:
    from dlpctl.policy.compare import changed_decisions

    scores = [rule.min_score or 1 for rule in (*old.rules, *new.rules)]
    lowest = min([old.min_score, new.min_score, *scores])
    return list(changed_decisions(old, new, _samples(corpus, detector, lowest)))


def _samples(corpus: Path, detector: Detector, min_score: float) -> Iterator[Sample]:
    from dlpctl.detect import blocks
    from dlpctl.policy.compare import Sample

    if not corpus.is_dir():
        raise InputError(f"{corpus}: is not a directory; name one with the texts to compare on")
    files = sorted(path for path in corpus.rglob("*") if path.is_file())
    if not files:
        raise InputError(f"{corpus}: holds no file; name a folder with the texts to compare on")
    for file in files:
        name = str(file.relative_to(corpus))
        head, chunks = inputs.peeked(str(file))
        if inputs.is_binary(head):
            sys.stderr.write(f"dlpctl: {printable(name)}: is no text; not compared\n")
            continue
        text = b"".join(chunks).decode("utf-8", "surrogateescape")
        yield Sample(name, blocks.scan(detector, text, min_score), _values_in(text))


def _values_in(text: str) -> Callable[[Finding], str]:
    return lambda finding: text[finding.start : finding.end]


def _evaluator(detector: Detector, policy: Policy) -> Callable[[Case], Outcome]:
    from dlpctl.policy.cases import Outcome
    from dlpctl.preflight import Checker

    def evaluate(case: Case) -> Outcome:
        text = inputs.read_text(str(case.file)) if case.text is None else case.text
        report = Checker(detector, policy, case.destination).check(text)
        return Outcome(report.decision, frozenset(item.type for item in report.detected))

    return evaluate


stored_policies.add_commands(app)
