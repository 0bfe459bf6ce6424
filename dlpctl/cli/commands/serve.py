"""Answer checks over HTTP until stopped.

The table 'serve' has more settings: see 'dlpctl help configuration'.

Examples:
    dlpctl serve
    dlpctl serve --host 0.0.0.0 --allow-remote --trusted-proxy 10.0.0.1
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.session import Session

SECTION = ("Control plane", 48)

app = App()


@app.command(help=__doc__)
def serve(
    host: options.Host = None,
    port: options.Port = None,
    unix_socket: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Listen on a Unix socket instead.")
    ] = None,
    allow_remote: options.AllowRemote = False,
    trusted_proxy: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Trust X-Forwarded headers of ADDRESS.")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=64, help="Answer with N processes; 1 by default."),
    ] = None,
) -> None:
    from dlpctl.cli.guards import answer_over_http
    from dlpctl.config import load_config
    from dlpctl_daemon.inspector import command
    from dlpctl_daemon.options import Options
    from dlpctl_daemon.serve import serve as run

    flags = {
        "serve.host": host,
        "serve.port": port,
        "serve.trusted_proxy": trusted_proxy,
        "serve.processes": processes,
    }
    session = Session(load_config(flags), None)
    config = session.config
    options = Options(
        config.serve,
        str(unix_socket) if unix_socket else None,
        allow_remote,
        config.limits,
        answer_over_http,
    )
    inspector = command(config.patterns, config.cache_folder)
    run(config.data_folder, session.detector, options, inspector)
