"""Modules and rows that are added to the product, as a change of it would."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from dlpctl.formats import discovery
from dlpctl.operators import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dlpctl.operators import Operator


@pytest.fixture
def add_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Add a command: a module beside the others."""
    from dlpctl.cli import commands

    folder = tmp_path / "more commands"
    folder.mkdir()
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(folder)])
    added = []

    def add(name: str, source: str) -> None:
        (folder / f"{name}.py").write_text(source)
        added.append(f"{commands.__name__}.{name}")

    yield add
    for name in added:
        sys.modules.pop(name, None)


@pytest.fixture
def add_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Add a format: a module beside the others."""
    from dlpctl import formats

    folder = tmp_path / "more formats"
    folder.mkdir()
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder)])

    def add(name: str, source: str) -> None:
        (folder / f"{name}.py").write_text(source)
        forget()

    def forget() -> None:
        for remembered in (discovery.homes, discovery.formats):
            remembered.cache_clear()

    yield add
    forget()


@pytest.fixture
def add_operator(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Operator], None]:
    """Add an operator: a row."""
    return lambda name, operator: monkeypatch.setitem(OPERATORS, name, operator)
