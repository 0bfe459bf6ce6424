"""`dlpctl serve`: the service over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlpctl.cli.session import Session

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="To listen on; 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65535, help="8686; 0 takes any that is free."),
    ] = None,
    unix_socket: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Listen on a socket in the file system instead."),
    ] = None,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote", help="Allow an ADDRESS that other machines reach, without encryption."
        ),
    ] = False,
    trusted_proxy: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="A proxy whose X-Forwarded headers say who asks for what."
        ),
    ] = None,
) -> None:
    """Answer checks over HTTP until it is told to end. Further settings are in the table 'serve':
    see 'dlpctl help configuration'.
    """
    from dlpctl.config import load_config
    from dlpctl_daemon.inspector import command
    from dlpctl_daemon.options import Options
    from dlpctl_daemon.serve import serve as run

    flags = {"serve.host": host, "serve.port": port, "serve.trusted_proxy": trusted_proxy}
    session = Session(load_config(flags), None)
    config = session.config
    options = Options(
        config.serve, str(unix_socket) if unix_socket else None, allow_remote, config.limits
    )
    inspector = command(config.patterns, config.cache_folder)
    run(config.data_folder, session.detector, options, inspector)
