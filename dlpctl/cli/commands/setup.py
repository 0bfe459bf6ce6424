"""Set up this project and your shell: a git hook, completions and a dlpctl.toml.

Each step is offered with its default. Existing files and hooks are kept.

Examples:
    dlpctl setup
    dlpctl setup --yes
"""

from __future__ import annotations

import sys

from dlpctl.cli import options
from dlpctl.cli.app import App
from dlpctl.errors import UsageError

SECTION = ("Repositories, shells and help", 29)

app = App()


@app.command(help=__doc__)
def setup(confirmed: options.Confirmed = False) -> None:
    from dlpctl.cli import setting_up

    if not confirmed and not sys.stdin.isatty():
        raise UsageError("stdin is not a terminal; pass --yes to take the defaults")
    setting_up.run(ask=not confirmed)
