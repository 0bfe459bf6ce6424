"""The registry of validators that are functions; modules of this package register
with a decorator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Accepts = Callable[[str], bool]


class Validator(NamedTuple):
    """A check of a value; `proves` is true if it computes a checksum, which few values pass by
    accident.
    """

    name: str
    accepts: Accepts
    proves: bool


REGISTERED: dict[str, Validator] = {}


def validator(name: str, *, proves: bool = False) -> Callable[[Accepts], Accepts]:
    """Register a function under the name that pattern files use."""

    def register(accepts: Accepts) -> Accepts:
        REGISTERED[name] = Validator(name, accepts, proves)
        return accepts

    return register
