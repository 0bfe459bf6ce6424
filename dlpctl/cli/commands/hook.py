"""`dlpctl hook`: keep sensitive data out of commits and pipelines."""

from __future__ import annotations

import shlex
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dlpctl import __version__
from dlpctl.cli.render import Printer
from dlpctl.errors import InputError, OutputError, UsageError

app = typer.Typer(add_completion=False, no_args_is_help=True)

_HOOK = "pre-commit"
_BEFORE = ".before-dlpctl"
_OURS = "Written by 'dlpctl hook install git'"
_TEMPLATES = Path(__file__).parents[1] / "templates"


class Target(StrEnum):
    GIT = "git"


class Template(StrEnum):
    GIT = "git"
    PRE_COMMIT = "pre-commit"
    GITHUB = "github"
    GITLAB = "gitlab"


Where = Annotated[Target, typer.Argument(metavar="git", help="The repository that you are in.")]


@app.callback()
def _group() -> None:
    """Scan what is about to be committed or merged."""


@app.command()
def install(where: Where) -> None:
    """Scan what is staged before each commit. A hook that is there already is kept, and runs first."""
    folder = _hooks_folder()
    hook, before = folder / _HOOK, folder / (_HOOK + _BEFORE)
    is_ours = _is_ours(hook)
    kept = not is_ours and (hook.exists() or hook.is_symlink())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if kept:
            if before.exists():
                raise UsageError(f"{before} is in the way; move it, or delete it if nobody needs it")
            hook.rename(before)
        hook.write_text(_text(Template.GIT), encoding="utf-8", newline="\n")
        hook.chmod(0o755)
    except OSError as problem:
        raise OutputError(f"{hook}: cannot be written: {problem.strerror}") from None
    printer = Printer()
    printer.line(f"{'renewed' if is_ours else 'written'} {hook}")
    if kept:
        printer.line(f"the hook that was there is {before} now, and runs first")


@app.command()
def uninstall(where: Where) -> None:
    """Remove the hook, and put back the one that was there before."""
    folder = _hooks_folder()
    hook, before = folder / _HOOK, folder / (_HOOK + _BEFORE)
    if not _is_ours(hook):
        raise UsageError(f"{hook} is not a hook of dlpctl; nothing was removed")
    try:
        hook.unlink()
        restored = before.exists()
        if restored:
            before.rename(hook)
    except OSError as problem:
        raise OutputError(f"{hook}: cannot be removed: {problem.strerror}") from None
    Printer().line(f"removed {hook}" + ("; the one from before is back" if restored else ""))


@app.command()
def show(
    template: Annotated[Template, typer.Argument(metavar="NAME", help="git, pre-commit, github or gitlab.")],
) -> None:
    """Print what makes a hook or a pipeline scan, to be put into a file of yours."""
    sys.stdout.write(_text(template))


def _text(template: Template) -> str:
    suffix = "sh" if template is Template.GIT else "yaml"
    text = (_TEMPLATES / f"{template.value}.{suffix}").read_text(encoding="utf-8")
    return text.replace("@PYTHON@", shlex.quote(sys.executable)).replace("@VERSION@", __version__)


def _is_ours(hook: Path) -> bool:
    return hook.is_file() and not hook.is_symlink() and _OURS in hook.read_text("utf-8", "replace")


def _hooks_folder() -> Path:
    """Where git looks for hooks here: core.hooksPath, worktrees and submodules included."""
    hooks = Path(_git("rev-parse", "--git-path", "hooks")).absolute()
    own = [Path(_git("rev-parse", "--absolute-git-dir"))]
    own.append(Path(_git("rev-parse", "--git-common-dir")).absolute())
    if _git("rev-parse", "--is-bare-repository") == "false":
        own.append(Path(_git("rev-parse", "--show-toplevel")))
    if not any(hooks.resolve().is_relative_to(folder.resolve()) for folder in own):
        raise UsageError(
            f"core.hooksPath is {hooks}, which is not of this repository alone;"
            f" add 'dlpctl scan --staged' to {hooks / _HOOK} yourself"
        )
    return hooks


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError("git is not installed, or not on the PATH") from None
    if done.returncode:
        raise UsageError("this is no git repository; change into one, or run 'git init' first")
    return done.stdout.rstrip("\n")
