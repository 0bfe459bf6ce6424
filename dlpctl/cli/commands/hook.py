"""Keep secrets and sensitive data out of commits and pipelines.

Examples:
    dlpctl hook install git
    dlpctl hook show github > .github/workflows/dlpctl.yml
"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.scan_options import ScanRequest

SECTION = ("Repositories, shells and help", 30)

app = App(__doc__)


class Target(StrEnum):
    GIT = "git"


class Template(StrEnum):
    GIT = "git"
    PRE_COMMIT = "pre-commit"
    GITHUB = "github"
    GITLAB = "gitlab"


TargetArgument = Annotated[
    Target, typer.Argument(metavar="git", help="The repository of the working folder.")
]


@app.command()
def install(target: TargetArgument, types: options.Types = None) -> None:
    """Install a hook that scans what is staged before each commit.

    An existing hook is kept and runs first.

    Examples:
        dlpctl hook install git
        dlpctl hook install git --types SECRETS,PHI
    """
    from dlpctl.cli import git_hook

    git_hook.install(types)


@app.command()
def uninstall(target: TargetArgument) -> None:
    """Remove the hook, and restore the one before it.

    Examples:
        dlpctl hook uninstall git
        cd repository && dlpctl hook uninstall git
    """
    from dlpctl.cli import git_hook

    git_hook.uninstall()


@app.command()
def run(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Files to scan; by default what is staged."),
    ] = None,
    types: options.Types = None,
) -> None:
    """Scan as the hooks do, and print the command that accepts a finding.

    Examples:
        dlpctl hook run
        dlpctl hook run src/app.py --types SECRETS
    """
    from dlpctl.cli import scanning
    from dlpctl.cli.git_hook import AdviceReport
    from dlpctl.cli.search import HOOK_TYPES

    paths = [f"./{name}" if name == "-" else name for name in files or ()]
    request = ScanRequest(paths=paths, staged=not files, types=types)
    advice = AdviceReport(request.fail_on, types)
    status = scanning.scan(request, advice, default_types=HOOK_TYPES)
    raise typer.Exit(scanning.CLEAN if status == scanning.BELOW else status)


@app.command()
def show(
    template: Annotated[
        Template, typer.Argument(metavar="NAME", help="git, pre-commit, github or gitlab.")
    ],
    install_from: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The URL that pipelines install dlpctl from."),
    ] = None,
) -> None:
    """Print a hook or a pipeline.

    Examples:
        dlpctl hook show pre-commit >> .pre-commit-config.yaml
        dlpctl hook show gitlab --install-from git+https://HOST/ORG/dlpctl@COMMIT
    """
    from dlpctl.cli import git_hook

    if template is Template.GIT:
        sys.stdout.write(git_hook.script())
    else:
        sys.stdout.write(git_hook.pipeline(template.value, install_from))
