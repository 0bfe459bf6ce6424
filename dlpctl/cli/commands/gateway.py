"""Mask what applications send to models, and restore the answers.

Without a subcommand, it listens until stopped. Needs the extra dlpctl[gateway].

Examples:
    dlpctl gateway
    dlpctl gateway --upstream openai=https://llm.example.com --operator surrogate
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.gateway_run import GatewayOptions, run, url_of
from dlpctl.cli.options import Output
from dlpctl.errors import UsageError

SECTION = ("Repositories, shells and help", 33)

app = App(__doc__, invoke_without_command=True)


@app.callback()
def gateway(context: typer.Context, gateway_options: GatewayOptions) -> None:
    if context.invoked_subcommand is not None:
        return
    if gateway_options.with_keys and gateway_options.policy is not None:
        raise UsageError("--with-keys: the key names the policy; leave out --policy")
    run(gateway_options)


@app.command()
def env(
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT",
            help="claude-code, codex, gemini, copilot, openai-sdk or anthropic-sdk.",
        ),
    ],
    install: Annotated[
        bool, typer.Option("--install", help="Write it into the client's settings.")
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Remove it from the client's settings.")
    ] = False,
    host: options.Host = None,
    port: options.Port = None,
) -> None:
    """Print how to point a client at the gateway.

    Examples:
        eval "$(dlpctl gateway env openai-sdk)"
        dlpctl gateway env claude-code --install
    """
    from dlpctl.cli import gateway_clients
    from dlpctl.cli.render import Printer
    from dlpctl.config import load_config

    if install and uninstall:
        raise UsageError("give --install or --uninstall, not both")
    settings = load_config().gateway
    url = url_of(host or settings.host, port or settings.port)
    printer = Printer()
    if uninstall:
        path, was_there = gateway_clients.uninstall(client)
        printer.line(f"{'removed from' if was_there else 'not in'} {path}")
    elif install:
        printer.line(f"installed in {gateway_clients.install(client, url)}")
        if remark := gateway_clients.client(client).remark:
            printer.line(f"  {remark}")
    else:
        sys.stdout.write(gateway_clients.exports(client, url))


@app.command()
def tail(
    last: Annotated[
        int, typer.Option("-n", "--last", metavar="N", min=0, help="Show the last N calls first.")
    ] = 10,
    once: Annotated[
        bool, typer.Option("--once", help="Exit after the last calls instead of waiting.")
    ] = False,
    output: options.Format = Output.HUMAN,
) -> None:
    """Show the gateway's calls as they end: decisions only, no content.

    Examples:
        dlpctl gateway tail
        dlpctl gateway tail --last 100 --once --format json
    """
    from dlpctl.config import load_config
    from dlpctl.gateway.calls import call_log, follow, shown

    calls = follow(call_log(load_config().data_folder), last, waits=not once)
    for call in calls:
        sys.stdout.write(shown(call, as_json=output is Output.JSON) + "\n")
        sys.stdout.flush()
