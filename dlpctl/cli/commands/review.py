"""Review findings in the terminal: accept, mask, explain or edit each.

Needs the extra dlpctl[review]. Exit status 20 if findings remain to be decided on.

Examples:
    dlpctl review
    dlpctl review src --types SECRETS
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.render import Printer
from dlpctl.cli.scans.new_exceptions import ExceptionOptions, baseline_to_add_to
from dlpctl.cli.search import search
from dlpctl.cli.session import Session, print_gaps
from dlpctl.errors import InputError, UsageError
from dlpctl.scan.reports import counted

SECTION = ("Repositories, shells and help", 31)
LEFT = 20

app = App()


@app.command(help=__doc__)
def review(
    exception: ExceptionOptions,
    paths: options.Paths = None,
    types: options.Types = None,
    min_score: options.MinScore = None,
    of_accepted: Annotated[
        bool, typer.Option("--accepted", help="Review the accepted findings instead.")
    ] = False,
) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("review needs a terminal; 'dlpctl scan' lists findings")
    try:
        from dlpctl.cli.scans.review_screen import ReviewApp
    except ImportError:
        raise UsageError(
            "review needs the package textual: install dlpctl with its extra, dlpctl[review]"
        ) from None
    from dlpctl.cli.scans.review import Review

    session = Session.start()
    wanted = search(session, types=types, min_score=min_score)
    baseline, template = baseline_to_add_to(exception.file), exception.entry_template("")
    reviewed = Review(session, wanted, baseline, template, of_accepted=of_accepted)
    reviewed.scan(paths or ["."])
    print_gaps(wanted.detector)
    for skip in reviewed.unread:
        sys.stderr.write(f"dlpctl: {skip.path}: {skip.detail or skip.why}\n")
    printer = session.printer()
    if not reviewed.files:
        raise InputError("no file was scanned: check the paths and what excludes files")
    if reviewed.results and ReviewApp(reviewed, exception.expires).run():
        raise KeyboardInterrupt
    _print_outcome(reviewed.left(), reviewed.files, printer)
    raise typer.Exit(1 if reviewed.unread else LEFT if reviewed.left() else 0)


def _print_outcome(left: int, files: int, printer: Printer) -> None:
    outcome = f"{counted(left, 'finding')} left" if left else "nothing left to decide on"
    printer.line(f"{outcome} in {counted(files, 'file')}")
