"""Functions that judge a value which a regex found: checksums, structure, plausibility.

A validator takes any text, never raises, takes time in proportion to the text's length at most, and tolerates the separators that
the regexes let through. The modules are imported when one of their validators is asked for, since a run needs few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

_THEMES = {
    "checksums": "luhn verhoeff mod_97",
    "dates": "calendar_date card_expiry",
}
"""The module of each validator. A test holds that each module registers exactly these."""


@dataclass(frozen=True, slots=True)
class Validator:
    """`accepts` judges a value; `proves` says that a value hardly passes by chance, since a checksum is computed."""

    name: str
    accepts: Callable[[str], bool]
    proves: bool


_MODULES = {name: theme for theme, listed in _THEMES.items() for name in listed.split()}
_REGISTERED: dict[str, Validator] = {}


def validator(name: str, *, proves: bool = False) -> Callable[[Callable[[str], bool]], Callable[[str], bool]]:
    """Registers a function under the name that pattern files use."""

    def register(accepts: Callable[[str], bool]) -> Callable[[str], bool]:
        _REGISTERED[name] = Validator(name, accepts, proves)
        return accepts

    return register


def find(name: str) -> Validator:
    """The validator of that name; KeyError where there is none."""
    if name not in _REGISTERED:
        import_module(f"{__name__}.{_MODULES[name]}")
    return _REGISTERED[name]


def names() -> list[str]:
    """What pattern files may name."""
    return list(_MODULES)
