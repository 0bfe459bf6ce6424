"""`dlpctl hook`: keep secrets and sensitive data out of commits and pipelines."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlpctl.cli.render import Printer
from dlpctl.errors import InputError, OutputError, UsageError

if TYPE_CHECKING:
    from dlpctl.scan.results import Result, Skip, Summary

app = typer.Typer(add_completion=False, no_args_is_help=True)

_HOOK = "pre-commit"
_BEFORE = ".before-dlpctl"
_OURS = "Written by 'dlpctl hook install git'"
_TEMPLATES = Path(__file__).parents[1] / "templates"
_MOST_ADVICE = 5


class Target(StrEnum):
    GIT = "git"


class Template(StrEnum):
    GIT = "git"
    PRE_COMMIT = "pre-commit"
    GITHUB = "github"
    GITLAB = "gitlab"


Where = Annotated[Target, typer.Argument(metavar="git", help="The repository that you are in.")]
Types = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Look for these categories, types or patterns; else for those of the settings, else SECRETS.",
    ),
]


@app.callback()
def _group() -> None:
    """Scan what is about to be committed or merged."""


@app.command()
def install(where: Where, types: Types = None) -> None:
    """Look for secrets in what is staged before each commit. A hook that is there already runs
    first.
    """
    options = _options(types)
    folder = _hooks_folder()
    hook, before = folder / _HOOK, folder / (_HOOK + _BEFORE)
    is_ours = _is_ours(hook)
    kept = not is_ours and (hook.exists() or hook.is_symlink())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if kept:
            if before.exists():
                raise UsageError(
                    f"{before} is in the way; move it, or delete it if nobody needs it"
                )
            hook.rename(before)
        hook.write_text(_git_hook(options), encoding="utf-8", newline="\n")
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
def run(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Files; else what is staged.")
    ] = None,
    types: Types = None,
) -> None:
    """Scan as the hooks do, and print the command that accepts a finding."""
    from dlpctl.cli import scanning
    from dlpctl.cli.search import HOOK_TYPES

    request = scanning.Request(
        paths=[f"./{name}" if name == "-" else name for name in files or ()],
        staged=not files,
        types=types,
        default_types=HOOK_TYPES,
    )
    status = scanning.scan(request, _Advice(request.fail_on, types))
    raise typer.Exit(scanning.CLEAN if status == scanning.BELOW else status)


@app.command()
def show(
    template: Annotated[
        Template, typer.Argument(metavar="NAME", help="git, pre-commit, github or gitlab.")
    ],
    install_from: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where pipelines install dlpctl from, such as 'git+https://HOST/ORG/dlpctl@COMMIT'.",
        ),
    ] = None,
) -> None:
    """Print a hook or a pipeline, to be put into a file of yours."""
    sys.stdout.write(
        _git_hook("") if template is Template.GIT else _pipeline(template, install_from)
    )


class _Advice:
    """A report that says how to accept what keeps a commit from being made."""

    def __init__(self, fail_on: float, types: str | None) -> None:
        self._fail_on = fail_on
        self._options = "" if types is None else f" --types {shlex.quote(types)}"
        self._found: list[Result] = []
        self._more = 0

    def add(self, result: Result) -> None:
        if result.score < self._fail_on:
            return
        if len(self._found) < _MOST_ADVICE:
            self._found.append(result)
        else:
            self._more += 1

    def skip(self, skip: Skip) -> None:
        pass

    def finish(self, summary: Summary) -> None:
        from dlpctl.scan.reports import printable

        if not self._found:
            return
        lines = ["dlpctl: refused. Remove what was found, or accept a finding that is none:"]
        for one in self._found:
            # A path is none of the command's line, since not every shell takes '#' for a comment
            # there.
            lines.append(f"  {one.type} in {printable(one.path)}:{one.line}")
            lines.append(f"    {_program()} allow {one.identity}{self._options} --reason 'why'")
        if self._more:
            lines.append(
                f"  ({self._more:,} more; name each by its place: dlpctl allow FILE:LINE ...)"
            )
        lines.append("To commit without this check: git commit --no-verify")
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def _program() -> str:
    """Return the command that starts this program: a hook finds it without the PATH, too."""
    return "dlpctl" if shutil.which("dlpctl") else f"{shlex.quote(sys.executable)} -P -m dlpctl"


def _git_hook(options: str) -> str:
    return _template(Template.GIT, PYTHON=shlex.quote(sys.executable), OPTIONS=options)


def _pipeline(template: Template, install_from: str | None) -> str:
    from dlpctl.cli.provenance import source

    found = source(install_from)
    if template is Template.PRE_COMMIT:
        repository, revision = found.repository
        return _template(template, REPOSITORY=repository, REVISION=revision)
    return _template(template, SOURCE=shlex.quote(found.url))


def _template(template: Template, **values: str) -> str:
    suffix = "sh" if template is Template.GIT else "yaml"
    text = (_TEMPLATES / f"{template.value}.{suffix}").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def _options(types: str | None) -> str:
    """The options of `hook run` in the hook; refuses types that do not exist."""
    if types is None:
        return ""
    from dlpctl.cli.search import search
    from dlpctl.cli.session import Session

    search(Session.begin(), types=types)
    return f" --types {shlex.quote(types)}"


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
            f" add 'dlpctl hook run' to {hooks / _HOOK} yourself"
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
