"""Open the console of the service in the browser.

The link signs you in once, within two minutes, with the rights of your token.

Examples:
    dlpctl console
    dlpctl console --print
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.render import Printer
from dlpctl.cli.session import Session

SECTION = ("Control plane", 49)

app = App()


@app.command(help=__doc__)
def console(
    server: options.Server = None,
    prints: Annotated[
        bool, typer.Option("--print", help="Print the link instead of opening it.")
    ] = False,
) -> None:
    import os
    import webbrowser
    from contextlib import closing

    from dlpctl.backend.remote import RemoteBackend

    config = Session.start(server=server).config
    address = config.server or _local_address(config.serve.host, config.serve.port)
    with closing(RemoteBackend.open(address, config.data_folder, os.environ)) as backend:
        link = backend.create_console_link()
    if not prints and webbrowser.open(link["url"]):
        sys.stderr.write(f"opened the console of {address} in the browser\n")
        return
    Printer().line(link["url"])


def _local_address(host: str, port: int) -> str:
    """Return the address of the service on this machine."""
    if host in ("0.0.0.0", "::"):  # noqa: S104  # compared, not listened on
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
