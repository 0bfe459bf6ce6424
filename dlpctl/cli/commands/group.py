"""Create, show and change policy groups.

A group is a named set of policies that licenses cover.

Examples:
    dlpctl group list acme
    dlpctl group create acme legal
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, changes, given

SECTION = ("Control plane", 42)

app = App(__doc__)

GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="The group's id or name.")]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy-id", metavar="ID", help="A policy of the group. Repeatable."),
]
Description = Annotated[
    str | None, typer.Option(metavar="PURPOSE", help="The purpose of the group.")
]


@app.command("list")
def list_groups(org: options.Organization, control: ControlOptions) -> None:
    """List the policy groups of an organization.

    Examples:
        dlpctl group list acme
        dlpctl group list acme --format json
    """
    rows = control.ask("list_groups", org)
    control.print_list(rows, "name group_id is_default policy_ids", "no policy group")


@app.command()
def create(
    org: options.Organization,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name, e.g. of a department.")],
    control: ControlOptions,
    description: Description = None,
    policies: Policies = None,
) -> None:
    """Create a policy group.

    Examples:
        dlpctl group create acme legal
        dlpctl group create acme legal --description Lawyers
    """
    body = given(name=name, description=description, policy_ids=policies)
    control.print_record(control.ask("create_group", org, body))


@app.command()
def show(org: options.Organization, group: GroupName, control: ControlOptions) -> None:
    """Show a policy group.

    Examples:
        dlpctl group show acme legal
        dlpctl group show acme legal --format json
    """
    control.print_record(control.ask("get_group", org, group))


@app.command()
def update(
    org: options.Organization,
    group: GroupName,
    control: ControlOptions,
    name: options.NewName = None,
    description: Description = None,
    policies: Policies = None,
) -> None:
    """Change a policy group. The given policies replace those of the group.

    Examples:
        dlpctl group update acme legal --name law
        dlpctl group update acme legal --description Lawyers
    """
    body = changes(name=name, description=description, policy_ids=policies)
    control.print_record(control.ask("update_group", org, group, body))


@app.command()
def delete(org: options.Organization, group: GroupName, control: ControlOptions) -> None:
    """Delete a policy group; its policies stay.

    Examples:
        dlpctl group delete acme legal
        dlpctl group delete acme legal --server http://127.0.0.1:8686
    """
    control.ask("delete_group", org, group)
    control.print_done(f"deleted {group}")
