"""The subcommands of `dlpctl policy` for policies that the control plane stores."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.control_plane import ControlOptions, complete_policy, given
from dlpctl.cli.session import Session

PolicyId = Annotated[str, typer.Argument(metavar="ID", help="The stored policy's id.")]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="GROUP", help="A group of the policy. Repeatable."),
]
Active = Annotated[
    bool | None, typer.Option("--active/--inactive", help="Whether checks may use it.")
]


def add_commands(app: App) -> None:
    """Add these commands to `dlpctl policy`."""
    for command in (stored, create, update, versions, regenerate_key, delete):
        app.command()(command)


def stored(
    org: options.Organization,
    control: ControlOptions,
    policy_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show only this policy.")
    ] = None,
) -> None:
    """List the policies of an organization.

    Examples:
        dlpctl policy stored acme
        dlpctl policy stored acme POLICY_ID --format json
    """
    if policy_id is not None:
        control.print_record(control.ask("get_policy", org, policy_id))
        return
    rows = control.ask("list_policies", org)
    control.print_list(rows, "policy_id name version is_active api_key", "no policy")


def create(
    org: options.Organization,
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="A policy file or a built-in policy.")
    ],
    control: ControlOptions,
    groups: Groups = None,
    active: Active = None,
) -> None:
    """Store a policy for an organization, with its own key.

    Examples:
        dlpctl policy create acme policy.toml
        dlpctl policy create acme pci-dss --group legal --inactive
    """
    content = Session.start().policy(policy).to_dict()
    body = content | given(groups=groups, is_active=active)
    control.print_record(control.ask("create_policy", org, body))


def update(
    org: options.Organization,
    policy_id: PolicyId,
    control: ControlOptions,
    policy: options.OptionalPolicy = None,
    groups: Groups = None,
    active: Active = None,
) -> None:
    """Replace the content of a stored policy by a new version, or switch the policy on or off.

    Examples:
        dlpctl policy update acme POLICY_ID policy.toml
        dlpctl policy update acme POLICY_ID --inactive
    """
    content = complete_policy(Session.start().policy(policy)) if policy is not None else {}
    body = content | given(groups=groups, is_active=active)
    control.print_record(control.ask("update_policy", org, policy_id, body))


def versions(org: options.Organization, policy_id: PolicyId, control: ControlOptions) -> None:
    """List the earlier versions of a stored policy, newest first.

    Examples:
        dlpctl policy versions acme POLICY_ID
        dlpctl policy versions acme POLICY_ID --format json
    """
    rows = control.ask("list_versions", org, policy_id)
    control.print_list(rows, "version created_at", "no version")


def regenerate_key(org: options.Organization, policy_id: PolicyId, control: ControlOptions) -> None:
    """Give a stored policy a new key. The old key stops working.

    Examples:
        dlpctl policy regenerate-key acme POLICY_ID
        dlpctl policy regenerate-key acme POLICY_ID --format json
    """
    control.print_record(control.ask("regenerate_key", org, policy_id))


def delete(org: options.Organization, policy_id: PolicyId, control: ControlOptions) -> None:
    """Delete a stored policy.

    Examples:
        dlpctl policy delete acme POLICY_ID
        dlpctl policy delete acme POLICY_ID --server http://127.0.0.1:8686
    """
    control.ask("delete_policy", org, policy_id)
    control.print_done(f"deleted {policy_id}")
