"""`dlpctl init`: a control plane to begin with."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.backend.interface import policy_key
from dlpctl.backend.local import LocalBackend
from dlpctl.cli import options
from dlpctl.cli.control_plane import backend, done, given, show_one

app = typer.Typer(add_completion=False)


@app.command()
def init(
    org: Annotated[
        str | None, typer.Option(metavar="NAME", help="Also create an organization of this name.")
    ] = None,
    slug: Annotated[str | None, typer.Option(help="Its slug; made from the name.")] = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Make the database, its key file and the first admin token. What is there already stays; a
    server has all that already.
    """
    with backend(server) as control:
        if isinstance(control, LocalBackend):
            token = control.control.tokens.first()
            made = {"folder": str(control.control.folder), "token_file": str(token)}
        else:
            made = {"organizations": str(len(control.organizations()))}
        if org is not None:
            organization = control.create_organization(given(name=org, slug=slug))
            made |= {
                "organization": organization["slug"],
                "license_key": organization["license_key"],
                "api_key": policy_key(control, organization["org_id"], None),
            }
    show_one(made, form)
    if org is not None:
        done(f"try: dlpctl check FILE --org {made['organization']}", form)
