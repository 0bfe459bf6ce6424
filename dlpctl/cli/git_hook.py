"""The git hook: its installation, its templates, and its advice after a refused commit."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.cli.render import Printer
from dlpctl.errors import DlpctlError, InputError, OutputError, UsageError, os_errors

if TYPE_CHECKING:
    from dlpctl.scan.results import Result, Skip, Summary

_HOOK = "pre-commit"
_BEFORE = ".before-dlpctl"
_OURS = "Written by 'dlpctl hook install git'"
_TEMPLATES = Path(__file__).parent / "templates"
_MOST_ADVICE = 5


def install(types: str | None) -> None:
    """Write the hook of this repository; an existing one is renamed and runs first."""
    options = _options(types)
    folder = _hooks_folder()
    hook, before = folder / _HOOK, folder / (_HOOK + _BEFORE)
    is_ours = _is_ours(hook)
    is_kept = not is_ours and (hook.exists() or hook.is_symlink())
    with os_errors(OutputError, f"{hook}: cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        if is_kept:
            if before.exists():
                raise UsageError(f"{before} is in the way; move it, or delete it if it is unused")
            hook.rename(before)
        hook.write_text(script(options), encoding="utf-8", newline="\n")
        hook.chmod(0o755)
    printer = Printer()
    printer.line(f"{'renewed' if is_ours else 'written'} {hook}")
    if is_kept:
        printer.line(f"the existing hook is now {before}, and runs first")


def uninstall() -> None:
    """Remove the hook of this repository, and restore the one before it."""
    folder = _hooks_folder()
    hook, before = folder / _HOOK, folder / (_HOOK + _BEFORE)
    if not _is_ours(hook):
        found = "is not a hook of dlpctl" if hook.exists() else "does not exist"
        raise UsageError(f"{hook} {found}; nothing was removed")
    with os_errors(OutputError, f"{hook}: cannot be removed"):
        hook.unlink()
        is_restored = before.exists()
        if is_restored:
            before.rename(hook)
    Printer().line(f"removed {hook}{'; the hook before it is restored' if is_restored else ''}")


def status() -> tuple[str, str, str, str]:
    """Return a row about the hook of this repository, or why there is none."""
    try:
        state = "installed" if is_installed() else "not installed"
        return "git", state, "-", str(_hooks_folder() / _HOOK)
    except DlpctlError as problem:
        return "git", problem.message.partition(";")[0], "-", "-"


def is_installed() -> bool:
    """Return whether this repository has the hook; raise `DlpctlError` outside a repository."""
    return _is_ours(_hooks_folder() / _HOOK)


def script(options: str = "") -> str:
    """Return the hook with these options of `hook run`."""
    return _filled("git.sh", PYTHON=shlex.quote(sys.executable), OPTIONS=options)


def pipeline(name: str, install_from: str | None) -> str:
    """Return a pipeline template that installs dlpctl from its source."""
    from dlpctl.cli.provenance import source

    found = source(install_from)
    if name == "pre-commit":
        repository, revision = found.repository
        return _filled(f"{name}.yaml", REPOSITORY=repository, REVISION=revision)
    text = _filled(f"{name.removesuffix('-component')}.yaml", SOURCE=shlex.quote(found.url))
    return _without_inputs(text) if name == "gitlab" else text


def _without_inputs(component: str) -> str:
    """Return the pipeline of a component, with the defaults of its inputs."""
    import yaml

    head, _, text = component.partition("\n---\n")
    for name, declared in yaml.safe_load(head)["spec"]["inputs"].items():
        text = text.replace(f"$[[ inputs.{name} ]]", str(declared["default"]))
    return text


class AdviceReport:
    """A report that prints how to accept the findings that stopped a commit."""

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
        lines = ["dlpctl: refused. Remove the findings, or accept those that are harmless:"]
        for refused in self._found:
            # The path is not a comment after the command: not every shell has comments.
            lines.append(f"  {refused.type} in {printable(refused.path)}:{refused.line}")
            lines.append(f"    {_program()} allow {refused.identity}{self._options} --reason 'why'")
        if self._more:
            lines.append(f"  ({self._more:,} more; accept each with: dlpctl allow FILE:LINE ...)")
        lines.append("To commit without this check: git commit --no-verify")
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def _program() -> str:
    """Return the command that starts this program, even if it is not on the PATH."""
    return "dlpctl" if shutil.which("dlpctl") else f"{shlex.quote(sys.executable)} -P -m dlpctl"


def _filled(template: str, **values: str) -> str:
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def _options(types: str | None) -> str:
    """Return the options of `hook run` for the hook; refuse unknown types."""
    if types is None:
        return ""
    from dlpctl.cli.search import search
    from dlpctl.cli.session import Session

    search(Session.start(), types=types)
    return f" --types {shlex.quote(types)}"


def _is_ours(hook: Path) -> bool:
    return hook.is_file() and not hook.is_symlink() and _OURS in hook.read_text("utf-8", "replace")


def _hooks_folder() -> Path:
    """Return the folder of hooks; it depends on core.hooksPath, worktrees and submodules."""
    hooks = Path(_git("rev-parse", "--git-path", "hooks")).absolute()
    own = [Path(_git("rev-parse", "--absolute-git-dir"))]
    own.append(Path(_git("rev-parse", "--git-common-dir")).absolute())
    if _git("rev-parse", "--is-bare-repository") == "false":
        own.append(Path(_git("rev-parse", "--show-toplevel")))
    if not any(hooks.resolve().is_relative_to(folder.resolve()) for folder in own):
        raise UsageError(
            f"core.hooksPath is {hooks}, which other repositories may use, too;"
            f" add 'dlpctl hook run' to {hooks / _HOOK} yourself"
        )
    return hooks


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError("git is not installed, or not on the PATH") from None
    if done.returncode:
        raise UsageError("this is not a git repository; change into one, or run 'git init' first")
    return done.stdout.rstrip("\n")
