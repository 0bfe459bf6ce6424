"""Selectors in `dataTypes` and `masking`, which name a category, a detection type or a pattern."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from dlpctl.policy.rules import EVERYTHING, Catalogue
from dlpctl.types import Category, Destination


class Reach(IntEnum):
    """The precision with which a selector names a finding, in ascending order."""

    NONE = 0
    EVERYTHING = 1
    CATEGORY = 2
    TYPE = 3
    PATTERN = 4


def normal(selector: str) -> str:
    """Return a selector in normal form: patterns in lower case, others in upper case."""
    return selector.lower() if "-" in selector else selector.upper()


def reach(selector: str, type_name: str, category: Category, pattern_id: str) -> Reach:
    """Return how precisely a normal selector names a finding of this type, category and pattern."""
    folded = selector.upper()
    if folded == pattern_id.upper():
        return Reach.PATTERN
    if folded == type_name.upper():
        return Reach.TYPE
    if folded == category:
        return Reach.CATEGORY
    return Reach.EVERYTHING if selector == EVERYTHING else Reach.NONE


def closest(selectors: Iterable[str], type_name: str, category: Category, pattern_id: str) -> Reach:
    return max(
        (reach(selector, type_name, category, pattern_id) for selector in selectors),
        default=Reach.NONE,
    )


def is_known(selector: str, catalogue: Catalogue) -> bool:
    folded = selector.upper()
    return (
        folded in Category.__members__
        or any(folded == name.upper() for name in catalogue.types)
        or any(folded == pattern.upper() for pattern in catalogue.patterns)
    )


def known_names(catalogue: Catalogue) -> list[str]:
    return [*Category, *catalogue.types, *catalogue.patterns]


def parse_destination(name: str) -> Destination:
    """Return the destination of a name in any case; raise `UsageError` for unknown names."""
    from dlpctl.errors import UsageError, did_you_mean

    try:
        return Destination(name.upper())
    except ValueError:
        hint = did_you_mean(name, Destination) or f"; there are {', '.join(Destination)}"
        raise UsageError(f"{name!r} is not a destination{hint}") from None
