"""Create, show and change organizations.

Each organization has its own policies, licenses and audit log.

Examples:
    dlpctl org list
    dlpctl org create "Acme Inc" --slug acme
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, changes, given
from dlpctl.errors import UsageError

SECTION = ("Control plane", 41)

app = App(__doc__)

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set e.g. admin_email; without a value, remove it."
    ),
]


@app.command("list")
def list_organizations(control: ControlOptions) -> None:
    """List the organizations.

    Examples:
        dlpctl org list
        dlpctl org list --format json
    """
    rows = control.ask("list_organizations")
    columns = "slug name org_id created_at"
    control.print_list(rows, columns, "no organization; see 'dlpctl org create'")


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The display name.")],
    control: ControlOptions,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="The short name; made from NAME by default.")
    ] = None,
    setting: Settings = None,
) -> None:
    """Create an organization with a trial license and a default policy.

    Examples:
        dlpctl org create "Acme Inc"
        dlpctl org create "Acme Inc" --slug acme --set admin_email=admin@acme.example
    """
    body = given(name=name, slug=slug, settings=_settings(setting))
    control.print_record(control.ask("create_organization", body))


@app.command()
def show(org: options.Organization, control: ControlOptions) -> None:
    """Show an organization.

    Examples:
        dlpctl org show acme
        dlpctl org show acme --format json
    """
    control.print_record(control.ask("get_organization", org))


@app.command()
def update(
    org: options.Organization,
    control: ControlOptions,
    name: options.NewName = None,
    setting: Settings = None,
) -> None:
    """Change the name and the settings of an organization.

    Examples:
        dlpctl org update acme --name "Acme Ltd"
        dlpctl org update acme --set admin_email=admin@acme.example
    """
    body = changes(name=name, settings=_settings(setting))
    control.print_record(control.ask("update_organization", org, body))


@app.command()
def delete(
    org: options.Organization, control: ControlOptions, yes: options.Confirmed = False
) -> None:
    """Delete an organization with its policies, licenses, tokens and analytics.

    The audit log stays.

    Examples:
        dlpctl org delete acme --yes
        dlpctl org delete acme --yes --server http://127.0.0.1:8686
    """
    if not yes:
        raise UsageError(
            f"this deletes {org} with all its policies and licenses; confirm with --yes"
        )
    control.ask("delete_organization", org)
    control.print_done(f"deleted {org}")


def _settings(pairs: list[str] | None) -> dict[str, Any] | None:
    if not pairs:
        return None
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"--set takes KEY=VALUE, not {pair!r}")
        try:
            settings[key] = json.loads(text) if text[:1] in ("[", "{") else text or None
        except json.JSONDecodeError:
            settings[key] = text
    return settings
