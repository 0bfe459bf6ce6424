"""Keep sensitive data out of commits, pipelines and coding agents.

Examples:
    dlpctl hook install git
    dlpctl hook install claude-code
"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.scans.options import ScanRequest
from dlpctl.errors import UsageError

SECTION = ("Repositories, shells and help", 30)

app = App(__doc__)

_GIT = "git"
_OF_AGENTS = "git: --all, --project, --wrap-mcp and --transport are for coding agents"


class Transport(StrEnum):
    COMMAND = "command"
    HTTP = "http"


class Template(StrEnum):
    GIT = "git"
    PRE_COMMIT = "pre-commit"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITLAB_COMPONENT = "gitlab-component"


TargetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="git, claude-code, codex, copilot, cursor, gemini, opencode or windsurf.",
    ),
]
All = Annotated[bool, typer.Option("--all", help="All agents that are installed here.")]
WrapMcp = Annotated[
    bool | None,
    typer.Option(
        "--wrap-mcp/--no-wrap-mcp",
        help="Whether to inspect what MCP servers get and send; asks by default.",
    ),
]
Project = Annotated[
    bool, typer.Option("--project", help="Use the agent's hooks in this folder, not your home.")
]


@app.command()
def install(
    target: TargetArgument = None,
    types: options.Types = None,
    every: All = False,
    project: Project = False,
    wrap_mcp: WrapMcp = None,
    transport: Annotated[
        Transport,
        typer.Option(
            metavar="TRANSPORT",
            help="Run a command, or ask 'dlpctl serve' over http (Claude Code only).",
        ),
    ] = Transport.COMMAND,
) -> None:
    """Install a hook: before each commit, or for each event of a coding agent.

    Existing configuration is kept.

    Examples:
        dlpctl hook install git --types SECRETS,PHI
        dlpctl hook install --all
    """
    if target == _GIT:
        from dlpctl.cli import git_hook

        if every or project or wrap_mcp is not None or transport is Transport.HTTP:
            raise UsageError(_OF_AGENTS)
        git_hook.install(types)
        return
    if types is not None:
        raise UsageError("--types is for git; agents.policy is the policy of agents")
    from dlpctl.cli import agent_hooks

    agent_hooks.install(
        agent_hooks.chosen(
            target, every=every, project=project, over_http=transport is Transport.HTTP
        ),
        wrap_mcp=wrap_mcp,
    )


@app.command()
def uninstall(target: TargetArgument = None, every: All = False, project: Project = False) -> None:
    """Remove a hook, and nothing else.

    Examples:
        dlpctl hook uninstall git
        dlpctl hook uninstall claude-code
    """
    if target == _GIT:
        from dlpctl.cli import git_hook

        if every or project:
            raise UsageError(_OF_AGENTS)
        git_hook.uninstall()
        return
    from dlpctl.cli import agent_hooks

    agent_hooks.uninstall(agent_hooks.chosen(target, every=every, project=project))


@app.command()
def status(target: TargetArgument = None, project: Project = False) -> None:
    """Show whether git and which agents have hooks, and whether these are current.

    Examples:
        dlpctl hook status
        dlpctl hook status git
    """
    from dlpctl.cli import agent_hooks, git_hook
    from dlpctl.cli.render import Printer

    if target == _GIT and project:
        raise UsageError(_OF_AGENTS)
    rows = [] if project or target not in (None, _GIT) else [git_hook.status()]
    if target != _GIT:
        every = target is None
        rows += agent_hooks.status(
            agent_hooks.chosen(target, every=every, project=project, required=False)
        )
    printer = Printer()
    printer.table(rows, head=("", "hooks", "MCP servers", "file"))
    if target is None and len(rows) <= 1 - project:
        printer.line("no coding agent was found")


@app.command()
def doctor(target: TargetArgument = None, project: Project = False) -> None:
    """Send a made-up secret through the installed hooks, and show what the agents would see.

    Examples:
        dlpctl hook doctor
        dlpctl hook doctor claude-code
    """
    from dlpctl.cli import agent_hooks

    raise typer.Exit(
        agent_hooks.diagnose(agent_hooks.chosen(target, every=target is None, project=project))
    )


@app.command()
def agent(
    alone: Annotated[
        bool, typer.Option("--alone", hidden=True, help="Stay as the process for later events.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", hidden=True, help="Only be the process for later events.")
    ] = False,
) -> None:
    """Answer an event of a coding agent: JSON on stdin, the answer in the agent's format on stdout.

    Agents run this for each event. An event that cannot be inspected is refused.

    Examples:
        dlpctl hook agent < event.json
        cat event.json | dlpctl hook agent
    """
    from dlpctl.cli import agent_hooks

    if serve:
        agent_hooks.serve()
    else:
        raise typer.Exit(agent_hooks.answer(stay=alone))


@app.command()
def run(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Files to scan; staged files by default."),
    ] = None,
    types: options.Types = None,
) -> None:
    """Scan as the hooks do, and print the command that accepts a finding.

    Examples:
        dlpctl hook run
        dlpctl hook run src/app.py --types SECRETS
    """
    from dlpctl.cli.git_hook import AdviceReport
    from dlpctl.cli.scans import scanning
    from dlpctl.cli.search import HOOK

    paths = [f"./{name}" if name == "-" else name for name in files or ()]
    request = ScanRequest(paths=paths, staged=not files, types=types)
    advice = AdviceReport(request.fail_on, types)
    status = scanning.scan(request, advice, defaults=HOOK)
    raise typer.Exit(scanning.CLEAN if status == scanning.BELOW else status)


@app.command()
def show(
    template: Annotated[
        Template, typer.Argument(metavar="NAME", help=f"One of {', '.join(Template)}.")
    ],
    install_from: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The URL that pipelines install dlpctl from."),
    ] = None,
) -> None:
    """Print the template of a hook or a pipeline.

    Examples:
        dlpctl hook show pre-commit >> .pre-commit-config.yaml
        dlpctl hook show gitlab --install-from git+https://HOST/ORG/dlpctl@COMMIT
    """
    from dlpctl.cli import git_hook

    if template is Template.GIT:
        sys.stdout.write(git_hook.script())
    else:
        sys.stdout.write(git_hook.pipeline(template.value, install_from))
