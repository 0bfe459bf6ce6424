"""`dlpctl db`: looking after the database of the control plane."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.render import Printer
from dlpctl.cli.control_plane import done, local, show_one
from dlpctl.errors import UsageError

app = typer.Typer(add_completion=False, no_args_is_help=True)

_HOURS = {"h": 1, "d": 24, "w": 168}


@app.callback()
def _group() -> None:
    """The database: on this machine, whatever server other commands ask."""


@app.command()
def check(form: options.Format = options.Output.HUMAN) -> None:
    """Look whether it is whole. Exit status 1 where it is not."""
    with local() as backend:
        problems = backend.control.maintenance.check()
    if form is options.Output.JSON:
        show_one({"whole": not problems, "problems": list(problems)}, form)
    else:
        for line in problems or ["whole"]:
            Printer().line(line)
    raise typer.Exit(1 if problems else 0)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Copy it while others use it. The key file is not part of the copy: keep that in another
    place.
    """
    with local() as backend:
        backend.control.maintenance.backup(target)
        done(
            f"written {target}; it is of no use without {backend.control.folder / 'control.key'}",
            form,
        )


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What 'db backup' wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Replace what is there now.")] = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Put a backup in its place."""
    if not yes:
        raise UsageError("this replaces everything in the database; say --yes if you mean it")
    with local() as backend:
        backend.control.maintenance.restore(source)
    done(f"restored {source}", form)


@app.command("rotate-key")
def rotate_key(form: options.Format = options.Output.HUMAN) -> None:
    """Replace control.key, while others use the database; keep the old one with the backups made
    before.
    """
    with local() as backend:
        show_one(backend.control.maintenance.rotate_key_file().to_dict(), form)


@app.command()
def vacuum(form: options.Format = options.Output.HUMAN) -> None:
    """Give the space of what was removed back to the disk."""
    with local() as backend:
        backend.control.maintenance.vacuum()
    done("done", form)


@app.command()
def prune(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Of the checks to remove: 90d, 12w or 48h.")
    ],
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Remove old checks from the audit log; analytics keeps what it has counted."""
    age = _age(older_than)
    with local() as backend:
        removed = backend.control.maintenance.prune(age)
    if form is options.Output.JSON:
        show_one({"removed": removed}, form)
    done(f"removed {removed:,} checks", form)


def _age(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    if not number.isdecimal() or unit not in _HOURS or len(number) > 6:
        raise UsageError(f"--older-than takes a number and h, d or w, such as 90d, not {text!r}")
    return timedelta(hours=int(number) * _HOURS[unit])
