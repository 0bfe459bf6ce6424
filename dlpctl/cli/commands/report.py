"""Compare the reports of scans, or post one on a pull request.

Examples:
    dlpctl report diff old.json new.json
    dlpctl report comment scan.md
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.render import Printer

SECTION = ("Content", 6)
NEW_FINDINGS = 20

app = App(__doc__)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The JSON report of a scan.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The JSON report of a later scan.")],
    form: options.Format = options.Output.HUMAN,
    quiet: options.Quiet = False,
) -> None:
    """List the findings that are new in a later report, and those that are gone.

    Exit status: 0 no new findings, 20 new findings.

    Examples:
        dlpctl report diff old.json new.json
        dlpctl report diff main.json branch.json --quiet || echo 'new findings'
    """
    from dlpctl.config import load_config
    from dlpctl.scan.difference import difference
    from dlpctl.scan.excerpts import HIDDEN, printable_line

    found = difference(old, new)
    printer = Printer(load_config().color, quiet=quiet)
    if form is options.Output.JSON:
        printer.json({"new": found.new, "gone": found.gone, "kept": found.kept})
    else:
        for sign, colour, records in (("+", "red", found.new), ("-", "green", found.gone)):
            for record in records:
                shown_place = record.get("place") or f"{record['line']}:{record['column']}"
                sample = record.get("sample") or HIDDEN
                line = f"{record['file']}:{shown_place}  {record['type']}  {sample}"
                printer.line(printer.style(f"{sign} {printable_line(line)}", colour))
        printer.line(f"{len(found.new):,} new, {len(found.gone):,} gone, {found.kept:,} in both")
    raise typer.Exit(NEW_FINDINGS if found.new else 0)


@app.command()
def comment(
    report: Annotated[Path, typer.Argument(metavar="FILE", help="The Markdown report of a scan.")],
) -> None:
    """Post a report as a comment on the pull request of this pipeline.

    Each run updates the comment of the previous one. The variables of GitHub or GitLab identify the
    pull request, and GITHUB_TOKEN or GITLAB_TOKEN holds a token that may write comments.

    Examples:
        dlpctl report comment scan.md
        dlpctl scan . --report markdown=scan.md || dlpctl report comment scan.md
    """
    from dlpctl.cli.commenting import comment as write

    Printer().line(f"{'written' if write(report) else 'changed'} the comment on the pull request")
