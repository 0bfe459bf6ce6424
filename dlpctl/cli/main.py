"""The command line: one lazily loaded module a command, and one place where every error becomes a
line.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dlpctl import __version__
from dlpctl.cli.outputs import discard_stdout
from dlpctl.errors import DlpctlError, did_you_mean, fault

COMMANDS = {
    "check": "decide whether content may go to a destination",
    "mask": "mask content, as a filter",
    "unmask": "restore masked tokens",
    "scan": "find sensitive data in files",
    "explain": "say why something is found, or is not",
    "policy": "look into policies",
    "patterns": "list, show and test patterns",
    "config": "show settings and where they come from",
    "init": "make a control plane to begin with",
    "org": "administer organizations",
    "group": "administer policy groups",
    "license": "administer and validate licenses",
    "token": "administer admin tokens",
    "analytics": "show what the checks came to",
    "audit": "search, export and verify the log of checks",
    "db": "look after the database",
    "serve": "answer checks over HTTP",
    "apply": "create and change organizations as a file says",
    "allow": "accept one finding, for a reason and for a time",
    "baseline": "accept all that is found now, and look after what is accepted",
    "hook": "keep secrets and sensitive data out of commits and pipelines",
    "completions": "complete commands in a shell",
    "doctor": "say what is wrong with this installation, and what mends it",
    "help": "explain a topic: ci, prompts, files, policies, security, ...",
}
SECTIONS = {
    "Content": ("check", "mask", "unmask", "scan", "explain"),
    "What is found and what happens to it": ("policy", "patterns", "config"),
    "Repositories, shells and help": ("hook", "allow", "baseline", "completions", "doctor", "help"),
}
"""How the help groups the commands; what is in none of them runs the control plane."""
_CONTROL_PLANE = "Control plane"
INTERRUPTED = 130
_NOT_WRITTEN = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF)
"""What a stream that cannot be written to says."""
_UsageError: Any = typer.BadParameter.__base__
_ClickError: Any = _UsageError.__base__


class Commands(TyperGroup):
    """Imports the module of a command when that command is asked for: a start pays for no other."""

    def list_commands(self, ctx: Any) -> list[str]:
        ordered = [name for names in SECTIONS.values() for name in names if name in COMMANDS]
        return [*ordered, *(name for name in COMMANDS if name not in ordered)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"dlpctl.cli.commands.{cmd_name}")
        command: Any = typer.main.get_command(module.app)
        command.name = cmd_name
        command.short_help = COMMANDS[cmd_name]
        command.rich_help_panel = next(
            (title for title, names in SECTIONS.items() if cmd_name in names), _CONTROL_PLANE
        )
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            raise _UsageError(f"'{name}' is not a command{_hint(name)}", ctx=ctx)
        return super().resolve_command(ctx, args)


def _hint(name: str) -> str:
    if os.path.lexists(name):
        return f"; 'dlpctl check {name}' decides about a file, 'dlpctl scan {name}' lists what is in it"
    return did_you_mean(name, COMMANDS)


app = typer.Typer(
    name="dlpctl",
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"dlpctl {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "-V", "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Find sensitive data, decide by policy, and mask it, before content leaves. 'dlpctl help'
    lists what is explained.
    """


def run(arguments: Sequence[str]) -> int:
    """The program as a function: what it prints goes to stdout, and the exit status is the answer."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a name or a text that is not valid Unicode is still printed
    try:
        status = typer.main.get_command(app).main(
            list(arguments), prog_name="dlpctl", standalone_mode=False
        )
        sys.stdout.flush()
    except DlpctlError as error:
        return _fail(error.code, error.message, error.exit_status, arguments)
    except _ClickError as error:
        if isinstance(error, _UsageError) and not error.format_message():
            return 2  # the help was printed already
        hint = f" (see '{error.ctx.command_path} --help')" if getattr(error, "ctx", None) else ""
        return _fail("usage", f"{_plainly(error)}{hint}", 2, arguments)
    except BrokenPipeError:
        discard_stdout()  # whoever read it has seen enough
        return 1
    except OSError as problem:
        where = problem.filename
        if where is None and problem.errno in _NOT_WRITTEN:
            discard_stdout()
            where = "stdout"
        place = f"{os.fsdecode(where)}: " if where else ""
        return _fail("output", f"{place}{problem.strerror or type(problem).__name__}", 1, arguments)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("dlpctl: interrupted\n")
        return INTERRUPTED
    except Exception as problem:
        # What it says may hold what was scanned, and so may the lines of a traceback.
        return _fail(
            "error",
            f"a mistake of dlpctl, not of yours: {fault(problem)}; please report it",
            1,
            arguments,
        )
    return status if isinstance(status, int) else 0


def _plainly(error: Any) -> str:
    """What Click says, in the form of our own errors."""
    name = getattr(error, "option_name", None) or getattr(error, "command_name", None)
    if possible := getattr(error, "possibilities", None):
        hint = did_you_mean(str(name), possible) or f"; did you mean '{possible[0]}'?"
        return f"'{name}' is not {'an option' if str(name).startswith('-') else 'a command'}{hint}"
    message: str = error.format_message().rstrip(".")
    return message[:1].lower() + message[1:]


def _fail(code: str, message: str, status: int, arguments: Sequence[str]) -> int:
    line = " ".join(message.split())
    if wants_json(arguments):
        import json

        sys.stderr.write(json.dumps({"error": code, "detail": line}) + "\n")
    else:
        sys.stderr.write(f"dlpctl: {line}\n")
    return status


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors are to be JSON too; asked before, or without, a successful parse of the
    arguments.
    """
    joined = " ".join(arguments)
    return any(form in joined for form in ("--format json", "--format=json", "-f json"))
