"""Create the control plane: its database, key file and first admin token.

Existing parts are kept. A server already has its control plane.

Examples:
    dlpctl init
    dlpctl init --org "Acme Inc"
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, given

SECTION = ("Control plane", 40)

app = App()


@app.command(help=__doc__)
def init(
    control: ControlOptions,
    org: Annotated[
        str | None, typer.Option(metavar="ORG", help="Also create the organization ORG.")
    ] = None,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="The organization's short name.")
    ] = None,
) -> None:
    from dlpctl.backend.interface import policy_key
    from dlpctl.backend.local import LocalBackend

    with control.backend() as backend:
        if isinstance(backend, LocalBackend):
            token = backend.control.tokens.first()
            made = {"folder": str(backend.control.folder), "token_file": str(token)}
        else:
            made = {"organizations": str(len(backend.list_organizations()))}
        if org is not None:
            organization = backend.create_organization(given(name=org, slug=slug))
            made |= {
                "organization": organization["slug"],
                "license_key": organization["license_key"],
                "api_key": policy_key(backend, organization["org_id"], None),
            }
    control.print_record(made)
    if org is not None:
        control.print_done(f"try: dlpctl check FILE --org {made['organization']}")
