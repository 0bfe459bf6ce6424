"""Find sensitive data in files, folders, git, buckets and databases.

Exit status: 0 nothing found, 10 only findings below --fail-on, 20 others, 1 something could not be
read, or no file was scanned.

Examples:
    dlpctl scan . --types SECRETS
    dlpctl scan --diff origin/main --report sarif=scan.sarif
"""

from __future__ import annotations

import sys

import typer

from dlpctl.cli.app import App
from dlpctl.cli.scans.options import ScanRequest
from dlpctl.errors import UsageError

SECTION = ("Content", 4)

app = App()


@app.command(help=__doc__)
def scan(request: ScanRequest) -> None:
    if request.show_values and (not sys.stdout.isatty() or request.reports):
        raise UsageError(
            "--show-values writes to a terminal only, so that no value ends up in a file or a log"
        )
    if sum((request.staged, request.history, request.diff is not None)) > 1:
        raise UsageError("--staged, --history and --diff exclude each other")
    if request.sample and request.of_git:
        raise UsageError("--sample is for files and objects, not for git")
    if request.state and (request.of_git or request.show_values):
        raise UsageError(
            "--state works with neither git nor --show-values: it keeps no values, and git's"
            " contents have no versions"
        )
    from dlpctl.cli.scans import scanning

    raise typer.Exit(scanning.scan(request))
