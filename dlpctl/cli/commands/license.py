"""`dlpctl license`: what an organization may check, how often and until when."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.control_plane import Expires, Org, backend, done, given, show_list, show_one

app = typer.Typer(add_completion=False, no_args_is_help=True)

License = Annotated[str, typer.Argument(metavar="LICENSE", help="The license's id.")]
Checks = Annotated[
    int | None,
    typer.Option("--checks", metavar="N", help="Checks a month, where the plan's are not right."),
]
_COLUMNS = (
    "license_id",
    "license_type",
    "status",
    "expires_at",
    "checks_this_month",
    "max_checks_per_month",
    "policy_groups",
)


@app.callback()
def _group() -> None:
    """Licenses: what an organization may check, how often and until when."""


@app.command("list")
def list_licenses(
    org: Org, form: options.Format = options.Output.HUMAN, server: options.Server = None
) -> None:
    """List those of an organization."""
    with backend(server) as control:
        rows = control.licenses(org)
    show_list(rows, _COLUMNS, form, "no license; see 'dlpctl license create'")


@app.command()
def create(
    org: Org,
    plan: Annotated[
        str, typer.Option("--type", metavar="PLAN", help="trial, standard or enterprise.")
    ],
    expires: Expires = None,
    checks: Checks = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group", metavar="GROUP", help="A policy group that it covers; the default one else."
        ),
    ] = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Create one."""
    with backend(server) as control:
        body = given(
            license_type=plan, expires_at=expires, max_checks_per_month=checks, policy_groups=groups
        )
        show_one(control.create_license(org, body), form)


@app.command()
def extend(
    org: Org,
    license_id: License,
    plan: Annotated[
        str | None, typer.Option("--type", metavar="PLAN", help="Another plan.")
    ] = None,
    expires: Expires = None,
    checks: Checks = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Let it last longer, or allow more."""
    with backend(server) as control:
        body = given(license_type=plan, expires_at=expires, max_checks_per_month=checks)
        show_one(control.extend_license(org, license_id, body), form)


@app.command()
def revoke(
    org: Org,
    license_id: License,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Revoke it, which deactivates the policies of its groups at once."""
    with backend(server) as control:
        control.revoke_license(org, license_id)
    done(f"revoked {license_id}; the policies of its groups are not active any more", form)


@app.command()
def validate(
    key: Annotated[
        str,
        typer.Option(
            "--key", envvar="DLPCTL_LICENSE_KEY", help="The license key.", show_envvar=True
        ),
    ],
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Ask what a license key is good for."""
    with backend(server) as control:
        answer = control.validate_license(key)
    if form is options.Output.HUMAN:
        answer |= {
            "policy_config": [policy["name"] for policy in answer["policy_config"]["policies"]]
        }
    show_one(answer, form)


@app.command("public-key")
def public_key(
    key_id: Annotated[
        str | None, typer.Option("--key-id", metavar="ID", help="An older one.")
    ] = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Print the key that verifies license tokens."""
    with backend(server) as control:
        show_one(control.public_key(key_id), form)


@app.command("rotate-keys")
def rotate_keys(form: options.Format = options.Output.HUMAN, server: options.Server = None) -> None:
    """Sign license tokens with a new key from now on; those that are out stay good until they
    expire.
    """
    with backend(server) as control:
        show_one(control.rotate_keys(), form)
