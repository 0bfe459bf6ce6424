"""Maintain the database of the control plane on this machine.

Examples:
    dlpctl db check
    dlpctl db backup backup.db
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, local
from dlpctl.cli.render import Printer
from dlpctl.errors import UsageError

SECTION = ("Control plane", 47)

app = App(__doc__)

_HOURS = {"h": 1, "d": 24, "w": 168}


@app.command()
def check(form: options.Format = options.Output.HUMAN) -> None:
    """Check the integrity of the database. Exit status 1 if it is damaged.

    Examples:
        dlpctl db check
        dlpctl db check --format json
    """
    with local() as backend:
        problems = backend.control.maintenance.check()
    if form is options.Output.JSON:
        Printer().json({"intact": not problems, "problems": list(problems)})
    else:
        for line in problems or ["intact"]:
            Printer().line(line)
    raise typer.Exit(1 if problems else 0)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Copy the database while it is in use. Keep a copy of the key file elsewhere.

    Examples:
        dlpctl db backup backup.db
        dlpctl db backup "/backups/$(date +%F).db"
    """
    with local() as backend:
        backend.control.maintenance.backup(file)
        key = backend.control.folder / "control.key"
    ControlOptions(form).print_done(f"written {file}; it is useless without {key}")


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A file of 'dlpctl db backup'.")],
    yes: options.Confirmed = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Replace the database by a backup, also a lost one.

    A file that is no longer a database is kept as control.db.damaged.

    Examples:
        dlpctl db restore backup.db --yes
        dlpctl db restore /backups/2027-01-31.db --yes
    """
    if not yes:
        raise UsageError("this replaces everything in the database; confirm with --yes")
    with local(restoring=True) as backend:
        backend.control.maintenance.restore(source)
    ControlOptions(form).print_done(f"restored {source}")


@app.command("rotate-key")
def rotate_key(form: options.Format = options.Output.HUMAN) -> None:
    """Replace control.key while the database is in use. Older backups still need the old key.

    Examples:
        dlpctl db rotate-key
        dlpctl db rotate-key --format json
    """
    with local() as backend:
        ControlOptions(form).print_record(backend.control.maintenance.rotate_key_file().to_dict())


@app.command()
def vacuum(form: options.Format = options.Output.HUMAN) -> None:
    """Return the space of removed rows to the file system.

    Examples:
        dlpctl db vacuum
        dlpctl db prune --older-than 90d && dlpctl db vacuum
    """
    with local() as backend:
        backend.control.maintenance.vacuum()
    ControlOptions(form).print_done("done")


@app.command()
def prune(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="The age of the checks: 90d, 12w or 48h.")
    ],
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Remove old checks from the audit log. Analytics keeps its counts.

    Examples:
        dlpctl db prune --older-than 90d
        dlpctl db prune --older-than 52w
    """
    age = _age(older_than)
    with local() as backend:
        removed = backend.control.maintenance.prune(age)
    if form is options.Output.JSON:
        Printer().json({"removed": removed})
    else:
        Printer().line(f"removed {removed:,} checks")


def _age(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    if not number.isdecimal() or unit not in _HOURS or len(number) > 6:
        raise UsageError(f"--older-than takes a number and h, d or w, such as 90d, not {text!r}")
    return timedelta(hours=int(number) * _HOURS[unit])
