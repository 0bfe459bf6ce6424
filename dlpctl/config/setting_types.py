"""The types of settings: valid values, and how environment variables spell them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dlpctl.mappings import UnfitError, as_flag, as_integer, as_list, as_number, as_text
from dlpctl.regex import lazy
from dlpctl.types import Destination

_BEFORE_HOST = lazy(r"//.*@", re.DOTALL)
_POLICY_SUFFIXES = (".toml", ".yaml", ".yml", ".json")


class SettingType(NamedTuple):
    """The values that a setting accepts."""

    check: Callable[[object, Path], object]
    """Checks a TOML value; relative paths start at the folder."""
    read: Callable[[str], object] = str
    """Converts the text of a variable to the corresponding TOML value."""


def _text(value: object, _folder: Path) -> str:
    text = as_text(value)
    if not text.strip():
        raise UnfitError("must not be empty")
    return text


def _texts(value: object, folder: Path) -> tuple[str, ...]:
    return tuple(as_list(value, lambda item: _text(item, folder)))


def _path(value: object, folder: Path) -> Path:
    path = Path(_text(os.fspath(value) if isinstance(value, Path) else value, folder))
    try:
        return folder / path.expanduser()
    except RuntimeError:
        raise UnfitError(
            "starts with '~', but no home folder is known; write an absolute path"
        ) from None


def _paths(value: object, folder: Path) -> tuple[Path, ...]:
    return tuple(as_list(value, lambda item: _path(item, folder)))


def _policy(value: object, folder: Path) -> str:
    """Return a name unchanged, and a file relative to the folder of the file that names it."""
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
            raise UnfitError(f"must be one of {', '.join(options)}")
        return name

    return check


def _server(value: object, folder: Path) -> str | None:
    """Return None for `local`, which overrides a server named by another layer."""
    text = _text(value, folder)
    return None if text == "local" else text


class DatabaseAddress(NamedTuple):
    """The address of a database. It may hold a password, so it is shown without user and query."""

    url: str

    def __str__(self) -> str:
        return _BEFORE_HOST.sub("//", self.url).partition("?")[0]

    def __repr__(self) -> str:
        return str(self)


def _database(value: object, folder: Path) -> DatabaseAddress:
    url = _text(value, folder)
    if not url.startswith(("postgresql://", "postgres://")):
        raise UnfitError("must start with postgresql://")
    return DatabaseAddress(url)


def choice(*options: str) -> SettingType:
    return SettingType(_one_of(options, str.lower))


def number(low: float, high: float) -> SettingType:
    return SettingType(lambda value, _folder: as_number(value, low, high), _number_or_text(float))


def integer(low: int, high: int | None = None) -> SettingType:
    return SettingType(lambda value, _folder: as_integer(value, low, high), _number_or_text(int))


def _number_or_text(convert: Callable[[str], float]) -> Callable[[str], object]:
    """Return a converter that leaves text that is not a number to the check."""

    def read(text: str) -> object:
        try:
            return convert(text)
        except ValueError:
            return text

    return read


def _separated(text: str) -> list[str]:
    return [item for item in text.split(os.pathsep) if item.strip()]


def split_names(text: str) -> list[str]:
    """Return the names in a list separated by commas, as in `--types EMAIL,SSN`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


FLAG = SettingType(
    lambda value, _folder: as_flag(value),
    lambda text: {"true": True, "false": False}.get(text.lower(), text),
)
TEXT = SettingType(_text)
TEXTS = SettingType(_texts, _lines)
SERVER = SettingType(_server)
DATABASE = SettingType(_database)
NAMES = SettingType(_texts, split_names)
PATHS = SettingType(_paths, _separated)
POLICY = SettingType(_policy)
DESTINATION = SettingType(_destination)
