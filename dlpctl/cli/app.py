"""The application class of command modules: option groups, and help as plain text.

A command takes its options as parameters. Options that belong together, or that several commands
share, are the fields of a named tuple.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from dlpctl.cli.helptext import render_help
from dlpctl.errors import did_you_mean

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])
_MAY_BE_EMPTY = frozenset({"description", "command"})
"""Parameters: a description can be removed, and another program has its own arguments."""
_UsageError: Any = typer.BadParameter.__base__


class _Ours:
    """Prints our help, and refuses empty values, which scripts give from variables that are unset:
    `--policy ""` must not mean the default policy.
    """

    def format_help(self: Any, ctx: Any, formatter: Any) -> None:
        formatter.write(render_help(self, ctx))

    def parse_args(self: Any, ctx: Any, args: list[str]) -> Any:
        if ctx.resilient_parsing:  # for the completions of a line that is not finished
            return super().parse_args(ctx, args)  # type: ignore[misc]
        if not args and self.no_args_is_help:
            sys.stdout.write(f"{ctx.get_help()}\n")
            ctx.exit(2)
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        for parameter in self.params:
            value = given.get(parameter.name)
            values = value if isinstance(value, list | tuple) else [value]
            if "" in values and parameter.name not in _MAY_BE_EMPTY:
                raise typer.BadParameter("must not be empty", ctx=ctx, param=parameter)
        return super().parse_args(ctx, args)  # type: ignore[misc]


class Command(_Ours, TyperCommand):
    """A command."""


class Group(_Ours, TyperGroup):
    """A command with subcommands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            raise _UsageError(f"'{name}' is not a command{self.hint(ctx, name)}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def hint(self, ctx: Any, name: str) -> str:
        """Return what may have been meant by a name that is no command."""
        return did_you_mean(name, self.list_commands(ctx))


class App(typer.Typer):
    """The commands of one module: a single one, or several with a shared help text."""

    def __init__(self, help_text: str | None = None, **settings: Any) -> None:
        super().__init__(
            help=help_text,
            cls=settings.pop("cls", Group),
            no_args_is_help=help_text is not None and "invoke_without_command" not in settings,
            add_completion=False,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            pretty_exceptions_show_locals=False,
            **settings,
        )

    def command(
        self, name: str | None = None, **settings: Any
    ) -> Callable[[CommandFunction], CommandFunction]:
        return _flattening(super().command(name, cls=Command, **settings))

    def callback(self, **settings: Any) -> Callable[[CommandFunction], CommandFunction]:
        return _flattening(super().callback(**settings))


def _flattening(
    register: Callable[[Callable[..., Any]], object],
) -> Callable[[CommandFunction], CommandFunction]:
    def add(function: CommandFunction) -> CommandFunction:
        register(_with_flat_options(function))
        return function

    return add


def _with_flat_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose parameters are the fields of the option groups of `function`."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if _is_group(hint)}
    if not groups:
        return function
    own = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=parameter.default,
            annotation=hints[name],
        )
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in groups
    ]
    parameters = own + [option for group in groups.values() for option in _parameters_of(group)]

    def call(**given: Any) -> Any:
        grouped = {
            name: group(**{field: given.pop(field) for field in group._fields})
            for name, group in groups.items()
        }
        return function(**given, **grouped)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__annotations__ = {option.name: option.annotation for option in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _is_group(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def _parameters_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=group._field_defaults.get(field, inspect.Parameter.empty),
            annotation=hints[field],
        )
        for field in group._fields
    ]
