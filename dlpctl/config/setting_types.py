"""Kinds of settings: what a value must be, and how an environment variable spells it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from dlpctl.types import Destination

_POLICY_SUFFIXES = (".toml", ".yaml", ".yml", ".json")


_Item = TypeVar("_Item")


class UnfitError(ValueError):
    """Says what is wrong with a value, without the value; `item` is the place in a list."""

    def __init__(self, problem: str, item: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.item = item


class Kind(NamedTuple):
    check: Callable[[object, Path], object]
    """Takes what TOML gives and the folder that relative paths start from."""
    read: Callable[[str], object] = str
    """Makes of a variable's text what TOML would have given."""


def _text(value: object, _folder: Path) -> str:
    if not isinstance(value, str):
        raise UnfitError("is not a text")
    if not value.strip():
        raise UnfitError("is empty")
    return value


def _texts(value: object, folder: Path) -> tuple[str, ...]:
    return tuple(_items(value, _text, folder))


def _path(value: object, folder: Path) -> Path:
    path = Path(_text(os.fspath(value) if isinstance(value, Path) else value, folder))
    try:
        return folder / path.expanduser()
    except RuntimeError:
        raise UnfitError(
            "begins with '~', but no home folder is known; write the whole path"
        ) from None


def _paths(value: object, folder: Path) -> tuple[Path, ...]:
    return tuple(_items(value, _path, folder))


def _items(value: object, check: Callable[[object, Path], _Item], folder: Path) -> list[_Item]:
    if not isinstance(value, list | tuple):
        raise UnfitError("is not a list")
    checked = []
    for index, item in enumerate(value):
        try:
            checked.append(check(item, folder))
        except UnfitError as unfit:
            raise UnfitError(unfit.problem, index) from None
    return checked


def _policy(value: object, folder: Path) -> str:
    """A name stays; a file is relative to the file that names it, like every other."""
    name = _text(value, folder)
    is_file = name.lower().endswith(_POLICY_SUFFIXES) or Path(name).name != name
    return str(_path(name, folder)) if is_file else name


def _destination(value: object, folder: Path) -> Destination:
    return Destination(_one_of(tuple(Destination), str.upper)(value, folder))


def _one_of(
    options: tuple[str, ...], spelled: Callable[[str], str]
) -> Callable[[object, Path], str]:
    def check(value: object, folder: Path) -> str:
        name = spelled(_text(value, folder))
        if name not in options:
            raise UnfitError(f"is not one of {', '.join(options)}")
        return name

    return check


def _server(value: object, folder: Path) -> str | None:
    """`local` is none: what another layer names holds no longer."""
    text = _text(value, folder)
    return None if text == "local" else text


def choice(*options: str) -> Kind:
    return Kind(_one_of(options, str.lower))


def number(low: float, high: float) -> Kind:
    described = f"is not a number from {low:g} to {high:g}"

    def check(value: object, _folder: Path) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise UnfitError(described)
        return float(value)

    def read(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise UnfitError(described) from None

    return Kind(check, read)


def whole(low: int, high: int | None = None) -> Kind:
    described = f"is not a whole number from {low:,} {'on' if high is None else f'to {high:,}'}"

    def check(value: object, _folder: Path) -> int:
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or value < low
            or (high is not None and value > high)
        ):
            raise UnfitError(described)
        return value

    def read(text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise UnfitError(described) from None

    return Kind(check, read)


def _separated(text: str) -> list[str]:
    return [item for item in text.split(os.pathsep) if item.strip()]


def split_names(text: str) -> list[str]:
    """Return the names of a list that commas separate, as in `--types EMAIL,SSN`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


TEXT = Kind(_text)
TEXTS = Kind(_texts, _lines)
SERVER = Kind(_server)
NAMES = Kind(_texts, split_names)
PATHS = Kind(_paths, _separated)
POLICY = Kind(_policy)
DESTINATION = Kind(_destination)
