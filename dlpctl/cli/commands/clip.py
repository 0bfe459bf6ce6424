"""Mask or check the text on the clipboard.

Exit status of --check: 0 allowed, 10 allowed with masking, 20 blocked.

Examples:
    dlpctl clip
    dlpctl clip --check --destination VENDOR
"""

from __future__ import annotations

from typing import Annotated

import typer

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.cli.session import Session, open_masker
from dlpctl.errors import UsageError

SECTION = ("Content", 7)

app = App()


@app.command(help=__doc__)
def clip(
    mask: Annotated[
        bool, typer.Option("--mask", help="Replace the clipboard by its masked text (default).")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Print the decision without changing anything.")
    ] = False,
    destination: options.Destination = None,
    policy: options.Policy = None,
    vault: options.VaultFile = None,
) -> None:
    if mask and check:
        raise UsageError("give --mask or --check, not both")
    from dlpctl.cli import clipboard
    from dlpctl.cli.commands.check import EXIT_STATUS

    session = Session.start()
    printer = session.printer()
    checker = session.checker(destination, policy, "token" if vault else None, for_mask=not check)
    text = clipboard.read()
    report = checker.check(text)
    if not check and report.findings:
        store = session.vault(vault, create=True) if vault else None
        with open_masker(store, checker) as masker:
            clipboard.write(checker.mask(text, masker))
    printer.line(f"{printer.decision(report.decision)}  clipboard  {report.summary}")
    if check:
        raise typer.Exit(EXIT_STATUS[report.decision])
