"""Finds the formats: every module or package of `dlpctl.formats` that defines `FORMAT` or
`FORMATS`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import dlpctl.formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlpctl.formats.interface import Format


def rank(found: Format) -> int:
    """Which of the formats that claim a file goes first: the lowest."""
    number = getattr(found, "rank", 50)
    assert isinstance(number, int)
    return number


@cache
def homes() -> tuple[str, ...]:
    """The modules in which formats may be defined."""
    return tuple(found.name for found in iter_modules(dlpctl.formats.__path__, "dlpctl.formats."))


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are asked whether a file is theirs."""
    found = [each for home in homes() for each in _defined_in(home)]
    return tuple(sorted(found, key=lambda item: (rank(item), item.name)))


def format_named(name: str) -> Format:
    """The format of that name."""
    return next(found for found in formats() if found.name == name)


def home_of(name: str) -> str:
    """The module that defines the format of that name."""
    return next(home for home in homes() for each in _defined_in(home) if each.name == name)


def format_in(home: str, name: str) -> Format:
    """The format in a process that imports no other."""
    return next(each for each in _defined_in(home) if each.name == name)


def _defined_in(home: str) -> Sequence[Format]:
    module = import_module(home)
    one = getattr(module, "FORMAT", None)
    defined: Sequence[Format] = getattr(module, "FORMATS", () if one is None else (one,))
    return defined
