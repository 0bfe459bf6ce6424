"""`dlpctl org`: the organizations of the control plane."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from dlpctl.cli import options
from dlpctl.cli.control_plane import Org, backend, done, given, show_list, show_one
from dlpctl.errors import UsageError

app = typer.Typer(add_completion=False, no_args_is_help=True)

Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting, such as admin_email; without a value it is removed.",
    ),
]


@app.callback()
def _group() -> None:
    """Organizations: each with policies, licenses and an audit log of its own."""


@app.command("list")
def list_organizations(
    form: options.Format = options.Output.HUMAN, server: options.Server = None
) -> None:
    """List them."""
    with backend(server) as control:
        rows = control.organizations()
    show_list(
        rows,
        ("slug", "name", "org_id", "created_at"),
        form,
        "no organization; see 'dlpctl org create'",
    )


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What people call it.")],
    slug: Annotated[
        str | None, typer.Option(help="What commands and addresses call it; made from the name.")
    ] = None,
    setting: Setting = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Create one, with a trial license and a default policy."""
    with backend(server) as control:
        show_one(
            control.create_organization(given(name=name, slug=slug, settings=_settings(setting))),
            form,
        )


@app.command()
def show(
    org: Org, form: options.Format = options.Output.HUMAN, server: options.Server = None
) -> None:
    """Print one."""
    with backend(server) as control:
        show_one(control.organization(org), form)


@app.command()
def update(
    org: Org,
    name: Annotated[str | None, typer.Option(help="A new name.")] = None,
    setting: Setting = None,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Change its name and settings."""
    with backend(server) as control:
        show_one(
            control.update_organization(org, given(name=name, settings=_settings(setting))), form
        )


@app.command()
def delete(
    org: Org,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; there is no way back.")] = False,
    form: options.Format = options.Output.HUMAN,
    server: options.Server = None,
) -> None:
    """Delete one with its policies, licenses, tokens and analytics. The audit log stays."""
    if not yes:
        raise UsageError(
            f"this deletes {org} with all its policies and licenses; say --yes if you mean it"
        )
    with backend(server) as control:
        control.delete_organization(org)
    done(f"deleted {org}", form)


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
