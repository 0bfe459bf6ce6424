"""`dlpctl group`: named sets of policies."""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.control_plane import Org, backend, done, given, show_list, show_one

app = typer.Typer(add_completion=False, no_args_is_help=True)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="The group's id or name.")]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", metavar="ID", help="A policy that it holds; may be given several times."
    ),
]
Description = Annotated[str | None, typer.Option(help="What it is for.")]


@app.callback()
def _group() -> None:
    """Policy groups: named sets of policies, which licenses cover."""


@app.command("list")
def list_groups(
    org: Org, form: options.Format = options.Output.HUMAN, server: options.Server = None
) -> None:
    """List those of an organization."""
    with backend(server) as control:
        rows = control.groups(org)
    show_list(rows, ("name", "group_id", "is_default", "policy_ids"), form, "no policy group")


@app.command()
def create(
    org: Org,
    name: Annotated[str, typer.Argument(help="Its name, such as that of a department.")],
    description: Description = None,
    policies: Policies = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Create one."""
    with backend(server) as control:
        body = given(name=name, description=description, policy_ids=policies)
        show_one(control.create_group(org, body), form)


@app.command()
def show(
    org: Org,
    group: Group,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Print one."""
    with backend(server) as control:
        show_one(control.group(org, group), form)


@app.command()
def update(
    org: Org,
    group: Group,
    name: Annotated[str | None, typer.Option(help="A new name.")] = None,
    description: Description = None,
    policies: Policies = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Change it; policies that are given replace those that it holds."""
    with backend(server) as control:
        body = given(name=name, description=description, policy_ids=policies)
        show_one(control.update_group(org, group, body), form)


@app.command()
def delete(
    org: Org,
    group: Group,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Delete it; the policies stay."""
    with backend(server) as control:
        control.delete_group(org, group)
    done(f"deleted {group}", form)
