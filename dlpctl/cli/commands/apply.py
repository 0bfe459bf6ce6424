"""Create and change organizations, groups and policies as a file describes.

Anything that the file does not name is left alone.

Examples:
    dlpctl apply org.toml --dry-run
    dlpctl apply org.toml --server http://127.0.0.1:8686
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session

SECTION = ("Control plane", 49)

app = App()


@app.command(help=__doc__)
def apply(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="TOML, YAML or JSON; see 'dlpctl help daemon'.")
    ],
    control: ControlOptions,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the changes without making them.")
    ] = False,
) -> None:
    from dlpctl.cli import applied

    organizations = applied.read(file)
    policy = Session.start().policy
    with control.backend() as backend:
        changes = list(applied.apply(backend, organizations, file.parent, policy, dry_run=dry_run))
    printer = Printer()
    if control.as_json:
        printer.json({"dry_run": dry_run, "changes": changes})
        return
    for line in changes:
        printer.line(printer.style(line, "green" if line.startswith("+") else "yellow"))
    if not changes:
        printer.line("nothing to change")
