"""`dlpctl apply`: organizations as a file says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session
from dlpctl.cli.control_plane import backend

app = typer.Typer(add_completion=False)


@app.command()
def apply(
    file: Annotated[Path, typer.Option("-f", "--file", metavar="FILE", help="TOML, YAML or JSON.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")
    ] = False,
    form: Annotated[
        options.Output, typer.Option("--format", help="For people or for programs.")
    ] = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Create and change organizations, groups and policies until they are as a file says."""
    from dlpctl.cli import applied

    organizations = applied.read(file)
    with backend(server) as control:
        changes = list(
            applied.apply(
                control, organizations, file.parent, Session.begin().policy, dry_run=dry_run
            )
        )
    printer = Printer()
    if form is options.Output.JSON:
        printer.json({"dry_run": dry_run, "changes": changes})
        return
    for line in changes:
        printer.line(printer.style(line, "green" if line.startswith("+") else "yellow"))
    if not changes:
        printer.line("nothing to change")
