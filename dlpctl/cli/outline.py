"""Describe every command and its options, for the pages and for the tests of the pages."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Option(NamedTuple):
    names: tuple[str, ...]
    help: str


class Node(NamedTuple):
    """A command, or the program itself."""

    path: tuple[str, ...]
    help: str
    options: tuple[Option, ...]
    children: tuple[Node, ...]

    def walk(self) -> list[Node]:
        return [self, *(inner for child in self.children for inner in child.walk())]


def describe() -> Node:
    import click
    import typer

    from dlpctl.cli.main import app

    root: Any = typer.main.get_command(app)
    names = ["-h", "--help"]
    return _node(root, click.Context(root, info_name="dlpctl", help_option_names=names), ())


def _node(command: Any, context: Any, path: tuple[str, ...]) -> Node:
    import click

    options = tuple(
        Option(
            tuple(sorted([*param.opts, *param.secondary_opts], key=len)), _line(param.help or "")
        )
        for param in command.get_params(context)
        if param.param_type_name == "option" and not param.hidden
    )
    children = []
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if not child.hidden:
                inner = click.Context(child, parent=context, info_name=name)
                children.append(_node(child, inner, (*path, name)))
    summary = getattr(command, "short_help", None) or command.help or ""
    return Node(path, _line(summary), options, tuple(children))


def _line(text: str) -> str:
    """Return the first sentence, on one line."""
    text = " ".join(text.split())
    return re.split(r"(?<=[a-z0-9)'>])[.:;](?: |$)", text, maxsplit=1)[0]
