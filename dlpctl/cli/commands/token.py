"""`dlpctl token`: who may administer the service."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.control_plane import Expires, backend, done, given, show_list, show_one

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Admin tokens: for the service's endpoints other than checks."""


@app.command("list")
def list_tokens(form: options.Format = options.Output.HUMAN, server: options.Server = None) -> None:
    """List them, without the tokens themselves."""
    with backend(server) as control:
        rows = control.tokens()
    show_list(rows, ("token_id", "name", "role", "org_id", "expires_at"), form, "no token")


@app.command()
def create(
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE", help="admin; editor (policies); auditor (reads all but keys)."
        ),
    ],
    org: Annotated[
        str | None, typer.Option(metavar="ORG", help="The only organization that it sees.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What or whom it is for.")] = None,
    expires: Expires = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Create one. It is printed now and never again."""
    with backend(server) as control:
        show_one(
            control.create_token(given(role=role, org_id=org, name=name, expires_at=expires)), form
        )


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="TOKEN_ID", help="The id, not the token.")],
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Revoke one."""
    with backend(server) as control:
        control.revoke_token(token_id)
    done(f"revoked {token_id}", form)
