"""Groups of digits that are a series of numbers: a count, a color, neighbors in a list."""

from __future__ import annotations

from itertools import pairwise

from dlpctl.detect.validators.registry import validator
from dlpctl.regex import lazy

_GROUP = lazy("[0-9]+")
_STEPS = 2
"""As many steps of one are no chance."""
_NEAR = 10
"""Numbers of a list differ by so much at most."""


@validator("no_series")
def no_series(value: str) -> bool:
    """Groups that neither count nor are a color or neighbors in a list."""
    if value.isascii() and value.isdigit():
        return True
    groups = _GROUP.findall(value)
    if len(groups) < 2:
        return True
    return not (_counts_up(groups) or _is_color(groups) or _is_list(groups))


def _counts_up(groups: list[str]) -> bool:
    """Return whether groups count, at least in part: 41 42 43 44."""
    if len(groups) <= _STEPS:
        return False
    return sum(int(after) - int(before) == 1 for before, after in pairwise(groups)) >= _STEPS


def _is_color(groups: list[str]) -> bool:
    """Return whether three groups are shades of red, green and blue: 255 248 220."""
    return list(map(len, groups)) == [3, 3, 3] and max(groups) <= "255"


def _is_list(groups: list[str]) -> bool:
    """Return whether all groups have one length and are near each other: 2281 2276."""
    return len(set(map(len, groups))) == 1 and int(max(groups)) - int(min(groups)) <= _NEAR
