"""`dlpctl check`: may this content go there?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli import inputs, options
from dlpctl.cli.outputs import writing
from dlpctl.cli.places import Lines
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session
from dlpctl.errors import UsageError
from dlpctl.types import Decision

if TYPE_CHECKING:
    from dlpctl.preflight import Checker, Report

app = typer.Typer(add_completion=False)

EXIT_STATUS = {Decision.ALLOWED: 0, Decision.ALLOWED_WITH_MASKING: 10, Decision.BLOCKED: 20}
_MOST_PLACES = 5


@app.command()
def check(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Text files; '-' is stdin.")
    ] = None,
    destination: options.Destination = None,
    policy: options.Policy = None,
    operator: options.Operator = None,
    output: options.OutputFile = None,
    form: options.Format = options.Output.HUMAN,
    findings: Annotated[bool, typer.Option("--findings", help="List every finding in the JSON.")] = False,
    decision_only: Annotated[
        bool,
        typer.Option("--decision-only", help="Print the decision alone; stops as soon as it is certain."),
    ] = False,
    patterns: options.Patterns = None,
) -> None:
    """Decide by the policy. Exit status: 0 allowed, 10 allowed with masking, 20 blocked; of several files the worst."""
    names = files or [inputs.STDIN]
    if output is not None and len(names) > 1:
        raise UsageError("--output takes the masked copy of one file; check the files one by one")
    session = Session.begin(patterns)
    checker = session.checker(destination, policy, operator)
    printer = session.printer()
    if decision_only:
        decisions = [checker.decide(inputs.read_text_chunks(name)) for name in names]
        for name, decision in zip(names, decisions, strict=True):
            printer.line(printer.decision(decision) + (f"  {name}" if len(names) > 1 else ""))
    else:
        reports = [
            _check(name, checker, output, printer if form is options.Output.HUMAN else None) for name in names
        ]
        decisions = [report.decision for report in reports]
        if form is options.Output.JSON:
            tables = [report.to_dict(findings=findings) for report in reports]
            many = [{"file": name} | table for name, table in zip(names, tables, strict=True)]
            printer.json(tables[0] if len(tables) == 1 else many)
    raise typer.Exit(max(EXIT_STATUS[decision] for decision in decisions))


def _check(name: str, checker: Checker, output: Path | None, printer: Printer | None) -> Report:
    text = inputs.read_text(name)
    report = checker.check(text)
    if output is not None and report.masked_content is not None:
        with writing(output) as write:
            write(report.masked_content.encode("utf-8", "surrogateescape"))
    if printer is not None:
        _show(name, text, report, printer)
    return report


def _show(name: str, text: str, report: Report, printer: Printer) -> None:
    shown = "stdin" if name == inputs.STDIN else name
    printer.line(f"{printer.decision(report.decision)}  {printer.style(shown, 'bold')}  {report.summary}")
    lines = Lines(text)
    rows = []
    for one in report.detected:
        places = [
            f"{line}:{column}"
            for line, column in (lines.place(f.start) for f in report.findings if f.type == one.type)
        ]
        more = f" +{len(places) - _MOST_PLACES}" if len(places) > _MOST_PLACES else ""
        rows.append(
            (
                str(one.occurrences),
                one.type,
                one.sample or "(hidden)",
                f"at {', '.join(places[:_MOST_PLACES])}{more}",
            )
        )
    printer.table(rows, indent="  ")
