"""The commands with their options and arguments, as scripts of completion need them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

FILES = "files"
"""The kind of what the shell itself completes; every other kind is asked of `dlpctl __complete`."""
_NOTHING = ""

_KINDS = {
    "category": "categories",
    "destination": "destinations",
    "org": "organizations",
    "policy": "policies",
    "policies": "stored-policies",
    "policy_id": "stored-policies",
    "type_name": "types",
    "types": "types",
    "before": "policies",
    "after": "policies",
    "file": FILES,
    "files": FILES,
    "paths": FILES,
    "output": FILES,
    "vault": FILES,
}
"""By the name of a parameter, where its type does not say it."""
LISTS = frozenset({"types"})
"""Kinds of which an option takes several, joined by commas."""


class Value(NamedTuple):
    """What an option or an argument takes."""

    kind: str = _NOTHING
    choices: tuple[str, ...] = ()


class Option(NamedTuple):
    names: tuple[str, ...]
    help: str
    value: Value | None
    """None for a switch."""
    repeats: bool


class Argument(NamedTuple):
    name: str
    value: Value
    repeats: bool


class Node(NamedTuple):
    path: tuple[str, ...]
    help: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    children: tuple[Node, ...]

    def walk(self) -> list[Node]:
        return [self, *(inner for child in self.children for inner in child.walk())]


def describe() -> Node:
    """The whole program."""
    import click
    import typer

    from dlpctl.cli.main import app

    root: Any = typer.main.get_command(app)
    return _node(root, click.Context(root, info_name="dlpctl", help_option_names=["-h", "--help"]), ())


def _node(command: Any, context: Any, path: tuple[str, ...]) -> Node:
    import click

    options, arguments = [], []
    for param in command.get_params(context):
        if getattr(param, "hidden", False):
            continue
        takes_value = not (getattr(param, "is_flag", False) or getattr(param, "is_eager", False))
        repeats = bool(getattr(param, "multiple", False)) or param.nargs == -1
        if param.param_type_name == "option":
            names = tuple(sorted([*param.opts, *param.secondary_opts], key=lambda name: (len(name), name)))
            options.append(
                Option(names, _line(param.help or ""), _value(param) if takes_value else None, repeats)
            )
        else:
            arguments.append(Argument(param.name or "", _value(param), repeats))
    children = []
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if not child.hidden:
                inner = click.Context(child, parent=context, info_name=name)
                children.append(_node(child, inner, (*path, name)))
    summary = getattr(command, "short_help", None) or command.help or ""
    return Node(path, _line(summary), tuple(options), tuple(arguments), tuple(children))


def _value(param: Any) -> Value:
    if choices := getattr(param.type, "choices", None):
        return Value(choices=tuple(str(getattr(choice, "value", choice)) for choice in choices))
    if param.name == "topic":
        from dlpctl.cli.topics import names

        return Value(choices=tuple(names()))
    if param.name == "operator":
        from dlpctl.masking.operators import OPERATORS

        return Value(choices=tuple(OPERATORS))
    if param.name in _KINDS:
        return Value(_KINDS[param.name])
    return Value(FILES if type(param.type).__name__.endswith("Path") else _NOTHING)


def _line(text: str) -> str:
    """The first sentence, on one line."""
    text = " ".join(text.split())
    return re.split(r"(?<=[a-z0-9)'>])[.:;](?: |$)", text, maxsplit=1)[0]
