"""The commands of `dlpctl policy` for policies in the control plane."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.session import Session
from dlpctl.cli.control_plane import Org, backend, done, given, show_list, show_one, whole

PolicyId = Annotated[str, typer.Argument(metavar="ID", help="The stored policy's id.")]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group", metavar="GROUP", help="A group that it belongs to; may be given several times."
    ),
]
Active = Annotated[
    bool | None, typer.Option("--active/--inactive", help="Whether checks by it are answered.")
]


def register(app: typer.Typer) -> None:
    for name, command in (
        ("stored", stored),
        ("create", create),
        ("update", update),
        ("versions", versions),
        ("regenerate-key", regenerate_key),
        ("delete", delete),
    ):
        app.command(name)(command)


def stored(
    org: Org,
    policy_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Print this one alone.")
    ] = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """List the policies of an organization."""
    with backend(server) as control:
        if policy_id is not None:
            show_one(control.policy(org, policy_id), form)
            return
        rows = control.policies(org)
    show_list(rows, ("policy_id", "name", "version", "is_active", "api_key"), form, "no policy")


def create(
    org: Org,
    policy: Annotated[str, typer.Argument(help="A policy file, or the name of a built-in policy.")],
    groups: Groups = None,
    active: Active = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Store a policy for an organization; it gets a key of its own."""
    content = Session.begin().policy(policy).to_dict()
    with backend(server) as control:
        show_one(control.create_policy(org, content | given(groups=groups, is_active=active)), form)


def update(
    org: Org,
    policy_id: PolicyId,
    policy: Annotated[
        str | None,
        typer.Argument(help="A policy file, or the name of a built-in policy.", show_default=False),
    ] = None,
    groups: Groups = None,
    active: Active = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Replace what a stored policy says, which makes a new version of it; or switch it on or off."""
    content = whole(Session.begin().policy(policy)) if policy is not None else {}
    with backend(server) as control:
        body = content | given(groups=groups, is_active=active)
        show_one(control.update_policy(org, policy_id, body), form)


def versions(
    org: Org,
    policy_id: PolicyId,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """List what a stored policy said before, the newest first."""
    with backend(server) as control:
        rows = control.policy_versions(org, policy_id)
    show_list(rows, ("version", "created_at"), form, "no version")


def regenerate_key(
    org: Org,
    policy_id: PolicyId,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Give a stored policy a new key; the old one opens nothing any more."""
    with backend(server) as control:
        show_one(control.regenerate_key(org, policy_id), form)


def delete(
    org: Org,
    policy_id: PolicyId,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Delete a stored policy."""
    with backend(server) as control:
        control.delete_policy(org, policy_id)
    done(f"deleted {policy_id}", form)
