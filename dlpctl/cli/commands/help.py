"""`dlpctl help`: pages on tasks and on what the program knows."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dlpctl.cli import topics
from dlpctl.cli.render import Printer, coloured
from dlpctl.errors import UsageError, did_you_mean

app = typer.Typer(add_completion=False)


@app.command("help")
def help_(
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="One of those that 'dlpctl help' lists.")
    ] = None,
) -> None:
    """Explain a topic. On a terminal it is laid out; in a pipe it is Markdown."""
    known = topics.names()
    if topic is None:
        printer = Printer()
        printer.table(
            [(printer.style(name.ljust(13), "cyan"), topics.title(name)) for name in known]
        )
        printer.line(
            "\n'dlpctl help TOPIC' explains one, 'dlpctl COMMAND --help' lists the options of a command."
        )
    elif topic in known:
        _show(topics.text(topic))
    else:
        _help_of_command(topic, known)


def _show(markdown: str) -> None:
    if not sys.stdout.isatty():
        sys.stdout.write(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not coloured(sys.stdout), highlight=False).print(Markdown(markdown))


def _help_of_command(name: str, known: list[str]) -> None:
    from dlpctl.cli.main import COMMANDS, run

    if name not in COMMANDS:
        hint = did_you_mean(name, [*known, *COMMANDS]) or f"; there are {', '.join(known)}"
        raise UsageError(f"{name!r} is not a topic{hint}")
    raise typer.Exit(run([name, "--help"]))
