"""`dlpctl init`: a control plane to begin with."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.stored import given, local, show_one

app = typer.Typer(add_completion=False)


@app.command()
def init(
    org: Annotated[
        str | None, typer.Option(metavar="NAME", help="Also create an organization of this name.")
    ] = None,
    slug: Annotated[str | None, typer.Option(help="Its slug; made from the name.")] = None,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Make the database, its key file and the first admin token. What is there already stays."""
    with local() as backend:
        token = backend.control.tokens.first()
        made = {"folder": str(backend.control.folder), "token_file": str(token)}
        if org is not None:
            organization = backend.create_organization(given(name=org, slug=slug))
            made |= {
                "organization": organization["slug"],
                "license_key": organization["license_key"],
                "api_key": backend.policies(organization["org_id"])[0]["api_key"],
            }
    show_one(made, form)
