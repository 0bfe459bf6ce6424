"""`dlpctl doctor`: what is wrong with this installation, and what mends it."""

from __future__ import annotations

import typer

from dlpctl.cli import options
from dlpctl.cli.diagnosis import State, diagnose
from dlpctl.cli.render import Printer

app = typer.Typer(add_completion=False)

_COLOURS = {State.OK: "green", State.NOTE: "cyan", State.WARNING: "yellow", State.ERROR: "red"}


@app.command()
def doctor(form: options.Format = options.Output.HUMAN) -> None:
    """Look at settings, engine, cache, keys, database, clock, license, server and helpers. Exit
    status 1 if any is in error.
    """
    verdicts = list(diagnose())
    errors = sum(one.state is State.ERROR for one in verdicts)
    printer = Printer()
    if form is options.Output.JSON:
        rows = [one._asdict() | {"remedy": one.remedy or None} for one in verdicts]
        printer.json({"healthy": not errors, "checks": rows})
    else:
        wide = max(len(one.subject) for one in verdicts)
        for one in verdicts:
            state = printer.style(one.state.ljust(len(State.WARNING)), _COLOURS[one.state])
            printer.line(f"{state}  {one.subject.ljust(wide)}  {one.said}")
            if one.remedy and one.state is not State.OK:
                printer.line(
                    f"{' ' * (len(State.WARNING) + wide + 4)}{printer.style(one.remedy, 'bold')}"
                )
        warnings = sum(one.state is State.WARNING for one in verdicts)
        printer.line(printer.style(f"{errors} in error, {warnings} to look at", "bold"))
    raise typer.Exit(1 if errors else 0)
