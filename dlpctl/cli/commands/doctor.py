"""Diagnose this installation and print the commands that repair it.

Exit status 1 if there are errors.

Examples:
    dlpctl doctor
    dlpctl doctor --format json
"""

from __future__ import annotations

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.diagnosis.installation import diagnose
from dlpctl.cli.diagnosis.verdicts import State
from dlpctl.cli.render import Printer

SECTION = ("Repositories, shells and help", 34)

app = App()

_COLOURS = {State.OK: "green", State.NOTE: "cyan", State.WARNING: "yellow", State.ERROR: "red"}


@app.command(help=__doc__)
def doctor(form: options.Format = options.Output.HUMAN) -> None:
    verdicts = list(diagnose())
    errors = sum(verdict.state is State.ERROR for verdict in verdicts)
    printer = Printer()
    if form is options.Output.JSON:
        printer.json({"healthy": not errors, "checks": [each.to_dict() for each in verdicts]})
    else:
        width = max(len(verdict.subject) for verdict in verdicts)
        for verdict in verdicts:
            state = printer.style(verdict.state.ljust(len(State.WARNING)), _COLOURS[verdict.state])
            printer.line(f"{state}  {verdict.subject.ljust(width)}  {verdict.message}")
            if verdict.remedy and verdict.state is not State.OK:
                indent = " " * (len(State.WARNING) + width + 4)
                printer.line(f"{indent}{printer.style(verdict.remedy, 'bold')}")
        warnings = sum(verdict.state is State.WARNING for verdict in verdicts)
        printer.line(printer.style(f"{errors} in error, {warnings} warnings", "bold"))
    raise typer.Exit(1 if errors else 0)
