"""Mask a made-up prompt and PDF to see what dlpctl does.

Examples:
    dlpctl demo
    dlpctl demo | less
"""

from __future__ import annotations

from dlpctl.cli.app import App

SECTION = ("Content", 0)

app = App()


@app.command(help=__doc__)
def demo() -> None:
    from dlpctl.cli import demonstration

    demonstration.show()
