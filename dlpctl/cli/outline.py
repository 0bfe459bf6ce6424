"""All commands with their options, for help topics and tests of pages."""

from __future__ import annotations

from typing import Any, NamedTuple

from dlpctl.cli.helptext import split_examples, summary


class Option(NamedTuple):
    names: tuple[str, ...]
    metavar: str
    help: str


class Node(NamedTuple):
    """A command, or the program itself."""

    path: tuple[str, ...]
    help: str
    examples: tuple[str, ...]
    options: tuple[Option, ...]
    children: tuple[Node, ...]

    def walk(self) -> list[Node]:
        return [self, *(inner for child in self.children for inner in child.walk())]


def describe() -> Node:
    """Return the program and all its commands."""
    import typer

    from dlpctl.cli.main import app

    root: Any = typer.main.get_command(app)
    names = ["-h", "--help"]
    context = root.context_class(root, info_name="dlpctl", help_option_names=names)
    return _node(root, context, ())


def _node(command: Any, context: Any, path: tuple[str, ...]) -> Node:
    options = tuple(
        Option(
            tuple(sorted([*param.opts, *param.secondary_opts], key=len)),
            param.metavar or ("" if param.is_flag else param.make_metavar(context)),
            param.help or "",
        )
        for param in command.get_params(context)
        if param.param_type_name == "option" and not param.hidden
    )
    children = []
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if not child.hidden:
                inner = child.context_class(child, parent=context, info_name=name)
                children.append(_node(child, inner, (*path, name)))
    examples = split_examples(command.help or "")[1]
    return Node(path, summary(command.help or ""), tuple(examples), options, tuple(children))
