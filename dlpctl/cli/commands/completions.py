"""`dlpctl completions`: scripts that let a shell complete commands, options and values."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dlpctl.cli import completion
from dlpctl.cli.render import Printer
from dlpctl.errors import OutputError, UsageError

app = typer.Typer(add_completion=False)


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


SCRIPTS = Path(completion.__path__[0]) / "scripts"
FILES = {
    Shell.BASH: "dlpctl.bash",
    Shell.ZSH: "_dlpctl",
    Shell.FISH: "dlpctl.fish",
    Shell.POWERSHELL: "dlpctl.ps1",
}


class What(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"
    INSTALL = "install"


class Place(NamedTuple):
    file: Path
    hint: str
    """What is left to do."""


@app.command()
def completions(
    what: Annotated[
        What, typer.Argument(metavar="SHELL", help="The shell whose script to print; or 'install'.")
    ],
    shell: Annotated[
        Shell | None,
        typer.Argument(
            metavar="[SHELL]", help="With 'install': the shell; yours.", show_default=False
        ),
    ] = None,
) -> None:
    """Print the script for bash, zsh, fish or powershell; or install it for you, as in 'completions
    install zsh'.
    """
    if what is What.INSTALL:
        _install(shell or _current(os.environ))
    elif shell is not None:
        raise UsageError(
            f"say 'dlpctl completions {what}', or 'dlpctl completions install {shell}'"
        )
    else:
        sys.stdout.write(script(Shell(what.value)))


def script(shell: Shell) -> str:
    return (SCRIPTS / FILES[shell]).read_text(encoding="utf-8")


def _install(shell: Shell) -> None:
    place = _place(shell, os.environ, Path.home())
    try:
        place.file.parent.mkdir(parents=True, exist_ok=True)
        place.file.write_text(script(shell), encoding="utf-8", newline="\n")
    except OSError as problem:
        raise OutputError(f"{place.file}: cannot be written: {problem.strerror}") from None
    printer = Printer()
    printer.line(f"written {place.file}")
    printer.line(place.hint)


def _place(shell: Shell, environ: Mapping[str, str], home: Path) -> Place:
    """Where a shell looks for scripts of the user's own."""
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if shell is Shell.BASH:
        file = data / "bash-completion" / "completions" / "dlpctl"
        return Place(
            file,
            f"Open a new shell. Without the package bash-completion, add to ~/.bashrc: source '{file}'",
        )
    if shell is Shell.FISH:
        return Place(config / "fish" / "completions" / "dlpctl.fish", "Open a new shell.")
    if shell is Shell.ZSH:
        file = data / "zsh" / "site-functions" / "_dlpctl"
        return Place(
            file,
            f"Unless your fpath has it, add to ~/.zshrc, before compinit: fpath=('{file.parent}' $fpath); then open a new shell.",
        )
    file = data / "dlpctl" / "dlpctl.ps1"
    return Place(file, f"Add to your $PROFILE: . '{file}'")


def _current(environ: Mapping[str, str]) -> Shell:
    name = Path(environ.get("SHELL", "")).name
    if name in list(Shell):
        return Shell(name)
    if os.name == "nt":
        return Shell.POWERSHELL
    raise UsageError("your shell is not known; name it: dlpctl completions install bash")
