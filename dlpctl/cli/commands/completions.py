"""Print or install the completion script of a shell.

Examples:
    dlpctl completions install
    eval "$(dlpctl completions bash)"
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dlpctl.cli import completion
from dlpctl.cli.app import App
from dlpctl.cli.render import Printer
from dlpctl.errors import OutputError, UsageError, os_errors

SECTION = ("Repositories, shells and help", 33)

app = App()


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


class Action(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"
    INSTALL = "install"


class InstallPath(NamedTuple):
    file: Path
    next_step: str


@app.command(help=__doc__)
def completions(
    action: Annotated[
        Action,
        typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell; or 'install'."),
    ],
    shell: Annotated[
        Shell | None,
        typer.Argument(
            metavar="[SHELL]", help="With 'install'; your shell by default.", show_default=False
        ),
    ] = None,
) -> None:
    if action is Action.INSTALL:
        install(shell)
    elif shell is not None:
        raise UsageError(
            f"say 'dlpctl completions {action}', or 'dlpctl completions install {shell}'"
        )
    else:
        sys.stdout.write(script(Shell(action.value)))


def script(shell: Shell) -> str:
    return (SCRIPTS / FILES[shell]).read_text(encoding="utf-8")


def install(shell: Shell | None) -> None:
    """Write the script where the named shell, or the user's, looks for it."""
    shell = shell or _current(os.environ)
    path = _install_path(shell, os.environ, Path.home())
    with os_errors(OutputError, f"{path.file}: cannot be written"):
        path.file.parent.mkdir(parents=True, exist_ok=True)
        path.file.write_text(script(shell), encoding="utf-8", newline="\n")
    printer = Printer()
    printer.line(f"written {path.file}")
    printer.line(path.next_step)


def _install_path(shell: Shell, environ: Mapping[str, str], home: Path) -> InstallPath:
    """Return the file in which a shell looks for a user's own script."""
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if shell is Shell.BASH:
        file = data / "bash-completion" / "completions" / "dlpctl"
        return InstallPath(
            file,
            "Open a new shell. Without the package bash-completion,"
            f" add to ~/.bashrc: source '{file}'",
        )
    if shell is Shell.FISH:
        return InstallPath(config / "fish" / "completions" / "dlpctl.fish", "Open a new shell.")
    if shell is Shell.ZSH:
        file = data / "zsh" / "site-functions" / "_dlpctl"
        return InstallPath(
            file,
            "Unless your fpath has it, add to ~/.zshrc, before compinit:"
            f" fpath=('{file.parent}' $fpath); then open a new shell.",
        )
    file = data / "dlpctl" / "dlpctl.ps1"
    return InstallPath(file, f"Add to your $PROFILE: . '{file}'")


def is_known_shell(environ: Mapping[str, str]) -> bool:
    return os.name == "nt" or Path(environ.get("SHELL", "")).name in list(Shell)


def is_installed(environ: Mapping[str, str]) -> bool:
    """Return whether the user's shell has the script of this version."""
    shell = _current(environ)
    try:
        found = _install_path(shell, environ, Path.home()).file.read_text("utf-8")
    except (OSError, ValueError):
        return False
    return found == script(shell)


def _current(environ: Mapping[str, str]) -> Shell:
    if is_known_shell(environ):
        name = Path(environ.get("SHELL", "")).name
        return Shell(name) if name in list(Shell) else Shell.POWERSHELL
    raise UsageError("your shell is not known; name it: dlpctl completions install bash")
