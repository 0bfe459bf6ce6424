"""Create, show and validate licenses.

A license limits how much an organization may check, and until when.

Examples:
    dlpctl license list acme
    dlpctl license create acme --plan standard --expires 2027-01-31
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, changes, given

SECTION = ("Control plane", 43)

app = App(__doc__)

LicenseId = Annotated[str, typer.Argument(metavar="LICENSE", help="The license's id.")]
Checks = Annotated[
    int | None,
    typer.Option("--checks", metavar="N", help="Checks a month; those of the plan by default."),
]
_COLUMNS = (
    "license_id license_type status expires_at checks_this_month max_checks_per_month policy_groups"
)


@app.command("list")
def list_licenses(org: options.Organization, control: ControlOptions) -> None:
    """List the licenses of an organization.

    Examples:
        dlpctl license list acme
        dlpctl license list acme --format json
    """
    rows = control.ask("list_licenses", org)
    control.print_list(rows, _COLUMNS, "no license; see 'dlpctl license create'")


@app.command()
def create(
    org: options.Organization,
    plan: Annotated[str, typer.Option(metavar="PLAN", help="trial, standard or enterprise.")],
    control: ControlOptions,
    expires: options.ExpiresAt = None,
    checks: Checks = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group", metavar="GROUP", help="A group that it covers; 'default' by default."
        ),
    ] = None,
) -> None:
    """Create a license.

    Examples:
        dlpctl license create acme --plan trial
        dlpctl license create acme --plan standard --expires 2027-01-31 --group legal
    """
    body = given(
        license_type=plan, expires_at=expires, max_checks_per_month=checks, policy_groups=groups
    )
    control.print_record(control.ask("create_license", org, body))


@app.command()
def extend(
    org: options.Organization,
    license_id: LicenseId,
    control: ControlOptions,
    plan: Annotated[str | None, typer.Option(metavar="PLAN", help="The new plan.")] = None,
    expires: options.ExpiresAt = None,
    checks: Checks = None,
) -> None:
    """Extend a license in time or number of checks.

    Examples:
        dlpctl license extend acme LICENSE --expires 2028-01-31
        dlpctl license extend acme LICENSE --checks 100000
    """
    body = changes(license_type=plan, expires_at=expires, max_checks_per_month=checks)
    control.print_record(control.ask("extend_license", org, license_id, body))


@app.command()
def revoke(org: options.Organization, license_id: LicenseId, control: ControlOptions) -> None:
    """Revoke a license, and deactivate the policies of its groups immediately.

    Examples:
        dlpctl license revoke acme LICENSE
        dlpctl license revoke acme LICENSE --server http://127.0.0.1:8686
    """
    control.ask("revoke_license", org, license_id)
    control.print_done(f"revoked {license_id}; the policies of its groups are no longer active")


@app.command()
def validate(
    key: Annotated[
        str,
        typer.Option(
            "--key",
            metavar="KEY",
            envvar="DLPCTL_LICENSE_KEY",
            help="The license key.",
            show_envvar=True,
        ),
    ],
    control: ControlOptions,
) -> None:
    """Show what a license key allows.

    Examples:
        dlpctl license validate
        dlpctl license validate --key "$KEY" --format json
    """
    answer = control.ask("validate_license", key)
    if not control.as_json:
        policies = answer["policy_config"]["policies"]
        answer |= {"policy_config": [policy["name"] for policy in policies]}
    control.print_record(answer)


@app.command("public-key")
def public_key(
    control: ControlOptions,
    key_id: Annotated[
        str | None, typer.Option("--key-id", metavar="ID", help="An older key.")
    ] = None,
) -> None:
    """Print the key that verifies license tokens.

    Examples:
        dlpctl license public-key
        dlpctl license public-key --format json
    """
    control.print_record(control.ask("get_public_key", key_id=key_id))


@app.command("rotate-keys")
def rotate_keys(control: ControlOptions) -> None:
    """Sign new license tokens with a new key. Tokens in use stay valid until they expire.

    Examples:
        dlpctl license rotate-keys
        dlpctl license rotate-keys --format json
    """
    control.print_record(control.ask("rotate_keys"))
