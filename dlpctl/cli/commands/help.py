"""Explain a topic: ci, prompts, files, policies, security and more.

Topics are formatted on a terminal, and Markdown in a pipe.

Examples:
    dlpctl help
    dlpctl help ci
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dlpctl.cli import topics
from dlpctl.cli.app import App
from dlpctl.cli.catalogue import command_names
from dlpctl.cli.render import Printer, coloured
from dlpctl.errors import UsageError, did_you_mean

SECTION = ("Repositories, shells and help", 35)

app = App()


@app.command("help", help=__doc__)
def help_(
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="A topic listed by 'dlpctl help'.")
    ] = None,
) -> None:
    known = topics.names()
    if topic is None:
        printer = Printer()
        rows = [(printer.style(name.ljust(13), "cyan"), topics.title(name)) for name in known]
        printer.table(rows)
        printer.line(
            "\n'dlpctl help TOPIC' explains a topic,"
            " 'dlpctl COMMAND --help' lists the options of a command."
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
    from dlpctl.cli.main import run

    commands = command_names()
    if name not in commands:
        hint = did_you_mean(name, [*known, *commands]) or f"; topics are {', '.join(known)}"
        raise UsageError(f"{name!r} is not a topic{hint}")
    raise typer.Exit(run([name, "--help"]))
