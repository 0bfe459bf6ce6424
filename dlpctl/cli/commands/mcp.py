"""Serve check, mask, scan and explain over MCP, or inspect the traffic of another MCP server.

Without a subcommand, it is a server on stdio. Needs the extra dlpctl[mcp].

Examples:
    dlpctl mcp --vault session.vault
    dlpctl mcp wrap -- npx some-server
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App

SECTION = ("Repositories, shells and help", 32)

app = App(__doc__, invoke_without_command=True)


@app.callback()
def mcp(
    context: typer.Context,
    vault: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Mask with tokens, and keep the values in FILE."),
    ] = None,
    allow_unmask: Annotated[
        bool, typer.Option("--allow-unmask", help="Offer a tool that shows the values of tokens.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        from dlpctl.cli import mcp_server

        mcp_server.serve(vault, allow_unmask=allow_unmask)


@app.command(context_settings={"ignore_unknown_options": True})
def wrap(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="The server and its arguments.")
    ],
    destination: options.Destination = "VENDOR",
    policy: options.Policy = None,
) -> None:
    """Run an MCP server on stdio, and mask or refuse values in its calls and results.

    What cannot be inspected is refused. Unknown methods and fields pass unchanged.

    Examples:
        dlpctl mcp wrap -- npx some-server
        dlpctl mcp wrap --destination AI_TOOL -- python server.py
    """
    from dlpctl.agents.mcp_messages import Inspector
    from dlpctl.agents.mcp_wrap import Wrapper
    from dlpctl.agents.sessions import SessionVaults
    from dlpctl.cli.session import Session

    session = Session.start()
    agents = session.config.agents
    checker = session.checker(destination, policy or agents.policy, "token")
    vaults = SessionVaults(session.config.data_folder, session.key(), agents.vault_days)
    inspector = Inspector(checker, session.file_checker(checker), vaults.open_wrapper())
    # If the server ends first, a thread still reads: Python would abort if it read from sys.stdin.
    client = open(0, "rb", closefd=False)  # noqa: SIM115
    raise typer.Exit(Wrapper(inspector, client, sys.stdout.buffer).run(command))
