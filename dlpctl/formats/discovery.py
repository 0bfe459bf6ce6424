"""Finds the formats: every module or package of `dlpctl.formats` that defines `FORMAT` or `FORMATS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import dlpctl.formats

if TYPE_CHECKING:
    from dlpctl.formats.interface import Format


def rank(found: Format) -> int:
    """Which of the formats that claim a file goes first: the lowest."""
    number = getattr(found, "rank", 50)
    assert isinstance(number, int)
    return number


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are asked whether a file is theirs."""
    found: list[Format] = []
    for module_info in iter_modules(dlpctl.formats.__path__, "dlpctl.formats."):
        module = import_module(module_info.name)
        one = getattr(module, "FORMAT", None)
        found += getattr(module, "FORMATS", () if one is None else (one,))
    return tuple(sorted(found, key=lambda item: (rank(item), item.name)))


def format_named(name: str) -> Format:
    """The format of that name, in whatever process this runs."""
    return next(found for found in formats() if found.name == name)
