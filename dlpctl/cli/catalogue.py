"""The commands: every module in `dlpctl.cli.commands` is one.

A module declares its section of the help and its position there as `SECTION = ("Content", 1)`; its
summary is the first line of its docstring. Both are parsed from the source, so that only the module
of the called command is imported.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from dlpctl.cli import commands

_HEAD = re.compile(r'"""(?P<summary>[^"]+?)\.?(?:\n|""")')
_SECTION = re.compile(r'^SECTION = \("(?P<title>[^"]+)", (?P<position>\d+)\)$', re.MULTILINE)


class CommandEntry(NamedTuple):
    """One line of `dlpctl --help`."""

    name: str
    summary: str
    section: str
    position: int


def command_entries() -> list[CommandEntry]:
    """Return all commands in the order of the help."""
    entries = [
        _read(file) for folder in commands.__path__ for file in Path(folder).glob("[!_]*.py")
    ]
    return sorted(entries, key=lambda entry: (entry.position, entry.name))


def command_names() -> list[str]:
    return [entry.name for entry in command_entries()]


def module_of(command: str) -> str | None:
    """Return the module of a command; None if there is no such command."""
    name = command.replace("-", "_")
    if name.startswith("_") or not name.isidentifier():
        return None
    module = f"{commands.__name__}.{name}"
    return module if find_spec(module) else None


def _read(file: Path) -> CommandEntry:
    text = file.read_text(encoding="utf-8")
    head, section = _HEAD.match(text), _SECTION.search(text)
    if head is None or section is None:
        raise ImportError(f"{file}: a command needs a docstring and SECTION = (title, position)")
    name = file.stem.replace("_", "-")
    return CommandEntry(name, head["summary"], section["title"], int(section["position"]))
