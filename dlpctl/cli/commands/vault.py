"""List, show and remove the vaults of coding agents' sessions.

A vault holds the values that tokens such as <EMAIL_1> replace in a session.

Examples:
    dlpctl vault list
    dlpctl vault purge --days 1
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.errors import UsageError, did_you_mean
from dlpctl.scan.reports import counted

SECTION = ("Repositories, shells and help", 31)

app = App(__doc__)


@app.command("list")
def list_vaults(form: options.Format = options.Output.HUMAN) -> None:
    """List the vaults, most recently used first.

    Examples:
        dlpctl vault list
        dlpctl vault list --format json
    """
    from dlpctl.agents import sessions
    from dlpctl.cli.session import Session

    session = Session.start()
    printer = session.printer()
    found = sessions.stored(sessions.folder_of(session.config.data_folder))
    if form is options.Output.JSON:
        printer.json([{"vault": each.name, "used": each.used} for each in found])
        return
    printer.table([(each.name, each.used) for each in found], head=("vault", "last used"))
    days = session.config.agents.vault_days
    printer.line(
        f"{counted(len(found), 'vault')}; removed after {counted(days, 'day')} without use"
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="VAULT", help="A name from 'dlpctl vault list'.")],
    counts: Annotated[
        bool, typer.Option("--counts", help="Count the values by type; no value is ever shown.")
    ] = False,
    form: options.Format = options.Output.HUMAN,
) -> None:
    """Show the tokens of a vault, without their values.

    Examples:
        dlpctl vault show claude-code.0123456789abcdef
        dlpctl vault show claude-code.0123456789abcdef --counts
    """
    from dlpctl.agents import sessions
    from dlpctl.cli.session import Session

    session = Session.start()
    printer = session.printer()
    found = {
        stored.name: stored
        for stored in sessions.stored(sessions.folder_of(session.config.data_folder))
    }
    if name not in found:
        hint = did_you_mean(name, found) or "; 'dlpctl vault list' lists them"
        raise UsageError(f"there is no vault {name!r}{hint}")
    vault = sessions.SessionVault(found[name].path, session.key())
    tokens = sorted(f"<{token}>" for token, _ in vault.items())
    if form is options.Output.JSON:
        printer.json(vault.counts() if counts else tokens)
    elif counts:
        printer.table([(name, str(count)) for name, count in vault.counts().items()])
    else:
        printer.table([(token,) for token in tokens])


@app.command()
def purge(
    days: Annotated[
        int, typer.Option(metavar="DAYS", min=0, help="Keep vaults used in the last DAYS days.")
    ] = 0,
) -> None:
    """Remove vaults. The tokens of their sessions can never be restored.

    Examples:
        dlpctl vault purge
        dlpctl vault purge --days 7
    """
    from dlpctl.agents import sessions
    from dlpctl.cli.session import Session

    session = Session.start()
    removed = sessions.purge(sessions.folder_of(session.config.data_folder), days)
    session.printer().line(f"{counted(removed, 'vault')} removed")
