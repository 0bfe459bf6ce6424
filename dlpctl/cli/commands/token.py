"""Create, list and revoke admin tokens.

A token gives access to the endpoints of the service other than checks.

Examples:
    dlpctl token list
    dlpctl token create --role auditor
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, given

SECTION = ("Control plane", 44)

app = App(__doc__)


@app.command("list")
def list_tokens(control: ControlOptions) -> None:
    """List the tokens, without their secrets.

    Examples:
        dlpctl token list
        dlpctl token list --format json
    """
    rows = control.ask("list_tokens")
    control.print_list(rows, "token_id name role org_id expires_at", "no token")


@app.command()
def create(
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE", help="admin, editor (policies) or auditor (reads all but keys)."
        ),
    ],
    control: ControlOptions,
    org: Annotated[
        str | None, typer.Option(metavar="ORG", help="Limit the token to this organization.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The purpose or user of the token.")
    ] = None,
    expires: options.ExpiresAt = None,
) -> None:
    """Create a token. It is printed once and cannot be shown again.

    Examples:
        dlpctl token create --role admin --name jane
        dlpctl token create --role auditor --org acme --expires 2027-01-31
    """
    body = given(role=role, org_id=org, name=name, expires_at=expires)
    control.print_record(control.ask("create_token", body))


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="TOKEN_ID", help="The id, not the token.")],
    control: ControlOptions,
) -> None:
    """Revoke a token.

    Examples:
        dlpctl token revoke TOKEN_ID
        dlpctl token revoke TOKEN_ID --server http://127.0.0.1:8686
    """
    control.ask("revoke_token", token_id)
    control.print_done(f"revoked {token_id}")
