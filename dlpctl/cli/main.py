"""The program: it imports commands when they are called, and prints each error as one line."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from dlpctl.cli.app import App, Group
from dlpctl.cli.catalogue import command_entries, command_names, module_of
from dlpctl.cli.outputs import discard, discard_stdout
from dlpctl.errors import DlpctlError, did_you_mean, fault
from dlpctl.version import __version__

INTERRUPTED = 130
_FIRST_COMMANDS = [
    ("dlpctl demo", "See it mask a prompt and a PDF."),
    ("dlpctl mask prompt.txt", "Mask a prompt from a file or stdin."),
    ("dlpctl check offer.docx", "Decide, and write a masked copy."),
    ("dlpctl scan .", "List the findings in files and folders."),
    ("dlpctl setup", "Set up this project and your shell."),
]
_FOLDED = {
    "Control plane": "Organizations, policies with keys, licenses, an audit log and the service;"
    " see 'dlpctl help daemon'"
}
"""Sections that most users do not need, summarized in one line each."""
_NOT_WRITTEN = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF)
"""Errors of a stream that can no longer be written to."""
_REWORDED = (
    (r"is not a valid (?:int|integer)(?: range)?$", "is not a whole number"),
    (r"is not a valid float(?: range)?$", "is not a number"),
    (r"is not in the range ([0-9.]+)<=x<=([0-9.]+)$", r"is not between \1 and \2"),
    (r"is not in the range x>=([0-9.]+)$", r"is less than \1"),
    (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)$", r"unexpected argument: \1"),
)
"""Messages of Click about arguments, and their plain wording."""
_LONGEST_LINE = 2_000
"""The number of characters of an error, which may name an argument of any length."""
_UsageError: Any = typer.BadParameter.__base__
_ClickError: Any = _UsageError.__base__


class Commands(Group):
    """The commands of the program. The module of a command is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return command_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = module_of(cmd_name)
        if module is None:
            return None
        command: Any = typer.main.get_command(import_module(module).app)
        command.name = cmd_name
        return command

    def hint(self, ctx: Any, name: str) -> str:
        if os.path.lexists(name):
            return f"; 'dlpctl check {name}' decides on a file, 'dlpctl scan {name}' searches it"
        return super().hint(ctx, name)

    def sections(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the headings of the help, each with its commands."""
        listed: dict[str, list[tuple[str, str]]] = {}
        for entry in command_entries():
            listed.setdefault(entry.section, []).append((entry.name, entry.summary))
        for section, summary in _FOLDED.items():
            listed[section] = [(", ".join(name for name, _ in listed[section]), summary)]
        return list(listed.items())


app = App(
    """Find sensitive data, decide by policy, and mask it before content leaves.

    'dlpctl help' lists the topics.

    Examples:
        dlpctl mask prompt.txt
        dlpctl check report.pdf --destination VENDOR
    """,
    name="dlpctl",
    cls=Commands,
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
    pass


def run(arguments: Sequence[str]) -> int:
    """Run the program with these arguments, and return its exit status."""
    try:
        return _run(arguments)
    finally:
        # A command may end because its reader or its terminal is gone: writing what is left would
        # change the exit status when Python exits.
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            try:
                stream.flush()
            except OSError:
                discard(descriptor)


def _run(arguments: Sequence[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # names and texts may be invalid Unicode
    try:
        if not arguments:
            from dlpctl.cli.helptext import render_start

            sys.stdout.write(render_start(f"dlpctl {__version__}", _FIRST_COMMANDS))
            return 2
        status = typer.main.get_command(app).main(
            list(arguments), prog_name="dlpctl", standalone_mode=False
        )
        sys.stdout.flush()
    except DlpctlError as error:
        return _fail(error.code, error.message, error.exit_status, arguments, error.problems)
    except _ClickError as error:
        hint = f" (see '{error.ctx.command_path} --help')" if getattr(error, "ctx", None) else ""
        return _fail("usage", f"{_in_our_form(error)}{hint}", 2, arguments)
    except BrokenPipeError:
        discard_stdout()  # the reader has seen enough
        return 1
    except OSError as problem:
        return _fail("output", _unwritten(problem), 1, arguments)
    except (KeyboardInterrupt, typer.Abort):
        with suppress(OSError):
            sys.stderr.write("dlpctl: interrupted\n")
        return INTERRUPTED
    except Exception as problem:
        # The message of the exception and the lines of a traceback may hold scanned values.
        message = f"internal error: {fault(problem)}; please report it"
        return _fail("error", message, 1, arguments)
    return status if isinstance(status, int) else 0


def _unwritten(problem: OSError) -> str:
    where = problem.filename
    if where is None and problem.errno in _NOT_WRITTEN:
        discard_stdout()
        where = "stdout"
    prefix = f"{os.fsdecode(where)}: " if where else ""
    return f"{prefix}{problem.strerror or type(problem).__name__}"


def _in_our_form(error: Any) -> str:
    """Return the message of a Click error in the style of our own errors."""
    if (name := getattr(error, "option_name", None)) and hasattr(error, "possibilities"):
        argument = name.lstrip("-").upper()
        if argument in (each.metavar for each in error.ctx.command.params):
            return f"'{name}' is not an option; give {argument} without it"
        return f"'{name}' is not an option{did_you_mean(name, error.possibilities or ())}"
    message: str = error.format_message().rstrip(".")
    for theirs, ours in _REWORDED:
        message = re.sub(theirs, ours, message)
    return message[:1].lower() + message[1:]


def _fail(
    code: str, message: str, status: int, arguments: Sequence[str], problems: Sequence[str] = ()
) -> int:
    """Print an error, each problem of a file on its own line, and return the exit status."""
    line = " ".join(message.split())
    lines = [" ".join(each.split()) for each in problems] or [line]
    line, *lines = map(_shortened, (line, *lines))
    if wants_json(arguments):
        import json

        answer: dict[str, object] = {"error": code, "detail": line}
        if len(lines) > 1:
            answer["problems"] = lines
        sys.stderr.write(json.dumps(answer) + "\n")
    else:
        sys.stderr.write("".join(f"dlpctl: {each}\n" for each in lines))
    return status


def _shortened(line: str) -> str:
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether errors should be JSON, even if the arguments cannot be parsed."""
    joined = " ".join(arguments)
    return any(form in joined for form in ("--format json", "--format=json", "-f json"))
