"""The steps of `dlpctl setup`, listed in `STEPS`."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlpctl.cli.render import Printer
from dlpctl.errors import DlpctlError

if TYPE_CHECKING:
    from dlpctl.config.settings import Setting

_FILE = "dlpctl.toml"
_WIDTH = 98
_LEFT_OUT = ("serve", "limits")
"""Groups of settings that are only for services and for large files."""


class Step(NamedTuple):
    """One thing to set up."""

    question: str
    why_not: Callable[[], str]
    """Returns why the step does not apply here; empty if it applies."""
    do: Callable[[], object]


def run(*, ask: bool) -> None:
    """Offer each step that applies; exit with status 1 if one of them failed."""
    import typer

    printer = Printer()
    has_failed = False
    for step in STEPS:
        if reason := step.why_not():
            printer.line(printer.style(f"{step.question} No: {reason}.", "dim"))
        elif not ask or typer.confirm(step.question, default=True):
            try:
                step.do()
            except DlpctlError as problem:
                printer.line(f"not done: {problem.message}")
                has_failed = True
    printer.line("'dlpctl doctor' checks the installation")
    if has_failed:
        raise typer.Exit(1)


def _why_no_hook() -> str:
    from dlpctl.cli import git_hook

    try:
        return "already installed" if git_hook.is_installed() else ""
    except DlpctlError as problem:
        return problem.message.partition(";")[0]


def _install_hook() -> None:
    from dlpctl.cli import git_hook

    git_hook.install(None)


def _why_no_completions() -> str:
    from dlpctl.cli.commands.completions import is_installed, is_known_shell

    if not is_known_shell(os.environ):
        return "your shell is not known"
    return "it does" if is_installed(os.environ) else ""


def _install_completions() -> None:
    from dlpctl.cli.commands.completions import install

    install(None)


def _why_no_agents() -> str:
    from dlpctl.agents.settings import State
    from dlpctl.cli.agent_hooks import chosen

    try:
        found = chosen(None, every=True, project=False)
        if all(each.state() is State.INSTALLED for each in found):
            return "already installed"
    except DlpctlError as problem:
        return problem.message.partition(";")[0]
    return ""


def _install_agent_hooks() -> None:
    from dlpctl.cli.agent_hooks import chosen, install

    install(chosen(None, every=True, project=False))


def _why_no_settings() -> str:
    from dlpctl.config import locate

    project = locate(os.environ).project
    return f"{project} exists" if project else ""


def _write_settings() -> None:
    from dlpctl.system.newfiles import write_whole

    write_whole(Path(_FILE), settings_file().encode(), overwrite=False, mode=0o644)
    Printer().line(f"written {Path(_FILE).absolute()}")


def settings_file() -> str:
    """Return a settings file that explains each setting and changes none."""
    from dlpctl.config import SETTINGS

    head = (
        "# The settings of this project. 'dlpctl help configuration' lists all, and 'dlpctl config"
        " show' shows those in effect. Each line below is a default: remove the '#' to change it.\n"
    )
    blocks = [textwrap.fill(head, _WIDTH, subsequent_indent="# ")]
    group = ""
    for key, setting in sorted(SETTINGS.items(), key=lambda item: "." in item[0]):
        table, _, name = key.rpartition(".")
        if setting.is_personal or table in _LEFT_OUT:
            continue
        if table != group:
            group = table
            blocks.append(f"[{table}]")
        blocks.append("\n".join(_explained(name, setting)))
    return "\n\n".join(blocks) + "\n"


def _explained(name: str, setting: Setting) -> Iterator[str]:
    from dlpctl.config import Config
    from dlpctl.operators import DEFAULT_OPERATOR

    default = Config().get(setting.key)
    yield f"# {setting.meaning}"
    yield f"# {name} = {json.dumps(DEFAULT_OPERATOR if default is None else default)}"


STEPS = (
    Step("Look for secrets before each commit?", _why_no_hook, _install_hook),
    Step(f"Write a commented {_FILE}?", _why_no_settings, _write_settings),
    Step("Mask what coding agents send to their models?", _why_no_agents, _install_agent_hooks),
    Step("Complete commands and options in your shell?", _why_no_completions, _install_completions),
)
