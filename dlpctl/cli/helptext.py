"""Render the help of commands as plain text that fits any terminal; nothing is cut off."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Iterable
from typing import Any

_NARROWEST, _WIDEST = 30, 100
_LONGEST_NAME = 28
"""The longest option, in characters, whose help starts on the same line."""
_LEAST_HELP = 36
"""The characters of a line that the help of options needs next to their names."""
EXAMPLES = "Examples:"


def render_help(command: Any, context: Any) -> str:
    """Return usage, description, arguments, options, subcommands and examples of a command."""
    width = _width()
    text, examples = split_examples(command.help or "")
    usage = " ".join(piece.strip("{}") for piece in command.collect_usage_pieces(context))
    blocks = [
        _filled(f"Usage: {context.command_path} {usage}", width, "    "),
        "\n\n".join(_filled(part, width) for part in text.split("\n\n")),
    ]
    rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            section = "Arguments" if parameter.param_type_name == "argument" else "Options"
            rows[section].append(record)
    rows.update(_sections(command, context))
    for section, listed in rows.items():
        if listed:
            blocks.append("\n".join([f"{section}:", *_definitions(listed, width)]))
    if examples:
        blocks.append("\n".join([EXAMPLES, *(f"  {line}" for line in examples)]))
    return "\n\n".join(blocks) + "\n"


def render_start(name: str, commands: list[tuple[str, str]]) -> str:
    """Return the answer to a call without a command: some commands to start with."""
    width = _width()
    parts = [
        _filled(f"{name} finds sensitive data and masks it before content leaves.", width),
        "\n".join(_definitions(commands, width)),
        _filled("'dlpctl --help' lists all commands.", width),
    ]
    return "\n\n".join(parts) + "\n"


def _width() -> int:
    return max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))


def split_examples(help_text: str) -> tuple[str, list[str]]:
    """Return the description and the example calls of a help text."""
    text, _, examples = inspect.cleandoc(help_text).partition(EXAMPLES)
    return text.strip(), [line.strip() for line in examples.splitlines() if line.strip()]


def summary(help_text: str) -> str:
    """Return the first paragraph of a help text on one line, without the final period."""
    first = split_examples(help_text)[0].partition("\n\n")[0]
    return " ".join(first.split()).removesuffix(".")


def _sections(command: Any, context: Any) -> Iterable[tuple[str, list[tuple[str, str]]]]:
    """Yield the headings of subcommands with the name and summary of each."""
    if hasattr(command, "sections"):
        yield from command.sections()
    elif hasattr(command, "list_commands"):
        found = [
            (name, command.get_command(context, name)) for name in command.list_commands(context)
        ]
        yield "Commands", [(name, summary(subcommand.help or "")) for name, subcommand in found]


def _definitions(rows: list[tuple[str, str]], width: int) -> Iterable[str]:
    """Yield lines with names and their texts, in two columns if the terminal is wide enough."""
    column = max((len(name) for name, _ in rows if len(name) <= _LONGEST_NAME), default=0) + 4
    if width - column < _LEAST_HELP:
        for name, text in rows:
            yield _filled(f"  {name}", width, "    ")
            yield _filled(f"      {text}", width, "      ")
        return
    for name, text in rows:
        fits = len(name) <= column - 4
        if not fits:
            yield _filled(f"  {name}", width, "  ")
        yield _filled(f"  {name if fits else ''}".ljust(column) + text, width, " " * column)


def _filled(text: str, width: int, indent: str = "") -> str:
    lead = text[: len(text) - len(text.lstrip())]
    return textwrap.fill(
        " ".join(text.split()) if not indent else text.strip(),
        width,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
