"""Complete a command line for a shell: `dlpctl __complete WORD... =CURRENT`.

The current word is preceded by an equals sign, since some shells drop empty arguments. Each line of
the output is a value, followed by a tab and a help text if there is one. `:files` tells the shell
to offer files, too; `:list` says that a comma and another value may follow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from dlpctl.cli.completion.values import PARAMETERS, Values


def main(words: Sequence[str]) -> int:
    sys.stdout.write("".join(f"{line}\n" for line in answer(words[:-1], words[-1][1:])))
    return 0


def answer(words: Sequence[str], current: str) -> list[str]:
    """Return the completions of the current word, one a line; none for an invalid line."""
    import typer

    from dlpctl.cli.main import app

    # Later versions of Typer bundle a copy of Click.
    click = import_module(typer.BadParameter.__module__.removesuffix(".exceptions"))
    completion = import_module(f"{click.__name__}.shell_completion")
    program: Any = typer.main.get_command(app)
    _offer_values(program, completion.CompletionItem)

    class LineCompletion(completion.ShellComplete):  # type: ignore[misc, name-defined]
        # Needed only to print scripts, but the base class requires them.
        name = source_template = ""
        source_vars = get_completion_args = format_completion = None

    try:
        found = LineCompletion(program, {}, "dlpctl", "").get_completions(list(words), current)
    except import_module(f"{click.__name__}.exceptions").ClickException:
        return []
    option, equals, _ = current.partition("=")
    before = f"{option}=" if equals and option.startswith("--") else ""
    return [_line(item, before) for item in found]


def _line(item: Any, before: str) -> str:
    if item.type in ("file", "dir"):
        return ":files"
    if item.value.startswith(":"):
        return str(item.value)
    help_text = " ".join((item.help or "").split())
    return f"{before}{item.value}\t{help_text}".rstrip()


def _offer_values(group: Any, item: Any) -> None:
    """Let the commands of a group complete the values of their parameters."""
    load = group.get_command

    def get_command(context: Any, name: str) -> Any:
        command = load(context, name)
        if hasattr(command, "list_commands"):
            _offer_values(command, item)
        for parameter in getattr(command, "params", ()):
            values = PARAMETERS.get(parameter.name)
            if values is not None and not hasattr(parameter.type, "choices"):
                parameter.shell_complete = _completer(values, item)
        return command

    group.get_command = get_command


def _completer(values: Values, item: Any) -> Callable[[Any, str], list[Any]]:
    def complete(_context: Any, current: str) -> list[Any]:
        head, comma, last = current.rpartition(",") if values.is_list else ("", "", current)
        found = sorted({str(value) for value in values.read()})
        lines = [":files"] * values.or_files + [":list"] * values.is_list
        lines += [f"{head}{comma}{value}" for value in found if value.startswith(last)]
        return [item(line) for line in lines]

    return complete
